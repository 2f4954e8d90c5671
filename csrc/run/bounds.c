/* Lanes that do not complete the steps of a call of a kernel, found in the states after each: where
 * they stay, and why; those that leave the bound, which so needs no extra calls. */
#include "layout.h"

int pi_has_seen_bound(const PiRun *run) {
    return !isinf(run->bound) && run->n_observers && !run->drive_strides && !run->alone &&
           run->state_rows == run->system->dim;
}

int pi_stay(PiRun *run, int64_t number, const PiTile *made, const void *completed, int64_t i,
            int64_t lane, void *to, int64_t stride, int64_t place) {
    const int64_t k = number_at(run, completed, i), next = made->record_next;
    const char *failed = row_at(run, made->record, next, k, 0);
    const PiStatus found = pi_state_status(run, failed, made->record_stride, i);
    const PiStatus why = made->status && made->status[i] ? (PiStatus)made->status[i] : found;
    const void *before =
        k ? row_at(run, made->record, next, k - 1, i) : row_at(run, made->in, 0, 0, i);
    copy_states(run, run->real_bytes, before, k ? made->record_stride : made->in_stride,
                row_at(run, to, 0, 0, place), stride);
    return pi_fail(run, number, lane, why, made->first + k + 1);
}

int pi_find_leavers(PiRun *run, const PiSeen *seen, const PiTile *tile, void *completed) {
    const PiFailures *failures = &run->failures[seen->tile];
    run->complete(tile, completed);
    /* First those that are not finite, for which a method may have a reason. */
    EACH_BELOW(fails, 2)
        EACH_BELOW(i, seen->lanes) {
            int64_t k = number_at(run, completed, i);
            if (k == seen->count || is_frozen(failures, i)) continue;
            const void *row = row_at(run, seen->rows, seen->next, k, 0);
            if (!fails && pi_state_status(run, row, seen->stride, i) != PI_OUT_OF_BOUNDS) return 1;
            if (!fails) continue;
            if (pi_stay(run, seen->tile, tile, completed, i, i, tile->out, tile->out_stride, i))
                return -1;
            for (; k < seen->count; k++) /* in all the rows */
                copy_states(run, run->real_bytes, row_at(run, tile->out, 0, 0, i), tile->out_stride,
                            row_at(run, seen->rows, seen->next, k, i), seen->stride);
        }
    return 0;
}
