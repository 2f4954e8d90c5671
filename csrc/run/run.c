/* The only loop over tiles and blocks of time. Pure C, no Python, no allocation except for the
 * first failure of a tile and one scratch for each thread. */
#include <sched.h>
#include "layout.h"
#include "pace.h"

enum {
    SCRATCH_STATES = 16, /* in the scratch at once */
    SCRATCH_WIDE = 8,    /* if an observer sees many lanes: in twice the bytes */
    TILE_BYTES = 16384,  /* of state, so that in and out stay in the first cache */
    IN_FLIGHT = PI_MAX_FLIGHT,
    REDUCED_GROUPS = 3, /* of so many registers: a multiple of any number in flight */
    LEAST_STEPS = 16,   /* for which lanes are packed because they leave */
    PACKED_TILES = 8,   /* their tiles are larger by this, so that few lanes fill registers */
    STOPPING_TILES = 64,
    CHUNK = 64, /* registers in a row kernel together, if their rows fit: */
    WORKSPACE_BYTES = 128 << 10,
};

/* ---- the scratch of a thread ----------------------------------------------------------------- */
/* Does an observer rather see many lanes at once than many states? */
static int is_wide(const PiRun *run) {
    int wide = 0;
    EACH_OBSERVER(o, run) wide |= o->wide;
    return wide;
}
static int64_t states_at_once(const PiRun *run) {
    return is_wide(run) ? SCRATCH_WIDE : SCRATCH_STATES;
}
/* Reals from a component of the shown states to the next: those of one state lie side by side, the
 * states one after the other, then a cache line, since multiples of 4 KiB would share few sets of
 * the cache. */
static int64_t seen_stride(const PiRun *run) {
    return pi_sum(pi_product(states_at_once(run), run->tile_lanes), 64 / run->real_bytes);
}
static void place_observers(PiRun *run) {
    int64_t *offset = run->observer_offset;
    EACH_OBSERVER(o, run) {
        const int64_t bytes = o->scratch_bytes ? o->scratch_bytes(o->self, run) : 0;
        offset[1] = pi_sum(*offset, pi_rounded_up(bytes, 64));
        offset++;
    }
}
static int64_t lay_out(const PiRun *run, PiScratch *s, void *memory) {
    const int64_t row = pi_product(run->tile_lanes, run->real_bytes);
    const int64_t shown = pi_is_shown(run) && !run->writer ? run->system->dim : 0;
    PiMemory m = {memory, 0};
    PLACE(&m, s->tile, pi_product(run->state_rows, row));
    PLACE(&m, s->workspace, run->workspace_bytes);
    PLACE(&m, s->params, run->drive_strides ? run->system->n_params : 0);
    PLACE(&m, s->far, row);
    PLACE(&m, s->shown,
          pi_stops_make_room(run)
              ? pi_stopping_rows_bytes(run)
              : pi_product(pi_product(shown, seen_stride(run)), run->real_bytes));
    PLACE(&m, s->observers, run->observer_offset[run->n_observers]);
    PLACE(&m, s->leaving, pi_leaving_bytes(run));
    return m.used;
}
int64_t pi_run_scratch_bytes(const PiRun *run) { return lay_out(run, &(PiScratch){0}, NULL); }
PiScratch pi_scratch_in(const PiRun *run, void *memory) {
    PiScratch scratch;
    lay_out(run, &scratch, memory);
    return scratch;
}

/* One state of a tile, or what all its states in a block have in common; without its rows. */
static PiSeen seen_of(const PiRun *run, int64_t tile, int64_t block, const PiScratch *scratch) {
    return (PiSeen){.tile = tile,
                    .lane = tile * run->tile_lanes,
                    .lanes = lanes_in(run, tile),
                    .block = block,
                    .every = run->interval,
                    .count = 1,
                    .scratch = scratch->observers};
}
/* One state of a tile. */
static int show_state(PiRun *run, const PiSeen *seen) {
    if (pi_show(run, seen)) run->stopped = 1;
    return run->stopped ? -1 : 0;
}

/* ---- one tile, one block --------------------------------------------------------------------- */
/* One initial state for all lanes of a tile, padding included, in the rows of the first block. */
static void *spread_initial(const PiRun *run, int64_t number) {
    const int64_t lane = number * run->tile_lanes, lanes = padded(run, lanes_in(run, number));
    void *rows = row_at(run, run->state[0], run->stride, 0, lane);
    EACH_ROW(d, run) {
        void *row = row_at(run, rows, run->stride, d, 0);
        EACH_BELOW(i, lanes) set_number(run, row, i, number_at(run, run->initial, d));
    }
    return rows;
}
static void *initial_rows(const PiRun *run, int64_t number) {
    return run->same ? spread_initial(run, number)
                     : row_at(run, run->initial, run->stride, 0, number * run->tile_lanes);
}
static int begin_tile(PiRun *run, int64_t number, const PiScratch *scratch) {
    const int64_t lanes = lanes_in(run, number);
    const int look = !run->same || run->n_observers;
    const void *rows = look ? initial_rows(run, number) : run->initial;
    const int64_t stride = look ? run->stride : 1, different = run->same ? 1 : lanes;
    const int valid = pi_states_are_valid(run, rows, stride, different);
    if (!valid)
        EACH_BELOW(i, lanes) {
            const PiStatus status = pi_state_status(run, rows, stride, i % different);
            if (status && pi_fail(run, number, i, status, run->first)) return -1;
        }
    if (!run->n_observers) return 0;
    PiSeen seen = seen_of(run, number, 0, scratch);
    seen.rows = rows;
    seen.stride = run->stride;
    return show_state(run, &seen);
}

/* The parameters of one step of a driven run. */
static const PiRow *driven(const PiRun *run, int64_t step, PiRow *rows) {
    EACH_BELOW(i, run->system->n_params) {
        rows[i] = run->params[i];
        rows[i].data = (const char *)rows[i].data + step * run->drive_strides[i] * run->real_bytes;
    }
    return rows;
}

static PiTile make_tile(const PiRun *run, int64_t number, char *workspace, PiPause *pause) {
    PiTile tile = {.system = run->system,
                   .method = run->method,
                   .table = run->table,
                   .registers =
                       ceil_div(lanes_in(run, number), run->vector_bytes / run->real_bytes),
                   .lane = number * run->tile_lanes,
                   .t0 = run->t0,
                   .h = run->h,
                   .params = run->params,
                   .bound = isinf(run->bound) ? DBL_MAX : run->bound,
                   .force = run->force,
                   .context = run->context,
                   .draw = run->draw,
                   .workspace = workspace,
                   .chunk = run->chunk,
                   .history = run->state_rows - run->system->dim,
                   .compensated = run->compensated,
                   .starter_until = run->starter_until,
                   .starter = run->starter,
                   .starter_table = run->starter_table,
                   .pause = pause};
    if (run->real_bytes == 4 && tile.bound > FLT_MAX) tile.bound = FLT_MAX;
    return tile;
}
/* Reads one set of rows and writes the other, target or scratch, so that its input is still there
 * if a lane fails. If the state is in the target already it moves to the scratch first. */
static int call_kernel(PiRun *run, PiTile *tile, void *target, char *spare, int to_target) {
    if (to_target && tile->in == target) {
        copy_states(run, tile->registers * run->vector_bytes, target, run->stride, spare,
                    run->tile_lanes);
        tile->in = spare;
        tile->in_stride = run->tile_lanes;
    }
    tile->out = to_target ? target : spare;
    tile->out_stride = to_target ? run->stride : run->tile_lanes;
    return run->kernel(tile);
}

/* Some steps in one call of the kernel, which writes the states to be shown. Returns the kernel's
 * result. */
static int advance_together(PiRun *run, PiSeen seen, PiTile *tile, void *target,
                            const PiScratch *scratch, int to_target) {
    PiPlace place = {scratch->shown, seen_stride(run), run->tile_lanes, 0};
    if (run->writer) {
        place = run->writer->place(run->writer->self, run, seen.lane, seen.step);
        seen.writer = run->writer->self;
    }
    tile->record = place.rows;
    seen.rows = place.rows;
    tile->record_stride = seen.stride = place.stride;
    tile->record_next = seen.next = place.next;
    tile->record_every = run->interval;
    tile->stream = place.stream;
    tile->reach = pi_has_seen_bound(run) ? scratch->far : NULL;
    int bad = call_kernel(run, tile, target, scratch->tile, to_target);
    tile->reach = NULL;
    if (bad > 0 && pi_has_seen_bound(run)) bad = pi_find_leavers(run, &seen, tile, scratch->far);
    tile->record = NULL;
    tile->stream = 0;
    if (bad) return bad;
    return pi_let_intervene(run, seen, tile) ? -1 : pi_show(run, &seen);
}

/* A block in one call of a kernel that also makes the reductions. 1; 0 if it cannot, or a lane has
 * failed, and nothing is kept; -1. */
static int advance_reducing(PiRun *run, const PiSeen *seen, PiTile *tile, int64_t from, int64_t to,
                            void *target, char *spare) {
    const PiObserver *o = run->reducer;
    if (!o || run->failures[seen->tile].count || !o->reduced(o->self, run, seen, tile)) return 0;
    tile->first = run->first + from;
    tile->steps = to - from;
    const int bad = call_kernel(run, tile, target, spare, 1);
    tile->reduced = NULL;
    if (bad < 0) run->stopped = 1;
    if (bad) return bad < 0 ? -1 : 0;
    o->keep(o->self, run, seen);
    return 1;
}

/* The steps of a block, call by call; seen: what all calls have in common. 0, or -1. */
static int advance_by_calls(PiRun *run, PiTile *tile, PiSeen seen, int64_t from, int64_t to,
                            void *target, const PiScratch *scratch) {
    const int64_t interval = run->interval;
    /* A bound is checked after each step, unless that is done in the shown rows; a drive changes at
     * each. */
    const int each_step = (!isinf(run->bound) && !pi_has_seen_bound(run)) || run->drive_strides;
    const int together = pi_is_shown(run) && !each_step && interval < run->block_steps;
    int64_t one_by_one = from; /* until here each interval is one call: a lane fails before it */
    seen.made = tile;
    for (int64_t step = from; step < to;) {
        const int several = together && step >= one_by_one;
        const int64_t states = run->writer ? PI_BLOCK_SAVES : states_at_once(run);
        const int64_t most = each_step ? 1 : several ? interval * states : interval;
        const int64_t stop = smaller(to, (over(step, most) + 1) * most);
        /* The last call must write to the target, and none to its own input. */
        const int64_t calls = ceil_div(to, most) - over(step, most);
        const int to_target = calls % 2 == 1 || tile->in == scratch->tile;
        seen.step = smaller((over(step, interval) + 1) * interval, run->n_steps);
        seen.count = ceil_div(stop, interval) - over(step, interval);
        tile->first = run->first + step;
        tile->steps = stop - step;
        if (run->drive_strides) tile->params = driven(run, step, scratch->params);
        tile->frozen = run->failures[seen.tile].mask;
        int bad;
        if (several) {
            bad = advance_together(run, seen, tile, target, scratch, to_target);
            if (bad > 0) {
                one_by_one = stop;
                continue;
            }
        } else bad = call_kernel(run, tile, target, scratch->tile, to_target);
        if (bad < 0) run->stopped = 1;
        if (bad < 0 || (bad && pi_find_failures(run, seen.tile, tile))) return -1;
        if (!several && run->n_observers &&
            (over(stop, interval) * interval == stop || stop == run->n_steps)) {
            seen.count = 1;
            seen.rows = tile->out;
            seen.stride = tile->out_stride;
            if (pi_let_intervene(run, seen, tile) || show_state(run, &seen)) {
                run->stopped = 1;
                return -1;
            }
        }
        tile->in = tile->out;
        tile->in_stride = tile->out_stride;
        step = stop;
    }
    if (tile->in == scratch->tile)
        copy_states(run, tile->registers * run->vector_bytes, scratch->tile, run->tile_lanes,
                    target, run->stride);
    return 0;
}
int pi_advance_tile(PiRun *run, int64_t number, int64_t block, const PiScratch *scratch,
                    PiPause *pause) {
    const int64_t lane = number * run->tile_lanes;
    const int64_t from = pi_steps_after(run, block), to = pi_steps_after(run, block + 1);
    const int makes_room = pi_makes_room(run), stops = pi_stops_make_room(run);
    PiFailures *failures = &run->failures[number];
    /* All lanes have stopped, and both copies of the state hold the end: blocks without number may
     * follow. */
    if ((makes_room || stops) && failures->count == lanes_in(run, number) && failures->still++ > 1)
        return 0;
    void *target = row_at(run, run->state[block & 1], run->stride, 0, lane);
    PiTile tile = make_tile(run, number, scratch->workspace, pause);
    tile.in = block == 0 ? initial_rows(run, number)
                         : row_at(run, run->state[(block - 1) & 1], run->stride, 0, lane);
    tile.in_stride = run->stride;
    PiSeen seen = seen_of(run, number, run->first_block + block, scratch);
    seen.step = from;
    if (makes_room && to - from >= LEAST_STEPS)
        return pi_advance_leaving(run, number, &tile, from, to, target, scratch);
    if (stops) return pi_advance_stopping(run, &tile, seen, from, to, target, scratch);
    const int reduced = advance_reducing(run, &seen, &tile, from, to, target, scratch->tile);
    if (reduced) return reduced < 0 ? -1 : 0;
    return advance_by_calls(run, &tile, seen, from, to, target, scratch);
}

int pi_run_begin(PiRun *run, void *memory) {
    const PiScratch scratch = pi_scratch_in(run, memory);
    EACH_BELOW(tile, run->n_tiles)
        if (begin_tile(run, tile, &scratch)) return -1;
    return 0;
}
int pi_run_show(PiRun *run, int64_t n, int observer, void *memory) {
    const PiScratch scratch = pi_scratch_in(run, memory);
    run->first = n;
    run->n_steps = 0;
    run->interval = run->cut = 1;
    EACH_BELOW(tile, run->n_tiles) {
        PiSeen seen = seen_of(run, tile, 0, &scratch);
        seen.rows = row_at(run, run->state[0], run->stride, 0, tile * run->tile_lanes);
        seen.stride = run->stride;
        EACH_FROM(i, observer, run->n_observers)
            if (pi_show_to(run, &run->observers[i], seen, 0, 1, 1)) return -1;
    }
    return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */
int pi_run_prepare(PiRun *run) {
    const int64_t group = IN_FLIGHT * run->vector_bytes / run->real_bytes;
    const int64_t lanes_a_call = run->system->lanes_a_call;
    const int64_t bytes = pi_product(run->state_rows, run->real_bytes);
    /* States that observers see go through a scratch, which should be in the first-level cache too.
     */
    pi_prepare_observers(run);
    const int64_t some = is_wide(run) ? SCRATCH_WIDE / 2 : SCRATCH_STATES;
    const int64_t kept = pi_is_shown(run) && !run->writer ? some : 1;
    const int64_t packed = pi_stops_make_room(run)               ? STOPPING_TILES
                           : pi_makes_room(run) && !lanes_a_call ? PACKED_TILES
                                                                 : 1;
    const int64_t shown = (lanes_a_call ? lanes_a_call : TILE_BYTES / kept / bytes) / group * group;
    run->shown_lanes = shown < group ? group : shown;
    const int64_t fitting = run->reducer ? REDUCED_GROUPS * group : packed * run->shown_lanes;
    const int64_t shares = run->workers > 1 ? 2 * run->workers : 1;
    const int64_t sharing = ceil_div(ceil_div(run->lanes, shares), group) * group;
    run->tile_lanes = smaller(fitting, sharing);
    if (run->tile_lanes < group) run->tile_lanes = group;
    run->n_tiles = ceil_div(run->lanes, run->tile_lanes);
    run->failures = calloc(run->n_tiles ? run->n_tiles : 1, sizeof *run->failures);
    run->table = malloc(pi_product(run->starter ? 2 : 1, sizeof *run->table));
    if (!run->failures || !run->table) return -1;
    EACH_BELOW(tile, run->n_tiles) {
        run->failures[tile].status = run->status + tile * run->tile_lanes;
        run->failures[tile].step = run->failed + tile * run->tile_lanes;
    }
    run->starter_table = run->table + 1;
    const uint32_t mode = pi_enter_float_mode();
    pi_make_table(run->method, run->system, run->table);
    if (run->starter) pi_make_table(run->starter, run->system, run->starter_table);
    pi_leave_float_mode(mode);
    run->block_steps = pi_steps_of_block(run);
    run->n_blocks = pi_count_blocks(run);
    run->first_block = 1;
    const int64_t needed =
        pi_product(pi_workspace_rows(run->method, run->starter, run->system, run->state_rows),
                   run->vector_bytes); /* bytes */
    const int64_t all = run->tile_lanes * run->real_bytes / run->vector_bytes;
    run->chunk = smaller(CHUNK, WORKSPACE_BYTES / needed);
    /* Byte code works on eight registers at a time; the chunks of a tile are alike. */
    const int64_t most = run->chunk - run->chunk % IN_FLIGHT;
    if (most) run->chunk = ceil_div(all / IN_FLIGHT, ceil_div(all, most)) * IN_FLIGHT;
    if (lanes_a_call) run->chunk = all;
    if (run->chunk < 1) run->chunk = 1;
    run->workspace_bytes = run->force ? pi_product(run->chunk, needed) : 0;
    place_observers(run);
    return 0;
}

void pi_run_work(void *of, PiPoll *poll, void *context) {
    PiRun *run = of;
    const int64_t tickets = pi_product(run->n_tiles, pi_sum(run->n_blocks, 1));
    void *memory = pi_aligned(pi_run_scratch_bytes(run));
    const PiScratch scratch = pi_scratch_in(run, memory);
    const uint32_t mode = pi_enter_float_mode();
    Pace pace = make_pace(run, pi_run_completed, &run->cancelled, poll, context);
    if (!memory) run->out_of_memory = run->cancelled = 1;
    while (!run->cancelled && run->n_tiles) {
        const int64_t ticket = atomic_fetch_add(&run->next, 1);
        /* A block begins when the one before is complete. The polling thread polls until all are.
         */
        const int64_t block = ticket / run->n_tiles, tile = ticket % run->n_tiles;
        if (ticket >= tickets && !poll) break;
        const int64_t complete = ticket < tickets ? block * run->n_tiles : tickets;
        while (!look_at_clock(&pace.pause) && run->done < complete) sched_yield();
        if (run->cancelled || ticket >= tickets) break;
        if (block) pi_open_block(run, tile, block, &scratch);
        const int error = block ? pi_advance_tile(run, tile, block - 1, &scratch, &pace.pause)
                                : begin_tile(run, tile, &scratch);
        if (error) {
            if (!run->stopped) run->out_of_memory = 1;
            run->cancelled = 1;
        } else atomic_fetch_add(&run->done, 1);
    }
    pi_leave_float_mode(mode);
    pi_free_aligned(memory);
}

static int64_t blocks_done(const PiRun *run) {
    const int64_t rounds = run->n_tiles ? run->done / run->n_tiles : run->n_blocks + 1;
    return rounds ? rounds - 1 : 0;
}
int64_t pi_run_completed(const void *run) { return pi_steps_after(run, blocks_done(run)); }

const void *pi_run_state(const PiRun *run) {
    const int64_t blocks = blocks_done(run);
    if (blocks == 0) return run->initial;
    if (blocks < run->n_blocks && run->state[0] == run->state[1]) return NULL;
    return run->state[(blocks - 1) & 1];
}

void pi_run_free(PiRun *run) {
    if (run->failures)
        EACH_BELOW(i, run->n_tiles) pi_free_aligned(run->failures[i].mask);
    free(run->failures);
    free(run->table);
    run->failures = NULL;
    run->table = NULL;
}
