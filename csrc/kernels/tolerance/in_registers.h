/* A trial step of a system with compiled mathematics: slopes stay in registers and on the stack.
 * The same operations in the same order as in trial.h, which is for any force on rows. */
#pragma once
#include "../model.h"

/* Registers processed together, and the slopes of all in a stage. */
enum { MOST_TRIALS = 4, MOST_SLOPES = 2 * PI_MAX_DIM };

/* sum_j weight_j k_j over a row of the table. */
INLINE void weigh_slopes(const PiPair *m, const real *w, int row, int n, int count,
                         vreal k[][MOST_SLOPES], vreal *sum) {
    EACH(i, count * n) sum[i] = vzero;
    for (int j = m->start[row]; j < m->start[row + 1]; j++) {
        const vreal weight = vset(w[j]), *slope = k[m->index[j]];
        EACH(i, count * n) sum[i] = vfma(weight, slope[i], sum[i]);
    }
}
/* Row i of a part of the rows, at register `at`. */
#define ROW(part, i, at) ((vreal *)r->part)[(i) * r->registers + (at)]
INLINE void trial_some(const Model *model, const PiTrialRows *r, int64_t first, int count) {
    const PiSystem *system = model->system;
    const PiPair *m = r->pair;
    const real *w = r->weights;
    const int dim = system->dim, dof = system->dof;
    const int nystrom = pi_sees_positions_only(system), n = nystrom ? dof : dim;
    vreal k[PI_MAX_STAGES][MOST_SLOPES], sum[MOST_SLOPES];
    vreal y[MOST_TRIALS][PI_MAX_DIM], ys[MOST_TRIALS][PI_MAX_DIM];
    vreal p[MOST_TRIALS][PI_MAX_PARAMS], t[MOST_TRIALS], h[MOST_TRIALS];
    EACH(u, count) {
        t[u] = ROW(t, 0, first + u);
        h[u] = ROW(h, 0, first + u);
        EACH(d, dim) y[u][d] = ROW(y, d, first + u);
        EACH(i, PI_MAX_PARAMS) p[u][i] = ROW(p, i, first + u);
        EACH(d, n)
            if (m->fsal) k[0][u * n + d] = ROW(first, d, first + u);
    }
    for (int s = m->fsal; s < m->stages; s++) {
        const vreal c = vset(m->c[s]);
        weigh_slopes(m, w, s, n, count, k, sum);
        EACH(u, count) {
            EACH(d, n)
                ys[u][d] = nystrom ? vfma(h[u] * h[u], sum[u * n + d],
                                          vfma(c * h[u], y[u][dof + d], y[u][d]))
                                   : vfma(h[u], sum[u * n + d], y[u][d]);
            const vreal at = vfma(c, h[u], t[u]);
            if (nystrom) model->acceleration(at, ys[u], y[u] + dof, p[u], k[s] + u * n);
            else rhs(model, at, ys[u], p[u], k[s] + u * n);
        }
    }
    for (int s = m->fsal; r->slopes && s < m->stages; s++)
        EACH(u, count)
            EACH(d, n) ROW(slopes, s * n + d, first + u) = k[s][u * n + d];
    EACH_BELOW(kind, 2 + (m->combined > 0))
        for (int position = nystrom; position >= 0; position--) {
            weigh_slopes(m, w, m->stages + (position ? PI_STEP_X : PI_STEP) + kind, n, count, k,
                         sum);
            const int64_t to = kind * dim + (nystrom && !position ? dof : 0);
            EACH(u, count)
                EACH(d, n) ROW(sums, to + d, first + u) = sum[u * n + d];
        }
    if (!m->fsal) return;
    EACH(u, count)
        EACH(d, n) ROW(last, d, first + u) = k[m->stages - 1][u * n + d];
}
#undef ROW
INLINE void trial_in_registers(const Model *model, const PiTrialRows *rows) {
    const PiSystem *system = model->system;
    /* A sum waits for itself: of few, more registers abreast. */
    const int few = pi_sees_positions_only(system) && system->dof <= 2;
    const int64_t R = rows->registers;
    int64_t u = 0;
    for (; few && u + 4 <= R; u += 4) trial_some(model, rows, u, 4);
    for (; u + 2 <= R; u += 2) trial_some(model, rows, u, 2);
    for (; u < R; u++) trial_some(model, rows, u, 1);
}
