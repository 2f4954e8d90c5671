#ifndef THREE_BODY_H
#define THREE_BODY_H
/* Three bodies in a plane.   x_i'' = g sum_j m_j (x_j - x_i) / |x_j - x_i|^3
 * state x1 y1 x2 y2 x3 y3 [m] and velocities [m/s]    parameters g [m^3/(kg s^2)], masses [kg]
 * Energy E = sum_i m_i |v_i|^2 / 2 - g sum_(i < j) m_i m_j / |x_j - x_i|, momentum and angular
 * momentum are conserved. The default state is Simo's of the figure eight (all masses 1, period
 * 6.32591398292621), refined to the last digit in extended precision. */
enum { THREE_BODY_G, THREE_BODY_MASSES, THREE_BODY_ATTRACTION = THREE_BODY_MASSES + 3 };

PREPARE(three_body) {
    EACH(i, 3) p[THREE_BODY_ATTRACTION + i] = p[THREE_BODY_G] * p[THREE_BODY_MASSES + i];
}
/* d = x_j - x_i; returns |d|^2. */
INLINE vreal three_body_separation(const vreal *x, int i, int j, vreal *d) {
    d[0] = x[2 * j] - x[2 * i];
    d[1] = x[2 * j + 1] - x[2 * i + 1];
    return vfma(d[0], d[0], d[1] * d[1]);
}
/* (x_j - x_i) / |x_j - x_i|^3 */
INLINE void three_body_pull(const vreal *x, int i, int j, vreal *pull) {
    const vreal r2 = three_body_separation(x, i, j, pull), w = vdivide_by_cube(vone, r2);
    pull[0] *= w;
    pull[1] *= w;
}
ACCELERATION(three_body) {
    const vreal *m = p + THREE_BODY_ATTRACTION;
    vreal to2[2], to3[2], from2to3[2];
    three_body_pull(x, 0, 1, to2);
    three_body_pull(x, 0, 2, to3);
    three_body_pull(x, 1, 2, from2to3);
    EACH(k, 2) {
        a[k] = vfma(m[1], to2[k], m[2] * to3[k]);
        a[2 + k] = vfma(m[2], from2to3[k], -m[0] * to2[k]);
        a[4 + k] = -vfma(m[0], to3[k], m[1] * from2to3[k]);
    }
}
ENERGY(three_body) {
    const vreal *m = p + THREE_BODY_MASSES, *gm = p + THREE_BODY_ATTRACTION, *v = y + 6;
    vreal kinetic = vzero, potential = vzero, d[2];
    EACH(i, 3) {
        kinetic += m[i] * vfma(v[2 * i], v[2 * i], v[2 * i + 1] * v[2 * i + 1]);
        EACH(j, i) potential += gm[i] * m[j] / vsqrt(three_body_separation(y, i, j, d));
    }
    return vfma(kinetic, vset(0.5), -potential);
}
INVARIANTS(three_body) {
    const vreal *m = p + THREE_BODY_MASSES, *v = y + 6;
    EACH(k, 3) values[k] = vzero;
    EACH(i, 3) {
        values[0] = vfma(m[i], v[2 * i], values[0]);
        values[1] = vfma(m[i], v[2 * i + 1], values[1]);
        values[2] = vfma(m[i], vfma(y[2 * i], v[2 * i + 1], -y[2 * i + 1] * v[2 * i]), values[2]);
    }
}
/* The derivative of a pull d / |d|^3 by d is (delta_kl - 3 d_k d_l / |d|^2) / |d|^3. */
JACOBIAN(three_body) {
    const vreal *m = p + THREE_BODY_ATTRACTION;
    EACH(i, 3)
        EACH(j, i) {
            vreal d[2];
            const vreal r2 = three_body_separation(y, i, j, d), w = vdivide_by_cube(vone, r2);
            EACH(k, 2)
                EACH(l, 2) {
                    const vreal along = 3 * (d[k] * d[l] / r2);
                    const vreal gradient = w * (vset(k == l) - along);
                    J[2 * i + k][2 * j + l] = m[j] * gradient;
                    J[2 * j + k][2 * i + l] = m[i] * gradient;
                    J[2 * i + k][2 * i + l] -= m[j] * gradient;
                    J[2 * j + k][2 * j + l] -= m[i] * gradient;
                }
        }
}
#endif
COMPACT_SYSTEM(three_body,
               MATHEMATICS(.acceleration = three_body_acceleration, .prepare = three_body_prepare,
                           .energy = three_body_energy, .invariants = three_body_invariants,
                           .jacobian = three_body_jacobian),
               .title = "three bodies in a plane",
               .equation = "x_i'' = g sum_j m_j (x_j - x_i) / |x_j - x_i|^3",
               .reference = "Chenciner, Montgomery (2000), Ann. Math. 152, 881-901",
               SECOND_ORDER({"x1", "m", 0.97000435669733344, "position of body 1"},
                            {"y1", "m", -0.24308753153584886, "position of body 1"},
                            {"x2", "m", -0.97000435669733344, "position of body 2"},
                            {"y2", "m", 0.24308753153584886, "position of body 2"},
                            {"x3", "m", 0, "position of body 3"},
                            {"y3", "m", 0, "position of body 3"},
                            {"vx1", "m/s", 0.46620368572052615, "velocity of body 1"},
                            {"vy1", "m/s", 0.43236573046050298, "velocity of body 1"},
                            {"vx2", "m/s", 0.46620368572052615, "velocity of body 2"},
                            {"vy2", "m/s", 0.43236573046050298, "velocity of body 2"},
                            {"vx3", "m/s", -0.9324073714410523, "velocity of body 3"},
                            {"vy3", "m/s", -0.86473146092100596, "velocity of body 3"}),
               PARAMS({"g", "m^3/(kg s^2)", 1, "gravitational constant"},
                      {"masses", "kg", 1, "masses of the three bodies"}, {"masses", "kg", 1, ""},
                      {"masses", "kg", 1, ""}),
               CONSERVED({"momentum_x", "kg m/s", 0, "sum of m vx"},
                         {"momentum_y", "kg m/s", 0, "sum of m vy"},
                         {"angular_momentum", "kg m^2/s", 0, "sum of m (x vy - y vx)"}))
