/* The consequences of events: see occur.h. */
#include "occur.h"
#include <math.h>
#include "../run/layout.h"

double *count_of(const Lane *l, int j) {
    return l->e->counts[l->seen->block & 1] + j * l->run->stride + l->lane;
}
static void keep(const Lane *l, int j, const Moment *m) {
    const PiEvent *event = &l->e->event[j];
    const int64_t stride = l->run->stride, k = pi_kept_before(event, *count_of(l, j));
    *count_of(l, j) += 1;
    if (k < 0) return;
    event->t[k * stride + l->lane] = time_of(l, m->passed);
    for (int d = 0; event->y && d < dim(l); d++)
        event->y[(k * dim(l) + d) * stride + l->lane] = m->y[d];
    for (int i = 0; i < event->n_values; i++)
        event->values[(k * event->n_values + i) * stride + l->lane] = l->answer[event->value + i];
}
int freeze(const Lane *l, PiStatus status) {
    pi_run_clear_failure(l->run, l->lane);
    if (!fail(l->run, l->seen->tile, pi_place(l->seen, l->at), status, l->n)) return 0;
    l->run->out_of_memory = 1;
    return -1;
}
/* Stops a lane at a moment. */
static int stop_at(const Lane *l, const Moment *m, PiStatus status, int j) {
    if (status == PI_STOPPED) {
        l->e->stopped_at[l->lane] = time_of(l, m->passed);
        l->e->stopped_by[l->lane] = (int8_t)j;
    }
    return freeze(l, status) ? BREAKS : STOPS;
}
int show_piece(const Lane *l, const Moment *from, const Moment *to) {
    const double a = from->passed / l->h, b = to->passed == l->h ? 1 : to->passed / l->h;
    if (!l->e->between) return 0;
    return pi_between_piece(l->e->between, l->run, l->lane, l->n, a, b, from->y, to->y, l->between);
}
/* Event j, at l->best. */
static int happens(Lane *l, int j) {
    const PiEvent *event = &l->e->event[j];
    Moment *m = &l->best;
    if ((event->then >= 0 || event->n_values) && reaction_at(l, m)) return BREAKS;
    keep(l, j, m);
    const int stops = event->stop && *count_of(l, j) >= (double)event->stop;
    const int more = passes_thrice(l, j, stops || event->then >= 0);
    if (more < 0) return BREAKS;
    *count_of(l, l->e->count + j) += more;
    if ((stops || event->then >= 0) && show_piece(l, &l->before, m)) return BREAKS;
    if (stops) return stop_at(l, m, PI_STOPPED, j);
    if (event->then < 0) return GOES_ON;
    for (int d = 0; d < dim(l); d++) m->y[d] = pi_rounded(l->run, l->answer[event->then + d]);
    for (int d = dim(l); d < rows(l); d++) m->y[d] = 0;
    return JUMPS;
}

/* After a jump of event j: does its quantity keep its new sign? 1, 0, or -1. */
static int passes_on(Lane *l, int j) {
    const double start = l->before.g[j];
    double far[2];
    for (int i = 0; i < 2; i++) {
        const double part = pi_rounded(l->run, ldexp(l->h, -(i + 1) * pi_binary_digits(l->run)));
        if (make_step(l, &l->before, part, &l->dip) || quantities_at(l, &l->dip)) return -1;
        if (!crosses(&l->e->event[j], start, l->dip.g[j])) return 0;
        far[i] = fabs(l->dip.g[j] - start);
    }
    return pi_has_speed(l->run, far);
}
static double nothing_of(const Lane *l) { return ldexp(fabs(l->h), -2 * pi_binary_digits(l->run)); }
/* The quantities of events that have just jumped, as zeros of l->trial.g: that of the last jump,
 * from `before` at `best`, and those of jumps just before it that pass on. */
static void mark_jumped(Lane *l, int last) {
    const int here = fabs(l->best.passed - l->before.passed) <= nothing_of(l);
    for (int j = 0; j < l->e->count; j++)
        l->trial.g[j] = !(j == last || (here && l->before.g[j] == 0));
}
/* Event j, which has just jumped, does not recur if its quantity passes on. 0, or -1. */
static int pass_on(Lane *l, int j, double rest) {
    double *const before = &l->before.g[j], *const after = &l->after.g[j];
    if (!crosses(&l->e->event[j], *before, *after) && fabs(rest) > nothing_of(l)) return 0;
    const int on = passes_on(l, j);
    if (on <= 0) return on;
    if (*before * *after > 0) *after = 0; /* not yet, but too close to decide */
    *before = 0;
    return 0;
}
/* The rest of the step after a jump. */
static int make_rest(Lane *l) {
    const double rest = pi_rounded(l->run, l->h - l->before.passed);
    if (rest == 0) copy_moment(l, &l->before, &l->after);
    else if (make_step(l, &l->before, rest, &l->after)) return -1;
    l->after.passed = l->h;
    if (rest != 0 && quantities_at(l, &l->after)) return -1;
    for (int j = 0; j < l->e->count; j++)
        if (l->trial.g[j] == 0 && pass_on(l, j, rest)) return -1;
    return 0;
}

/* A condition that holds after the jump of another event, but not just before or at the start,
 * occurs there, before the rest of the step; so does one that is still pending, since another jump
 * or from the beginning of the run. */
static void before_jump(const Lane *l, char *done) {
    for (int j = 0; j < l->e->count; j++) {
        const double side = l->e->event[j].direction;
        const int free = side * l->before.g[j] < 0 || side * l->best.g[j] < 0;
        done[j] = free || done[j] == PENDING ? PENDING : NOWHERE;
    }
}
static int after_jump(const Lane *l, int last, char *done) {
    int any = 0;
    for (int j = 0; j < l->e->count; j++) {
        const PiEvent *event = &l->e->event[j];
        const int holds = event->direction * l->best.g[j] > 0;
        if (event->located || j == last || !holds) done[j] = NOWHERE;
        any |= done[j];
    }
    return any;
}
static int pending_in(const Lane *l, const char *done) {
    for (int j = 0; j < l->e->count; j++)
        if (done[j] == PENDING) return j;
    return -1;
}

int go_through(Lane *l, int dips, char *done) {
    const int count = l->e->count;
    int jumped = 0;
    for (int64_t events = 0;; events++) {
        const int begun = pending_in(l, done);
        int next = begun, last = begun, part = NOWHERE;
        double when = 0;
        const Moment *lo, *hi;
        if (begun >= 0) copy_moment(l, &l->before, &l->best);
        for (int j = 0; j < count && begun < 0; j++) {
            const int found = crossing_of(l, j, done[j], dips, &lo, &hi);
            if (found < 0) return BREAKS;
            if (found == NOWHERE) continue;
            if (locate(l, last = j, lo, hi)) return BREAKS;
            if (next < 0 || fabs(l->best.passed) < fabs(when))
                next = j, when = l->best.passed, part = found;
        }
        if (next < 0) return jumped ? JUMPS : GOES_ON;
        if (events == l->e->most) {
            const int ends = stop_at(l, &l->before, PI_ZENO, next);
            copy_moment(l, &l->before, &l->after);
            return ends;
        }
        if (last != next &&
            (crossing_of(l, next, done[next], dips, &lo, &hi) < 0 || locate(l, next, lo, hi)))
            return BREAKS;
        const int what = happens(l, next);
        if (what == BREAKS) return BREAKS;
        if (what == STOPS) {
            copy_moment(l, &l->best, &l->after);
            return STOPS;
        }
        done[next] = (char)part;
        if (what == GOES_ON) continue;
        jumped = 1;
        dips = 0;
        l->n_ahead = 0;
        before_jump(l, done);
        if (quantities_at(l, &l->best)) return BREAKS;
        const int begins = after_jump(l, next, done);
        mark_jumped(l, next);
        copy_moment(l, &l->best, &l->before);
        if (make_rest(l)) return BREAKS;
        if (l->before.passed == l->h && !begins) return JUMPS;
    }
}
