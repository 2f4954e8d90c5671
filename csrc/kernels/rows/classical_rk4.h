/* The classical Runge-Kutta method on rows: the operations of registers/classical_rk4.h in the same
 * order, so that a user's force gives the bits of a built-in system. */
#pragma once
#include "chunk.h"

/* constant h^power, rounded as the register kernels do: a row, or one register where the step is
 * the same for all lanes (memory is what a row costs). */
typedef struct {
    const vreal *row;
    int64_t stride; /* 1, or 0 */
} Weight;
static Weight weight_row(Chunk *c, real constant, int power) {
    const int64_t stride = c->tile->h.stride;
    vreal *w = take_rows(c, 1);
    for (int64_t u = 0; u < (stride ? c->R : 1); u++)
        w[u] = (power == 2 ? c->h[u] * c->h[u] : c->h[u]) * constant;
    return (Weight){w, stride};
}
/* to = y + w k, n rows. */
static void moved_rows(const Chunk *c, int n, const vreal *y, Weight w, const vreal *k, vreal *to) {
    if (!w.stride) {
        const vreal one = *w.row;
        int64_t i = 0;
        for (; i + 8 <= n * c->R; i += 8) {
            vreal moved[8];
            EACH(u, 0, 8) moved[u] = vfma(one, k[i + u], y[i + u]);
            EACH(u, 0, 8) to[i + u] = moved[u];
        }
        for (; i < n * c->R; i++) to[i] = vfma(one, k[i], y[i]);
        return;
    }
    for (int64_t d = 0; d < n; d++, y += c->R, k += c->R, to += c->R)
        for (int64_t u = 0; u < c->R; u++) to[u] = vfma(w.row[u], k[u], y[u]);
}

/* (t0 + n h) + h, as the register kernels round it. */
static void end_times(Chunk *c, int64_t n) {
    if (!c->tile->system->time_dependent) return;
    times(c, n, 0);
    for (int64_t u = 0; u < c->R; u++) c->t[u] += c->h[u];
}

/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
static void rk4_rows_step(Chunk *c, int64_t n) {
    const int64_t R = c->R, size = c->dim * R;
    vreal *const free = c->free, *k1 = take_rows(c, c->dim), *k2 = take_rows(c, c->dim),
                 *k3 = take_rows(c, c->dim), *k4 = take_rows(c, c->dim), *ys = take_rows(c, c->dim);
    const Weight half = weight_row(c, REAL(0.5), 1), whole = weight_row(c, REAL(1.0), 1),
                 sixth = weight_row(c, REAL(1.0) / REAL(6.0), 1);
    rhs_rows(c, times(c, n, 0), c->y, k1);
    moved_rows(c, c->dim, c->y, half, k1, ys);
    rhs_rows(c, times(c, n, 0.5), ys, k2);
    moved_rows(c, c->dim, c->y, half, k2, ys);
    rhs_rows(c, c->t, ys, k3);
    moved_rows(c, c->dim, c->y, whole, k3, ys);
    end_times(c, n);
    rhs_rows(c, c->t, ys, k4);
    vreal *y = c->y;
    for (int64_t d = 0; d < size; d += R)
        _Pragma("GCC unroll 4") for (int64_t u = 0, i = d; u < R; u++, i++) {
            const vreal sum = vfma(vset(REAL(2.0)), k2[i] + k3[i], k1[i] + k4[i]);
            y[i] = vfma(sixth.row[u * sixth.stride], sum, y[i]);
        }
    c->free = free;
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
static void rk4_nystrom_rows_step(Chunk *c, int64_t n) {
    const int64_t R = c->R, size = c->dof * R;
    const int dof = c->dof;
    vreal *const free = c->free, *k1 = take_rows(c, dof), *k2 = take_rows(c, dof),
                 *k3 = take_rows(c, dof), *k4 = take_rows(c, dof), *middle = take_rows(c, dof),
                 *end = take_rows(c, dof), *xs = take_rows(c, dof), *x = c->y, *v = c->y + size;
    const Weight half = weight_row(c, REAL(0.5), 1), whole = weight_row(c, REAL(1.0), 1),
                 sixth = weight_row(c, REAL(1.0) / REAL(6.0), 1),
                 quarter2 = weight_row(c, REAL(0.25), 2), half2 = weight_row(c, REAL(0.5), 2),
                 sixth2 = weight_row(c, REAL(1.0) / REAL(6.0), 2);
    ask(c, PI_ACCELERATION, times(c, n, 0), x, v, k1);
    moved_rows(c, dof, x, half, v, middle);
    moved_rows(c, dof, x, whole, v, end);
    ask(c, PI_ACCELERATION, times(c, n, 0.5), middle, v, k2);
    moved_rows(c, dof, middle, quarter2, k1, xs);
    ask(c, PI_ACCELERATION, c->t, xs, v, k3);
    moved_rows(c, dof, end, half2, k2, xs);
    end_times(c, n);
    ask(c, PI_ACCELERATION, c->t, xs, v, k4);
    for (int64_t d = 0; d < size; d += R)
        for (int64_t u = 0, i = d; u < R; u++, i++) {
            const vreal inner = k2[i] + k3[i], sum = k1[i] + inner;
            x[i] = vfma(sixth2.row[u * sixth2.stride], sum, end[i]);
            v[i] = vfma(sixth.row[u * sixth.stride], (sum + inner) + k4[i], v[i]);
        }
    c->free = free;
}
