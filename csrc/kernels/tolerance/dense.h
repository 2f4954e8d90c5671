/* The polynomial of an accepted step, for states within it: one for each pair, whatever is asked.
 *
 *     u(theta) = y_0 + sum_m beta_m B_m(theta),   B_m = (n over m) theta^m (1 - theta)^(n - m)
 *
 * Of an explicit pair its ends have the states and slopes of the step,
 *
 *     beta_1 = h f_0 / n,   beta_(n - 1) = beta_n - h f_1 / n,   beta_n = y_1 - y_0,
 *
 * and the coefficients between them are weighted sums of all slopes, those of a few further stages
 * among them (PiDense): of the order of the method, or one less with an error as small. Implicit
 * pairs, whose slopes may change abruptly, have the cubic through states alone, at thirds of the
 * step; Radau's method its collocation polynomial. The coefficients enclose the polynomial, and
 * change sign at least as often as it. Hairer, Norsett, Wanner I, II.6; Farouki (2012), Comput.
 * Aided Geom. Des. 29, 379-419. */
#pragma once
#include "start.h"

/* States after parts of the steps, from the same state with the same first slope. */
static void make_parts(Lanes *l) {
    vreal *last = l->after, *after = l->yn, *low = l->low, *poly = l->poly;
    l->after = l->unused;
    l->poly = NULL; /* no slopes */
    if (l->pair->radau) radau_parts_of_steps(l);
    else try_steps(l);
    l->after = last, l->poly = poly;
    if (l->c.stopped) return;
    l->yn = l->between, l->low = l->ys; /* rounding errors are not needed here */
    step_rows(l);
    l->yn = after, l->low = low;
}
/* Memory, and for implicit pairs the states within the step: beta_1 and beta_2 from those at two
 * parts of it and the last. */
static void make_dense(Lanes *l) {
    const PiSolve *s = l->solve;
    if (!s->record && !s->asked) return;
    const int n = l->degree = dense_degree(s);
    l->poly = take_rows(&l->c, n * l->c.dim);
    double over = 1;
    for (int m = 0; m <= n; over *= (double)(n - m) / (m + 1), m++) l->over[m] = rint(over);
    if (!s->implicit) return;
    l->node_states = take_rows(&l->c, 2 * l->c.dim);
    double b[2][2], cube[2];
    EACH_BELOW(j, 2) {
        const double at = l->node_at[j] = s->pair.radau ? s->implicit->c[j] : (j + 1) / 3.0;
        b[j][0] = 3 * at * (1 - at) * (1 - at), b[j][1] = 3 * at * at * (1 - at);
        cube[j] = at * at * at;
    }
    const double det = b[0][0] * b[1][1] - b[0][1] * b[1][0];
    const double inverse[2][2] = {{b[1][1] / det, -b[0][1] / det}, {-b[1][0] / det, b[0][0] / det}};
    EACH_BELOW(i, 2) {
        EACH_BELOW(j, 2) l->node_weight[i][j] = inverse[i][j];
        l->node_weight[i][2] = -(inverse[i][0] * cube[0] + inverse[i][1] * cube[1]);
    }
}
/* Marks in l->dense the lanes that need their polynomial: if states are to be saved, those with a
 * time within the step. 0: none does. */
static int find_dense(Lanes *l) {
    const int all = l->solve->asked != 0;
    EACH_REGISTER(u, &l->c) l->dense[u] = all ? l->accepted[u] : vset_int(0);
    if (!all)
        EACH_LANE(i, &l->c)
            LANE(l->dense, i) = -(LANE(l->accepted, i) &&
                                  (LANE(l->next_due, i) - LANE(l->tn, i)) * ahead_of(l, i) < 0);
    return any_row(&l->c, l->dense);
}
/* beta_1 and beta_2 of implicit pairs; those of the chord where the equations of a part of the step
 * could not be solved. */
static void make_chords(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t n = c->dim * c->R;
    const vreal *z = l->radau.z;
    EACH_WHILE(j, 2, !c->stopped) {
        const int radau = l->pair->radau;
        if (!radau)
            EACH_REGISTER(u, c)
                c->h[u] = vselect(l->dense[u], l->whole[u], vzero) * (real)l->node_at[j];
        if (!radau) make_parts(l);
        EACH_BELOW(i, n) {
            const vreal all = l->yn[i] - c->y[i], chord = (real)l->node_at[j] * all;
            const vreal part = radau ? z[j * n + i] : l->between[i] - c->y[i];
            l->node_states[j * n + i] = vselect(vabs(part) <= REAL_MAX, part, chord);
        }
    }
    EACH_REGISTER(u, c) c->h[u] = l->whole[u];
    EACH_BELOW(i, n) {
        l->poly[2 * n + i] = l->yn[i] - c->y[i];
        EACH_BELOW(k, 2) {
            const real *w = l->node_weight[k];
            l->poly[k * n + i] =
                vfma(vset(w[2]), l->poly[2 * n + i],
                     vfma(vset(w[1]), l->node_states[n + i], vset(w[0]) * l->node_states[i]));
        }
    }
}
/* Coefficient m of some components between the ends: h sum w k, in Nystrom form of positions
 * (m / n) h v + h^2 sum w k. */
INLINE void coefficient_some(Lanes *l, uint64_t of, int m, const int positions, int d, int64_t u,
                             int parts, int count) {
    const Chunk *c = &l->c;
    const PiPair *pair = l->pair;
    const int first = d + (positions || !pair->nystrom ? 0 : c->dof);
    if (first + parts <= 64 && !(of >> first & ((1u << parts) - 1))) return;
    const int64_t R = c->R, to = positions || !pair->nystrom ? 0 : c->dof * R;
    const int n = l->degree, row = pair->extra + (m - 2) + (positions ? n - 3 : 0);
    vreal *poly = l->poly + (m - 1) * c->dim * R + to;
    Patch sum;
    weigh(l, pi_dense_row(pair, row), d, u, parts, count, sum);
    EACH(e, parts)
        EACH(i, count) {
            const vreal h = c->h[u + i], *v = c->y + (c->dof + d + e) * R + u + i;
            const vreal times_h = h * sum[e][i];
            poly[(d + e) * R + u + i] =
                positions ? h * vfma(vset((real)m / n), *v, times_h) : times_h;
        }
}
/* The coefficients at the ends, from the slopes there; of positions these are the velocities. */
static void end_coefficients(Lanes *l, const vreal *first, const vreal *last) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, all = c->dim * R;
    const int n = l->degree, positions = l->pair->nystrom ? c->dof : 0;
    const real part = 1 / (real)n;
    EACH_BELOW(i, all) {
        const vreal h = c->h[i % R],
                    *a = i < positions * R ? c->y + c->dof * R + i : first + i - positions * R,
                    *b = i < positions * R ? l->yn + c->dof * R + i : last + i - positions * R;
        const vreal end = i < positions * R ? h * vfma(h, l->sums[i], *a) : h * l->sums[i];
        l->poly[i] = h * *a * part;
        l->poly[(n - 2) * all + i] = vfma(-(h * *b), vset(part), end);
        l->poly[(n - 1) * all + i] = end;
    }
}
/* The coefficients between the ends, of some components: as bits. */
static void inner_coefficients(Lanes *l, uint64_t of) {
    EACH_FROM(m, 2, l->degree - 2 + 1) {
        if (l->pair->nystrom) IN_PATCHES(coefficient_some, l, of, m, 1);
        IN_PATCHES(coefficient_some, l, of, m, 0);
    }
}
/* The polynomials of the lanes' steps. */
static void make_polynomials(Lanes *l) {
    Chunk *c = &l->c;
    const PiPair *pair = l->pair;
    const int64_t R = c->R, each = l->n * R;
    if (l->solve->implicit) {
        if (l->solve->asked) make_chords(l);
        return;
    }
    vreal *last = l->k + (pair->stages - pair->fsal) * each;
    if (!pair->fsal) slope_of(l, 0, 1, l->yn, last);
    EACH_WHILE(e, pair->extra, !c->stopped)
        slope_of(l, pi_dense_row(pair, e), pair->c_extra[e], NULL, last + (e + 1) * each);
    end_coefficients(l, l->k, last);
    const uint64_t asked = l->solve->record ? UINT64_MAX : l->solve->asked;
    inner_coefficients(l, asked);
    l->left = ~asked;
}
/* B_m(theta), m = 1 to the degree. */
INLINE void bernstein_at(const Lanes *l, vreal theta, vreal *b) {
    const int n = l->degree;
    vreal power = theta;
    for (int m = 1; m <= n; m++, power *= theta) b[m] = power * l->over[m];
    const vreal rest = power = 1 - theta;
    for (int m = n - 1; m > 0; m--, power *= rest) b[m] *= power;
}
/* A register of a row; of one lane, with that value in all. */
INLINE vreal of_row(const vreal *row, int64_t lane) {
    return lane < 0 ? *row : vset(LANE(row, lane));
}
/* u(theta) of a row, of the lanes of a register or of one lane, with even and odd terms abreast. */
INLINE vreal on_polynomial(const Lanes *l, int64_t row, int64_t lane, const vreal *b) {
    const int64_t all = l->c.dim * l->c.R;
    const vreal *a = l->poly + row;
    vreal even = vzero, odd = even;
    for (int m = 1; m <= l->degree; m += 2, a += 2 * all) {
        odd = vfma(b[m], of_row(a, lane), odd);
        if (m < l->degree) even = vfma(b[m + 1], of_row(a + all, lane), even);
    }
    return of_row(l->c.y + row, lane) + (even + odd);
}
/* The times of lane i from the n-th on; the last again where there are no more. */
INLINE vreal times_from(const Lanes *l, int64_t i, int64_t n) {
    const PiSolve *s = l->solve;
    const real *times = (const real *)s->times + l->id[i] * s->times_lane;
    real each[VLEN];
    if (s->times_next == 1 && n + VLEN <= s->n_times) return vload(times + n);
    EACH_BELOW(k, VLEN)
        each[k] = times[(n + k < s->n_times ? n + k : s->n_times - 1) * s->times_next];
    return vload(each);
}
/* States of lane i at the n-th and later times, before the `last`, in a register. */
static void record_some(const Lanes *l, int64_t i, int64_t n, int64_t last) {
    const PiSolve *s = l->solve;
    const vreal at = times_from(l, i, n), end = vset(LANE(l->tn, i));
    vreal b[PI_MAX_DEGREE + 1];
    bernstein_at(
        l, ((at - vset(LANE(l->c.t0, i))) - vset(LANE(l->t_low, i))) / vset(LANE(l->whole, i)), b);
    real *to = (real *)s->record + l->id[i] * s->record_lane + n * s->record_next;
    for (int d = 0; d < s->n_saved; d++, to += s->record_component) {
        const int64_t row = s->saved[d] * l->c.R;
        const vreal y = vselect(at == end, vset(LANE(l->yn + row, i)), on_polynomial(l, row, i, b));
        if (s->record_next == 1 && last - n >= VLEN) vstore(to, y);
        else
            EACH_WHILE(k, VLEN, k < last - n) to[k * s->record_next] = y[k];
    }
}
/* States of lane i at all times that its step has passed. */
static void record_on_polynomial(Lanes *l, int64_t i) {
    const real ahead = ahead_of(l, i), end = LANE(l->tn, i);
    int64_t n = l->due[i];
    real t = LANE(l->next_due, i);
    while ((t - end) * ahead <= 0) l->due[i]++, t = due_of(l, i);
    LANE(l->next_due, i) = t;
    for (; n < l->due[i]; n += VLEN) record_some(l, i, n, l->due[i]);
}
/* Makes the coefficients of components that nothing has asked for yet. */
static void make_left(Lanes *l, uint64_t of) {
    if (l->left & of) inner_coefficients(l, l->left), l->left = 0;
}
INLINE int is_marked(uint64_t of, int64_t d) { return d > 63 || (of >> d & 1); }
/* For observers: states at theta of each lane, in double precision; registers where that is 0 in
 * all lanes are left out. */
typedef double Wide __attribute__((vector_size(PI_VECTOR_BYTES / sizeof(real) * sizeof(double))));
INLINE vreal from_doubles(const double *from) {
    Wide wide;
    memcpy(&wide, from, sizeof wide);
    return __builtin_convertvector(wide, vreal);
}
static void states_at(const PiSteps *steps, const double *theta, uint64_t of, double *y) {
    Lanes *l = (Lanes *)steps->of;
    const int64_t R = l->c.R, lanes = R * VLEN;
    int64_t first = 0; /* the lane where it is not 0 */
    while (first < lanes && theta[first] == 0) first++;
    if (first == lanes) return;
    make_left(l, of);
    vint differ = {0};
    EACH_FROM(u, first / VLEN, R) {
        const vreal at = from_doubles(theta + u * VLEN);
        differ |= (at != vset(theta[first])) & (at != 0);
    }
    const int same = !vany(differ);
    vreal b[PI_MAX_DEGREE + 1];
    if (same) bernstein_at(l, vset(theta[first]), b);
    EACH_REGISTER(u, &l->c) {
        const vreal at = from_doubles(theta + u * VLEN);
        if (!vany(at != 0)) continue;
        if (!same) bernstein_at(l, at, b);
        EACH_BELOW(d, l->c.dim) {
            if (!is_marked(of, d)) continue;
            const Wide state = __builtin_convertvector(on_polynomial(l, d * R + u, -1, b), Wide);
            memcpy(y + d * lanes + u * VLEN, &state, sizeof state);
        }
    }
}
/* The same of one lane, at n thetas. */
static void states_of_lane(const PiSteps *steps, int64_t i, int64_t n, const double *theta,
                           uint64_t of, double *y) {
    Lanes *l = (Lanes *)steps->of;
    const int64_t R = l->c.R;
    make_left(l, of);
    for (int64_t k = 0; k < n; k += VLEN) {
        double at[VLEN];
        vreal b[PI_MAX_DEGREE + 1];
        EACH_BELOW(e, VLEN) at[e] = theta[k + e < n ? k + e : n - 1];
        bernstein_at(l, from_doubles(at), b);
        EACH_BELOW(d, l->c.dim) {
            if (!is_marked(of, d)) continue;
            const vreal state = on_polynomial(l, d * R, i, b);
            EACH_WHILE(e, VLEN, k + e < n) y[d * R * VLEN + k + e] = state[e];
        }
    }
}
