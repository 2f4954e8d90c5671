/* Trajectories that fail: found by bisection, frozen at their last valid state, and reported. */
#include <float.h>
#include <stdlib.h>
#include "../aligned.h"
#include "layout.h"

/* ---- rows ------------------------------------------------------------------------------------ */
static double value(const PiRun *run, const void *rows, int64_t stride, int64_t d, int64_t lane) {
    const char *at = row_at(run, rows, stride, d, lane);
    return run->real_bytes == 8 ? *(const double *)at : *(const float *)at;
}
PiStatus pi_state_status(const PiRun *run, const void *rows, int64_t stride, int64_t lane) {
    PiStatus status = PI_OK;
    for (int d = 0; d < run->system->dim; d++) {
        const double y = fabs(value(run, rows, stride, d, lane));
        if (!(y <= DBL_MAX)) return PI_NOT_FINITE;
        if (y > run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}
/* The same for many lanes at once, without a branch. */
int pi_states_are_valid(const PiRun *run, const void *rows, int64_t stride, int64_t lanes) {
    const double most = fmin(run->bound, DBL_MAX);
    int bad = 0;
    for (int d = 0; d < run->system->dim; d++) {
        const void *row = row_at(run, rows, stride, d, 0);
        if (run->real_bytes == 8)
            for (int64_t i = 0; i < lanes; i++) bad |= !(fabs(((const double *)row)[i]) <= most);
        else
            for (int64_t i = 0; i < lanes; i++) bad |= !(fabs(((const float *)row)[i]) <= most);
    }
    return !bad;
}

/* ---- failures -------------------------------------------------------------------------------- */
/* The masks of a tile, made when they are first needed. */
static int make_masks(const PiRun *run, PiFailures *f) {
    const int64_t bytes = pi_rounded_up(pi_product(run->tile_lanes, run->real_bytes), 64);
    if (f->mask) return 0;
    if (!f->status) f->status = calloc(run->tile_lanes, 1);
    if (!f->step) f->step = malloc(pi_product(run->tile_lanes, sizeof *f->step));
    if (f->status && f->step) f->mask = pi_aligned(bytes); /* last: it indicates all */
    if (!f->mask) return -1;
    memset(f->mask, 0, bytes);
    for (int64_t i = 0; i < run->tile_lanes; i++) f->step[i] = -1;
    return 0;
}
static void set_mask(const PiRun *run, PiFailures *f, int64_t from, int64_t to, int frozen) {
    memset((char *)f->mask + from * run->real_bytes, frozen ? 0xff : 0,
           (to - from) * run->real_bytes);
}
int pi_fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step) {
    PiFailures *f = &run->failures[tile];
    if (make_masks(run, f)) return -1;
    if (f->step[lane] >= 0) return 0;
    set_mask(run, f, lane, lane + 1, 1);
    f->status[lane] = (int8_t)status;
    f->step[lane] = step;
    f->count++;
    /* The padding copies the last trajectory, and fails with it. */
    const int64_t last = lanes_in(run, tile) - 1;
    if (lane == last) set_mask(run, f, last + 1, run->tile_lanes, 1);
    return 0;
}
int pi_run_freeze_padding(PiRun *run) {
    const int64_t lanes = lanes_in(run, run->n_tiles - 1);
    PiFailures *f = &run->failures[run->n_tiles - 1];
    if (lanes == run->tile_lanes) return 0;
    if (make_masks(run, f)) return -1;
    set_mask(run, f, lanes, run->tile_lanes, 1);
    return 0;
}
void pi_run_clear_failure(PiRun *run, int64_t lane) {
    PiFailures *f = &run->failures[lane / run->tile_lanes];
    const int64_t i = lane % run->tile_lanes;
    if (!f->mask || f->step[i] < 0) return;
    set_mask(run, f, i, i + 1, 0);
    f->status[i] = PI_OK;
    f->step[i] = -1;
    f->count--;
}
void pi_forget_failures(PiRun *run, int64_t step) {
    for (int64_t tile = 0; tile < run->n_tiles; tile++) {
        const PiFailures *f = &run->failures[tile];
        for (int64_t i = 0; f->count && i < lanes_in(run, tile); i++)
            if (f->step[i] > step) pi_run_clear_failure(run, tile * run->tile_lanes + i);
    }
}
int pi_run_fail(PiRun *run, int64_t lane, PiStatus status, int64_t step) {
    return pi_fail(run, lane / run->tile_lanes, lane % run->tile_lanes, status, step);
}

/* bad[i]: is some component of lane i outside the bound? */
#define MARK(real)                                                                                 \
    for (int d = 0; d < run->system->dim; d++) {                                                   \
        const real *y = (const real *)row_at(run, rows, stride, d, 0);                             \
        for (int64_t i = 0; i < n; i++) bad[i] |= !(fabs((double)y[i]) <= bound);                  \
    }
static void mark(const PiRun *run, const void *rows, int64_t stride, int64_t n, double bound,
                 char *bad) {
    memset(bad, 0, n);
    if (run->real_bytes == 8) {
        MARK(double)
    } else {
        MARK(float)
    }
}
#undef MARK

/* Lanes whose state becomes invalid within `steps` steps of a valid one, gathered side by side. */
typedef struct {
    int64_t count, stride;
    int64_t *lane; /* their indices in the tile */
    char *y;       /* rows of the state, then t0, h and the parameters */
} FailingLanes;

static int lanes_rows(const PiRun *run) { return run->state_rows + 2 + run->system->n_params; }

static int lanes_make(const PiRun *run, int64_t count, FailingLanes *failing) {
    const int64_t vector = run->vector_bytes / run->real_bytes;
    *failing = (FailingLanes){.count = count, .stride = ceil_div(count, vector) * vector};
    const int64_t items = pi_product(lanes_rows(run), failing->stride);
    failing->lane = malloc(pi_product(count + 1, sizeof *failing->lane));
    failing->y = malloc(pi_sum(pi_product(items, run->real_bytes), 1));
    return failing->lane && failing->y ? 0 : -1;
}
static void lanes_free(FailingLanes *failing) {
    free(failing->lane);
    free(failing->y);
}
static char *lanes_row(const PiRun *run, const FailingLanes *failing, int i) {
    return row_at(run, failing->y, failing->stride, i, 0);
}
/* Gathers lanes of a tile, with the state before the kernel's call. */
static void lanes_of_tile(const PiRun *run, const PiTile *tile, FailingLanes *to) {
    for (int i = 0; i < lanes_rows(run); i++) {
        const int k = i - run->state_rows;
        const PiRow row = k < 0    ? (PiRow){row_at(run, tile->in, tile->in_stride, i, 0), 1}
                          : k == 0 ? tile->t0
                          : k == 1 ? tile->h
                                   : tile->params[k - 2];
        char *here = lanes_row(run, to, i);
        const char *data = (const char *)row.data + (k < 0 ? 0 : tile->lane) * run->real_bytes;
        if (row.stride) gather(run, data, to->lane, to->count, here);
        else
            for (int64_t n = 0; n < to->count; n++)
                memcpy(here + n * run->real_bytes, row.data, run->real_bytes);
    }
}
/* Gathers some of them, with the states of `state`. */
static void lanes_take(const PiRun *run, const FailingLanes *from, const FailingLanes *state,
                       const int64_t *at, FailingLanes *to) {
    for (int64_t i = 0; i < to->count; i++) to->lane[i] = from->lane[at[i]];
    for (int i = 0; i < lanes_rows(run); i++)
        gather(run, lanes_row(run, i < run->state_rows ? state : from, i), at, to->count,
               lanes_row(run, to, i));
}
/* Fills the last register with copies, and advances all. status: of each, or NULL. */
static int lanes_advance(PiRun *run, const PiTile *like, FailingLanes *failing, int64_t first,
                         int64_t steps, int8_t *status) {
    for (int d = 0; d < lanes_rows(run); d++) {
        char *row = lanes_row(run, failing, d);
        for (int64_t i = failing->count; i < failing->stride; i++)
            memcpy(row + i * run->real_bytes, row + (failing->count - 1) * run->real_bytes,
                   run->real_bytes);
    }
    const int n_params = run->system->n_params;
    PiRow *params = malloc(pi_product(n_params + 1, sizeof *params));
    if (!params) return -1;
    for (int i = 0; i < n_params; i++)
        params[i] = (PiRow){lanes_row(run, failing, run->state_rows + 2 + i), 1};
    PiTile tile = *like;
    tile.registers = failing->stride * run->real_bytes / run->vector_bytes;
    tile.in = tile.out = failing->y;
    tile.in_stride = tile.out_stride = failing->stride;
    tile.record = NULL;
    tile.frozen = NULL;
    tile.reach = NULL;
    tile.lane = 0;
    tile.t0 = (PiRow){lanes_row(run, failing, run->state_rows), 1};
    tile.h = (PiRow){lanes_row(run, failing, run->state_rows + 1), 1};
    tile.params = params;
    tile.first = first;
    tile.steps = steps;
    tile.status = status;
    if (run->kernel(&tile) < 0) run->stopped = 1;
    free(params);
    return run->stopped ? -1 : 0;
}

/* None of them completes this step: reports why, and puts the last valid states in `out`. */
static int report(PiRun *run, int64_t number, const PiTile *tile, const FailingLanes *before,
                  FailingLanes *after, int64_t step) {
    int8_t *reason = calloc(after->stride + 1, 1);
    int error = reason ? lanes_advance(run, tile, after, step, 1, reason) : -1;
    for (int64_t i = 0; i < before->count && !error; i++) {
        const PiStatus status =
            reason[i] ? (PiStatus)reason[i] : pi_state_status(run, after->y, after->stride, i);
        error = pi_fail(run, number, before->lane[i], status ? status : PI_NOT_FINITE, step + 1);
    }
    for (int d = 0; d < run->state_rows && !error; d++)
        scatter(run, lanes_row(run, before, d), before->lane, before->count,
                row_at(run, tile->out, tile->out_stride, d, 0));
    free(reason);
    return error;
}

/* Finds by bisection the step that each lane does not complete, and leaves its last valid state
 * in out. */
static int bisect(PiRun *run, int64_t number, const PiTile *tile, const FailingLanes *before,
                  int64_t first, int64_t steps) {
    const int64_t half = steps / 2, count = before->count;
    FailingLanes after = {0}, early = {0}, late = {0};
    if (count == 0) return 0;
    int error = lanes_make(run, count, &after);
    if (!error) {
        memcpy(after.lane, before->lane, count * sizeof *after.lane);
        memcpy(after.y, before->y, lanes_rows(run) * after.stride * run->real_bytes);
    }
    if (!error && steps == 1) error = report(run, number, tile, before, &after, first);
    else if (!error) {
        char *bad = malloc(count);
        int64_t *at = malloc(pi_product(count, sizeof *at)), early_count = 0, late_count = count;
        error = bad && at ? lanes_advance(run, tile, &after, first, half, NULL) : -1;
        if (!error) {
            mark(run, after.y, after.stride, count, tile->bound, bad);
            for (int64_t i = 0; i < count; i++) at[bad[i] ? early_count++ : --late_count] = i;
            error =
                lanes_make(run, early_count, &early) | lanes_make(run, count - early_count, &late);
        }
        if (!error) {
            lanes_take(run, before, before, at, &early);
            lanes_take(run, before, &after, at + early_count, &late);
        }
        free(bad);
        free(at);
        lanes_free(&after);
        after = (FailingLanes){0};
        if (!error) error = bisect(run, number, tile, &early, first, half);
        if (!error) error = bisect(run, number, tile, &late, first + half, steps - half);
    }
    lanes_free(&after);
    lanes_free(&early);
    lanes_free(&late);
    return error;
}

int pi_find_failures(PiRun *run, int64_t number, const PiTile *tile) {
    const PiFailures *failures = &run->failures[number];
    const int64_t lanes = lanes_in(run, number);
    FailingLanes failing = {0};
    int64_t count = 0, next = 0;
    char *bad = malloc(lanes);
    if (!bad) return -1;
    mark(run, tile->out, tile->out_stride, lanes, tile->bound, bad);
    for (int64_t i = 0; i < lanes; i++)
        if (bad[i]) count += bad[i] = !(failures->mask && failures->step[i] >= 0);
    int error = count ? lanes_make(run, count, &failing) : 0;
    if (count && !error) {
        for (int64_t i = 0; i < lanes; i++)
            if (bad[i]) failing.lane[next++] = i;
        lanes_of_tile(run, tile, &failing);
        error = bisect(run, number, tile, &failing, tile->first, tile->steps);
    }
    lanes_free(&failing);
    free(bad);
    return error;
}

/* ---- the report ------------------------------------------------------------------------------ */
int64_t pi_run_count_failures(const PiRun *run) {
    int64_t count = 0;
    for (int64_t tile = 0; tile < run->n_tiles; tile++) count += run->failures[tile].count;
    return count;
}
int64_t pi_run_read_failures(const PiRun *run, int64_t room, int64_t *index, int8_t *status,
                             int64_t *step) {
    int64_t n = 0;
    for (int64_t tile = 0; tile < run->n_tiles; tile++) {
        const PiFailures *f = &run->failures[tile];
        for (int64_t i = 0; f->count && i < lanes_in(run, tile); i++) {
            if (f->step[i] < 0) continue;
            if (n == room) return n;
            index[n] = tile * run->tile_lanes + i;
            status[n] = f->status[i];
            step[n++] = f->step[i];
        }
    }
    return n;
}
