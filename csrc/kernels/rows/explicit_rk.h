/* Explicit Runge-Kutta and Nystrom methods on rows; registers/explicit_rk.h does the same
 * operations in the same order in registers. */
#pragma once
#include "chunk.h"

/* k_s = f(t + c_s h, y + h sum_j a_sj k_j),   y += h sum_s b_s k_s */
static void explicit_rk_rows_step(Chunk *c, const PiTable *m, int64_t n) {
    const int dim = c->dim;
    vreal *k = take_rows(c, m->stages * dim), *ys = take_rows(c, dim);
    vreal *to = increments(c, 0);
    EACH_BELOW(s, m->stages) {
        combine_rows(c, dim, m, s, 1, c->y, k, dim, ys);
        rhs_rows(c, times(c, n, m->c[s]), ys, k + s * dim * c->R);
    }
    combine_rows(c, dim, m, m->stages, 1, to, k, dim, to);
    settle(c, 0, dim);
}

/* k_s = a(t + c_s h, x + c_s h v + h^2 sum_j A_sj k_j, v),
 * x += h v + h^2 sum_s B_s k_s,   v += h sum_s b_s k_s */
static void nystrom_rows_step(Chunk *c, const PiTable *m, int64_t n) {
    const int dof = c->dof;
    vreal *k = take_rows(c, m->stages * dof), *xs = take_rows(c, dof);
    vreal *x = c->y, *v = c->y + dof * c->R, *dx = increments(c, 0), *dv = increments(c, dof);
    EACH_BELOW(s, m->stages) {
        copy_rows(c, dof, x, xs);
        if (m->c[s] != 0) add_rows(c, dof, m->c[s], 1, v, xs);
        combine_rows(c, dof, m, s, 2, xs, k, dof, xs);
        ask(c, PI_ACCELERATION, times(c, n, m->c[s]), xs, v, k + s * dof * c->R);
    }
    add_rows(c, dof, 1, 1, v, dx);
    combine_rows(c, dof, m, m->stages, 2, dx, k, dof, dx);
    combine_rows(c, dof, m, m->stages + 1, 1, dv, k, dof, dv);
    settle(c, 0, c->dim);
}
