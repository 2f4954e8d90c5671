/* The polynomial of an accepted step, for states within it: one for each pair, whatever is asked.
 *
 * An explicit pair has the Hermite polynomial through states and slopes at theta_j = j / (m + 1)
 * of the step, where the m inner states are made by shortened steps:
 *
 *     u = y_0 + sum_j (1 - 2 l_j'(theta_j) (theta - theta_j)) l_j^2 (y_j - y_0)
 *             + h sum_j (theta - theta_j) l_j^2 f_j
 *
 * of degree 2 m + 3 >= p, and so of the order p of the method. Implicit pairs, whose slopes may
 * change abruptly, have the polynomial through states alone, at thirds of the step; Radau's method
 * its collocation polynomial. All are kept as sums of Chebyshev polynomials in 2 theta - 1, y_0
 * taken out. Hairer, Norsett, Wanner I, II.6. */
#pragma once
#include "chebyshev.h"
#include "start.h"

/* States after parts of the steps, from the same state with the same first slope. */
static void make_parts(Lanes *l) {
    vreal *const last = l->after, *const after = l->yn, *const low = l->low;
    l->after = l->unused;
    if (l->solve->pair.slope != 0) radau_parts_of_steps(l);
    else try_steps(l);
    l->after = last;
    if (l->c.stopped) return;
    l->yn = l->between, l->low = l->ys; /* rounding errors are not needed here */
    step_rows(l);
    l->yn = after, l->low = low;
}
/* The value of basis function j at theta: of state j, or of slope j. */
static double dense_basis(const Lanes *l, int j, int slope, double theta) {
    const int last = l->nodes + 1;
    double lagrange = 1, bend = 0;
    for (int i = 0; i <= last; i++) {
        if (i == j) continue;
        lagrange *= (theta - l->node_at[i]) / (l->node_at[j] - l->node_at[i]);
        bend += 2 / (l->node_at[j] - l->node_at[i]);
    }
    if (l->solve->implicit) return lagrange;
    const double square = lagrange * lagrange, off = theta - l->node_at[j];
    return square * (slope ? off : 1 - bend * off);
}
/* Memory, theta_j, and the Chebyshev coefficients of the basis: those of states 1 to m + 1, then
 * of slopes 0 to m + 1. */
static void make_dense(Lanes *l) {
    const PiSolve *s = l->solve;
    const int m = l->nodes = dense_nodes(s), states = m + 1, rows = dense_basis_rows(s);
    if (!s->record && !s->segments) return;
    l->whole = take_rows(&l->c, 1);
    l->dense = (vint *)take_rows(&l->c, 1);
    l->node_states = take_rows(&l->c, (int64_t)m * l->c.dim);
    l->node_slopes = take_rows(&l->c, s->implicit ? 0 : (int64_t)(m + 2) * l->c.dim);
    l->poly = take_rows(&l->c, (int64_t)(rows + 2) * l->c.dim);
    for (int j = 0; j <= m + 1; j++)
        l->node_at[j] = s->pair.slope != 0 && j ? s->implicit->c[j - 1] : (double)j / (m + 1);
    for (int row = 0; row < rows; row++) {
        double value[CHEB_MOST + 1], a[CHEB_MOST + 1];
        for (int i = 0; i <= CHEB_MOST; i++)
            value[i] = dense_basis(l, row < states ? row + 1 : row - states, row >= states,
                                   0.5 * (1 + cheb_point(CHEB_MOST, i)));
        cheb_coefficients(CHEB_MOST, value, a);
        for (int k = 0; k <= rows; k++) l->node_basis[row][k] = (real)a[k];
    }
}
/* Is a time to be saved within the step of lane i? */
static int has_due(const Lanes *l, int64_t i) {
    const real end = lane_of(l->tn, i), ahead = lane_of(own(l, OWN_NEXT), i) < 0 ? -1 : 1;
    return (lane_of(own(l, OWN_DUE), i) - end) * ahead < 0;
}
/* Which lanes need it; 0: none. */
static int find_dense(Lanes *l) {
    const PiSolve *s = l->solve;
    int any = 0;
    for (int64_t i = 0; i < l->c.R * VLEN; i++) {
        const int64_t u = i / VLEN, at = i % VLEN;
        const int asked = l->accepted[u][at] && (s->segments || (s->record && has_due(l, i)));
        l->dense[u][at] = -asked;
        any |= asked;
    }
    return any;
}
/* States and slopes of the lanes in `dense` at theta_j of the step. */
static void make_nodes(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t n = c->dim * c->R;
    const int m = l->nodes;
    vreal *const z = l->radau.part[RADAU_Z];
    if (l->solve->pair.slope != 0) {
        for (int64_t i = 0; i < m * n; i++) l->node_states[i] = c->y[i % n] + z[i];
        return;
    }
    for (int j = 0; j <= m + 1 && !c->stopped; j++) {
        for (int64_t u = 0; u < c->R; u++)
            c->h[u] = j > m ? l->whole[u] : l->whole[u] * (real)l->node_at[j];
        if (j && j <= m) make_parts(l);
        vreal *const state = j == 0 ? c->y : j <= m ? l->between : l->yn;
        if (j && j <= m) copy_rows(c, c->dim, state, l->node_states + (j - 1) * n);
        for (int64_t i = 0; j && j <= m && l->solve->implicit && i < n; i++) {
            /* Where its equations could not be solved, the chord. */
            vreal *const here = l->node_states + (j - 1) * n + i;
            const vreal chord = vfma(vset((real)l->node_at[j]), l->yn[i] - c->y[i], c->y[i]);
            *here = vselect(vabs(*here) <= vset(REAL_MAX), *here, chord);
        }
        if (!l->solve->implicit)
            rhs_rows(c, times(c, 0, 1), state, l->node_slopes + (int64_t)j * n);
    }
}
/* The polynomials of the lanes' steps. */
static void make_polynomials(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t R = c->R, n = c->dim * R;
    const int m = l->nodes, states = m + 1, rows = dense_basis_rows(l->solve);
    if (!(l->solve->record || l->solve->segments) || !find_dense(l)) return;
    for (int64_t u = 0; u < R; u++) {
        const vreal rounded = l->tn_low[u] - own(l, OWN_T_LOW)[u];
        l->whole[u] = vselect(l->dense[u], (l->tn[u] - c->t0[u]) + rounded, vset(0));
    }
    make_nodes(l);
    for (int64_t i = 0; i < n; i++) {
        vreal of[MOST_BASIS];
        for (int j = 1; j <= states; j++)
            of[j - 1] = (j <= m ? l->node_states[(j - 1) * n + i] : l->yn[i]) - c->y[i];
        for (int row = states; row < rows; row++)
            of[row] = l->whole[i % R] * l->node_slopes[(row - states) * n + i];
        for (int k = 0; k <= rows; k += 2) { /* two sums abreast; the last may be one too many */
            vreal sum = vset(0), next = vset(0);
            for (int row = 0; row < rows; row++) {
                sum = vfma(vset(l->node_basis[row][k]), of[row], sum);
                next = vfma(vset(l->node_basis[row][k + 1]), of[row], next);
            }
            l->poly[k * n + i] = sum;
            l->poly[(k + 1) * n + i] = next;
        }
    }
}
/* T_k(2 theta - 1) for k up to the degree, and 0. */
INLINE void chebyshev_at(int degree, vreal theta, vreal *t) {
    const vreal x = theta + theta - vset(1), twice = x + x;
    t[0] = vset(1), t[1] = x;
    for (int k = 2; k <= degree; k++) t[k] = vfma(twice, t[k - 1], -t[k - 2]);
    t[degree + 1] = vset(0);
}
/* u(theta) of row i: even and odd terms abreast. */
INLINE vreal on_polynomial(const Lanes *l, int degree, int64_t i, const vreal *t) {
    const int64_t n = l->c.dim * l->c.R;
    const vreal *a = l->poly + i;
    vreal even = vset(0), odd = vset(0);
    for (int k = 0; k <= degree; k += 2, a += 2 * n) {
        even = vfma(t[k], a[0], even);
        odd = vfma(t[k + 1], a[n], odd);
    }
    return l->c.y[i] + (even + odd);
}
/* The intermediate state of lanes that interpolate; c->h is the time within the step. */
static void interpolate(Lanes *l) {
    const Chunk *c = &l->c;
    const int degree = dense_basis_rows(l->solve);
    for (int64_t u = 0; u < c->R; u++) {
        if (!vany(l->dense[u] & l->passed[u])) continue;
        vreal t[MOST_BASIS + 2];
        chebyshev_at(degree, c->h[u] / l->whole[u], t);
        for (int64_t i = u; i < c->dim * c->R; i += c->R)
            l->between[i] = vselect(l->dense[u], on_polynomial(l, degree, i, t), l->between[i]);
    }
}
/* For observers: states at theta of each lane, in double precision. */
static void states_at(const PiSteps *steps, const double *theta, double *y) {
    const Lanes *l = steps->of;
    const int degree = dense_basis_rows(l->solve);
    const int64_t R = l->c.R, lanes = R * VLEN;
    for (int64_t u = 0; u < R; u++) {
        vreal at, t[MOST_BASIS + 2];
        for (int64_t i = 0; i < VLEN; i++) at[i] = (real)theta[u * VLEN + i];
        chebyshev_at(degree, at, t);
        for (int64_t d = 0; d < l->c.dim; d++) {
            const vreal state = on_polynomial(l, degree, d * R + u, t);
            for (int64_t i = 0; i < VLEN; i++) y[d * lanes + u * VLEN + i] = (double)state[i];
        }
    }
}
