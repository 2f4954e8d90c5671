/* Explicit Runge-Kutta.   k_s = f(t + c_s h, y + h sum_j a_sj k_j),   y += h sum_s b_s k_s
 *
 * On x'' = a(t, x) the velocity is linear in the stages and drops out of the inner sums (the
 * Nystrom form; the same method, half the operations): with A = a a and B = b a, k_s = a(t + c_s h,
 * x + c_s h v + h^2 sum_j A_sj k_j), x += h v + h^2 sum_s B_s k_s,   v += h sum_s b_s k_s. Hairer,
 * Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.1 and II.14. */
#pragma once
#include "../model.h"

/* y[i] += w k[i] */
INLINE void accumulate(int n, vreal w, const vreal *k, vreal *y) {
    EACH(i, 0, n) y[i] = vfma(w, k[i], y[i]);
}
INLINE void assign(int n, const vreal *from, vreal *to) {
    EACH(i, 0, n) to[i] = from[i];
}
INLINE vreal time_at(vreal t0, vreal h, int64_t n) { return vfma(vset(n), h, t0); }

/* One step with a table known to the compiler. */
INLINE void explicit_rk_step(const Model *model, const PiMethod *m, vreal t, vreal h, vreal *y,
                             const vreal *p) {
    const int dim = model->system->dim, stages = m->evaluations;
    vreal k[PI_MAX_STAGES][PI_MAX_DIM], ys[PI_MAX_DIM];
    EACH(s, 0, stages) {
        assign(dim, y, ys);
        EACH(j, 0, s)
            if (m->a[s][j] != 0) accumulate(dim, h * (real)m->a[s][j], k[j], ys);
        rhs(model, vfma(vset(m->c[s]), h, t), ys, p, k[s]);
    }
    EACH(s, 0, stages)
        if (m->b[s] != 0) accumulate(dim, h * (real)m->b[s], k[s], y);
}

/* The same operations in the same order with a table known only at run time. The loops over stages
 * stay loops, and the registers in flight go through them side by side. w[u] or, if one step
 * serves all, w[0]: the weights of the table times h (or h^2 for positions from accelerations). */
INLINE void table_weights(const PiTable *m, vreal h, vreal *w) {
    const vreal h2 = h * h;
    const int positions = m->nystrom ? m->start[m->stages + 1] : 0;
    for (int64_t i = 0; i < m->start[m->stages + 2]; i++)
        w[i] = (i < positions ? h2 : h) * (real)m->weight[i];
}
/* y[u] += sum_j w_j k_j[u] over a row of the table. */
INLINE void combine(const Model *model, const PiTable *m, int row, int n, int count, const vreal *w,
                    int64_t stride, vreal k[][PI_MAX_FLIGHT][PI_MAX_DIM], vreal y[][PI_MAX_DIM],
                    int first) {
    if (rolled(model))
        for (int64_t u = 0; u < count; u++) {
            vreal sum[PI_MAX_DIM];
            assign(n, y[u] + first, sum);
            for (int i = m->start[row]; i < m->start[row + 1]; i++)
                accumulate(n, w[u * stride + i], k[m->index[i]][u], sum);
            assign(n, sum, y[u] + first);
        }
    else
        for (int i = m->start[row]; i < m->start[row + 1]; i++)
            EACH(u, 0, count) accumulate(n, w[u * stride + i], k[m->index[i]][u], y[u] + first);
}
INLINE void any_explicit_rk_step(const Model *model, const PiTable *m, int count, const vreal *w,
                                 int64_t stride, int64_t n, Flight *f) {
    const int dim = model->system->dim;
    vreal k[PI_MAX_STAGES][PI_MAX_FLIGHT][PI_MAX_DIM], ys[PI_MAX_FLIGHT][PI_MAX_DIM];
    for (int64_t s = 0; s < m->stages; s++) {
        FLIGHT(u, 0, count, assign(dim, f->y[u], ys[u]););
        combine(model, m, s, dim, count, w, stride, k, ys, 0);
        const vreal c = vset(m->c[s]);
        FLIGHT(u, 0, count, {
            rhs(model, vfma(c, f->h[u], time_at(f->t0[u], f->h[u], n)), ys[u], f->p[u], k[s][u]);
        });
    }
    combine(model, m, m->stages, dim, count, w, stride, k, f->y, 0);
}
INLINE void any_nystrom_form_step(const Model *model, const PiTable *m, int count, const vreal *w,
                                  int64_t stride, int64_t n, Flight *f) {
    const int dof = model->system->dof;
    vreal k[PI_MAX_STAGES][PI_MAX_FLIGHT][PI_MAX_DIM], xs[PI_MAX_FLIGHT][PI_MAX_DIM];
    for (int64_t s = 0; s < m->stages; s++) {
        const vreal c = vset(m->c[s]);
        FLIGHT(u, 0, count, assign(dof, f->y[u], xs[u]););
        if (m->c[s] != 0) FLIGHT(u, 0, count, accumulate(dof, f->h[u] * c, f->y[u] + dof, xs[u]););
        combine(model, m, s, dof, count, w, stride, k, xs, 0);
        FLIGHT(u, 0, count, {
            model->acceleration(vfma(c, f->h[u], time_at(f->t0[u], f->h[u], n)), xs[u],
                                f->y[u] + dof, f->p[u], k[s][u]);
        });
    }
    FLIGHT(u, 0, count, accumulate(dof, f->h[u], f->y[u] + dof, f->y[u]););
    combine(model, m, m->stages, dof, count, w, stride, k, f->y, 0);
    combine(model, m, m->stages + 1, dof, count, w, stride, k, f->y, dof);
}
