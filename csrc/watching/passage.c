/* A lane within a step: see passage.h. */
#include "passage.h"
#include "ahead.h"
#include "search.h"

static int64_t answers(const PiEvents *e) {
    const int a = e->react.system ? e->react.system->n_invariants : 0;
    return a > e->count ? a : e->count;
}
int64_t moment_bytes(const PiEvents *e, const PiRun *run) {
    return pi_rounded_up(pi_product(run->state_rows + answers(e), sizeof(double)), 64);
}
Moment moment_at(const PiRun *run, double *memory) {
    return (Moment){memory, memory + run->state_rows, 0};
}
void copy_moment(const Lane *l, const Moment *from, Moment *to) {
    memcpy(to->y, from->y, rows(l) * sizeof *to->y);
    memcpy(to->g, from->g, l->e->count * sizeof *to->g);
    to->passed = from->passed;
}
double time_within(const PiEvents *e, int64_t lane, int64_t n, double h, double passed) {
    if (passed == h) return pi_watch_time(&e->watch, lane, n);
    return pi_watch_time(&e->watch, lane, n - 1) + passed;
}
static int prepare(Lane *l) {
    if (l->ready) return 0;
    pi_parts_take(&l->parts, &l->lane, 1);
    l->ready = 1;
    return pi_watch_lanes(&l->look, &l->lane, 1) ||
                   (l->react.program && pi_watch_lanes(&l->react, &l->lane, 1))
               ? -1
               : 0;
}
static int ask(Lane *l, const PiWatchLanes *whom, const Moment *m, double *answer) {
    const PiWatchMoment moment = {l->n, time_of(l, m->passed), m->y, answer};
    return prepare(l) || pi_watch_ask(whom, &moment) ? -1 : 0;
}
int quantities_at(Lane *l, Moment *m) { return ask(l, &l->look, m, m->g); }
int reaction_at(Lane *l, const Moment *m) { return ask(l, &l->react, m, l->answer); }
int make_step(Lane *l, const Moment *from, double h, Moment *to) {
    const int whole = from->passed == 0 && h == l->h;
    const PiPart part = {l->n, from->passed, h, from->y, whole, to->y};
    if (prepare(l) || pi_parts_advance(&l->parts, &part)) return -1;
    to->passed = pi_rounded(l->run, from->passed + h);
    return 0;
}

PiStatus status_of(const Lane *l, const Moment *m) {
    PiStatus status = PI_OK;
    for (int d = 0; d < dim(l); d++) {
        if (!(fabs(m->y[d]) <= DBL_MAX)) return PI_NOT_FINITE;
        if (fabs(m->y[d]) > l->run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}
/* ---- crossings ------------------------------------------------------------------------------- */
int crosses(const PiEvent *e, double before, double after) {
    return (e->direction >= 0 && before < 0 && after >= 0) ||
           (e->direction <= 0 && before > 0 && after <= 0);
}
/* The operations of reduce_passes in kernels/rows/reduce.h. */
int may_dip(double last, double old, double new) {
    const double fall = new - last, bend = new - 2.0 * old + last;
    return old * new > 0 && fall * old < 0 && (2.0 * bend + fall) * old > 0 &&
           bend * (6.0 * old - 2.0 * new) <= fall * fall;
}
/* |g| of event j, negative if it has crossed, after a part of the step, in l->dip. 0, or -1.
 */
static int distance(Lane *l, int j, double part, double *to) {
    if (make_step(l, &l->before, part, &l->dip) || quantities_at(l, &l->dip)) return -1;
    *to = l->before.g[j] > 0 ? l->dip.g[j] : -l->dip.g[j];
    return 0;
}
/* A moment at which event j has crossed zero, though it has not before and after: 1, in l->dip; 0
 * if there is none; or -1. */
static int find_dip(Lane *l, int j) {
    const double whole = pi_rounded(l->run, l->h - l->before.passed);
    PiDip dip = {.x = {0, pi_rounded(l->run, 0.5 * whole), whole},
                 .f = {fabs(l->before.g[j]), 0, fabs(l->after.g[j])},
                 .whole = whole,
                 .tries = PI_DIP_TRIES};
    if (distance(l, j, dip.x[1], &dip.f[1])) return -1;
    if (dip.f[1] <= 0) return 1;
    for (double next, there; pi_dip_next(l->run, &dip, &next);) {
        if (distance(l, j, next, &there)) return -1;
        if (there <= 0) return 1;
        pi_dip_found(&dip, next, there);
    }
    return 0;
}
/* Where event j crosses zero next: from *lo to *hi, the whole step or the half before or after a
 * dip, as the result says. */
int crossing_of(Lane *l, int j, int done, int dips, const Moment **lo, const Moment **hi) {
    const PiEvent *e = &l->e->event[j];
    const double b = l->before.g[j], a = l->after.g[j];
    *lo = &l->before;
    *hi = &l->after;
    if (crosses(e, b, a)) return done ? NOWHERE : WHOLE;
    if (!dips || done >= SECOND || !e->located || !((b > 0 && a > 0) || (b < 0 && a < 0)))
        return NOWHERE;
    const int found = find_dip(l, j);
    if (found <= 0) return found;
    const double dip = l->dip.g[j];
    if (!done && crosses(e, b, dip)) {
        *hi = &l->dip;
        return FIRST;
    }
    /* Exactly zero at the extremum: it touches zero, and returns to its old side. */
    if (!crosses(e, dip, a)) return NOWHERE;
    *lo = &l->dip;
    return SECOND;
}
/* The crossing lies between lo and hi. */
int locate(Lane *l, int j, const Moment *lo, const Moment *hi) {
    const PiEvent *event = &l->e->event[j];
    if (!event->located) {
        copy_moment(l, hi, &l->best);
        return 0;
    }
    for (int64_t i = 0; i < l->n_ahead && lo == &l->before && hi == &l->after; i++)
        if (l->ahead[i].event == j && l->ahead[i].searched) {
            copy_moment(l, &l->ahead[i].best, &l->best);
            l->search = l->ahead[i].search;
            return 0;
        }
    const double start = l->before.passed;
    PiSearch search = pi_search(l->run, l->h, pi_rounded(l->run, lo->passed - start),
                                pi_rounded(l->run, hi->passed - start), lo->g[j], hi->g[j]);
    copy_moment(l, lo, &l->best);
    for (double x; pi_search_next(l->run, &search, &x);) {
        if (make_step(l, &l->before, x, &l->trial) || quantities_at(l, &l->trial)) return -1;
        const double fx = l->trial.g[j];
        const int found = pi_search_found(&search, x, fx);
        if (isfinite(fx) && !pi_search_has_passed(&search, fx) &&
            fabs(l->trial.passed) >= fabs(l->best.passed))
            copy_moment(l, &l->trial, &l->best);
        if (!found) break;
    }
    l->search = search;
    return 0;
}
int passes_thrice(Lane *l, int j, int ends) {
    const double root = l->best.passed - l->before.passed;
    PiDip dip;
    if (!l->e->event[j].located || !pi_search_may_pass_thrice(l->run, &l->search, root, &dip))
        return 0;
    for (double x; pi_dip_next(l->run, &dip, &x);) {
        if (make_step(l, &l->before, x, &l->dip) || quantities_at(l, &l->dip)) return -1;
        const double rest = pi_search_rest(&l->search, root, x, l->dip.g[j]);
        if (!pi_search_is_apart(l->run, &l->search, root, x)) return 0;
        if (rest < 0) return !ends || fabs(x) < fabs(root);
        pi_dip_found(&dip, x, rest);
    }
    return 0;
}
