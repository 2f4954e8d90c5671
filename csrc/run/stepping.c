/* Stepping by hand: blocks one after the other, all tiles of each, in place; incomplete blocks are
 * undone. */
#include "layout.h"
#include "pace.h"

/* Blocks that are short, and that nothing can stop, are never undone. */
int pi_run_may_undo(const PiRun *run, int64_t n) {
    const double soon = 1e7; /* operations: some milliseconds */
    const double operations =
        smaller(n, run->block_steps) * pi_lanes_worked(run) * pi_step_operations(run);
    return run->n_observers || (run->force && run->system->may_stop) || !isinf(run->bound) ||
           operations > soon;
}
/* The state before a block: in `before`, or, if one tile has made the block in one call of the
 * kernel, in the scratch, from which that has read it. */
static void put_back(PiRun *run, const char *scratch, const char *before, int64_t from) {
    const int64_t per_register = run->vector_bytes / run->real_bytes;
    const int64_t bytes = ceil_div(run->lanes, per_register) * run->vector_bytes;
    if (before) memcpy(run->state[0], before, run->state_rows * run->stride * run->real_bytes);
    if (!before) copy_states(run, bytes, scratch, run->tile_lanes, run->state[0], run->stride);
    pi_forget_failures(run, run->first + from);
}
/* Whether a block is completed: by all tiles, or by none. */
static int step_block(PiRun *run, int64_t block, const PiScratch *scratch, char *before,
                      Pace *pace) {
    const int64_t bytes = run->state_rows * run->stride * run->real_bytes;
    PiPause *pause = before && pace->poll ? &pace->pause : NULL;
    int error = 0;
    if (before) memcpy(before, run->state[0], bytes);
    EACH_BELOW(tile, run->n_tiles) {
        if (block || run->first_block == 1)
            pi_open_block(run, tile, run->first_block + block, scratch);
        error |= pi_advance_tile(run, tile, block, scratch, pause);
        if (!error && pause && tile + 1 < run->n_tiles && look_at_clock(pause)) error = -1;
        if (error && before) break;
    }
    if (error && !run->stopped && !run->cancelled) run->out_of_memory = 1;
    /* Without memory for the failures of one tile of several these are found later. */
    if (!error || (!before && run->n_tiles > 1)) return 1;
    put_back(run, scratch->tile, before, pi_steps_after(run, block));
    return 0;
}
static void open_all(const PiRun *run, int64_t block, const PiScratch *scratch) {
    EACH_BELOW(tile, run->n_tiles) pi_open_block(run, tile, block, scratch);
}
int pi_run_step(PiRun *run, int64_t first, int64_t n, void *memory, void *before, PiPoll *poll,
                void *context, int64_t *completed) {
    run->first = first;
    run->n_steps = n;
    /* Observers see every step of stepping by hand. */
    run->cut = run->n_observers ? 1 : n;
    run->interval = pi_has_seen_bound(run) ? 1 : run->cut;
    run->cancelled = run->stopped = run->out_of_memory = 0;
    const int64_t blocks = pi_count_blocks(run);
    const PiScratch scratch = pi_scratch_in(run, memory);
    /* The last block ends in the first copies of sums. If the number of blocks is odd, the
     * first one works there too, and what was there is kept in the second copies. */
    run->first_block = 1 + blocks % 2;
    if (blocks % 2) open_all(run, 1, &scratch);
    const uint32_t mode = pi_enter_float_mode();
    Pace pace = make_pace(run, pi_run_completed, &run->cancelled, poll, context);
    int64_t done = 0;
    while (done < blocks && !run->cancelled && step_block(run, done, &scratch, before, &pace)) {
        done++;
        if (run->stopped || run->out_of_memory) break;
        if (poll) look_at_clock(&pace.pause);
    }
    *completed = pi_steps_after(run, done);
    if ((blocks - done) % 2) open_all(run, 2, &scratch);
    pi_leave_float_mode(mode);
    return run->cancelled || run->stopped || run->out_of_memory ? -1 : 0;
}
