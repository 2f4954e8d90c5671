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
    int64_t n, R; /* bodies, registers in a row */
    const vreal *x, *v, *g, *masses, *softening, *attraction, *softening2;
} Bodies;
INLINE Bodies n_body_rows(int64_t n, const PiRows *rows) {
    const int64_t R = rows->registers;
    const vreal *p = (const vreal *)rows->p, *derived = p + (n + 2) * R;
    return (Bodies){n, R, rows->y, rows->v, p, p + R, p + (n + 1) * R, derived, derived + n * R};
}
INLINE void n_body_prepare(const Bodies *b, int64_t u) {
    vreal *attraction = (vreal *)b->attraction, *softening2 = (vreal *)b->softening2;
    for (int64_t i = u; i < b->n * b->R; i += b->R) attraction[i] = b->g[u] * b->masses[i];
    softening2[u] = b->softening[u] * b->softening[u];
}
/* d = x_j - x_i; returns |d|^2 + softening^2. */
INLINE vreal n_body_separation(const Bodies *b, int64_t u, int64_t i, int64_t j, vreal *d) {
    EACH(k, 0, 3) d[k] = b->x[(3 * j + k) * b->R + u] - b->x[(3 * i + k) * b->R + u];
    return vfma(d[2], d[2], vfma(d[1], d[1], vfma(d[0], d[0], b->softening2[u])));
}
/* w = 1 / (|d|^2 + softening^2)^(3/2) */
INLINE vreal n_body_pull(const Bodies *b, int64_t u, int64_t i, int64_t j, vreal *d) {
    const vreal r2 = n_body_separation(b, u, i, j, d);
    return REAL(1.0) / (r2 * vsqrt(r2));
}
/* Three bodies with the sums in registers: the operations of any number, in the same order. */
INLINE void n_body_acceleration_of_3(const Bodies *b, int64_t u, vreal *a) {
    vreal sum[3][3], d[3];
    EACH(i, 0, 3)
        EACH(k, 0, 3) sum[i][k] = vset(0);
    EACH(i, 0, 3)
        EACH(j, i + 1, 3) {
            const vreal w = n_body_pull(b, u, i, j, d), here = w * b->attraction[j * b->R + u],
                        there = w * b->attraction[i * b->R + u];
            add3(here, d, sum[i]);
            add3(-there, d, sum[j]);
        }
    EACH(i, 0, 3)
        EACH(k, 0, 3) a[(3 * i + k) * b->R + u] = sum[i][k];
}
/* Each pair once: action and reaction. Many bodies have a pause after each; -1 if it stops. */
INLINE int n_body_acceleration(const Bodies *b, int64_t u, PiPause *pause, vreal *a) {
    const int64_t n = b->n;
    if (n < 64) pause = NULL;
    for (int64_t i = u; i < 3 * n * b->R; i += b->R) a[i] = vset(0);
    for (int64_t i = 0; i < n; i++) {
        if (pi_pause(pause)) return -1;
        vreal own[3], d[3];
        EACH(k, 0, 3) own[k] = a[(3 * i + k) * b->R + u];
        for (int64_t j = i + 1; j < n; j++) {
            const vreal w = n_body_pull(b, u, i, j, d), here = w * b->attraction[j * b->R + u],
                        there = w * b->attraction[i * b->R + u];
            add3(here, d, own);
            EACH(k, 0, 3) {
                vreal *other = &a[(3 * j + k) * b->R + u];
                *other = vfma(-there, d[k], *other);
            }
        }
        EACH(k, 0, 3) a[(3 * i + k) * b->R + u] = own[k];
    }
    return 0;
}
INLINE vreal n_body_energy(const Bodies *b, int64_t u) {
    vreal kinetic = vset(0), potential = vset(0), d[3];
    for (int64_t i = 0; i < b->n; i++) {
        const vreal m = b->masses[i * b->R + u];
        EACH(k, 0, 3) d[k] = b->v[(3 * i + k) * b->R + u];
        kinetic = vfma(m, dot3(d, d), kinetic);
        for (int64_t j = 0; j < i; j++)
            potential += m * b->masses[j * b->R + u] / vsqrt(n_body_separation(b, u, i, j, d));
    }
    return vfma(kinetic, vset(REAL(0.5)), -b->g[u] * potential);
}
/* Momentum P, angular momentum, and (sum of m x - P t) / (sum of m). */
INLINE void n_body_invariants(const Bodies *b, int64_t u, vreal t, vreal *values) {
    vreal P[3], L[3], C[3], mass = vset(0);
    EACH(k, 0, 3) P[k] = L[k] = C[k] = vset(0);
    for (int64_t i = 0; i < b->n; i++) {
        const vreal m = b->masses[i * b->R + u];
        vreal x[3], v[3], moment[3];
        EACH(k, 0, 3) {
            x[k] = b->x[(3 * i + k) * b->R + u];
            v[k] = b->v[(3 * i + k) * b->R + u];
        }
        cross3(x, v, moment);
        mass += m;
        add3(m, x, C);
        add3(m, v, P);
        add3(m, moment, L);
    }
    EACH(k, 0, 3) {
        values[k * b->R + u] = P[k];
        values[(3 + k) * b->R + u] = L[k];
        values[(6 + k) * b->R + u] = vfma(-t, P[k], C[k]) / mass;
    }
}
/* d a_i / d x_j = g m_j (1 - 3 d d' / r^2) / r^3 in blocks; velocities beside them. */
INLINE void n_body_jacobian(const Bodies *b, int64_t u, vreal *J) {
    const int64_t n = b->n, dim = 6 * n, R = b->R;
    for (int64_t i = u; i < dim * dim * R; i += R) J[i] = vset(0);
    for (int64_t i = 0; i < 3 * n; i++) J[(i * dim + 3 * n + i) * R + u] = vset(REAL(1.0));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            vreal d[3];
            const vreal r2 = n_body_separation(b, u, i, j, d), w = REAL(1.0) / (r2 * vsqrt(r2));
            const vreal mi = b->attraction[i * R + u], mj = b->attraction[j * R + u];
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) {
                    const vreal along = REAL(3.0) * (d[k] * d[l] / r2);
                    const vreal gradient = w * (vset(k == l) - along);
                    const int64_t row_i = (3 * (n + i) + k) * dim, row_j = (3 * (n + j) + k) * dim;
                    J[(row_i + 3 * j + l) * R + u] = mj * gradient;
                    J[(row_j + 3 * i + l) * R + u] = mi * gradient;
                    J[(row_i + 3 * i + l) * R + u] -= mj * gradient;
                    J[(row_j + 3 * j + l) * R + u] -= mi * gradient;
                }
        }
}
static __attribute__((unused)) int n_body_force(const void *context, PiQuestion question,
                                                const PiRows *rows) {
    const int64_t n = ((const PiSized *)context)->parts, R = rows->registers;
    Bodies b = n_body_rows(n, rows);
    vreal *out = (vreal *)rows->out;
    if (question != PI_ACCELERATION) b.v = b.x + 3 * n * R;
    for (int64_t u = 0; u < R; u++) switch (question) {
        case PI_ACCELERATION:
            if (n == 3) n_body_acceleration_of_3(&b, u, out);
            else if (n_body_acceleration(&b, u, rows->pause, out)) return -1;
            break;
        case PI_ENERGY: out[u] = n_body_energy(&b, u); break;
        case PI_INVARIANTS: n_body_invariants(&b, u, ((const vreal *)rows->t)[u], out); break;
        case PI_JACOBIAN: n_body_jacobian(&b, u, out); break;
        case PI_PREPARE: n_body_prepare(&b, u); break;
        default: break; /* the right-hand side is made of the acceleration */
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
            .n_params = 2,
            .n_derived = 1,
            .state = {{"x", "m", 0, "position"},
                      {"y", "m", 0, "position"},
                      {"z", "m", 0, "position"},
                      {"vx", "m/s", 0, "velocity"},
                      {"vy", "m/s", 0, "velocity"},
                      {"vz", "m/s", 0, "velocity"}},
            .params = {{"g", "m^3/(kg s^2)", 1, "gravitational constant"},
                       {"masses", "kg", 1, "of the bodies"},
                       {"softening", "m", 0, "length of Plummer's potential"}},
            .n_invariants = 9,
            .invariants = {{"momentum_x", "kg m/s", 0, "sum of m vx"},
                           {"momentum_y", "kg m/s", 0, "sum of m vy"},
                           {"momentum_z", "kg m/s", 0, "sum of m vz"},
                           {"angular_momentum_x", "kg m^2/s", 0, "sum of m (y vz - z vy)"},
                           {"angular_momentum_y", "kg m^2/s", 0, "sum of m (z vx - x vz)"},
                           {"angular_momentum_z", "kg m^2/s", 0, "sum of m (x vy - y vx)"},
                           {"centre_x", "m", 0, "centre of mass at t = 0"},
                           {"centre_y", "m", 0, "centre of mass at t = 0"},
                           {"centre_z", "m", 0, "centre of mass at t = 0"}}})
