/* The classical Runge-Kutta method on rows: the operations of registers/classical_rk4.h in the same
 * order, so that a user's force gives the bits of a built-in system. */
#pragma once
#include "chunk.h"

/* h^2 of each lane. */
static const vreal *squared(Chunk *c) {
    vreal *h2 = take_rows(c, 1);
    EACH_REGISTER(u, c) h2[u] = c->h[u] * c->h[u];
    return h2;
}
/* k = f(t, y + weight h before), at ys. The rates of positions are velocities, made in their place.
 */
static void stage(Chunk *c, const vreal *t, real weight, const vreal *before, vreal *ys, vreal *k) {
    const int dof = c->tile->system->structure == PI_SEPARABLE ? 0 : c->dof;
    const int64_t half = dof * c->R;
    moved_rows(c, 0, dof ? dof : c->dim, c->y, c->h, weight, before, ys);
    if (!dof) {
        rhs_rows(c, t, ys, k);
        return;
    }
    moved_rows(c, dof, dof, c->y + half, c->h, weight, before + half, k);
    ask(c, PI_ACCELERATION, t, ys, k, k + half);
}
/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
static void rk4_rows_step(Chunk *c, int64_t n) {
    const int dim = c->dim;
    const int64_t size = dim * c->R;
    vreal *k1 = take_rows(c, dim), *k2 = take_rows(c, dim), *k3 = take_rows(c, dim),
          *k4 = take_rows(c, dim), *ys = take_rows(c, dim);
    rhs_rows(c, times(c, n, 0), c->y, k1);
    stage(c, times(c, n, 0.5), 0.5, k1, ys, k2);
    stage(c, c->t, 0.5, k2, ys, k3);
    stage(c, times(c, n, 1), 1, k3, ys, k4);
    EACH_BELOW(i, size) k1[i] = (k2[i] + k3[i]) + (k2[i] + k3[i]) + (k1[i] + k4[i]);
    moved_rows(c, 0, dim, c->y, c->h, 1 / 6.0, k1, c->y);
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
static void rk4_nystrom_rows_step(Chunk *c, int64_t n) {
    const int dof = c->dof;
    const int64_t size = dof * c->R;
    vreal *k1 = take_rows(c, dof), *k2 = take_rows(c, dof), *k3 = take_rows(c, dof),
          *k4 = take_rows(c, dof), *middle = take_rows(c, dof), *end = take_rows(c, dof),
          *xs = take_rows(c, dof), *x = c->y, *v = c->y + size;
    const vreal *h = c->h, *h2 = squared(c);
    ask(c, PI_ACCELERATION, times(c, n, 0), x, v, k1);
    moved_rows(c, 0, dof, x, h, 0.5, v, middle);
    moved_rows(c, 0, dof, x, h, 1, v, end);
    ask(c, PI_ACCELERATION, times(c, n, 0.5), middle, v, k2);
    moved_rows(c, dof, dof, middle, h2, 0.25, k1, xs);
    ask(c, PI_ACCELERATION, c->t, xs, v, k3);
    moved_rows(c, dof, dof, end, h2, 0.5, k2, xs);
    ask(c, PI_ACCELERATION, times(c, n, 1), xs, v, k4);
    EACH_BELOW(i, size) {
        const vreal inner = k2[i] + k3[i], sum = k1[i] + inner;
        k1[i] = sum;
        k4[i] = (sum + inner) + k4[i];
    }
    moved_rows(c, dof, dof, end, h2, 1 / 6.0, k1, x);
    moved_rows(c, dof, dof, v, h, 1 / 6.0, k4, v);
}
