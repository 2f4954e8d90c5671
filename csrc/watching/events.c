/* Events: see events.h. */
#include "events.h"
#include <float.h>
#include "../run/families.h"
#include "../run/layout.h"
#include "passage.h"

/* ---- what happens at an event ---------------------------------------------------------------- */
static double *count_of(const Lane *l, int j) {
    return l->e->counts[l->seen->block & 1] + j * l->run->stride + l->lane;
}
static void keep(const Lane *l, int j, const Moment *m) {
    const PiEvent *event = &l->e->event[j];
    const int64_t stride = l->run->stride, k = (int64_t)*count_of(l, j);
    *count_of(l, j) += 1;
    if (k >= event->keep) return;
    event->t[k * stride + l->lane] = time_of(l, m->passed);
    for (int d = 0; event->y && d < dim(l); d++)
        event->y[(k * dim(l) + d) * stride + l->lane] = m->y[d];
    for (int i = 0; i < event->n_values; i++)
        event->values[(k * event->n_values + i) * stride + l->lane] = l->answer[event->value + i];
}
enum { GOES_ON, JUMPS, STOPS, BREAKS = -1 };
/* The lane is frozen from this step on; 0, or -1 without memory for its failure. */
static int freeze(const Lane *l, PiStatus status) {
    if (!fail(l->run, l->seen->tile, l->at, status, l->n)) return 0;
    l->run->out_of_memory = 1;
    return -1;
}
/* Ends a lane at a moment. */
static int stop_at(const Lane *l, const Moment *m, PiStatus status, int j) {
    if (status == PI_STOPPED) {
        l->e->stopped_at[l->lane] = time_of(l, m->passed);
        l->e->stopped_by[l->lane] = (int8_t)j;
    }
    return freeze(l, status) ? BREAKS : STOPS;
}
/* Times that were asked for in a piece of the step. 0, or -1. */
static int show_piece(const Lane *l, const Moment *from, const Moment *to) {
    const double a = from->passed / l->h, b = to->passed == l->h ? 1 : to->passed / l->h;
    if (!l->e->between) return 0;
    return pi_between_piece(l->e->between, l->run, l->lane, l->n, a, b, from->y, to->y, l->between);
}
/* Event j, at l->best. */
static int happens(Lane *l, int j) {
    const PiEvent *event = &l->e->event[j];
    Moment *m = &l->best;
    if ((event->then >= 0 || event->n_values) &&
        pi_watch_ask(&l->react, l->n, time_of(l, m->passed), m->y, l->answer))
        return BREAKS;
    keep(l, j, m);
    const int stops = event->stop && *count_of(l, j) >= (double)event->stop;
    if ((stops || event->then >= 0) && show_piece(l, &l->before, m)) return BREAKS;
    if (stops) return stop_at(l, m, PI_STOPPED, j);
    if (event->then < 0) return GOES_ON;
    for (int d = 0; d < dim(l); d++) m->y[d] = rounded(l->run, l->answer[event->then + d]);
    for (int d = dim(l); d < rows(l); d++) m->y[d] = 0;
    return JUMPS;
}

/* The step from l->before to l->after with all its events, one after the other in time. The state
 * where it ends is in l->after; STOPS: where it stopped. */
static int go_through(Lane *l, int dips, char *done) {
    const int count = l->e->count;
    int jumped = 0;
    memset(done, 0, count);
    for (int64_t events = 0;; events++) {
        int next = -1, last = -1, part = NOWHERE;
        double when = 0;
        const Moment *lo, *hi;
        for (int j = 0; j < count; j++) {
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
        memset(done, 0, count);
        if (quantities_at(l, &l->best)) return BREAKS;
        copy_moment(l, &l->best, &l->before);
        const double rest = rounded(l->run, l->h - l->before.passed);
        if (rest == 0) {
            copy_moment(l, &l->before, &l->after);
            l->after.passed = l->h;
            return JUMPS;
        }
        if (make_step(l, &l->before, rest, &l->after)) return BREAKS;
        l->after.passed = l->h;
        if (quantities_at(l, &l->after)) return BREAKS;
    }
}

/* ---- the lanes with a flag ------------------------------------------------------------------- */
static int64_t answers(const PiEvents *e) {
    const int a = e->react.system ? e->react.system->n_invariants : 0, b = e->watch.n_sums;
    return a > b ? a : b;
}
static int64_t moment_bytes(const PiEvents *e, const PiRun *run) {
    return pi_product(run->state_rows + answers(e), sizeof(double));
}
static int64_t one_register(const PiRun *run) {
    return pi_product(run->state_rows, run->vector_bytes);
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    const PiEvents *e = self;
    const int64_t look = pi_watch_lane_bytes(&e->watch, &e->look);
    const int64_t react = e->react.system ? pi_watch_lane_bytes(&e->watch, &e->react) : 0;
    int64_t bytes = pi_sum(pi_rounded_up(look, 64), pi_rounded_up(react, 64));
    bytes = pi_sum(bytes, pi_product(2, pi_rounded_up(one_register(run), 64)));
    bytes = pi_sum(bytes, pi_product(5, pi_rounded_up(moment_bytes(e, run), 64)));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(answers(e), sizeof(double)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(2 * e->count, sizeof(double)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(run->system->n_params + 1, sizeof(PiRow)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(e->count, 64));
    if (e->between) bytes = pi_sum(bytes, pi_between_scratch_bytes(e->between));
    return pi_sum(bytes, pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64));
}
static __attribute__((noinline)) void *take(char **free, int64_t bytes) {
    void *here = *free;
    *free += pi_rounded_up(bytes, 64);
    return here;
}
static Moment take_moment(const PiEvents *e, const PiRun *run, char **free) {
    double *memory = take(free, moment_bytes(e, run));
    return (Moment){memory, memory + run->state_rows, 0};
}

static void read_state(const Lane *l, const void *from, int64_t stride, double *y) {
    for (int d = 0; d < dim(l); d++) y[d] = real_at(l->run, from, d * stride + l->at);
    for (int d = dim(l); d < rows(l); d++) y[d] = 0;
}
static void write_state(const Lane *l, void *to, int64_t stride, const double *y, int count) {
    for (int d = 0; d < count; d++) set_real(l->run, to, d * stride + l->at, y[d]);
}
static void *seen_rows(const Lane *l, int64_t i) {
    return row_at(l->run, l->seen->rows, l->seen->next, i, 0);
}

/* All steps of one lane that were shown. */
static int lane_steps(Lane *l, int64_t bits, char *done) {
    const PiSeen *seen = l->seen;
    double *sums = l->e->watch.sums[seen->block & 1] + l->lane;
    const int count = l->e->count;
    double *const start = l->last + count;
    int changed = 0;
    l->n = l->tile->first;
    read_state(l, l->tile->in, l->tile->in_stride, l->before.y);
    l->before.passed = l->h;
    if (quantities_at(l, &l->before)) return -1;
    for (int64_t i = 0; i < seen->count; i++) {
        l->n = l->tile->first + i + 1;
        l->before.passed = 0;
        if (changed) {
            if (make_step(l, &l->before, l->h, &l->after)) return -1;
        } else read_state(l, seen_rows(l, i), seen->stride, l->after.y);
        l->after.passed = l->h;
        if (quantities_at(l, &l->after)) return -1;
        int dips = bits >> (seen->count - 1 - i) & 1;
        if (changed) {
            dips = 0;
            for (int j = 0; j < count; j++)
                dips |= may_dip(l->last[j], l->before.g[j], l->after.g[j]);
        }
        memcpy(start, l->before.g, count * sizeof *start);
        int what = go_through(l, dips, done);
        if (what == BREAKS) return -1;
        if (what == JUMPS || changed) {
            int finite = 1;
            for (int d = 0; d < dim(l); d++) finite &= fabs(l->after.y[d]) <= DBL_MAX;
            if (!finite) {
                if (freeze(l, PI_NOT_FINITE)) return -1;
                copy_moment(l, &l->before, &l->after);
                what = STOPS;
            }
            changed = 1;
        }
        if (what == STOPS) {
            for (; i < seen->count; i++)
                write_state(l, seen_rows(l, i), seen->stride, l->after.y, dim(l));
            write_state(l, l->tile->out, l->tile->out_stride, l->after.y, rows(l));
            return 0;
        }
        if (changed) write_state(l, seen_rows(l, i), seen->stride, l->after.y, dim(l));
        if (show_piece(l, &l->before, &l->after)) return -1;
        copy_moment(l, &l->after, &l->before);
        for (int j = 0; changed && j < count; j++)
            l->last[j] = what == JUMPS ? NAN : l->after.g[j] == start[j] ? l->last[j] : start[j];
    }
    if (!changed) return 0;
    write_state(l, l->tile->out, l->tile->out_stride, l->after.y, rows(l));
    for (int j = 0, row = count + 2; j < count; j++) {
        sums[j * l->run->stride] = l->after.g[j];
        if (l->e->event[j].located) sums[row++ * l->run->stride] = l->last[j];
    }
    return 0;
}

static int go_through_lane(PiEvents *e, PiRun *run, const PiSeen *seen, const PiTile *tile,
                           int64_t at, int64_t dips) {
    char *free = (char *)seen->scratch + pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64);
    Lane l = {.e = e, .run = run, .tile = tile, .seen = seen, .at = at, .lane = seen->lane + at};
    l.h = real_at(run, tile->h.data, tile->h.stride * l.lane);
    l.look = (PiWatchLane){&e->watch, &e->look, l.lane,
                           take(&free, pi_watch_lane_bytes(&e->watch, &e->look))};
    if (pi_watch_lane(&l.look)) return -1;
    if (e->react.system) {
        l.react = (PiWatchLane){&e->watch, &e->react, l.lane,
                                take(&free, pi_watch_lane_bytes(&e->watch, &e->react))};
        if (pi_watch_lane(&l.react)) return -1;
    }
    l.in = take(&free, one_register(run));
    l.out = take(&free, one_register(run));
    l.before = take_moment(e, run, &free);
    l.after = take_moment(e, run, &free);
    l.best = take_moment(e, run, &free);
    l.trial = take_moment(e, run, &free);
    l.dip = take_moment(e, run, &free);
    l.last = take(&free, pi_product(2 * e->count, sizeof(double)));
    l.answer = take(&free, pi_product(answers(e), sizeof(double)));
    l.params = take(&free, pi_product(run->system->n_params + 1, sizeof(PiRow)));
    for (int i = 0; i < run->system->n_params; i++) {
        const PiRow row = tile->params[i];
        l.params[i].data = (const char *)row.data + row.stride * l.lane * run->real_bytes;
        l.params[i].stride = 0;
    }
    char *done = take(&free, e->count);
    l.between = free;
    return lane_steps(&l, dips, done);
}

static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    PiEvents *e = self;
    if (pi_watch_see(&e->watch, run, seen)) return -1;
    double *flag = e->watch.sums[seen->block & 1] + e->count * run->stride + seen->lane;
    double *dips = flag + run->stride;
    const PiFailures *failures = &run->failures[seen->tile];
    for (int64_t at = 0; at < seen->lanes; at++) {
        if (flag[at] == 0 && dips[at] == 0) continue;
        const int64_t bits = (int64_t)fmod(dips[at], 0x1p32); /* those of the steps shown now */
        flag[at] = dips[at] = 0;
        if (failures->count && failures->step[at] >= 0) continue;
        if (go_through_lane(e, run, seen, tile, at, bits)) return -1;
    }
    return 0;
}
/* The initial state: no events, but from here on a quantity may change its sign. */
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    return seen->block == 0 ? pi_watch_see(&((PiEvents *)self)->watch, run, seen) : 0;
}
static void open(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    const PiEvents *e = self;
    const int64_t lane = tile * run->tile_lanes, bytes = lanes_in(run, tile) * sizeof(double);
    pi_watch_open(&e->watch, run, tile, block, scratch);
    for (int j = 0; j < e->count && e->counts[0] != e->counts[1]; j++)
        memcpy(e->counts[block & 1] + j * run->stride + lane,
               e->counts[1 - (block & 1)] + j * run->stride + lane, bytes);
}
PiObserver pi_events_observer(PiEvents *e) {
    return (PiObserver){.self = e,
                        .every = 1,
                        .observe = observe,
                        .intervene = intervene,
                        .open = open,
                        .scratch_bytes = scratch_bytes};
}
