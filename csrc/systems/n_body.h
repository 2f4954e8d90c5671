#ifndef N_BODY_H
#define N_BODY_H
/* Any number of bodies in space.
 *     x_i'' = g sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + softening^2)^(3/2)
 * state x1 y1 z1 x2 ... [m] and velocities [m/s]    parameters g [m^3/(kg s^2)], masses [kg],
 * softening [m]: the length of Plummer's potential, 0 for points
 * Energy E = sum_i m_i |v_i|^2 / 2 - g sum_(i < j) m_i m_j / sqrt(|x_j - x_i|^2 + softening^2),
 * momentum, angular momentum, and the position of the centre of mass at t = 0 are conserved. */
#include "../mechanics/rotation.h"
#include "../tiles.h"

typedef struct {
    int64_t n, R; /* bodies, registers in a row: pointers are to one register of the first */
    const vreal *x, *v, *g, *masses, *softening, *attraction, *softening2;
} Bodies;
INLINE Bodies n_body_rows(int64_t n, const PiRows *rows, int64_t u) {
    const int64_t R = rows->registers;
    const vreal *x = (const vreal *)rows->y + u, *v = x + 3 * n * R;
    const vreal *p = (const vreal *)rows->p + u, *derived = p + (n + 2) * R;
    return (Bodies){n, R, x, v, p, p + R, p + (n + 1) * R, derived, derived + n * R};
}
#define AT(rows, i) (rows)[(i) * b->R]
INLINE void n_body_prepare(const Bodies *b) {
    vreal *attraction = (vreal *)b->attraction, *softening2 = (vreal *)b->softening2;
    EACH_BELOW(i, b->n) AT(attraction, i) = *b->g * AT(b->masses, i);
    *softening2 = *b->softening * *b->softening;
}
/* d = x_j - x_i; returns |d|^2 + softening^2. */
INLINE vreal n_body_separation(const Bodies *b, int64_t i, int64_t j, vreal *d) {
    EACH(k, 3) d[k] = AT(b->x, 3 * j + k) - AT(b->x, 3 * i + k);
    return vfma(d[2], d[2], vfma(d[1], d[1], vfma(d[0], d[0], *b->softening2)));
}
/* w = 1 / (|d|^2 + softening^2)^(3/2) */
INLINE vreal n_body_pull(const Bodies *b, int64_t i, int64_t j, vreal *d) {
    const vreal r2 = n_body_separation(b, i, j, d);
    return vdivide_by_cube(vone, r2);
}
/* Three bodies with the sums in registers: the operations of any number, in the same order. */
INLINE void n_body_acceleration_of_3(const Bodies *b, vreal *a) {
    vreal sum[3][3], d[3];
    EACH(i, 3)
        EACH(k, 3) sum[i][k] = vzero;
    EACH(i, 3)
        EACH_BETWEEN(j, i + 1, 3) {
            const vreal w = n_body_pull(b, i, j, d), here = w * AT(b->attraction, j),
                        there = w * AT(b->attraction, i);
            add3(here, d, sum[i]);
            add3(-there, d, sum[j]);
        }
    EACH(i, 3)
        EACH(k, 3) AT(a, 3 * i + k) = sum[i][k];
}
/* Each pair once: action and reaction. Many bodies have a pause after each; -1 if it stops. */
INLINE int n_body_acceleration(const Bodies *b, PiPause *pause, vreal *a) {
    const int64_t n = b->n;
    if (n < 64) pause = NULL;
    EACH_BELOW(i, 3 * n) AT(a, i) = vzero;
    EACH_BELOW(i, n) {
        if (pi_pause(pause)) return -1;
        vreal own[3], d[3];
        EACH(k, 3) own[k] = AT(a, 3 * i + k);
        EACH_FROM(j, i + 1, n) {
            const vreal w = n_body_pull(b, i, j, d), here = w * AT(b->attraction, j),
                        there = w * AT(b->attraction, i);
            add3(here, d, own);
            EACH(k, 3) {
                vreal *other = &AT(a, 3 * j + k);
                *other = vfma(-there, d[k], *other);
            }
        }
        EACH(k, 3) AT(a, 3 * i + k) = own[k];
    }
    return 0;
}
INLINE vreal n_body_energy(const Bodies *b) {
    vreal kinetic = vzero, potential = vzero, d[3];
    EACH_BELOW(i, b->n) {
        const vreal m = AT(b->masses, i), gm = AT(b->attraction, i);
        EACH(k, 3) d[k] = AT(b->v, 3 * i + k);
        kinetic = vfma(m, dot3(d, d), kinetic);
        EACH_BELOW(j, i) potential += gm * AT(b->masses, j) / vsqrt(n_body_separation(b, i, j, d));
    }
    return vfma(kinetic, vset(0.5), -potential);
}
/* Momentum P, angular momentum, and (sum of m x - P t) / (sum of m). */
INLINE void n_body_invariants(const Bodies *b, vreal t, vreal *values) {
    vreal P[3], L[3], C[3], mass = vzero;
    EACH(k, 3) P[k] = L[k] = C[k] = vzero;
    EACH_BELOW(i, b->n) {
        const vreal m = AT(b->masses, i);
        vreal x[3], v[3], moment[3];
        EACH(k, 3) {
            x[k] = AT(b->x, 3 * i + k);
            v[k] = AT(b->v, 3 * i + k);
        }
        cross3(x, v, moment);
        mass += m;
        add3(m, x, C);
        add3(m, v, P);
        add3(m, moment, L);
    }
    EACH(k, 3) {
        AT(values, k) = P[k];
        AT(values, 3 + k) = L[k];
        AT(values, 6 + k) = vfma(-t, P[k], C[k]) / mass;
    }
}
/* d a_i / d x_j = g m_j (1 - 3 d d' / r^2) / r^3 in blocks; velocities beside them. */
INLINE void n_body_jacobian(const Bodies *b, vreal *J) {
    const int64_t n = b->n, dim = 6 * n;
    EACH_BELOW(i, dim * dim) AT(J, i) = vzero;
    EACH_BELOW(i, 3 * n) AT(J, i * dim + 3 * n + i) = vone;
    EACH_BELOW(i, n)
        EACH_BELOW(j, i) {
            vreal d[3];
            const vreal r2 = n_body_separation(b, i, j, d), w = vdivide_by_cube(vone, r2);
            const vreal mi = AT(b->attraction, i), mj = AT(b->attraction, j);
            EACH_BELOW(k, 3)
                EACH_BELOW(l, 3) {
                    const vreal along = 3 * (d[k] * d[l] / r2);
                    const vreal gradient = w * (vset(k == l) - along);
                    const int64_t row_i = (3 * (n + i) + k) * dim, row_j = (3 * (n + j) + k) * dim;
                    AT(J, row_i + 3 * j + l) = mj * gradient;
                    AT(J, row_j + 3 * i + l) = mi * gradient;
                    AT(J, row_i + 3 * i + l) -= mj * gradient;
                    AT(J, row_j + 3 * j + l) -= mi * gradient;
                }
        }
}
#undef AT
static __attribute__((unused)) int n_body_force(const void *context, PiQuestion question,
                                                const PiRows *rows) {
    const int64_t n = ((const PiSized *)context)->parts;
    EACH_BELOW(u, rows->registers) {
        const Bodies b = n_body_rows(n, rows, u);
        vreal *out = (vreal *)rows->out + u;
        switch (question) {
        case PI_ACCELERATION:
            if (n == 3) n_body_acceleration_of_3(&b, out);
            else if (n_body_acceleration(&b, rows->pause, out)) return -1;
            break;
        case PI_ENERGY: *out = n_body_energy(&b); break;
        case PI_INVARIANTS: n_body_invariants(&b, ((const vreal *)rows->t)[u], out); break;
        case PI_JACOBIAN: n_body_jacobian(&b, out); break;
        case PI_PREPARE: n_body_prepare(&b); break;
        default: break; /* the right-hand side is made of the acceleration */
        }
    }
    return 0;
}
#endif
SIZED_SYSTEM(
    n_body, n_body_force, .dim = 6, .dof = 3, .n_params = 1, .n_derived = 1, .pairs = 20,
    .one = {.name = "n_body",
            .title = "bodies that attract one another",
            .equation = "x_i'' = g sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + softening^2)^(3/2)",
            .reference = "Aarseth (2003), Gravitational N-Body Simulations, 1.2",
            .structure = PI_SECOND_ORDER,
            .planets = 1,
            .n_params = 2,
            .n_derived = 1,
            .state = {METRES("x", 0), METRES("y", 0), METRES("z", 0), METRES_A_SECOND("vx", 0),
                      METRES_A_SECOND("vy", 0), METRES_A_SECOND("vz", 0)},
            .params = {{"g", "m^3/(kg s^2)", 1, "gravitational constant"},
                       {"masses", "kg", 1, "of the bodies"},
                       {"softening", "m", 0, "length of Plummer's potential"}},
            CONSERVED({"momentum_x", "kg m/s", 0, "sum of m vx"},
                      {"momentum_y", "kg m/s", 0, "sum of m vy"},
                      {"momentum_z", "kg m/s", 0, "sum of m vz"},
                      {"angular_momentum_x", "kg m^2/s", 0, "sum of m (y vz - z vy)"},
                      {"angular_momentum_y", "kg m^2/s", 0, "sum of m (z vx - x vz)"},
                      {"angular_momentum_z", "kg m^2/s", 0, "sum of m (x vy - y vx)"},
                      {"centre_x", "m", 0, "centre of mass at t = 0"},
                      {"centre_y", "m", 0, "centre of mass at t = 0"},
                      {"centre_z", "m", 0, "centre of mass at t = 0"})})
