/* The classical Runge-Kutta method spelled out: stages of equal weight are added before they are
 * scaled, since some machines execute additions beside multiply-adds, and this saves the latter.
 * Kutta (1901), Z. Math. Phys. 46, 435; the table is methods/rk4.h. */
#pragma once
#include "explicit_rk.h"

/* Two registers go through the stages side by side, so that the dependent additions and
 * multiplications of one overlap with the other's; u: the first of them. */
enum { SIDE_BY_SIDE = 2 };

/* k = f(t, at) of register u, and the next stage at y + w k. */
INLINE void rk4_stage(const Model *model, int u, vreal t, const vreal *at, vreal w, vreal *k,
                      vreal *ys, const Flight *f) {
    rhs(model, t, at, f->p[u], k);
    EACH(i, model->system->dim) ys[i] = vfma(scaled(model, f, u, i, w), k[i], f->y[u][i]);
}
/* y' = f(t, y):   y += h/6 ((k1 + k4) + 2 (k2 + k3)) */
INLINE void rk4_step(const Model *model, int first, int side, int64_t n, Flight *f) {
    const int dim = model->system->dim;
    vreal outer[SIDE_BY_SIDE][PI_MAX_DIM], inner[SIDE_BY_SIDE][PI_MAX_DIM], k[PI_MAX_DIM];
    vreal ys[SIDE_BY_SIDE][PI_MAX_DIM], t[SIDE_BY_SIDE], t_half[SIDE_BY_SIDE];
    EACH(s, side) {
        const int u = first + s;
        const vreal h = f->h[u];
        t[s] = time_at(f->t0[u], h, n);
        t_half[s] = vfma(vset(0.5), h, t[s]);
        rk4_stage(model, u, t[s], f->y[u], h * 0.5, outer[s], ys[s], f);
    }
    EACH(s, side)
        rk4_stage(model, first + s, t_half[s], ys[s], f->h[first + s] * 0.5, inner[s], ys[s], f);
    EACH(s, side) {
        rk4_stage(model, first + s, t_half[s], ys[s], f->h[first + s], k, ys[s], f);
        EACH(i, dim) inner[s][i] += k[i];
    }
    EACH(s, side) {
        const int u = first + s;
        const vreal h = f->h[u], sixth = h * vset(1 / 6.0);
        vreal *y = f->y[u];
        rhs(model, t[s] + h, ys[s], f->p[u], k);
        EACH(i, dim) {
            const vreal sum = (inner[s][i] + inner[s][i]) + (outer[s][i] + k[i]);
            y[i] = vfma(scaled(model, f, u, i, sixth), sum, y[i]);
        }
    }
}

/* x'' = a(t, x):   x += h v + h^2/6 (k1 + k2 + k3),   v += h/6 (k1 + 2 k2 + 2 k3 + k4) */
INLINE void rk4_nystrom_form_step(const Model *model, int u0, int side, int64_t n, Flight *f) {
    const int dof = model->system->dof;
    vreal t[SIDE_BY_SIDE], first[SIDE_BY_SIDE][PI_MAX_DIM], second[SIDE_BY_SIDE][PI_MAX_DIM];
    vreal third[SIDE_BY_SIDE][PI_MAX_DIM], fourth[PI_MAX_DIM], xs[PI_MAX_DIM];
    vreal middle[SIDE_BY_SIDE][PI_MAX_DIM], end[SIDE_BY_SIDE][PI_MAX_DIM], t_half[SIDE_BY_SIDE];
    EACH(s, side) {
        const int u = u0 + s;
        const vreal h = f->h[u], half = h * 0.5, *x = f->y[u], *v = x + dof;
        t[s] = time_at(f->t0[u], h, n);
        t_half[s] = vfma(vset(0.5), h, t[s]);
        model->acceleration(t[s], x, v, f->p[u], first[s]);
        EACH(i, dof) middle[s][i] = vfma(half, v[i], x[i]), end[s][i] = vfma(h, v[i], x[i]);
    }
    EACH(s, side)
        model->acceleration(t_half[s], middle[s], f->y[u0 + s] + dof, f->p[u0 + s], second[s]);
    EACH(s, side) {
        const int u = u0 + s;
        const vreal quarter2 = f->h[u] * f->h[u] * 0.25;
        EACH(i, dof)
            xs[i] = vfma(scaled(model, f, u, dof + i, quarter2), first[s][i], middle[s][i]);
        model->acceleration(t_half[s], xs, f->y[u] + dof, f->p[u], third[s]);
    }
    EACH(s, side) {
        const int u = u0 + s;
        const vreal h = f->h[u], half2 = h * h * 0.5, sixth = h * vset(1 / 6.0);
        const vreal sixth2 = h * h * vset(1 / 6.0);
        vreal *x = f->y[u], *v = x + dof;
        EACH(i, dof) xs[i] = vfma(scaled(model, f, u, dof + i, half2), second[s][i], end[s][i]);
        model->acceleration(t[s] + h, xs, v, f->p[u], fourth);
        EACH(i, dof) {
            const vreal inner = second[s][i] + third[s][i], sum = first[s][i] + inner;
            const vreal all = (sum + inner) + fourth[i];
            x[i] = vfma(scaled(model, f, u, dof + i, sixth2), sum, end[s][i]);
            v[i] = vfma(scaled(model, f, u, dof + i, sixth), all, v[i]);
        }
    }
}
