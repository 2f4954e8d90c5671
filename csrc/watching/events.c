/* Events: see events.h. */
#include "events.h"
#include <float.h>
#include "../run/families.h"
#include "../run/layout.h"
#include "ahead.h"

/* The sums of event j, from the first lane of the tile: the rows of reduce_passes. */
static double *sums_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int j) {
    return e->watch.sums[seen->block & 1] + e->watch.reduced[j].first * run->stride + seen->lane;
}

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
/* The lane is frozen from this step on, whatever befell it later; 0, or -1 without memory for its
 * failure. */
static int freeze(const Lane *l, PiStatus status) {
    pi_run_clear_failure(l->run, l->lane);
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
    if ((event->then >= 0 || event->n_values) && reaction_at(l, m)) return BREAKS;
    keep(l, j, m);
    const int stops = event->stop && *count_of(l, j) >= (double)event->stop;
    if ((stops || event->then >= 0) && show_piece(l, &l->before, m)) return BREAKS;
    if (stops) return stop_at(l, m, PI_STOPPED, j);
    if (event->then < 0) return GOES_ON;
    for (int d = 0; d < dim(l); d++) m->y[d] = pi_rounded(l->run, l->answer[event->then + d]);
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
        l->n_ahead = 0;
        memset(done, 0, count);
        if (quantities_at(l, &l->best)) return BREAKS;
        copy_moment(l, &l->best, &l->before);
        const double rest = pi_rounded(l->run, l->h - l->before.passed);
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
enum { LANE_MOMENTS = 5 };
static int64_t answer_bytes(const PiEvents *e) {
    const int64_t n = e->react.system ? e->react.system->n_invariants : 0;
    return pi_product(n + 1, sizeof(double));
}
static int64_t lane_bytes(const PiEvents *e, const PiRun *run) {
    int64_t bytes = pi_rounded_up(pi_watch_lanes_bytes(&e->watch, &e->watch.program, 1), 64);
    if (e->react.system)
        bytes = pi_sum(bytes, pi_rounded_up(pi_watch_lanes_bytes(&e->watch, &e->react, 1), 64));
    bytes = pi_sum(bytes, pi_parts_bytes(run, 1));
    bytes = pi_sum(bytes, pi_product(LANE_MOMENTS, moment_bytes(e, run)));
    bytes = pi_sum(bytes, pi_rounded_up(answer_bytes(e), 64));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(2 * e->count, sizeof(double)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(e->count, 64));
    return e->between ? pi_sum(bytes, pi_between_scratch_bytes(e->between)) : bytes;
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    const PiEvents *e = self;
    const int64_t watch = pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64);
    return pi_sum(watch, pi_sum(pi_rounded_up(aheads_bytes(e, run), 64), lane_bytes(e, run)));
}
static __attribute__((noinline)) void *take(char **free, int64_t bytes) {
    void *here = *free;
    *free += pi_rounded_up(bytes, 64);
    return here;
}
/* A lane in the memory of a thread; *done: an item for each event. */
static Lane make_lane(PiEvents *e, PiRun *run, const PiTile *tile, const PiSeen *seen, char *free,
                      char **done) {
    Lane l = {.e = e, .run = run, .tile = tile, .seen = seen};
    Moment *const moments[LANE_MOMENTS] = {&l.before, &l.after, &l.best, &l.trial, &l.dip};
    const ResolvedSystem *look = &e->watch.program;
    l.look = (PiWatchLanes){&e->watch, look, 1, 1,
                            take(&free, pi_watch_lanes_bytes(&e->watch, look, 1))};
    if (e->react.system)
        l.react = (PiWatchLanes){&e->watch, &e->react, 1, 1,
                                 take(&free, pi_watch_lanes_bytes(&e->watch, &e->react, 1))};
    l.parts = pi_parts_make(run, tile, 1, take(&free, pi_parts_bytes(run, 1)));
    for (int i = 0; i < LANE_MOMENTS; i++)
        *moments[i] = moment_at(run, take(&free, moment_bytes(e, run)));
    l.last = take(&free, pi_product(2 * e->count, sizeof(double)));
    l.answer = take(&free, answer_bytes(e));
    *done = take(&free, e->count);
    l.between = free;
    return l;
}

static void read_state(const Lane *l, const void *from, int64_t stride, double *y) {
    for (int d = 0; d < dim(l); d++) y[d] = pi_real_at(l->run, from, d * stride + l->at);
    for (int d = dim(l); d < rows(l); d++) y[d] = 0;
}
static void write_state(const Lane *l, void *to, int64_t stride, const double *y, int count) {
    for (int d = 0; d < count; d++) pi_set_real(l->run, to, d * stride + l->at, y[d]);
}
static void *seen_rows(const Lane *l, int64_t i) {
    return row_at(l->run, l->seen->rows, l->seen->next, i, 0);
}

/* Binary digits of `count` steps, the last one's the lowest: that of the i-th; the first that is
 * set from the i-th on, or `count`. */
static int is_set(int64_t bits, int64_t count, int64_t i) { return bits >> (count - 1 - i) & 1; }
static int64_t next_of(int64_t bits, int64_t count, int64_t i) {
    const int64_t rest = bits & (((int64_t)1 << (count - i)) - 1);
    return rest ? count - (64 - __builtin_clzll((uint64_t)rest)) : count;
}
/* Both ends of the step to the i-th state that is shown, as it was made: what was found ahead in
 * it, the first of *items, or read, with the quantities where they are wanted. */
static int read_step(Lane *l, int64_t i, int wanted, const Aheads *found, int64_t *item) {
    const PiSeen *seen = l->seen;
    l->n_ahead = 0;
    while (*item < found->count && found->item[*item].at == l->at && found->item[*item].k < i)
        ++*item;
    const Ahead *first = &found->item[*item];
    while (wanted && *item < found->count && found->item[*item].at == l->at &&
           found->item[*item].k == i) {
        l->n_ahead++;
        ++*item;
    }
    l->ahead = first;
    if (l->n_ahead) {
        copy_moment(l, &first->before, &l->before);
        copy_moment(l, &first->after, &l->after);
        return 0;
    }
    if (i == 0) read_state(l, l->tile->in, l->tile->in_stride, l->before.y);
    else read_state(l, seen_rows(l, i - 1), seen->stride, l->before.y);
    read_state(l, seen_rows(l, i), seen->stride, l->after.y);
    l->before.passed = 0;
    l->after.passed = l->h;
    return wanted && (quantities_at(l, &l->before) || quantities_at(l, &l->after)) ? -1 : 0;
}
/* All steps of a lane that were shown. bits: for each step, the last one's the lowest, may
 * something happen in it? dips: may a quantity pass zero twice? From step `end` on it stands still.
 */
static int lane_steps(Lane *l, int64_t bits, int64_t dips, int64_t end, const Aheads *found,
                      int64_t item, char *done) {
    const PiSeen *seen = l->seen;
    const int count = l->e->count;
    double *const start = l->last + count;
    int changed = 0;
    for (int64_t i = 0; i < seen->count; i++) {
        if (!changed && !l->e->between) i = next_of(bits, seen->count, i);
        l->n = l->tile->first + i + 1;
        if (!changed) {
            if (i == seen->count || l->n >= end) return 0;
            const int wanted = is_set(bits, seen->count, i);
            if (read_step(l, i, wanted, found, &item)) return -1;
            if (!wanted) {
                if (show_piece(l, &l->before, &l->after)) return -1;
                continue;
            }
        } else {
            l->before.passed = 0;
            if (make_step(l, &l->before, l->h, &l->after)) return -1;
            l->after.passed = l->h;
            if (quantities_at(l, &l->after)) return -1;
        }
        int may = is_set(dips, seen->count, i);
        for (int j = 0; changed && j < count; j++)
            may = (j > 0 && may) || may_dip(l->last[j], l->before.g[j], l->after.g[j]);
        memcpy(start, l->before.g, count * sizeof *start);
        int what = go_through(l, may, done);
        if (what == BREAKS) return -1;
        if (what == JUMPS || (changed && what == GOES_ON)) {
            const PiStatus status = status_of(l, &l->after);
            pi_run_clear_failure(l->run, l->lane); /* that it would have met without the jump */
            if (status) {
                if (freeze(l, status)) return -1;
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
    for (int j = 0; j < count; j++) {
        double *const sums = sums_of(l->e, l->run, seen, j) + l->at;
        sums[0] = l->after.g[j];
        sums[l->run->stride] = l->last[j];
    }
    return 0;
}

/* ---- all lanes ------------------------------------------------------------------------------- */
/* In which steps something may happen to a lane, as above: to event j. */
static int64_t passes_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at,
                         int j) {
    return (int64_t)sums_of(e, run, seen, j)[2 * run->stride + at];
}
static int64_t dips_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at, int j) {
    return e->event[j].located ? (int64_t)sums_of(e, run, seen, j)[3 * run->stride + at] : 0;
}
static int is_flagged(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at) {
    int found = 0;
    for (int j = 0; j < e->count; j++) {
        const double *sums = sums_of(e, run, seen, j) + at;
        found |= sums[2 * run->stride] != 0 || sums[3 * run->stride] != 0;
    }
    return found;
}
/* All events together: something may happen at all, or a quantity pass zero twice. */
static int64_t bits_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at,
                       int64_t *dips) {
    int64_t bits = *dips = 0;
    for (int j = 0; j < e->count; j++) {
        bits |= passes_of(e, run, seen, at, j);
        *dips |= dips_of(e, run, seen, at, j);
    }
    return bits | *dips;
}
/* The steps of a lane in which something may happen, as far as there is room. */
static int look_ahead(Aheads *found, int64_t at, int64_t end) {
    const PiEvents *e = found->e;
    const PiSeen *seen = found->seen;
    int64_t dips, bits = bits_of(e, found->run, seen, at, &dips);
    for (int64_t i = next_of(bits, seen->count, 0); i < seen->count;
         i = next_of(bits, seen->count, i + 1)) {
        int any = 0;
        if (found->tile->first + i + 1 >= end) return 1;
        for (int j = 0; j < e->count; j++) {
            if (!is_set(passes_of(e, found->run, seen, at, j), seen->count, i)) continue;
            any = 1;
            if (!add_ahead(found, at, i, j)) return 0;
        }
        if (!any && !add_ahead(found, at, i, NO_EVENT)) return 0;
    }
    return 1;
}
/* The step from which on a lane stands still: the largest number if it does not. */
static int64_t end_of(const PiFailures *failures, int64_t at) {
    const int64_t step = failures->count ? failures->step[at] : -1;
    return step < 0 ? INT64_MAX : step;
}
/* The lanes from `from` to before `to`. */
static int go_through_lanes(Lane *l, const Aheads *found, int64_t from, int64_t to, char *done) {
    PiEvents *e = l->e;
    const PiRun *run = l->run;
    for (int64_t at = from, item = 0; at < to; at++) {
        if (!is_flagged(e, run, l->seen, at)) continue;
        int64_t dips, bits = bits_of(e, run, l->seen, at, &dips);
        for (int j = 0; j < e->count; j++) {
            double *sums = sums_of(e, run, l->seen, j) + at;
            sums[2 * run->stride] = sums[3 * run->stride] = 0;
        }
        while (item < found->count && found->item[item].at < at) item++;
        l->at = at;
        l->lane = l->seen->lane + at;
        l->h = pi_real_at(run, l->tile->h.data, l->tile->h.stride * l->lane);
        l->ready = 0;
        const int64_t end = end_of(&run->failures[l->seen->tile], at);
        if (lane_steps(l, bits, dips, end, found, item, done)) return -1;
    }
    return 0;
}
static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    PiEvents *e = self;
    if (pi_watch_see(&e->watch, run, seen)) return -1;
    int64_t from = 0;
    while (from < seen->lanes && !is_flagged(e, run, seen, from)) from++;
    if (from == seen->lanes) return 0;
    char *memory = seen->scratch, *done;
    memory += pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64);
    Aheads found = make_aheads(e, run, tile, seen, memory);
    Lane lane =
        make_lane(e, run, tile, seen, memory + pi_rounded_up(aheads_bytes(e, run), 64), &done);
    while (from < seen->lanes) {
        int64_t to = from;
        found.count = 0;
        for (int room = 1; to < seen->lanes && room; to += room) {
            const int64_t before = found.count;
            if (!is_flagged(e, run, seen, to)) continue;
            room = look_ahead(&found, to, end_of(&run->failures[seen->tile], to));
            if (room) continue;
            if (before) found.count = before;
            else to++; /* what it has no room for is found as it is gone through */
        }
        if ((found.count && find_ahead(&found)) || go_through_lanes(&lane, &found, from, to, done))
            return -1;
        from = to;
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
