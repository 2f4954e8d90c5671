/* The classical Runge-Kutta method spelled out: stages of equal weight are added before they are
 * scaled, as additions run beside multiply-adds on some machines and there are fewer of these.
 * Kutta (1901), Z. Math. Phys. 46, 435; the table is methods/rk4.h. */
#pragma once
#include "explicit_rk.h"

/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
INLINE void rk4_step(const Model *q, vreal t, vreal h, vreal *y, const vreal *p) {
    const int dim = q->system->dim;
    const vreal half = h * REAL(0.5), sixth = h * (REAL(1.0) / REAL(6.0));
    const vreal t_half = vfma(vset(REAL(0.5)), h, t);
    vreal k1[PI_MAX_DIM], k2[PI_MAX_DIM], k3[PI_MAX_DIM], k4[PI_MAX_DIM], ys[PI_MAX_DIM];
    rhs(q, t, y, p, k1);
    EACH(i, 0, dim) ys[i] = vfma(half, k1[i], y[i]);
    rhs(q, t_half, ys, p, k2);
    EACH(i, 0, dim) ys[i] = vfma(half, k2[i], y[i]);
    rhs(q, t_half, ys, p, k3);
    EACH(i, 0, dim) ys[i] = vfma(h, k3[i], y[i]);
    rhs(q, t + h, ys, p, k4);
    EACH(i, 0, dim) y[i] = vfma(sixth, vfma(vset(REAL(2.0)), k2[i] + k3[i], k1[i] + k4[i]), y[i]);
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
INLINE void rk4_nystrom_form_step(const Model *q, vreal t, vreal h, vreal *y, const vreal *p) {
    const int dof = q->system->dof;
    const vreal h2 = h * h, half = h * REAL(0.5), sixth = h * (REAL(1.0) / REAL(6.0));
    const vreal quarter2 = h2 * REAL(0.25), half2 = h2 * REAL(0.5),
                sixth2 = h2 * (REAL(1.0) / REAL(6.0));
    const vreal t_half = vfma(vset(REAL(0.5)), h, t);
    vreal *x = y, *v = y + dof, middle[PI_MAX_DIM], end[PI_MAX_DIM], xs[PI_MAX_DIM];
    vreal k1[PI_MAX_DIM], k2[PI_MAX_DIM], k3[PI_MAX_DIM], k4[PI_MAX_DIM];
    q->acceleration(t, x, v, p, k1);
    EACH(i, 0, dof) middle[i] = vfma(half, v[i], x[i]), end[i] = vfma(h, v[i], x[i]);
    q->acceleration(t_half, middle, v, p, k2);
    EACH(i, 0, dof) xs[i] = vfma(quarter2, k1[i], middle[i]);
    q->acceleration(t_half, xs, v, p, k3);
    EACH(i, 0, dof) xs[i] = vfma(half2, k2[i], end[i]);
    q->acceleration(t + h, xs, v, p, k4);
    EACH(i, 0, dof) {
        const vreal inner = k2[i] + k3[i], sum = k1[i] + inner;
        x[i] = vfma(sixth2, sum, end[i]);
        v[i] = vfma(sixth, (sum + inner) + k4[i], v[i]);
    }
}
