/* Explicit Runge-Kutta and Nystrom methods on rows; registers/explicit_rk.h does the same
 * operations in the same order in registers. */
#pragma once
#include "chunk.h"

/* k_s = f(t + c_s h, y + h sum_j a_sj k_j),   y += h sum_s b_s k_s */
static void explicit_rk_rows_step(Chunk *c, const PiTable *m, int64_t n) {
    vreal *const free = c->free, *k = take_rows(c, m->stages * c->dim), *ys = take_rows(c, c->dim);
    vreal *const to = increments(c, 0);
    EACH_BELOW(s, m->stages) {
        combine_rows(c, c->dim, m, s, 1, c->y, k, c->dim, ys);
        rhs_rows(c, times(c, n, m->c[s]), ys, k + s * c->dim * c->R);
    }
    combine_rows(c, c->dim, m, m->stages, 1, to, k, c->dim, to);
    settle(c, 0, c->dim);
    c->free = free;
}

/* k_s = a(t + c_s h, x + c_s h v + h^2 sum_j A_sj k_j, v),
 * x += h v + h^2 sum_s B_s k_s,   v += h sum_s b_s k_s */
static void nystrom_rows_step(Chunk *c, const PiTable *m, int64_t n) {
    vreal *const free = c->free, *k = take_rows(c, m->stages * c->dof), *xs = take_rows(c, c->dof);
    vreal *x = c->y, *v = c->y + c->dof * c->R, *dx = increments(c, 0), *dv = increments(c, c->dof);
    EACH_BELOW(s, m->stages) {
        copy_rows(c, c->dof, x, xs);
        if (m->c[s] != 0) add_rows(c, c->dof, m->c[s], 1, v, xs);
        combine_rows(c, c->dof, m, s, 2, xs, k, c->dof, xs);
        ask(c, PI_ACCELERATION, times(c, n, m->c[s]), xs, v, k + s * c->dof * c->R);
    }
    add_rows(c, c->dof, 1, 1, v, dx);
    combine_rows(c, c->dof, m, m->stages, 2, dx, k, c->dof, dx);
    combine_rows(c, c->dof, m, m->stages + 1, 1, dv, k, c->dof, dv);
    settle(c, 0, c->dim);
    c->free = free;
}
