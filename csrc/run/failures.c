/* Trajectories that have failed: frozen at their last valid state, and reported. */
#include "layout.h"

/* ---- rows ------------------------------------------------------------------------------------ */
PiStatus pi_state_status(const PiRun *run, const void *rows, int64_t stride, int64_t lane) {
    PiStatus status = PI_OK;
    EACH_BELOW(d, run->system->dim) {
        const double y = fabs(number_at(run, rows, d * stride + lane));
        if (!(y <= DBL_MAX)) return PI_NOT_FINITE;
        if (y > run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}
/* The same for many lanes at once, without a branch. */
#define LOOK(real)                                                                                 \
    EACH_BELOW(i, lanes) bad |= !(fabs(((const real *)row)[i]) <= most);
int pi_states_are_valid(const PiRun *run, const void *rows, int64_t stride, int64_t lanes) {
    const double most = fmin(run->bound, DBL_MAX);
    int bad = 0;
    EACH_BELOW(d, run->system->dim) {
        const void *row = row_at(run, rows, stride, d, 0);
        WITH_REAL(run, LOOK)
    }
    return !bad;
}

/* ---- failures -------------------------------------------------------------------------------- */
/* The mask of a tile, made when it is first needed. */
static int make_mask(const PiRun *run, PiFailures *f) {
    const int64_t bytes = pi_rounded_up(pi_product(run->tile_lanes, run->real_bytes), 64);
    if (f->mask) return 0;
    f->mask = pi_aligned(bytes);
    if (!f->mask) return -1;
    memset(f->mask, 0, bytes);
    return 0;
}
static void set_mask(const PiRun *run, PiFailures *f, int64_t from, int64_t to, int frozen) {
    memset((char *)f->mask + from * run->real_bytes, frozen ? 0xff : 0,
           (to - from) * run->real_bytes);
}
int pi_fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step) {
    PiFailures *f = &run->failures[tile];
    if (make_mask(run, f)) {
        run->out_of_memory = 1;
        return -1;
    }
    if (is_frozen(f, lane)) return 0;
    set_mask(run, f, lane, lane + 1, 1);
    f->status[lane] = status;
    f->step[lane] = step;
    f->count++;
    /* The padding copies the last trajectory, and fails with it. */
    const int64_t last = lanes_in(run, tile) - 1;
    if (lane == last) set_mask(run, f, last + 1, run->tile_lanes, 1);
    return 0;
}
/* If the last register is full there is no padding to freeze. */
int pi_run_freeze_padding(PiRun *run) {
    const int64_t lanes = lanes_in(run, run->n_tiles - 1);
    PiFailures *f = &run->failures[run->n_tiles - 1];
    if (lanes % (run->vector_bytes / run->real_bytes) == 0) return 0;
    if (make_mask(run, f)) return -1;
    set_mask(run, f, lanes, run->tile_lanes, 1);
    return 0;
}
void pi_run_clear_failure(PiRun *run, int64_t lane) {
    PiFailures *f = &run->failures[lane / run->tile_lanes];
    const int64_t i = lane % run->tile_lanes;
    if (!is_frozen(f, i)) return;
    set_mask(run, f, i, i + 1, 0);
    f->status[i] = PI_OK;
    f->count--;
}
void pi_forget_failures(PiRun *run, int64_t step) {
    EACH_BELOW(tile, run->n_tiles) {
        const PiFailures *f = &run->failures[tile];
        for (int64_t i = 0; f->count && i < lanes_in(run, tile); i++)
            if (is_frozen(f, i) && f->step[i] > step)
                pi_run_clear_failure(run, tile * run->tile_lanes + i);
    }
}
int pi_run_freeze(PiRun *run) {
    EACH_BELOW(tile, run->n_tiles) {
        PiFailures *f = &run->failures[tile];
        if (f->mask) set_mask(run, f, 0, lanes_in(run, tile), 0);
        f->count = 0;
        EACH_BELOW(i, lanes_in(run, tile)) {
            const PiStatus status = f->status[i];
            if (status == PI_OK) continue;
            f->status[i] = PI_OK; /* so that it is frozen now */
            if (pi_fail(run, tile, i, status, f->step[i])) return -1;
        }
    }
    return 0;
}
int64_t pi_run_count_failures(const PiRun *run) {
    int64_t count = 0;
    EACH_BELOW(tile, run->n_tiles) count += run->failures[tile].count;
    return count;
}
