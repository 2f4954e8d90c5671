/* Trajectories that fail: found by bisection, frozen at their last good state, and reported. */
#include <float.h>
#include <stdlib.h>
#include "run_rows.h"

/* ---- rows ------------------------------------------------------------------------------------ */
static PiRow row_from(const PiRun *run, PiRow row, int64_t lane) {
    row.data = (const char *)row.data + row.step * lane * run->real_bytes;
    return row;
}
static double value(const PiRun *run, const void *rows, int64_t stride, int64_t d, int64_t lane) {
    const char *at = row_at(run, rows, stride, d, lane);
    return run->real_bytes == 8 ? *(const double *)at : *(const float *)at;
}
static void copy_lane(const PiRun *run, const void *from, int64_t from_stride, int64_t from_lane,
                      void *to, int64_t to_stride, int64_t to_lane) {
    for (int d = 0; d < run->rows; d++)
        memcpy(row_at(run, to, to_stride, d, to_lane), row_at(run, from, from_stride, d, from_lane),
               run->real_bytes);
}
PiStatus judge(const PiRun *run, const void *rows, int64_t stride, int64_t lane) {
    PiStatus status = PI_OK;
    for (int d = 0; d < run->system->dim; d++) {
        const double y = fabs(value(run, rows, stride, d, lane));
        if (!(y <= DBL_MAX)) return PI_NOT_FINITE;
        if (y > run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}

/* ---- failures -------------------------------------------------------------------------------- */
/* The masks of a tile, made when they are first needed. */
static int make_masks(const PiRun *run, PiFailures *f) {
    const int64_t bytes = ceil_div(run->tile_lanes * run->real_bytes, 64) * 64;
    if (f->mask) return 0;
    if (!f->status) f->status = calloc(run->tile_lanes, 1);
    if (!f->step) f->step = malloc(run->tile_lanes * sizeof *f->step);
    if (f->status && f->step) f->mask = aligned_alloc(64, bytes); /* the last: it says all are */
    if (!f->mask) return -1;
    memset(f->mask, 0, bytes);
    for (int64_t i = 0; i < run->tile_lanes; i++) f->step[i] = -1;
    return 0;
}
static void set_mask(const PiRun *run, PiFailures *f, int64_t from, int64_t to, int frozen) {
    memset((char *)f->mask + from * run->real_bytes, frozen ? 0xff : 0,
           (to - from) * run->real_bytes);
}
int fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step) {
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
void pi_run_revive(PiRun *run, int64_t lane) {
    PiFailures *f = &run->failures[lane / run->tile_lanes];
    const int64_t i = lane % run->tile_lanes;
    if (!f->mask || f->step[i] < 0) return;
    set_mask(run, f, i, i + 1, 0);
    f->status[i] = PI_OK;
    f->step[i] = -1;
    f->count--;
}
int pi_run_fail(PiRun *run, int64_t lane, PiStatus status, int64_t step) {
    return fail(run, lane / run->tile_lanes, lane % run->tile_lanes, status, step);
}

/* Lanes that leave the good within `steps` steps of a good state, packed side by side. */
typedef struct {
    const PiTile *tile; /* theirs */
    int64_t count, stride;
    int64_t *lane; /* their places in the tile */
    char *y;       /* rows of the state, then t0, h and the parameters */
} Patients;

static int patients_rows(const PiRun *run) { return run->rows + 2 + run->system->n_params; }

static int patients_make(const PiRun *run, const PiTile *tile, int64_t count, Patients *patients) {
    const int64_t vector = run->vector_bytes / run->real_bytes;
    *patients = (Patients){.tile = tile, .stride = ceil_div(count, vector) * vector};
    patients->lane = malloc(count * sizeof *patients->lane);
    patients->y = malloc(patients_rows(run) * patients->stride * run->real_bytes);
    return patients->lane && patients->y ? 0 : -1;
}
static void patients_free(Patients *patients) {
    free(patients->lane);
    free(patients->y);
}
static PiRow patients_row(const PiRun *run, const Patients *patients, int i) {
    return (PiRow){row_at(run, patients->y, patients->stride, i, 0), 1};
}
/* Takes a lane in: state from some rows, the rest from its tile. */
static void patients_add(const PiRun *run, Patients *to, int64_t lane, const void *rows,
                         int64_t stride, int64_t at) {
    const PiTile *tile = to->tile;
    to->lane[to->count] = lane;
    copy_lane(run, rows, stride, at, to->y, to->stride, to->count);
    for (int i = 0; i < 2 + run->system->n_params; i++) {
        const PiRow row = row_from(run,
                                   i == 0   ? tile->t0
                                   : i == 1 ? tile->h
                                            : tile->params[i - 2],
                                   tile->lane + lane);
        memcpy(row_at(run, to->y, to->stride, run->rows + i, to->count), row.data, run->real_bytes);
    }
    to->count++;
}
/* Fills the last register with copies, and advances all. status: of each, or NULL. */
static int patients_advance(PiRun *run, Patients *patients, int64_t first, int64_t steps,
                            int8_t *status) {
    for (int64_t i = patients->count; i < patients->stride; i++)
        for (int d = 0; d < patients_rows(run); d++)
            memcpy(row_at(run, patients->y, patients->stride, d, i),
                   row_at(run, patients->y, patients->stride, d, patients->count - 1),
                   run->real_bytes);
    const int n_params = run->system->n_params;
    PiRow *params = malloc((n_params + 1) * sizeof *params);
    if (!params) return -1;
    for (int i = 0; i < n_params; i++) params[i] = patients_row(run, patients, run->rows + 2 + i);
    PiTile tile = *patients->tile;
    tile.registers = patients->stride * run->real_bytes / run->vector_bytes;
    tile.in = tile.out = patients->y;
    tile.in_stride = tile.out_stride = patients->stride;
    tile.record = NULL;
    tile.frozen = NULL;
    tile.lane = 0;
    tile.t0 = patients_row(run, patients, run->rows);
    tile.h = patients_row(run, patients, run->rows + 1);
    tile.params = params;
    tile.first = first;
    tile.steps = steps;
    tile.status = status;
    if (run->kernel(&tile) < 0) run->stopped = 1;
    free(params);
    return run->stopped ? -1 : 0;
}

/* Finds by bisection the step that each patient does not complete, and leaves its last good state
 * in out. */
static int diagnose(PiRun *run, int64_t number, Patients *before, int64_t first, int64_t steps) {
    const PiTile *tile = before->tile;
    const int64_t half = steps / 2;
    Patients after = {0}, early = {0}, late = {0};
    int error = 0;
    if (before->count == 0) return 0;
    if (patients_make(run, tile, before->count, &after)) error = -1;
    for (int64_t i = 0; !error && i < before->count; i++)
        patients_add(run, &after, before->lane[i], before->y, before->stride, i);
    if (!error && steps == 1) {
        int8_t *reason = calloc(after.stride, 1);
        error = reason ? patients_advance(run, &after, first, 1, reason) : -1;
        for (int64_t i = 0; i < before->count && !error; i++) {
            const PiStatus status =
                reason[i] ? (PiStatus)reason[i] : judge(run, after.y, after.stride, i);
            error = fail(run, number, before->lane[i], status ? status : PI_NOT_FINITE, first + 1);
            copy_lane(run, before->y, before->stride, i, tile->out, tile->out_stride,
                      before->lane[i]);
        }
        free(reason);
    } else if (!error) {
        error = patients_advance(run, &after, first, half, NULL);
        error |= patients_make(run, tile, before->count, &early);
        error |= patients_make(run, tile, before->count, &late);
        for (int64_t i = 0; i < before->count && !error; i++) {
            if (judge(run, after.y, after.stride, i))
                patients_add(run, &early, before->lane[i], before->y, before->stride, i);
            else patients_add(run, &late, before->lane[i], after.y, after.stride, i);
        }
        if (!error) error = diagnose(run, number, &early, first, half);
        if (!error) error = diagnose(run, number, &late, first + half, steps - half);
    }
    patients_free(&after);
    patients_free(&early);
    patients_free(&late);
    return error;
}

/* bad[i] |= not |y| <= bound in some component of lane i. */
#define MARK(real)                                                                                 \
    for (int d = 0; d < run->system->dim; d++) {                                                   \
        const real *y = (const real *)row_at(run, tile->out, tile->out_stride, d, 0);              \
        for (int64_t i = 0; i < lanes; i++) bad[i] |= !(fabs((double)y[i]) <= tile->bound);        \
    }

int examine(PiRun *run, int64_t number, const PiTile *tile) {
    const PiFailures *failures = &run->failures[number];
    const int64_t lanes = lanes_in(run, number);
    Patients patients = {0};
    int64_t count = 0;
    char *bad = calloc(lanes, 1);
    if (!bad) return -1;
    if (run->real_bytes == 8) {
        MARK(double)
    } else {
        MARK(float)
    }
    for (int64_t i = 0; i < lanes; i++)
        if (bad[i]) count += bad[i] = !(failures->mask && failures->step[i] >= 0);
    int error = count ? patients_make(run, tile, count, &patients) : 0;
    for (int64_t i = 0; i < lanes && count && !error; i++)
        if (bad[i]) patients_add(run, &patients, i, tile->in, tile->in_stride, i);
    if (count && !error) error = diagnose(run, number, &patients, tile->first, tile->steps);
    patients_free(&patients);
    free(bad);
    return error;
}
#undef MARK

/* ---- the report ------------------------------------------------------------------------------ */
int64_t pi_run_count_failures(const PiRun *run) {
    int64_t count = 0;
    for (int64_t tile = 0; tile < run->n_tiles; tile++) count += run->failures[tile].count;
    return count;
}
void pi_run_read_failures(const PiRun *run, int64_t *index, int8_t *status, int64_t *step) {
    int64_t n = 0;
    for (int64_t tile = 0; tile < run->n_tiles; tile++) {
        const PiFailures *f = &run->failures[tile];
        for (int64_t i = 0; f->count && i < run->tile_lanes; i++) {
            if (f->step[i] < 0) continue;
            index[n] = tile * run->tile_lanes + i;
            status[n] = f->status[i];
            step[n++] = f->step[i];
        }
    }
}
