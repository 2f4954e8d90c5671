/* Events: see events.h. */
#include "events.h"
#include "../run/families.h"
#include "../run/layout.h"
#include "ahead.h"
#include "occur.h"

/* The sums of event j of a shown lane: the rows of reduce_passes. */
static double *sums_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at, int j) {
    return e->watch.sums[seen->block & 1] + e->watch.reduced[j].first * run->stride + seen->lane +
           pi_place(seen, at);
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
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(4 * e->count, sizeof(double)), 64));
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
    l.last = take(&free, pi_product(4 * e->count, sizeof(double)));
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

/* Bits of `count` steps, the last one's the lowest: that of the i-th; the first that is
 * set from the i-th on, or `count`. */
static int is_set(int64_t bits, int64_t count, int64_t i) { return bits >> (count - 1 - i) & 1; }
static int64_t next_of(int64_t bits, int64_t count, int64_t i) {
    const int64_t rest = bits & (((int64_t)1 << (count - i)) - 1);
    return rest ? count - (64 - __builtin_clzll((uint64_t)rest)) : count;
}
/* Both ends of the step to the i-th shown state, as it was made: found ahead in
 * the first of *items, or read, with the quantities if they are needed. */
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
/* Repeats the step in which a lane leaves its bound: it has been reset to its beginning. */
static int make_leaving_step(Lane *l, int64_t i, const Aheads *found, int64_t *item) {
    if (read_step(l, i, 0, found, item) || quantities_at(l, &l->before) ||
        make_step(l, &l->before, l->h, &l->after))
        return -1;
    l->after.passed = l->h;
    return quantities_at(l, &l->after);
}
/* Events in a step that is not completed are discarded. */
static void forget(const Lane *l, const double *counts) {
    for (int j = 0; j < 2 * l->e->count; j++) *count_of(l, j) = counts[j];
}
/* All shown steps of a lane. bits: may an event occur in each? dips: may a quantity
 * cross zero twice? From step `end` on it is frozen; leaving: the index of the step in which it
 * leaves its bound, unless an event stops it or makes it jump before that, or seen->count; done: as
 * for go_through() in the first step. */
static int lane_steps(Lane *l, int64_t bits, int64_t dips, int64_t end, int64_t leaving,
                      const Aheads *found, int64_t item, char *done) {
    const PiSeen *seen = l->seen;
    const int count = l->e->count;
    double *const start = l->last + count, *const counts = start + count;
    const int begins = memchr(done, PENDING, count) != NULL;
    int changed = 0;
    for (int64_t i = 0; i < seen->count; i++) {
        if (!changed && !l->e->between) i = smaller(next_of(bits, seen->count, i), leaving);
        l->n = l->tile->first + i + 1;
        if (!changed && i == leaving) {
            if (i == seen->count) return 0;
            if (make_leaving_step(l, i, found, &item)) return -1;
        } else if (!changed) {
            if (i == seen->count || (l->n >= end && !(begins && i == 0))) return 0;
            const int wanted = is_set(bits, seen->count, i);
            if (read_step(l, i, wanted, found, &item)) return -1;
            if (l->n >= end) copy_moment(l, &l->before, &l->after);
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
        const int fails = !changed && (i == leaving || l->n >= end);
        int may = !fails && is_set(dips, seen->count, i);
        for (int j = 0; j < 2 * count; j++) counts[j] = *count_of(l, j);
        for (int j = 0; changed && j < count; j++)
            may = (j > 0 && may) || may_dip(l->last[j], l->before.g[j], l->after.g[j]);
        memcpy(start, l->before.g, count * sizeof *start);
        int what = go_through(l, may, done);
        memset(done, 0, count);
        if (what == BREAKS) return -1;
        if (what == GOES_ON && fails) {
            forget(l, counts);
            return 0;
        }
        if (what == JUMPS || (changed && what == GOES_ON)) {
            const PiStatus status = status_of(l, &l->after);
            pi_run_clear_failure(l->run, l->lane); /* a failure without the jump */
            if (status) {
                if (what == GOES_ON) forget(l, counts);
                if (freeze(l, status)) return -1;
                copy_moment(l, &l->before, &l->after);
                what = STOPS;
            }
            changed = 1;
        }
        if (what == STOPS) {
            for (; i < seen->count && !seen->at; i++) /* packed, nobody sees it any more */
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
        double *const sums = sums_of(l->e, l->run, seen, l->at, j);
        sums[0] = l->after.g[j];
        sums[l->run->stride] = l->last[j];
    }
    return 0;
}

/* ---- all lanes ------------------------------------------------------------------------------- */
/* In which steps event j may occur in a lane, as bits. */
static int64_t passes_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at,
                         int j) {
    return (int64_t)sums_of(e, run, seen, at, j)[2 * run->stride];
}
static int64_t dips_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at, int j) {
    return e->event[j].located ? (int64_t)sums_of(e, run, seen, at, j)[3 * run->stride] : 0;
}
static int is_flagged(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at) {
    int found = 0;
    for (int j = 0; j < e->count; j++) {
        const double *sums = sums_of(e, run, seen, at, j);
        found |= sums[2 * run->stride] != 0 || sums[3 * run->stride] != 0;
    }
    return found;
}
/* Does a condition begin to hold in the state at which the run begins? */
static int begins_with(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at, int j) {
    return !e->event[j].located && passes_of(e, run, seen, at, j) >> seen->count != 0;
}
/* All events together: may any occur, or a quantity cross zero twice? What
 * begins with the run occurs in its first step. */
static int64_t bits_of(const PiEvents *e, const PiRun *run, const PiSeen *seen, int64_t at,
                       int64_t *dips) {
    const int64_t whole = ((int64_t)1 << seen->count) - 1, first = (whole + 1) / 2;
    int64_t bits = *dips = 0;
    for (int j = 0; j < e->count; j++) {
        bits |= passes_of(e, run, seen, at, j) & whole;
        if (begins_with(e, run, seen, at, j)) bits |= first;
        *dips |= dips_of(e, run, seen, at, j);
    }
    return bits | *dips;
}
/* The steps of a lane in which an event may occur, if there is room. */
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
/* The step from which a lane is frozen: the largest number if it is not. */
static int64_t end_of(const PiRun *run, const PiSeen *seen, int64_t at) {
    const PiFailures *failures = &run->failures[seen->tile];
    const int64_t step = failures->count ? failures->step[pi_place(seen, at)] : -1;
    return step < 0 ? INT64_MAX : step;
}
/* The index among the shown steps of that in which a lane leaves its bound; seen->count: none.
 */
static int64_t leaving_of(const PiRun *run, const PiSeen *seen, const PiTile *tile, int64_t at) {
    const PiFailures *failures = &run->failures[seen->tile];
    const int64_t place = pi_place(seen, at);
    if (!failures->count || failures->status[place] != PI_OUT_OF_BOUNDS) return seen->count;
    const int64_t i = failures->step[place] - tile->first - 1;
    return i >= 0 && i < seen->count ? i : seen->count;
}
static int is_due(const PiEvents *e, const PiRun *run, const PiSeen *seen, const PiTile *tile,
                  int64_t at) {
    return is_flagged(e, run, seen, at) || leaving_of(run, seen, tile, at) < seen->count;
}
/* The lanes from `from` to before `to`. */
static int go_through_lanes(Lane *l, const Aheads *found, int64_t from, int64_t to, char *done) {
    PiEvents *e = l->e;
    const PiRun *run = l->run;
    for (int64_t at = from, item = 0; at < to; at++) {
        if (!is_due(e, run, l->seen, l->tile, at)) continue;
        int64_t dips, bits = bits_of(e, run, l->seen, at, &dips);
        for (int j = 0; j < e->count; j++) {
            double *sums = sums_of(e, run, l->seen, at, j);
            done[j] = begins_with(e, run, l->seen, at, j) ? PENDING : NOWHERE;
            sums[2 * run->stride] = sums[3 * run->stride] = 0;
        }
        while (item < found->count && found->item[item].at < at) item++;
        l->at = at;
        l->lane = l->seen->lane + pi_place(l->seen, at);
        l->h = pi_real_at(run, l->tile->h.data, l->tile->h.stride * l->lane);
        l->ready = 0;
        const int64_t end = end_of(run, l->seen, at);
        const int64_t leaving = leaving_of(run, l->seen, l->tile, at);
        if (lane_steps(l, bits, dips, end, leaving, found, item, done)) return -1;
    }
    return 0;
}
static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    PiEvents *e = self;
    if (pi_watch_see(&e->watch, run, seen)) return -1;
    int64_t from = 0;
    while (from < seen->lanes && !is_due(e, run, seen, tile, from)) from++;
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
            room = look_ahead(&found, to, end_of(run, seen, to));
            if (room) continue;
            if (before) found.count = before;
            else to++; /* without room it is found lane by lane */
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
    for (int j = 0; j < 2 * e->count && e->counts[0] != e->counts[1]; j++)
        memcpy(e->counts[block & 1] + j * run->stride + lane,
               e->counts[1 - (block & 1)] + j * run->stride + lane, bytes);
}
PiObserver pi_events_observer(PiEvents *e) {
    int stops = 0;
    for (int j = 0; j < e->count; j++) stops |= e->event[j].stop > 0;
    return (PiObserver){.self = e,
                        .every = 1,
                        .observe = observe,
                        .intervene = intervene,
                        .packed = stops && !e->between,
                        .open = open,
                        .scratch_bytes = scratch_bytes};
}
