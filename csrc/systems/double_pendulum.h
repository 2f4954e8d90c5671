#ifndef DOUBLE_PENDULUM_H
#define DOUBLE_PENDULUM_H
/* Plane double pendulum, masses at the ends of two rods.
 * With d = theta1 - theta2, mu = m2 / (m1 + m2) and A = l1 theta1'', B = l2 theta2'' they obey
 *     A + mu cos(d) B = -mu l2 omega2^2 sin(d) - g sin(theta1)
 *     cos(d) A + B    =     l1 omega1^2 sin(d) - g sin(theta2)
 * with the determinant 1 - mu cos(d)^2 = m1 / (m1 + m2) + mu sin(d)^2, where nothing cancels.
 * state theta1 theta2 [rad] from the vertical, omega1 omega2 [rad/s]
 * parameters m1, m2 [kg], l1, l2 [m], g [m/s^2]
 * Energy E = m1 u1^2 / 2 + m2 |u1 + u2|^2 / 2 + (m1 + m2) g l1 (1 - cos(theta1))
 *            + m2 g l2 (1 - cos(theta2)),  u = l omega along the arcs, conserved. */
enum {
    DOUBLE_PENDULUM_M1,
    DOUBLE_PENDULUM_M2,
    DOUBLE_PENDULUM_L1,
    DOUBLE_PENDULUM_L2,
    DOUBLE_PENDULUM_G,
    DOUBLE_PENDULUM_MU,     /* m2 / (m1 + m2) */
    DOUBLE_PENDULUM_REST,   /* m1 / (m1 + m2) */
    DOUBLE_PENDULUM_PER_L1, /* 1 / l1 */
    DOUBLE_PENDULUM_PER_L2, /* 1 / l2 */
};

PREPARE(double_pendulum) {
    const vreal mass = p[DOUBLE_PENDULUM_M1] + p[DOUBLE_PENDULUM_M2];
    p[DOUBLE_PENDULUM_MU] = p[DOUBLE_PENDULUM_M2] / mass;
    p[DOUBLE_PENDULUM_REST] = p[DOUBLE_PENDULUM_M1] / mass;
    p[DOUBLE_PENDULUM_PER_L1] = 1 / p[DOUBLE_PENDULUM_L1];
    p[DOUBLE_PENDULUM_PER_L2] = 1 / p[DOUBLE_PENDULUM_L2];
}

/* The functions of the angles that the equations contain. */
typedef struct {
    vreal s1, c1, s2, c2, s, c; /* sine and cosine of theta1, theta2 and their difference */
    vreal per_det;
} DoublePendulum;
INLINE DoublePendulum double_pendulum_angles(const vreal *x, const vreal *p) {
    DoublePendulum q;
    vsincos(x[0], &q.s1, &q.c1);
    vsincos(x[1], &q.s2, &q.c2);
    q.s = vfma(q.s1, q.c2, -q.c1 * q.s2);
    q.c = vfma(q.c1, q.c2, q.s1 * q.s2);
    q.per_det = 1 / vfma(p[DOUBLE_PENDULUM_MU] * q.s, q.s, p[DOUBLE_PENDULUM_REST]);
    return q;
}
/* A and B from the right-hand sides. */
INLINE void double_pendulum_solve(const DoublePendulum *q, const vreal *p, vreal f1, vreal f2,
                                  vreal *A, vreal *B) {
    *A = vfma(-p[DOUBLE_PENDULUM_MU] * q->c, f2, f1) * q->per_det;
    *B = vfma(-q->c, f1, f2) * q->per_det;
}

ACCELERATION(double_pendulum) {
    const DoublePendulum q = double_pendulum_angles(x, p);
    const vreal u1 = p[DOUBLE_PENDULUM_L1] * v[0] * v[0];
    const vreal u2 = p[DOUBLE_PENDULUM_MU] * p[DOUBLE_PENDULUM_L2] * v[1] * v[1];
    vreal A, B;
    double_pendulum_solve(&q, p, -vfma(u2, q.s, p[DOUBLE_PENDULUM_G] * q.s1),
                          vfma(u1, q.s, -p[DOUBLE_PENDULUM_G] * q.s2), &A, &B);
    a[0] = A * p[DOUBLE_PENDULUM_PER_L1];
    a[1] = B * p[DOUBLE_PENDULUM_PER_L2];
}
/* 1 - cos(theta) = 2 sin(theta / 2)^2, and |u1 + u2|^2 = (u1 cos(d) + u2)^2 + (u1 sin(d))^2: a sum
 * of positive terms. */
ENERGY(double_pendulum) {
    const vreal m1 = p[DOUBLE_PENDULUM_M1], m2 = p[DOUBLE_PENDULUM_M2], g = p[DOUBLE_PENDULUM_G];
    const vreal u1 = p[DOUBLE_PENDULUM_L1] * y[2], u2 = p[DOUBLE_PENDULUM_L2] * y[3];
    vreal s, c;
    vsincos(y[0] - y[1], &s, &c);
    const vreal across = u1 * s, along = vfma(u1, c, u2);
    const vreal kinetic = vfma(m1 * u1, u1, m2 * vfma(along, along, across * across));
    const vreal s1 = vsin(y[0] * 0.5), s2 = vsin(y[1] * 0.5);
    const vreal lift1 = (m1 + m2) * p[DOUBLE_PENDULUM_L1] * s1 * s1;
    const vreal lift2 = m2 * p[DOUBLE_PENDULUM_L2] * s2 * s2;
    return vfma(kinetic, vset(0.5), 2 * g * (lift1 + lift2));
}
/* The equations differentiated: the same matrix times (dA, dB) = the derivatives of the right-hand
 * sides less those of cos(d) times B and A. */
JACOBIAN(double_pendulum) {
    const vreal mu = p[DOUBLE_PENDULUM_MU], g = p[DOUBLE_PENDULUM_G];
    const vreal l1 = p[DOUBLE_PENDULUM_L1], l2 = p[DOUBLE_PENDULUM_L2];
    const DoublePendulum q = double_pendulum_angles(y, p);
    const vreal u1 = l1 * y[2] * y[2], u2 = mu * l2 * y[3] * y[3];
    vreal a[2];
    double_pendulum_acceleration(t, y, y + 2, p, a);
    const vreal turn1 = mu * q.s * a[1] * l2, turn2 = q.s * a[0] * l1;
    const vreal f1[] = {turn1 - vfma(u2, q.c, g * q.c1), vfma(u2, q.c, -turn1), vzero,
                        -2 * mu * l2 * y[3] * q.s};
    const vreal f2[] = {vfma(u1, q.c, turn2), -(vfma(u1, q.c, turn2) + g * q.c2),
                        2 * l1 * y[2] * q.s, vzero};
    EACH(k, 4) {
        double_pendulum_solve(&q, p, f1[k], f2[k], &J[0][k], &J[1][k]);
        J[0][k] *= p[DOUBLE_PENDULUM_PER_L1];
        J[1][k] *= p[DOUBLE_PENDULUM_PER_L2];
    }
}
#endif
COMPACT_SYSTEM(
    double_pendulum,
    MATHEMATICS(.acceleration = double_pendulum_acceleration, .prepare = double_pendulum_prepare,
                .energy = double_pendulum_energy, .jacobian = double_pendulum_jacobian),
    .title = "double pendulum",
    .equation = "l1 theta1'' + mu cos(d) l2 theta2'' = -mu l2 omega2^2 sin(d) - g sin(theta1), "
                "cos(d) l1 theta1'' + l2 theta2'' = l1 omega1^2 sin(d) - g sin(theta2), "
                "d = theta1 - theta2, mu = m2 / (m1 + m2)",
    .reference = "Landau, Lifshitz (1976), Mechanics, section 5, problem 1",
    .velocity_dependent = 1,
    SECOND_ORDER({"theta1", "rad", 1.5707963267948966, "angle from the vertical, pi / 2"},
                 {"theta2", "rad", 1.5707963267948966, "angle from the vertical, pi / 2"},
                 {"omega1", "rad/s", 0, "angular velocity"},
                 {"omega2", "rad/s", 0, "angular velocity"}),
    PARAMS({"m1", "kg", 1, "upper mass"}, {"m2", "kg", 1, "lower mass"},
           {"l1", "m", 1, "upper rod"}, {"l2", "m", 1, "lower rod"},
           {"g", "m/s^2", 9.81, "gravity"}))
