/* Trajectories that leave: those that fail within a call of the kernel, and those that make room,
 * in runs with a bound and no observers, and in those whose only observer stops lanes. The
 * remaining lanes are kept side by side, so that the cost is that of the steps that are really
 * made. Lanes that leave a bound within a call of the kernel, which reports how far each lane was,
 * repeat its steps one by one. No lane depends on its neighbours, so that no result depends on
 * which lanes are side by side. */
#include <float.h>
#include "../aligned.h"
#include "layout.h"

enum { FEW_STEPS = 16, MOST_STEPS = 64 };
enum { STEPS_SHOWN = 32, MOST_SHOWN = 48 };
static int may_pack(const PiRun *run) {
    return !run->drive_strides && run->method->family != PI_MULTISTEP;
}
int pi_makes_room(const PiRun *run) {
    return !isinf(run->bound) && !run->n_observers && may_pack(run);
}
int pi_stops_make_room(const PiRun *run) {
    return isinf(run->bound) && run->n_observers == 1 && run->observers[0].packed &&
           may_pack(run) && !run->system->block;
}

/* Two of them, a row of how far each lane has been, and a status for each. */
int64_t pi_leaving_bytes(const PiRun *run) {
    if (!pi_makes_room(run) && !pi_stops_make_room(run)) return 0;
    const int64_t reasons = pi_rounded_up(run->tile_lanes, 64);
    return pi_sum(pi_product(2, pi_packed_bytes(run, run->tile_lanes)),
                  pi_sum(pi_packed_row(run, run->tile_lanes), reasons));
}
/* The lanes of the tile that continue. */
static void pack(PiPacked *p, const PiFailures *failures, int64_t lanes) {
    p->count = 0;
    for (int64_t i = 0; i < lanes; i++)
        if (!is_frozen(failures, i)) p->at[p->count++] = i;
    pi_packed_collect(p, p->tile->in, p->tile->in_stride, p->out);
}
/* The kernel makes some steps of all of them; returns its result. far, reason: of each. */
static int advance(PiPacked *p, int64_t first, int64_t steps, void *far, int8_t *reason) {
    PiTile tile = pi_packed_tile(p, first, steps);
    tile.reach = far;
    tile.status = reason;
    return p->run->kernel(&tile);
}

/* A tile, the destination of its states, and a row of how far each lane has been. */
typedef struct {
    PiRun *run;
    int64_t number;
    const PiTile *tile;
    void *target;
    int64_t stride;
    char *far;
    int8_t *reason;
} Leaving;
/* The last lane before the i-th that has left in the last call; -1: none. The lane that then takes
 * its place has been examined. */
static int64_t last_left(const Leaving *l, int64_t i) {
    while (--i >= 0 && number_at(l->run, l->far, i) <= l->tile->bound) continue;
    return i;
}
static void put(const Leaving *l, const PiPacked *p, const char *rows, int64_t i) {
    const PiRun *run = l->run;
    for (int64_t d = 0; d < run->state_rows; d++) {
        memcpy(row_at(run, l->target, l->stride, d, p->at[i]), row_at(run, rows, p->stride, d, i),
               run->real_bytes);
    }
}
/* Some steps one by one: each lane stays where it was before the first that it does not complete.
 * 0, or -1. */
static int leave(const Leaving *l, PiPacked *leavers, int64_t first, int64_t steps) {
    PiRun *run = l->run;
    for (int64_t n = first; n < first + steps && leavers->count; n++, pi_packed_turn(leavers)) {
        memset(l->reason, 0, leavers->count);
        if (advance(leavers, n, 1, l->far, l->reason) < 0) {
            run->stopped = 1;
            return -1;
        }
        for (int64_t i = leavers->count; (i = last_left(l, i)) >= 0;) {
            PiStatus why = l->reason[i];
            if (!why) why = pi_state_status(run, leavers->out, leavers->stride, i);
            put(l, leavers, leavers->in, i);
            if (pi_fail(run, l->number, leavers->at[i], why ? why : PI_NOT_FINITE, n + 1))
                return -1;
            pi_packed_drop(leavers, leavers->out, i);
        }
    }
    return 0;
}

/* Those that have failed in a call: its steps again, one by one, from its input. */
int pi_find_failures(PiRun *run, int64_t number, const PiTile *tile) {
    const PiFailures *failures = &run->failures[number];
    const int64_t lanes = lanes_in(run, number), packed = pi_packed_bytes(run, lanes),
                  row = pi_packed_row(run, lanes);
    char *memory = pi_aligned(pi_sum(packed, pi_sum(row, pi_rounded_up(lanes, 64))));
    if (!memory) return -1;
    const Leaving l = {run,
                       number,
                       tile,
                       tile->out,
                       tile->out_stride,
                       memory + packed,
                       (int8_t *)memory + packed + row};
    PiPacked failing = pi_packed_in(run, tile, lanes, memory);
    for (int64_t i = 0; i < lanes; i++)
        if (!is_frozen(failures, i) && pi_state_status(run, tile->out, tile->out_stride, i))
            failing.at[failing.count++] = i;
    pi_packed_collect(&failing, tile->in, tile->in_stride, failing.in);
    const int error = leave(&l, &failing, tile->first, tile->steps);
    pi_free_aligned(memory);
    return error;
}

/* The tile as it is, as long as no lane leaves: returns how many of the steps it has made. */
static int64_t go_together(const Leaving *l, PiTile *tile, int64_t from, int64_t to, char *spare) {
    PiRun *run = l->run;
    int64_t n = from;
    for (int64_t steps = FEW_STEPS; n < to; steps *= 2) {
        const int to_target = tile->in != l->target;
        tile->out = to_target ? l->target : spare;
        tile->out_stride =
            to_target ? run->stride : pi_packed_row(run, run->tile_lanes) / run->real_bytes;
        tile->first = run->first + n;
        tile->steps = smaller(steps, to - n);
        tile->reach = l->far;
        const int bad = run->kernel(tile);
        if (bad < 0) run->stopped = 1;
        if (bad < 0 || last_left(l, lanes_in(run, l->number)) >= 0) break;
        tile->in = tile->out;
        tile->in_stride = tile->out_stride;
        n += tile->steps;
    }
    tile->reach = NULL;
    return n;
}
int pi_advance_leaving(PiRun *run, int64_t number, PiTile *tile, int64_t from, int64_t to,
                       void *target, char *scratch) {
    PiPacked going = pi_packed_in(run, tile, run->tile_lanes, scratch);
    PiPacked leavers =
        pi_packed_in(run, tile, run->tile_lanes, scratch + pi_packed_bytes(run, run->tile_lanes));
    char *far = scratch + 2 * pi_packed_bytes(run, run->tile_lanes);
    int8_t *const reason = (int8_t *)(far + pi_packed_row(run, run->tile_lanes));
    const Leaving l = {run, number, tile, target, run->stride, far, reason};
    const PiFailures *failures = &run->failures[number];
    int64_t n = failures->count ? from : go_together(&l, tile, from, to, going.in), most;
    if (run->stopped) return -1;
    if (tile->in != target) copy_tile(run, tile, tile->in, tile->in_stride, target, run->stride);
    if (n == to) return 0;
    pack(&going, failures, lanes_in(run, number));
    pi_packed_turn(&going);
    most = FEW_STEPS;
    for (int64_t steps; n < to && going.count; n += steps, pi_packed_turn(&going)) {
        const int64_t before = going.count;
        steps = smaller(most, to - n);
        if (advance(&going, run->first + n, steps, far, NULL) < 0) {
            run->stopped = 1;
            return -1;
        }
        leavers.count = 0;
        for (int64_t i = before; (i = last_left(&l, i)) >= 0;) {
            pi_packed_copy(&leavers, leavers.in, leavers.count++, &going, going.in, i);
            pi_packed_drop(&going, going.out, i);
        }
        /* Steps that are made twice cost as much as calls. */
        if (8 * leavers.count > before) most = FEW_STEPS;
        else if (most < MOST_STEPS && 32 * leavers.count < before) most *= 2;
        if (leave(&l, &leavers, run->first + n, steps)) return -1;
    }
    pi_packed_spread(&going, going.in, target);
    return 0;
}

/* ---- lanes that an observer stops ------------------------------------------------------------ */
/* Room for STEPS_SHOWN of all lanes that go on together, or for more steps of fewer lanes: each
 * component of a state in whole cache lines, and one more after all its states. */
int64_t pi_stopping_rows_bytes(const PiRun *run) {
    const int64_t states = pi_product(pi_product(STEPS_SHOWN, run->shown_lanes), run->real_bytes);
    return pi_product(run->system->dim, pi_sum(states, 64 * (MOST_SHOWN + 1)));
}
/* Lanes side by side whose states are shown to an observer, and a status for each. */
typedef struct {
    PiRun *run;
    const PiTile *tile;
    PiSeen seen; /* for these lanes, except what changes with each call */
    PiPacked lanes;
    void *target, *rows; /* the states of the tile; those to be shown */
    int8_t *reason;
} Stopping;
/* Those of the list that have not stopped, in place; returns their number. */
static int64_t still_there(const Stopping *s, int64_t *at, int64_t count) {
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++)
        if (!is_frozen(&s->run->failures[s->seen.tile], at[i])) at[left++] = at[i];
    return left;
}
/* Steps of the present lanes, which are shown. 0; 1 if one is not finite, and nothing is
 * done; -1. */
static int show_steps(Stopping *s, int64_t step, int64_t steps) {
    PiRun *run = s->run;
    PiPacked *p = &s->lanes;
    const int64_t line = 64 / run->real_bytes;
    const int64_t count = p->count = still_there(s, p->at, p->count);
    int failed = 0;
    if (count == 0) return 0;
    pi_packed_collect(p, s->target, run->stride, p->in);
    PiTile tile = pi_packed_tile(p, run->first + step, steps);
    PiSeen seen = s->seen;
    seen.lanes = count;
    seen.step = step + 1;
    seen.count = steps;
    seen.rows = tile.record = s->rows;
    seen.next = tile.record_next = ceil_div(count, line) * line;
    seen.stride = tile.record_stride = steps * seen.next + line;
    seen.at = p->at;
    tile.record_every = 1;
    tile.status = s->reason;
    memset(s->reason, 0, count);
    const int bad = run->kernel(&tile);
    if (bad < 0 || (bad && steps > 1)) return bad;
    if (bad)
        for (int64_t i = 0; i < count; i++) { /* they stay where they are */
            const PiStatus found = pi_state_status(run, p->out, p->stride, i);
            if (!found) continue;
            const PiStatus why = s->reason[i] ? (PiStatus)s->reason[i] : found;
            if (pi_fail(run, seen.tile, p->at[i], why, tile.first + 1)) return -1;
            failed = 1;
        }
    if (failed) return 1;
    /* Parts of steps are made for lanes of the batch. */
    tile.t0 = s->tile->t0;
    tile.h = s->tile->h;
    tile.params = s->tile->params;
    tile.record = NULL;
    tile.status = NULL;
    if (pi_let_intervene(run, seen, &tile)) return -1;
    pi_packed_spread(p, p->out, s->target);
    return 0;
}
/* How many of these steps, at least one, end in finite states: what is not finite stays so. */
static int64_t count_finite(const Stopping *s, int64_t steps) {
    const int64_t count = s->lanes.count, line = 64 / s->run->real_bytes;
    const int64_t next = ceil_div(count, line) * line;
    int64_t finite = 1;
    for (int64_t to = steps; to - finite > 1;) {
        const int64_t n = (finite + to) / 2;
        const void *rows = row_at(s->run, s->rows, next, n - 1, 0);
        if (pi_states_are_valid(s->run, rows, steps * next + line, count)) finite = n;
        else to = n;
    }
    return finite;
}
int pi_advance_stopping(PiRun *run, PiTile *tile, PiSeen seen, int64_t from, int64_t to,
                        void *target, void *rows, char *scratch) {
    char *const far = scratch + 2 * pi_packed_bytes(run, run->tile_lanes);
    int64_t *const going =
        pi_packed_in(run, tile, run->tile_lanes, scratch + pi_packed_bytes(run, run->tile_lanes))
            .at;
    const int64_t width = run->vector_bytes / run->real_bytes;
    int64_t count = lanes_in(run, seen.tile);
    Stopping s = {run,
                  tile,
                  seen,
                  pi_packed_in(run, tile, run->tile_lanes, scratch),
                  target,
                  rows,
                  (int8_t *)(far + pi_packed_row(run, run->tile_lanes))};
    if (tile->in != target) copy_tile(run, tile, tile->in, tile->in_stride, target, run->stride);
    for (int64_t i = 0; i < count; i++) going[i] = i;
    for (int64_t n = from, steps; n < to; n += steps) {
        count = still_there(&s, going, count);
        if (count == 0) return 0;
        /* Few lanes make more steps: the states to be shown have room for them. */
        const int64_t fit = over(STEPS_SHOWN * run->shown_lanes, count);
        steps = fit < STEPS_SHOWN ? STEPS_SHOWN : smaller(fit, MOST_SHOWN);
        steps = smaller(steps, to - n);
        const int64_t calls = ceil_div(count, run->shown_lanes);
        const int64_t most = ceil_div(ceil_div(count, calls), width) * width;
        for (int64_t next = 0; next < count; next += most) {
            s.lanes.count = smaller(most, count - next);
            memcpy(s.lanes.at, going + next, s.lanes.count * sizeof *going);
            for (int64_t k = 0, some; k < steps; k += some) {
                int bad;
                some = steps - k;
                while ((bad = show_steps(&s, n + k, some)) > 0)
                    some = count_finite(&s, some); /* one: of the lanes that complete it */
                if (bad < 0) {
                    if (!run->out_of_memory) run->stopped = 1;
                    return -1;
                }
            }
        }
    }
    return 0;
}
