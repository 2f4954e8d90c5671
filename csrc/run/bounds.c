/* Trajectories that leave the bound: found in the states of the steps that a kernel has made in
 * one call, so that a bound needs no extra calls. */
#include "layout.h"

int pi_has_seen_bound(const PiRun *run) {
    return !isinf(run->bound) && run->n_observers && !run->drive_strides && !run->alone &&
           run->state_rows == run->system->dim;
}

typedef struct {
    PiRun *run;
    const PiSeen *seen;
    const PiTile *tile;
} Look;

/* The state after so many of the shown steps: 0 is that before them. */
static const char *state(const Look *l, int64_t steps, int64_t lane, int64_t *stride) {
    *stride = steps ? l->seen->stride : l->tile->in_stride;
    const void *rows =
        steps ? row_at(l->run, l->seen->rows, l->seen->next, steps - 1, 0) : l->tile->in;
    return row_at(l->run, rows, 1, 0, lane);
}
/* Resets the lane to where it was before step k, in all the rows. */
static void stay(const Look *l, int64_t lane, int64_t k) {
    const PiRun *run = l->run;
    int64_t from_stride, stride;
    const char *from = state(l, k - 1, lane, &from_stride);
    for (int64_t d = 0; d < run->system->dim; d++) {
        const char *value = row_at(run, from, from_stride, d, 0);
        for (int64_t i = k; i <= l->seen->count; i++) {
            char *to = (char *)state(l, i, lane, &stride);
            memcpy(row_at(run, to, stride, d, 0), value, run->real_bytes);
        }
        memcpy(row_at(run, l->tile->out, l->tile->out_stride, d, lane), value, run->real_bytes);
    }
}

int pi_find_leavers(PiRun *run, const PiSeen *seen, const PiTile *tile, void *completed) {
    const PiFailures *failures = &run->failures[seen->tile];
    const Look look = {.run = run, .seen = seen, .tile = tile};
    const PiShownRows shown = {seen->rows,   tile->registers,  seen->count, seen->next,
                               seen->stride, run->system->dim, tile->bound, completed};
    run->complete(&shown);
    /* First those that are not finite, for which a method may have a reason. */
    for (int fails = 0; fails < 2; fails++)
        for (int64_t i = 0; i < seen->lanes; i++) {
            const int64_t k = (int64_t)number_at(run, completed, i);
            if (k == seen->count || is_frozen(failures, i)) continue;
            const void *row = row_at(run, seen->rows, seen->next, k, 0);
            if (!fails && pi_state_status(run, row, seen->stride, i) != PI_OUT_OF_BOUNDS) return 1;
            if (!fails) continue;
            if (pi_fail(run, seen->tile, i, PI_OUT_OF_BOUNDS, tile->first + k + 1)) return -1;
            stay(&look, i, k + 1);
        }
    return 0;
}
