/* Rosenbrock methods: each stage is one step of Newton's method, all with the Jacobian J and the
 * derivative df/dt at the beginning of the step, and with one factorisation:
 *
 *     k_s = h f(t + c_s h, y + sum_j alpha_sj k_j) + h J sum_j gamma_sj k_j + h^2 d_s df/dt
 *
 * with gamma_ss the same for all s. Of u = gamma k, with m the inverse of the matrix gamma, no
 * product by J is left:
 *
 *     (m_ss - h J) u_s = h f(t + c_s h, y + sum_j a_sj u_j) - sum_j<s m_sj u_j + h^2 d_s df/dt,
 *     y += sum_s b_s u_s
 *
 * The order is that of the table where J and df/dt are exact; those that are differences are off by
 * some 1e-8 and 1e-13 of the slope.
 * Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.7. */
#pragma once
#include "factors.h"
#include "newton.h"

/* h df/dt of a force that sees the time, by four differences forward over an eighth of the step:
 * off by h (h / 32)^4 / 5 of the fifth derivative, far below the error of the step itself, and by
 * some hundred roundings of the slope. Forward: before t it may be another force, or none. */
static void time_derivative_rows(Chunk *c, int64_t n, const vreal *slope, vreal *shifted,
                                 vreal *dfdt) {
    static const double weight[] = {-25 / 12., 4, -3, 4 / 3., -1 / 4.};
    const int64_t all = c->dim * c->R;
    const real parts = 32;
    EACH_BELOW(i, all) dfdt[i] = (real)weight[0] * slope[i];
    EACH_FROM(j, 1, 5) {
        rhs_rows(c, times(c, n, j / 32.), c->y, shifted);
        add_rows(c, c->dim, weight[j], 0, shifted, dfdt);
    }
    EACH_BELOW(i, all) dfdt[i] *= parts;
}
/* Lanes without factors: a pivot of zero has no inverse. */
static void refuse_singular(Chunk *c, int n, const vreal *M) {
    EACH_REGISTER(u, c) {
        vint singular = {0};
        EACH_BELOW(k, n) singular |= vabs(M[(k * n + k) * c->R + u]) > REAL_MAX;
        fail_lanes(c, u, singular, PI_SINGULAR);
    }
}
/* beside + sum_j w_j u_j of entry i, for n stages whose rows are `all` registers apart. */
INLINE vreal weighed(const double *w, int n, const vreal *u, int64_t all, int64_t i, vreal beside) {
    EACH_BELOW(j, n)
        if (w[j] != 0) beside = vfma(vset(w[j]), u[j * all + i], beside);
    return beside;
}
/* u of every stage. */
static void rosenbrock_stages(Chunk *c, const PiMethod *m, int64_t n, vreal *u) {
    const int64_t R = c->R, all = c->dim * R;
    const int dim = c->dim, own = motion_of(c), driven = c->tile->system->time_dependent;
    vreal *free = c->free, *const M = take_rows(c, (int64_t)dim * dim), *slope = take_rows(c, dim),
          *dfdt = take_rows(c, dim), *y = take_rows(c, dim), *shifted = take_rows(c, dim),
          *here = take_rows(c, 1), *unit = take_rows(c, dim);
    vint *pivot = (vint *)take_rows(c, dim);
    rhs_rows(c, times(c, n, 0), c->y, slope);
    if (driven) time_derivative_rows(c, n, slope, shifted, dfdt);
    jacobian_rows(c, times(c, n, 0), c->y, slope, M, shifted, here);
    EACH_BELOW(i, own) /* M of the motion takes the place of its J; that of tangents stays */
        EACH_BELOW(k, own)
            EACH_REGISTER(j, c) {
                const vreal entry = M[(place(c, i, 0) * dim + place(c, k, 0)) * R + j];
                M[(i * own + k) * R + j] = vset(i == k ? m->inverse[0][0] : 0) - c->h[j] * entry;
            }
    const int scaled = measure(R, own, c->dof ? own / 2 : 0, M, unit);
    factor_rows(c, own, M, pivot, NULL);
    refuse_singular(c, own, M);
    EACH_WHILE(s, m->stages, !c->stopped) {
        vreal *us = u + s * all;
        if (s == 0) copy_rows(c, dim, slope, us);
        else {
            EACH_BELOW(i, all) y[i] = weighed(m->a[s], s, u, all, i, c->y[i]);
            rhs_rows(c, times(c, n, m->c[s]), y, us);
        }
        EACH_BELOW(i, all) {
            const vreal f = driven ? vfma(vset(m->d[s]), dfdt[i], us[i]) : us[i];
            us[i] = vfma(c->h[i % R], f, -weighed(m->inverse[s], s, u, all, i, vzero));
        }
        solve_all_rows(c, 1, M, pivot, scaled ? unit : NULL, M, shifted, us);
    }
    c->free = free;
}
static void rosenbrock_rows_step(Chunk *c, const PiMethod *m, int64_t n) {
    const int64_t all = c->dim * c->R;
    vreal *u = take_rows(c, m->stages * c->dim), *to = increments(c, 0);
    rosenbrock_stages(c, m, n, u);
    EACH_BELOW(i, all) to[i] = weighed(m->b, m->stages, u, all, i, to[i]);
    settle(c, 0, c->dim);
}
