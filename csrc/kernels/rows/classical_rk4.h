/* The classical Runge-Kutta method on rows: the operations of registers/classical_rk4.h in the same
 * order, so that a user's force gives the bits of a built-in system. */
#pragma once
#include "chunk.h"

/* constant h^power, rounded as in the register kernels. */
static Factor weight_row(Chunk *c, real constant, int power) {
    const int64_t stride = c->tile->h.stride;
    vreal *w = take_rows(c, 1);
    for (int64_t u = 0; u < (stride ? c->R : 1); u++)
        w[u] = (power == 2 ? c->h[u] * c->h[u] : c->h[u]) * constant;
    return (Factor){w, stride};
}
/* to = y + one k, n registers. */
static void moved_by_one(int64_t n, const vreal *y, vreal one, const vreal *k, vreal *to) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vreal moved[8];
        EACH(u, 0, 8) moved[u] = vfma(one, k[i + u], y[i + u]);
        EACH(u, 0, 8) to[i + u] = moved[u];
    }
    for (; i < n; i++) to[i] = vfma(one, k[i], y[i]);
}
/* to[d] = y[d] + w k[d] for n components from d = `first` on, to which these rows belong; w
 * includes the scale of each. */
static void moved_rows(const Chunk *c, int first, int n, const vreal *y, Factor w, const vreal *k,
                       vreal *to) {
    const int64_t R = c->R;
    for (int d = 0, some; d < n; d += some, y += some * R, k += some * R, to += some * R) {
        const Factor scale = scale_of(c, first + d);
        /* Rows without a scale are processed together. */
        for (some = 1; !scale.row && d + some < n && !scale_of(c, first + d + some).row;) some++;
        if (!w.stride && !scale.row) moved_by_one(some * R, y, *w.row, k, to);
        else if (!w.stride && !scale.stride) moved_by_one(R, y, *w.row * *scale.row, k, to);
        else
            for (int64_t e = 0; e < some * R; e += R)
                EACH_REGISTER(u, c) {
                    vreal weight = w.row[u * w.stride];
                    if (scale.row) weight *= scale.row[u * scale.stride];
                    to[e + u] = vfma(weight, k[e + u], y[e + u]);
                }
    }
}
/* (t0 + n h) + h, rounded as in the register kernels. */
static void end_times(Chunk *c, int64_t n) {
    if (!c->tile->system->time_dependent) return;
    times(c, n, 0);
    EACH_REGISTER(u, c) c->t[u] += c->h[u];
}

/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
static void rk4_rows_step(Chunk *c, int64_t n) {
    const int64_t R = c->R, size = c->dim * R;
    vreal *const free = c->free, *k1 = take_rows(c, c->dim), *k2 = take_rows(c, c->dim),
                 *k3 = take_rows(c, c->dim), *k4 = take_rows(c, c->dim), *ys = take_rows(c, c->dim);
    const Factor half = weight_row(c, 0.5, 1), whole = weight_row(c, 1.0, 1),
                 sixth = weight_row(c, 1 / 6.0, 1);
    rhs_rows(c, times(c, n, 0), c->y, k1);
    moved_rows(c, 0, c->dim, c->y, half, k1, ys);
    rhs_rows(c, times(c, n, 0.5), ys, k2);
    moved_rows(c, 0, c->dim, c->y, half, k2, ys);
    rhs_rows(c, c->t, ys, k3);
    moved_rows(c, 0, c->dim, c->y, whole, k3, ys);
    end_times(c, n);
    rhs_rows(c, c->t, ys, k4);
    for (int64_t i = 0; i < size; i++) k1[i] = (k2[i] + k3[i]) + (k2[i] + k3[i]) + (k1[i] + k4[i]);
    moved_rows(c, 0, c->dim, c->y, sixth, k1, c->y);
    c->free = free;
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
static void rk4_nystrom_rows_step(Chunk *c, int64_t n) {
    const int64_t R = c->R, size = c->dof * R;
    const int dof = c->dof;
    vreal *const free = c->free, *k1 = take_rows(c, dof), *k2 = take_rows(c, dof),
                 *k3 = take_rows(c, dof), *k4 = take_rows(c, dof), *middle = take_rows(c, dof),
                 *end = take_rows(c, dof), *xs = take_rows(c, dof), *x = c->y, *v = c->y + size;
    const Factor half = weight_row(c, 0.5, 1), whole = weight_row(c, 1.0, 1),
                 sixth = weight_row(c, 1 / 6.0, 1), quarter2 = weight_row(c, 0.25, 2),
                 half2 = weight_row(c, 0.5, 2), sixth2 = weight_row(c, 1 / 6.0, 2);
    ask(c, PI_ACCELERATION, times(c, n, 0), x, v, k1);
    moved_rows(c, 0, dof, x, half, v, middle);
    moved_rows(c, 0, dof, x, whole, v, end);
    ask(c, PI_ACCELERATION, times(c, n, 0.5), middle, v, k2);
    moved_rows(c, dof, dof, middle, quarter2, k1, xs);
    ask(c, PI_ACCELERATION, c->t, xs, v, k3);
    moved_rows(c, dof, dof, end, half2, k2, xs);
    end_times(c, n);
    ask(c, PI_ACCELERATION, c->t, xs, v, k4);
    for (int64_t i = 0; i < size; i++) {
        const vreal inner = k2[i] + k3[i], sum = k1[i] + inner;
        k1[i] = sum;
        k4[i] = (sum + inner) + k4[i];
    }
    moved_rows(c, dof, dof, end, sixth2, k1, x);
    moved_rows(c, dof, dof, v, sixth, k4, v);
    c->free = free;
}
