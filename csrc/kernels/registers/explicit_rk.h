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
    EACH(i, n) y[i] = vfma(w, k[i], y[i]);
}
INLINE void assign(int n, const vreal *from, vreal *to) {
    EACH(i, n) to[i] = from[i];
}
INLINE vreal time_at(vreal t0, vreal h, int64_t n) { return vfma(vset(n), h, t0); }

/* One step with a table known to the compiler. */
INLINE void explicit_rk_step(const Model *model, const PiMethod *m, vreal t, vreal h, vreal *y,
                             const vreal *p) {
    const int dim = model->system->dim, stages = m->evaluations;
    vreal k[PI_MAX_STAGES][PI_MAX_DIM], ys[PI_MAX_DIM];
    EACH(s, stages) {
        assign(dim, y, ys);
        EACH(j, s)
            if (m->a[s][j] != 0) accumulate(dim, h * (real)m->a[s][j], k[j], ys);
        rhs(model, vfma(vset(m->c[s]), h, t), ys, p, k[s]);
    }
    EACH(s, stages)
        if (m->b[s] != 0) accumulate(dim, h * (real)m->b[s], k[s], y);
}

/* The same operations in the same order with a table known only at run time. The loops over stages
 * stay loops, and the registers in flight go through them side by side. w[u] or, if one step
 * serves all, w[0]: the weights of the table times h (or h^2 for positions from accelerations). */
INLINE void table_weights(const PiTable *m, vreal h, vreal *w) {
    const vreal h2 = h * h;
    const int positions = m->nystrom ? m->start[m->stages + 1] : 0;
    EACH_BELOW(i, m->start[m->stages + 2]) w[i] = (i < positions ? h2 : h) * (real)m->weight[i];
}
/* y[u] += sum_j w_j k_j[u] of `count` registers, over a row of the table. */
typedef vreal Slopes[PI_MAX_FLIGHT][PI_MAX_DIM];
INLINE void combine(const PiTable *m, int row, int n, int from, int count, const vreal *w,
                    int64_t stride, const Slopes *k, vreal y[][PI_MAX_DIM]) {
    for (int i = m->start[row]; i < m->start[row + 1]; i++)
        EACH(u, count) accumulate(n, w[(from + u) * stride + i], k[m->index[i]][from + u], y[u]);
}
/* Stage s: the slopes k[s] of `count` registers from `from` on, at step n. */
INLINE void table_stage(const Model *model, const PiTable *m, int s, int from, int count,
                        const vreal *w, int64_t stride, int64_t n, Flight *f, Slopes *k) {
    const int nystrom = pi_sees_positions_only(model->system), dof = model->system->dof;
    const int dim = nystrom ? dof : model->system->dim;
    const vreal c = vset(m->c[s]);
    vreal ys[PI_MAX_FLIGHT][PI_MAX_DIM];
    EACH(u, count) {
        assign(dim, f->y[from + u], ys[u]);
        if (nystrom && m->c[s] != 0)
            accumulate(dof, f->h[from + u] * c, f->y[from + u] + dof, ys[u]);
    }
    combine(m, s, dim, from, count, w, stride, k, ys);
    EACH(u, count) {
        const int at = from + u;
        const vreal t = vfma(c, f->h[at], time_at(f->t0[at], f->h[at], n));
        if (nystrom) model->acceleration(t, ys[u], f->y[at] + dof, f->p[at], k[s][at]);
        else rhs(model, t, ys[u], f->p[at], k[s][at]);
    }
}
/* Their next states, after the last stage; in Nystrom form positions, then velocities. */
INLINE void table_end(const Model *model, const PiTable *m, int from, int count, const vreal *w,
                      int64_t stride, Flight *f, const Slopes *k) {
    const int nystrom = pi_sees_positions_only(model->system), dof = model->system->dof;
    const int dim = nystrom ? dof : model->system->dim;
    vreal ys[PI_MAX_FLIGHT][PI_MAX_DIM];
    EACH(part, 1 + nystrom) {
        const int first = part ? dof : 0;
        EACH(u, count) {
            vreal *y = f->y[from + u];
            assign(dim, y + first, ys[u]);
            if (nystrom && !part) accumulate(dof, f->h[from + u], y + dof, ys[u]);
        }
        combine(m, m->stages + part, dim, from, count, w, stride, k, ys);
        EACH(u, count) assign(dim, ys[u], f->y[from + u] + first);
    }
}
INLINE void any_explicit_rk_step(const Model *model, const PiTable *m, int count, const vreal *w,
                                 int64_t stride, int64_t n, Flight *f) {
    Slopes k[PI_MAX_STAGES];
    const int some = rolled(model) ? 1 : count;
    for (int s = 0; s < m->stages; s++)
        for (int u = 0; u < count; u += some) table_stage(model, m, s, u, some, w, stride, n, f, k);
    for (int u = 0; u < count; u += some) table_end(model, m, u, some, w, stride, f, k);
}
