/* Many times within one step of an explicit pair: a polynomial instead of a shortened step for each
 * of them, by Hermite interpolation of states and slopes at theta_j = j / (m + 1) of the step,
 * where the m inner ones are computed by shortened steps:
 *
 *     u = y_0 + sum_j (1 - 2 l_j'(theta_j) (theta - theta_j)) l_j^2 (y_j - y_0)
 *             + h sum_j (theta - theta_j) l_j^2 f_j
 *
 * of degree 2 m + 3 >= p, and so of the order p of the method. It is used for trajectories with
 * more than m times in a step, each by itself; with fewer, shortened steps cost less. (Steps of
 * implicit pairs are too long for smooth interpolation: theirs are always shortened.) Hairer,
 * Norsett, Wanner I, II.6. */
#pragma once
#include "event_location.h"

/* Memory, and theta_j, 1 / prod_i (theta_j - theta_i) and 2 l_j'(theta_j) of the nodes. */
static void make_dense(Lanes *l) {
    const PiSolve *s = l->solve;
    const int m = l->nodes = dense_nodes(s);
    if (!s->record) return;
    l->whole = take_rows(&l->c, 1);
    l->dense = (vint *)take_rows(&l->c, 1);
    if (s->implicit) return;
    l->node_states = take_rows(&l->c, (int64_t)m * l->c.dim);
    l->node_slopes = take_rows(&l->c, (int64_t)(m + 2) * l->c.dim);
    for (int j = 0; j <= m + 1; j++) {
        double scale = 1, bend = 0;
        for (int i = 0; i <= m + 1; i++) {
            const double apart = (double)(j - i) / (m + 1);
            scale /= i == j ? 1 : apart;
            bend += i == j ? 0 : 2 / apart;
        }
        l->node_at[j] = (real)((double)j / (m + 1));
        l->node_scale[j] = (real)scale;
        l->node_bend[j] = (real)bend;
    }
}
/* Which lanes have so many times within their step, which must not have ended at an event. */
static int find_dense(Lanes *l) {
    const PiSolve *s = l->solve;
    const real *all = (const real *)s->times;
    const int enough = l->nodes ? l->nodes + 1 : 2;
    int any = 0;
    for (int64_t i = 0; i < l->c.R * VLEN; i++) {
        const int64_t u = i / VLEN, at = i % VLEN;
        const real end = lane_of(l->tn, i), ahead = lane_of(own(l, OWN_NEXT), i) < 0 ? -1 : 1;
        int64_t k = l->due[i], within = 0;
        const int whole = !s->implicit && (!l->solver->locate || l->end[i] == PI_STEP_MADE);
        while (l->accepted[u][at] && whole && within < enough && k < s->n_times &&
               (all[k * s->times_next + l->id[i] * s->times_lane] - end) * ahead < 0)
            k++, within++;
        l->dense[u][at] = -(within == enough);
        any |= within == enough;
    }
    return any;
}
/* The steps of lanes that interpolate, and the slopes at their beginnings. */
static void begin_nodes(Lanes *l) {
    Chunk *c = &l->c;
    for (int64_t u = 0; u < c->R; u++) {
        const vreal rounded = l->tn_low[u] - own(l, OWN_T_LOW)[u];
        l->whole[u] = vselect(l->dense[u], (l->tn[u] - c->t0[u]) + rounded, vset(0));
        c->h[u] = vset(0);
    }
    rhs_rows(c, times(c, 0, 0), c->y, l->node_slopes);
}
/* The intermediate state is that of node j, after steps c->h. */
static void take_node(Lanes *l, int j) {
    Chunk *c = &l->c;
    const int64_t n = c->dim * c->R;
    copy_rows(c, c->dim, l->between, l->node_states + (j - 1) * n);
    rhs_rows(c, times(c, 0, 1), l->between, l->node_slopes + j * n);
}
static void end_nodes(Lanes *l) {
    Chunk *c = &l->c;
    copy_rows(c, 1, l->whole, c->h);
    rhs_rows(c, times(c, 0, 1), l->yn, l->node_slopes + (l->nodes + 1) * c->dim * c->R);
}
/* u(theta) for lanes that interpolate, into the intermediate state; c->h is the time in the step.
 */
static void on_polynomial(Lanes *l) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, n = c->dim * R;
    const int m = l->nodes;
    for (int64_t u = 0; u < R; u++) {
        if (!vany(l->dense[u] & l->passed[u])) continue;
        const vreal theta = c->h[u] / l->whole[u];
        vreal of_state[MOST_NODES + 2], of_slope[MOST_NODES + 2];
        for (int j = 0; j <= m + 1; j++) {
            vreal lagrange = vset(l->node_scale[j]);
            for (int i = 0; i <= m + 1; i++)
                if (i != j) lagrange *= theta - vset(l->node_at[i]);
            const vreal square = lagrange * lagrange, off = theta - vset(l->node_at[j]);
            of_state[j] = square * vfma(off, vset(-l->node_bend[j]), vset(1));
            of_slope[j] = square * off * l->whole[u];
        }
        for (int64_t i = u; i < n; i += R) {
            vreal sum = vset(0);
            for (int j = 0; j <= m + 1; j++)
                sum = vfma(of_slope[j], l->node_slopes[j * n + i], sum);
            for (int j = 1; j <= m + 1; j++) {
                const vreal state = j <= m ? l->node_states[(j - 1) * n + i] : l->yn[i];
                sum = vfma(of_state[j], state - c->y[i], sum);
            }
            l->between[i] = vselect(l->dense[u], c->y[i] + sum, l->between[i]);
        }
    }
}
