/* Trajectories that leave: those that fail within a call of the kernel, and those that make room,
 * in runs with a bound and no observers, and in those whose only observer stops lanes. The
 * remaining lanes are kept side by side, so that the cost is that of the steps that are really
 * made. Lanes that leave a bound within a call of the kernel, which reports how far each lane was,
 * repeat its steps, and the states after each tell where. No lane depends on its neighbours, so
 * that no result depends on which lanes are side by side. */
#include "layout.h"

/* Steps in a call of the kernel: a call has its price, and steps beyond an exit are lost; more
 * while hardly any lane leaves. */
enum { FEW_STEPS = 16, MOST_STEPS = 64 };
enum { MOST_SHOWN = 48 };          /* states that an observer is shown at once, if they have room */
enum { LEAVING_BYTES = 64 << 10 }; /* states of lanes that leave, after each step */
static int may_pack(const PiRun *run) {
    return !run->drive_strides && run->method->family != PI_MULTISTEP;
}
int pi_makes_room(const PiRun *run) {
    return !isinf(run->bound) && !run->n_observers && may_pack(run);
}
int pi_stops_make_room(const PiRun *run) {
    return isinf(run->bound) && run->n_observers == 1 && run->observers[0].packed &&
           may_pack(run) && !run->system->lanes_a_call;
}

/* The lanes of the tile that continue. */
static void pack(PiPacked *p, const PiFailures *failures, int64_t lanes) {
    p->count = 0;
    EACH_BELOW(i, lanes)
        if (!is_frozen(failures, i)) p->at[p->count++] = i;
    pi_packed_collect(p, p->tile->in, p->tile->in_stride, p->in);
}

/* A tile, the destination of its states; lanes apart: those that go on, those that leave; a row of
 * how far each has been, a status for each, states after several steps. */
typedef struct {
    PiRun *run;
    int64_t number;
    const PiTile *tile;
    void *target;
    int64_t stride;
    PiPacked going, leavers;
    char *far;
    int8_t *reason;
    char *rows;
} Leaving;
static int64_t lay_out(Leaving *l, int64_t lanes, void *memory) {
    PiMemory m = {memory, 0};
    l->going = pi_place_packed(&m, l->run, l->tile, lanes);
    l->leavers = pi_place_packed(&m, l->run, l->tile, lanes);
    PLACE(&m, l->far, pi_product(l->going.stride, l->run->real_bytes));
    PLACE(&m, l->reason, lanes);
    PLACE(&m, l->rows, LEAVING_BYTES);
    return m.used;
}
int64_t pi_leaving_bytes(const PiRun *run) {
    if (!pi_makes_room(run) && !pi_stops_make_room(run)) return 0;
    return lay_out(&(Leaving){.run = (PiRun *)run}, run->tile_lanes, NULL);
}
/* Those that have left in the last call, as a list; their number. */
#define LIST(real)                                                                                 \
    EACH_BELOW(i, p->count) {                                                                      \
        p->list[n] = i;                                                                            \
        n += !(((const real *)l->far)[i] <= (real)l->tile->bound);                                 \
    }
static int64_t list_left(const Leaving *l) {
    const PiPacked *p = &l->going;
    int64_t n = 0;
    WITH_REAL(l->run, LIST)
    return n;
}
/* Several steps in one call, which keeps the states after each: not of a method that has a history,
 * or reasons of its own to fail. */
static int64_t steps_at_once(const PiRun *run) {
    const int64_t most = LEAVING_BYTES / (64 * run->system->dim);
    const int plain = run->method->family <= PI_NYSTROM && run->state_rows == run->system->dim;
    return plain && most > 1 ? most : 1;
}
/* Some steps of those that leave: each stays where it was before the first that it does not
 * complete. 0, or -1. */
static int leave(Leaving *l, int64_t first, int64_t steps) {
    PiRun *run = l->run;
    PiPacked *p = &l->leavers;
    const int64_t dim = run->system->dim, line = lanes_in_line(run), most = steps_at_once(run);
    for (int64_t n = first, some; n < first + steps && p->count; n += some, pi_packed_turn(p)) {
        PiTile tile = pi_packed_tile(p, n, some = smaller(most, first + steps - n));
        const int64_t fit = LEAVING_BYTES / (some * dim * run->real_bytes) / line * line;
        int64_t gone = 0;
        tile.status = l->reason;
        tile.record_every = 1;
        for (int64_t from = 0, lanes; from < p->count; from += lanes) {
            lanes = some > 1 ? smaller(fit, p->count - from) : p->count;
            tile.registers = ceil_div(lanes, run->vector_bytes / run->real_bytes);
            tile.lane = from;
            tile.in = row_at(run, p->in, 0, 0, from);
            tile.out = row_at(run, p->out, 0, 0, from);
            if (some > 1) {
                tile.record = l->rows;
                tile.record_stride = pi_rounded_up(lanes, line);
                tile.record_next = dim * tile.record_stride;
            }
            memset(l->reason, 0, lanes);
            if (run->kernel(&tile) < 0) {
                run->stopped = 1;
                return -1;
            }
            if (some == 1) tile.record = tile.out, tile.record_stride = p->stride;
            run->complete(&tile, l->far);
            EACH_BELOW(i, lanes) {
                if (number_at(run, l->far, i) == some) continue;
                const int64_t lane = p->at[p->list[gone++] = from + i];
                if (pi_stay(run, l->number, &tile, l->far, i, lane, l->target, l->stride, lane))
                    return -1;
            }
        }
        pi_packed_drop(p, p->out, gone);
    }
    return 0;
}

/* Those that have failed in a call: its steps again, from its input. */
int pi_find_failures(PiRun *run, int64_t number, const PiTile *tile) {
    const PiFailures *failures = &run->failures[number];
    const int64_t lanes = lanes_in(run, number);
    Leaving l = {.run = run,
                 .number = number,
                 .tile = tile,
                 .target = tile->out,
                 .stride = tile->out_stride};
    PiPacked *failing = &l.leavers;
    void *memory = pi_aligned(lay_out(&l, lanes, NULL));
    if (!memory) return -1;
    lay_out(&l, lanes, memory);
    EACH_BELOW(i, lanes)
        if (!is_frozen(failures, i) && pi_state_status(run, tile->out, tile->out_stride, i))
            failing->at[failing->count++] = i;
    pi_packed_collect(failing, tile->in, tile->in_stride, failing->in);
    const int error = leave(&l, tile->first, tile->steps);
    pi_free_aligned(memory);
    return error;
}

/* The states with which a tile begins, to where they are to be in the end. */
static void move_to(const PiRun *run, const PiTile *tile, void *target) {
    if (tile->in != target)
        copy_states(run, tile->registers * run->vector_bytes, tile->in, tile->in_stride, target,
                    run->stride);
}
/* The tile as it is, as long as no lane leaves: returns how many of the steps it has made, all
 * lanes from `in`; those in which some have left are there too, in `out`. */
static int64_t go_together(const Leaving *l, PiTile *tile, int64_t from, int64_t to) {
    PiRun *run = l->run;
    int64_t n = from;
    for (int64_t steps = from ? MOST_STEPS : FEW_STEPS; n < to; steps *= 2) {
        const int to_target = tile->in != l->target;
        tile->out = to_target ? l->target : l->leavers.in;
        tile->out_stride = to_target ? run->stride : l->leavers.stride;
        tile->first = run->first + n;
        tile->steps = smaller(steps, to - n);
        tile->reach = l->far;
        const int bad = run->kernel(tile);
        if (bad < 0) run->stopped = 1;
        if (bad) break;
        tile->in = tile->out;
        tile->in_stride = tile->out_stride;
        n += tile->steps;
    }
    tile->reach = NULL;
    return n;
}
int pi_advance_leaving(PiRun *run, int64_t number, PiTile *tile, int64_t from, int64_t to,
                       void *target, const PiScratch *scratch) {
    Leaving l = {
        .run = run, .number = number, .tile = tile, .target = target, .stride = run->stride};
    lay_out(&l, run->tile_lanes, scratch->leaving);
    PiPacked *going = &l.going;
    const PiFailures *failures = &run->failures[number];
    const int together = !failures->count;
    int64_t n = together ? go_together(&l, tile, from, to) : from, most = FEW_STEPS;
    if (run->stopped) return -1;
    if (n < to) pack(going, failures, lanes_in(run, number));
    if (n < to && together) pi_packed_collect(going, tile->out, tile->out_stride, going->out);
    move_to(run, tile, target);
    if (n == to) return 0;
    int64_t made = together ? tile->steps : 0; /* steps that are there already */
    for (int64_t steps; n < to && going->count; n += steps, pi_packed_turn(going)) {
        const int64_t before = going->count;
        int bad = 1;
        steps = made ? made : smaller(most, to - n);
        if (!made) {
            PiTile side = pi_packed_tile(going, run->first + n, steps);
            side.reach = l.far;
            bad = run->kernel(&side);
        }
        made = 0;
        if (bad < 0) {
            run->stopped = 1;
            return -1;
        }
        const int64_t left = bad ? list_left(&l) : 0;
        pi_packed_take(&l.leavers, going, left);
        pi_packed_drop(going, going->out, left);
        /* Steps that are made twice cost as much as calls. */
        if (8 * left > before) most = FEW_STEPS;
        else if (most < MOST_STEPS && 32 * left < before) most *= 2;
        if (leave(&l, run->first + n, steps)) return -1;
    }
    pi_packed_spread(going, going->in, target);
    return 0;
}

/* ---- lanes that an observer stops ------------------------------------------------------------ */
/* Room for PI_STEPS_SHOWN of all lanes that go on together, or for more steps of fewer lanes: each
 * component of a state in whole cache lines, and one more after all its states. */
int64_t pi_stopping_rows_bytes(const PiRun *run) {
    const int64_t states =
        pi_product(pi_product(PI_STEPS_SHOWN, run->shown_lanes), run->real_bytes);
    return pi_product(run->system->dim, pi_sum(states, 64 * (MOST_SHOWN + 1)));
}
/* Those of the list that have not stopped, in place; returns their number. */
static int64_t still_there(const Leaving *l, int64_t *at, int64_t count) {
    const PiFailures *failures = &l->run->failures[l->number];
    int64_t left = 0;
    if (!failures->count) return count;
    EACH_BELOW(i, count) {
        at[left] = at[i];
        left += failures->status[at[i]] == PI_OK;
    }
    return left;
}
/* Steps of the present lanes, which are shown in `rows` to the observer; how many, or -1. Only a
 * call of one step tells why a solve failed: those before it are made first. */
static int64_t show_steps(Leaving *l, PiSeen seen, void *rows, int64_t step, int64_t steps) {
    PiRun *run = l->run;
    PiPacked *p = &l->going;
    const int64_t line = lanes_in_line(run);
    const int64_t count = p->count = still_there(l, p->at, p->count);
    if (count == 0) return steps;
    pi_packed_collect(p, l->target, run->stride, p->in);
    PiTile tile = pi_packed_tile(p, run->first + step, steps);
    seen.lanes = count;
    seen.step = step + 1;
    seen.count = steps;
    seen.rows = tile.record = rows;
    seen.next = tile.record_next = pi_rounded_up(count, line);
    seen.stride = tile.record_stride = steps * seen.next + line;
    seen.at = p->at;
    tile.record_every = 1;
    tile.status = l->reason;
    memset(l->reason, 0, count);
    const int bad = run->kernel(&tile);
    if (bad < 0) return bad;
    if (bad) run->complete(&tile, l->far);
    if (bad && steps > 1 && steps_at_once(run) == 1) {
        EACH_BELOW(i, count) steps = smaller(steps, number_at(run, l->far, i));
        return show_steps(l, seen, rows, step, steps ? steps : 1);
    }
    for (int64_t i = 0; bad && i < count; i++)
        if (number_at(run, l->far, i) < steps &&
            pi_stay(run, l->number, &tile, l->far, i, p->at[i], p->out, p->stride, i))
            return -1;
    /* Parts of steps are made for lanes of the batch. */
    tile.t0 = l->tile->t0;
    tile.h = l->tile->h;
    tile.params = l->tile->params;
    tile.record = NULL;
    tile.status = NULL;
    if (pi_let_intervene(run, seen, &tile)) return -1;
    pi_packed_spread(p, p->out, l->target);
    return steps;
}
int pi_advance_stopping(PiRun *run, PiTile *tile, PiSeen seen, int64_t from, int64_t to,
                        void *target, const PiScratch *scratch) {
    Leaving l = {
        .run = run, .number = seen.tile, .tile = tile, .target = target, .stride = run->stride};
    lay_out(&l, run->tile_lanes, scratch->leaving);
    int64_t *all = l.leavers.at; /* who are going on, some of them at a time */
    const int64_t width = run->vector_bytes / run->real_bytes;
    int64_t count = lanes_in(run, seen.tile);
    move_to(run, tile, target);
    EACH_BELOW(i, count) all[i] = i;
    for (int64_t n = from, steps; n < to; n += steps) {
        count = still_there(&l, all, count);
        if (count == 0) return 0;
        /* Few lanes make more steps: the states to be shown have room for them. */
        const int64_t fit = PI_STEPS_SHOWN * run->shown_lanes / count;
        steps = fit < PI_STEPS_SHOWN ? PI_STEPS_SHOWN : smaller(fit, MOST_SHOWN);
        steps = smaller(steps, to - n);
        const int64_t calls = ceil_div(count, run->shown_lanes);
        const int64_t most = ceil_div(ceil_div(count, calls), width) * width;
        for (int64_t next = 0; next < count; next += most) {
            l.going.count = smaller(most, count - next);
            memcpy(l.going.at, all + next, l.going.count * sizeof *all);
            for (int64_t k = 0, some; k < steps; k += some) {
                some = show_steps(&l, seen, scratch->shown, n + k, steps - k);
                if (some < 0) {
                    if (!run->out_of_memory) run->stopped = 1;
                    return -1;
                }
            }
        }
    }
    return 0;
}
