/* Waiting trajectories: loaded, prepared, with their first slope and their first step. */
#pragma once
#include "trial.h"

/* Attempts before the first test of stiffness, and before that of one that has been stiff. */
enum { FIRST_CHECK = 25, FIRST_AGAIN = 50 };
/* A step that reaches as far may be the last. */
#define ALMOST REAL(1.01)

static void load_own(const Lanes *l, PiRow row, int64_t first, int64_t count, vreal *to) {
    const real *data = row.data;
    EACH_LANE(i, &l->c) LANE(to, i) = data[row.stride ? first + (i < count ? i : count - 1) : 0];
}
/* n such rows. */
static void load_own_rows(const Lanes *l, const PiRow *rows, int64_t n, int64_t first,
                          int64_t count, vreal *to) {
    EACH_BELOW(i, n) load_own(l, rows[i], first, count, to + i * l->c.R);
}
/* sqrt(mean over the components of (y / scale)^2) of register u. */
INLINE vreal scaled_norm(const Lanes *l, const vreal *y, const vreal *minus, int64_t u) {
    const Chunk *c = &l->c;
    vreal sum = vzero;
    EACH_BELOW(d, c->dim) {
        const int64_t at = d * c->R + u;
        const vreal q =
            (minus ? y[at] - minus[at] : y[at]) / tolerance_of(l, at, u, vabs(c->y[at]));
        sum = vfma(q, q, sum);
    }
    return vsqrt(sum / (real)c->dim);
}
/* The first step: one for which an explicit Euler step changes y by a hundredth of the scale, then
 * one for which the estimated second derivative predicts an error of a hundredth.
 * Hairer, Norsett, Wanner I, II.4. ys, yn: work rows of `dim`. slope: f(t0, y0). */
static void first_steps(Lanes *l, const vreal *slope, const vreal *given) {
    Chunk *c = &l->c;
    vreal *h = c->h, *end = l->t_end, *longest = l->longest;
    vint *changed = l->changed;
    EACH_REGISTER(u, c) {
        const vreal d0 = scaled_norm(l, c->y, NULL, u), d1 = scaled_norm(l, slope, NULL, u);
        const vreal small = vset(1e-5), span = vabs(end[u] - c->t0[u]);
        const vint unknown = (d0 < small) | (d1 < small) | ~(d1 <= REAL_MAX);
        vreal step = vselect(unknown, vset(1e-6), REAL(0.01) * d0 / d1);
        changed[u] = ~(step < span);
        TAKE(step, changed[u], span);
        step = vsmaller(step, longest[u]);
        h[u] = vcopysign(step, end[u] - c->t0[u]);
        EACH_IN_COLUMN(i, u, c->dim, c) l->ys[i] = vfma(h[u], slope[i], c->y[i]);
    }
    rhs_rows(c, times(c, 0, 1), l->ys, l->yn);
    EACH_REGISTER(u, c) {
        const vreal d1 = scaled_norm(l, slope, NULL, u), step = vabs(h[u]);
        const vreal d2 = scaled_norm(l, l->yn, slope, u) / step;
        const vreal d = vlarger(d1, d2), tiny = vset(1e-15);
        const vreal part = step * REAL(1e-3), least = vset(1e-6);
        const vreal power = (vlog2_rough(vset(0.01)) - vlog2_rough(d)) / vset(l->pair->power);
        vreal best = vselect(d <= tiny, vlarger(part, least), vexp2_rough(power));
        best = vsmaller(best, step * 100);
        best = vselect(d <= REAL_MAX, best, step); /* no scale if atol and y are 0 */
        TAKE(best, given[u] != 0, vabs(given[u]));
        const vreal span = vabs(end[u] - c->t0[u]);
        best = vsmaller(best, span);
        best = vsmaller(best, longest[u]);
        l->next[u] = vcopysign(best, end[u] - c->t0[u]);
        changed[u] |= span <= best * ALMOST;
    }
}

/* ---- results --------------------------------------------------------------------------------- */
/* Number k of lane i that a continuation sets out from. */
static real *number_onward(const Lanes *l, int64_t i, int64_t k) {
    const int64_t beyond = k - l->at[OWN_END];
    vreal *rest = l->pair->fsal ? l->k : l->radau.before;
    return (real *)(beyond < 0 ? l->own + k * l->c.R : rest + beyond * l->c.R) + i;
}

/* One lane's state, as the save at one of the given times. */
static void record_lane(const Lanes *l, const vreal *y, int64_t i, int64_t number) {
    const PiSolve *s = l->solve;
    real *to = (real *)s->record + number * s->record_next + l->id[i] * s->record_lane;
    EACH_BELOW(d, s->n_saved) to[d * s->record_component] = LANE(y + s->saved[d] * l->c.R, i);
}
/* The direction of time. */
static inline real ahead_of(const Lanes *l, int64_t i) { return LANE(l->next, i) < 0 ? -1 : 1; }
/* The next time at which lane i is saved; beyond the end if there is none. */
static inline real due_of(const Lanes *l, int64_t i) {
    const PiSolve *s = l->solve;
    if (s->record && l->due[i] < s->n_times)
        return ((const real *)s->times)[l->due[i] * s->times_next + l->id[i] * s->times_lane];
    return ahead_of(l, i) * (real)INFINITY;
}
static void set_due(Lanes *l, int64_t i) { LANE(l->next_due, i) = due_of(l, i); }
/* The time and the saved components of lane i, and the numbers of the step that it makes from
 * there; at its end there is none. -1 without memory. */
static int keep_lane(Lanes *l, int64_t i, int step) {
    const PiSolve *s = l->solve;
    const int64_t R = l->c.R;
    real *to = l->solver->keep(l->solver, l->id[i]);
    if (!to) return -1;
    *to++ = LANE(l->c.t0, i);
    EACH_BELOW(d, s->n_saved) *to++ = LANE(l->c.y + s->saved[d] * R, i);
    if (!s->n_within) return 0;
    const vreal *rest = s->pair.radau ? l->radau.z : l->k;
    const int n = s->n_within - 3 - l->c.dim;
    *to++ = step ? LANE(l->tried, i) : NAN;
    *to++ = step ? LANE(l->whole, i) : NAN;
    *to++ = LANE(l->t_low, i);
    EACH_BELOW(d, l->c.dim) *to++ = LANE(l->rounding + d * R, i);
    EACH_BELOW(d, n) *to++ = step ? LANE(rest + d * R, i) : NAN;
    return 0;
}
static void make_tests(Lanes *l);
/* Marks the present state of lane i as where a continuation sets out, unless one is marked.
 * goes_on: with the planned step and control; else with the first step `given`. */
static void mark_lane(Lanes *l, int64_t i, int goes_on, real given) {
    const PiSolve *s = l->solve;
    const int64_t id = l->id[i];
    if (!s->mark || s->mark[id]) return;
    if (l->n_wait && LANE(l->wait, i)) make_tests(l);
    real *to = (real *)s->onward + id * s->n_onward;
    const int64_t rows = l->at[OWN_END] + (goes_on ? rows_beyond(s) : 0);
    EACH_BELOW(k, rows) to[k] = *number_onward(l, i, k);
    if (!goes_on) to[OWN_NEXT] = given;
    s->made[id] = LANE(l->taken, i);
    s->made[s->lanes + id] = LANE(l->rejected, i);
    s->mark[id] = PI_MARKED | goes_on;
    if (l->solver->observer) l->solver->marked(l->solver, id);
}
/* Rarely needed, and so apart from what looks whether it is. */
static void mark_register(Lanes *l, int64_t u, vint which) {
    EACH_BELOW(k, VLEN)
        if (which[k]) mark_lane(l, u * VLEN + k, PI_GOES_ON, 0);
}
/* Lanes of register u that t_end holds up from now on. */
INLINE void mark_lanes(Lanes *l, int64_t u, vint which) {
    vint *changed = l->changed + u;
    which &= ~*changed;
    *changed |= which;
    if (vany(which)) mark_register(l, u, which);
}
static int goes_on(const PiSolve *s, int64_t id) {
    return s->earlier && s->goes_on[id] & PI_GOES_ON;
}
/* Lane i, which has just boarded, goes on from where an earlier run has marked it. */
static void go_on_from_mark(Lanes *l, int64_t i) {
    const PiSolve *s = l->solve;
    const real *from = (const real *)s->earlier + l->id[i] * s->n_earlier;
    const real ahead = ahead_of(l, i);
    s->goes_on[l->id[i]] = 0;
    if (!(from[OWN_NEXT] * ahead > 0 && from[OWN_NEXT] * ahead <= REAL_MAX)) return; /* damaged */
    EACH_BELOW(k, l->at[OWN_END] + rows_beyond(s)) *number_onward(l, i, k) = from[k];
    LANE(l->changed, i) = 0;
    if (s->pair.radau) LANE(l->radau.made_h, i) = NAN; /* no factors */
    LANE(l->accepted, i) = -1;
}
/* Lane i has arrived: its last state, which the remaining saves repeat. */
static void leave(Lanes *l, int64_t i, PiStatus status) {
    const PiSolve *s = l->solve;
    if (l->n_wait && LANE(l->wait, i)) make_tests(l);
    const int64_t id = l->id[i];
    EACH_BELOW(d, l->c.dim) ((real *)s->state)[d * s->lanes + id] = LANE(l->c.y + d * l->c.R, i);
    ((real *)s->t)[id] = LANE(l->c.t0, i);
    const real next = LANE(l->next, i);
    if (next != 0) ((real *)s->h)[id] = next; /* over no distance: the one that is there */
    s->accepted[id] = LANE(l->taken, i);
    s->rejected[id] = LANE(l->rejected, i);
    s->status[id] = status;
    for (; s->record && l->due[i] < s->n_times; l->due[i]++) record_lane(l, l->c.y, i, l->due[i]);
    if (l->solver->keep) keep_lane(l, i, 0); /* without memory the run is cancelled */
    l->id[i] = -1;
    LANE(l->active, i) = 0;
    if (status != PI_CANCELLED) ++*l->solver->arrived;
}

/* ---- the waiting room ------------------------------------------------------------------------ */
/* Whether lane i can continue from its first state. */
static PiStatus first_status(const Lanes *l, const vreal *slope, int64_t i) {
    const real bound = l->solve->bound < REAL_MAX ? l->solve->bound : REAL_MAX;
    PiStatus status = PI_OK;
    EACH_BELOW(d, l->c.dim) {
        const real y = LANE(l->c.y + d * l->c.R, i), f = LANE(slope + d * l->c.R, i);
        if (!(y - y == 0 && f - f == 0)) status = PI_NOT_FINITE;
        else if (!status && (y > bound || -y > bound)) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}
/* Loads the rows of trajectories `first` on. */
static void load_rows(Lanes *l, int64_t first, int64_t count) {
    const PiSolve *s = l->solve;
    Chunk *c = &l->c;
    EACH_BELOW(i, l->at[OWN_PARTS] * c->R) l->own[i] = vzero;
    load_own_rows(l, s->initial, c->dim, first, count, c->y);
    load_own_rows(l, s->params, s->system->n_params, first, count, c->p);
    load_own_rows(l, s->rtol, s->n_rtol, first, count, l->rtol);
    load_own_rows(l, s->atol, s->n_atol, first, count, l->atol);
    load_own(l, s->t0, first, count, c->t0);
    load_own(l, s->t_end, first, count, l->t_end);
    load_own(l, s->max_step, first, count, l->longest);
    ask(c, PI_PREPARE, c->t0, c->y, c->y, c->p);
}
/* Lane i gets trajectory `id`, with the steps that it has made before. */
static void assign_lane(Lanes *l, int64_t i, int64_t id) {
    const PiSolve *s = l->solve;
    const integer taken = s->accepted[id], rejected = s->rejected[id], made = taken + rejected;
    LANE(l->taken, i) = taken;
    LANE(l->rejected, i) = rejected;
    if (s->decay > 0 && !s->pair.radau) {
        vint *due = l->check + i / VLEN;
        due[0][i % VLEN] = made + (made ? FIRST_AGAIN : FIRST_CHECK);
        due[2 * l->c.R][i % VLEN] = made;
    }
    if (s->status[id] == PI_CANCELLED) l->id[i] = id;
    else ++*l->solver->arrived;
}
/* Saves what is due at the start of lane i; if it needs no step, or can make none, it leaves.
 * given: the first step that was asked for. */
static void set_out(Lanes *l, int64_t i, PiStatus status, real given) {
    const Chunk *c = &l->c;
    const real t = LANE(c->t0, i), end = LANE(l->t_end, i);
    set_due(l, i);
    const real ahead = ahead_of(l, i);
    while ((LANE(l->next_due, i) - t) * ahead <= 0) { /* before t: of an earlier part */
        if (LANE(l->next_due, i) == t) record_lane(l, c->y, i, l->due[i]);
        l->due[i]++;
        set_due(l, i);
    }
    if (t != end && goes_on(l->solve, l->id[i])) return;
    if (!status && LANE(l->changed, i)) mark_lane(l, i, 0, given);
    if (status) LANE(l->next, i) = 0; /* it would make no step */
    if (status || t == end) leave(l, i, status);
}
/* Loads trajectories `first` on. Those that need no step leave at once. slope: f(t0, y0) of each,
 * `dim` rows. -1 if the force stops the run. */
static int load_waiting(Lanes *l, int64_t first, int64_t count, vreal *slope) {
    const PiSolve *s = l->solve;
    Chunk *c = &l->c;
    load_rows(l, first, count);
    vreal *given = l->tn;
    load_own(l, s->first_step, first, count, given);
    EACH_REGISTER(u, c) {
        c->h[u] = vzero;
        c->t[u] = c->t0[u];
        l->error[u] = vset(NO_ERROR_YET);
        l->growth[u] = vset(MOST_GROWTH);
        if (s->decay > 0 && s->pair.radau) ((vreal *)l->check)[2 * c->R + u] = c->t0[u];
    }
    rhs_rows(c, times(c, 0, 0), c->y, slope);
    first_steps(l, slope, given);
    if (c->stopped) return -1;
    EACH_LANE(i, c) {
        l->id[i] = -1;
        l->due[i] = 0;
        if (i < count) assign_lane(l, i, first + i);
        LANE(l->active, i) = -(l->id[i] >= 0);
        l->end[i] = l->id[i] >= 0 && !first_status(l, slope, i) ? PI_STEP_MADE : PI_STEP_NONE;
    }
    if (l->solver->observer) {
        const PiSteps steps = {.lanes = c->R * VLEN,
                               .id = l->id,
                               .end = l->end,
                               .t = c->t0,
                               .t_low = l->t_low,
                               .after = c->y};
        if (l->solver->begin(l->solver, &steps)) return -1;
    }
    EACH_LANE(i, c)
        if (l->id[i] >= 0) set_out(l, i, first_status(l, slope, i), LANE(given, i));
    return 0;
}
/* Moves lane `from` of the waiting room to lane i, with its first slope. */
static void board(Lanes *l, int64_t i, Lanes *waiting, const vreal *slope, int64_t from) {
    const int64_t R = l->c.R, own_rows = l->at[OWN_PARTS];
    EACH_BELOW(r, own_rows) LANE(l->own + r * R, i) = LANE(waiting->own + r * R, from);
    EACH_BELOW(d, l->n) LANE(l->k + d * R, i) = LANE(slope + d * R, from);
    l->id[i] = waiting->id[from];
    l->due[i] = waiting->due[from];
    LANE(l->active, i) = -1;
    if (goes_on(l->solve, l->id[i])) go_on_from_mark(l, i);
}
