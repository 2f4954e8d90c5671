/* The classical Runge-Kutta method spelled out: stages of equal weight are added before they are
 * scaled, since some machines execute additions beside multiply-adds, and this saves the latter.
 * Kutta (1901), Z. Math. Phys. 46, 435; the table is methods/rk4.h. */
#pragma once
#include "explicit_rk.h"

/* Two registers go through the stages side by side, so that the dependent additions and
 * multiplications of one overlap with the other's; u: the first of them. */
enum { SIDE_BY_SIDE = 2 };

/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
INLINE void rk4_step(const Model *model, int u, int side, int64_t n, Flight *f) {
    const int dim = model->system->dim;
    vreal outer[SIDE_BY_SIDE][PI_MAX_DIM], inner[SIDE_BY_SIDE][PI_MAX_DIM];
    vreal k[PI_MAX_DIM], ys[SIDE_BY_SIDE][PI_MAX_DIM], t[SIDE_BY_SIDE], t_half[SIDE_BY_SIDE];
    EACH(s, side) {
        const vreal h = f->h[u + s], half = h * 0.5, *y = f->y[u + s];
        t[s] = time_at(f->t0[u + s], h, n);
        t_half[s] = vfma(vset(0.5), h, t[s]);
        rhs(model, t[s], y, f->p[u + s], outer[s]);
        EACH(i, dim) ys[s][i] = vfma(scaled(model, f, u + s, i, half), outer[s][i], y[i]);
    }
    EACH(s, side) {
        const vreal half = f->h[u + s] * 0.5, *y = f->y[u + s];
        rhs(model, t_half[s], ys[s], f->p[u + s], inner[s]);
        EACH(i, dim) ys[s][i] = vfma(scaled(model, f, u + s, i, half), inner[s][i], y[i]);
    }
    EACH(s, side) {
        const vreal h = f->h[u + s], *y = f->y[u + s];
        rhs(model, t_half[s], ys[s], f->p[u + s], k);
        EACH(i, dim) ys[s][i] = vfma(scaled(model, f, u + s, i, h), k[i], y[i]);
        EACH(i, dim) inner[s][i] += k[i];
    }
    EACH(s, side) {
        const vreal h = f->h[u + s], sixth = h * vset(1 / 6.0);
        vreal *y = f->y[u + s];
        rhs(model, t[s] + h, ys[s], f->p[u + s], k);
        EACH(i, dim) {
            const vreal sum = (inner[s][i] + inner[s][i]) + (outer[s][i] + k[i]);
            y[i] = vfma(scaled(model, f, u + s, i, sixth), sum, y[i]);
        }
    }
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
INLINE void rk4_nystrom_form_step(const Model *model, int u, int side, int64_t n, Flight *f) {
    const int dof = model->system->dof;
    vreal t[SIDE_BY_SIDE], t_half[SIDE_BY_SIDE], first[SIDE_BY_SIDE][PI_MAX_DIM];
    vreal second[SIDE_BY_SIDE][PI_MAX_DIM], third[SIDE_BY_SIDE][PI_MAX_DIM], fourth[PI_MAX_DIM];
    vreal middle[SIDE_BY_SIDE][PI_MAX_DIM], end[SIDE_BY_SIDE][PI_MAX_DIM], xs[PI_MAX_DIM];
    EACH(s, side) {
        const vreal h = f->h[u + s], half = h * 0.5, *x = f->y[u + s], *v = x + dof;
        t[s] = time_at(f->t0[u + s], h, n);
        t_half[s] = vfma(vset(0.5), h, t[s]);
        model->acceleration(t[s], x, v, f->p[u + s], first[s]);
        EACH(i, dof) middle[s][i] = vfma(half, v[i], x[i]), end[s][i] = vfma(h, v[i], x[i]);
    }
    EACH(s, side)
        model->acceleration(t_half[s], middle[s], f->y[u + s] + dof, f->p[u + s], second[s]);
    EACH(s, side) {
        const vreal quarter2 = f->h[u + s] * f->h[u + s] * 0.25;
        EACH(i, dof)
            xs[i] = vfma(scaled(model, f, u + s, dof + i, quarter2), first[s][i], middle[s][i]);
        model->acceleration(t_half[s], xs, f->y[u + s] + dof, f->p[u + s], third[s]);
    }
    EACH(s, side) {
        const vreal h = f->h[u + s], half2 = h * h * 0.5, sixth = h * vset(1 / 6.0);
        const vreal sixth2 = h * h * vset(1 / 6.0);
        vreal *x = f->y[u + s], *v = x + dof;
        EACH(i, dof) xs[i] = vfma(scaled(model, f, u + s, dof + i, half2), second[s][i], end[s][i]);
        model->acceleration(t[s] + h, xs, v, f->p[u + s], fourth);
        EACH(i, dof) {
            const vreal inner = second[s][i] + third[s][i], sum = first[s][i] + inner;
            const vreal all = (sum + inner) + fourth[i];
            x[i] = vfma(scaled(model, f, u + s, dof + i, sixth2), sum, end[s][i]);
            v[i] = vfma(scaled(model, f, u + s, dof + i, sixth), all, v[i]);
        }
    }
}
