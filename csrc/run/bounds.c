/* Trajectories that leave the bound: found in the states of the steps that a kernel has made in
 * one call, so that a bound needs no extra calls. */
#include <float.h>
#include "layout.h"

int pi_has_seen_bound(const PiRun *run) {
    return !isinf(run->bound) && run->n_observers && !run->drive_strides && !run->alone &&
           run->state_rows == run->system->dim;
}

typedef struct {
    PiRun *run;
    const PiSeen *seen;
    const PiTile *tile;
    double bound;
} Look;

/* The state after so many of the shown steps: 0 is that before them. */
static const char *state(const Look *l, int64_t steps, int64_t lane, int64_t *stride) {
    *stride = steps ? l->seen->stride : l->tile->in_stride;
    const void *rows =
        steps ? row_at(l->run, l->seen->rows, l->seen->next, steps - 1, 0) : l->tile->in;
    return row_at(l->run, rows, 1, 0, lane);
}
/* The first step after which a lane is outside; 0 if none. -1 if it is not finite there, for which
 * a method may have a reason. */
static int64_t first_beyond(const Look *l, int64_t lane) {
    for (int64_t k = 1; k <= l->seen->count; k++) {
        int64_t stride;
        const char *y = state(l, k, lane, &stride);
        int beyond = 0;
        for (int64_t d = 0; d < l->run->system->dim; d++) {
            const double size = fabs(number_at(l->run, y, d * stride));
            if (!(size <= DBL_MAX)) return -1;
            beyond |= size > l->bound;
        }
        if (beyond) return k;
    }
    return 0;
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

/* Has lane i left in this call, or become non-finite, according to the kernel? */
static int suspect(const Look *l, const PiFailures *failures, const void *far, int64_t i) {
    return !is_frozen(failures, i) && !(number_at(l->run, far, i) <= l->bound);
}
int pi_find_leavers(PiRun *run, const PiSeen *seen, const PiTile *tile, const void *far) {
    const PiFailures *failures = &run->failures[seen->tile];
    const Look look = {.run = run, .seen = seen, .tile = tile, .bound = tile->bound};
    for (int64_t i = 0; i < seen->lanes; i++)
        if (suspect(&look, failures, far, i) && first_beyond(&look, i) < 0) return 1;
    for (int64_t i = 0; i < seen->lanes; i++) {
        const int64_t k = suspect(&look, failures, far, i) ? first_beyond(&look, i) : 0;
        if (k == 0) continue;
        if (pi_fail(run, seen->tile, i, PI_OUT_OF_BOUNDS, tile->first + k)) return -1;
        stay(&look, i, k);
    }
    return 0;
}
