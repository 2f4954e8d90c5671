/* The only loop over tiles, blocks of time, saves and failures. Pure C, no Python, no allocation
 * but for the first failure of a tile and one scratch tile for each thread. */
#include "run.h"
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BLOCK_STEPS = 256, /* a block is so many steps, or so many saves if they are fewer steps */
    BLOCK_SAVES = 16,
    TILE_BYTES = 16384, /* of state, so that in and out stay in the first cache */
    IN_FLIGHT = 8,
};
static const double POLL_SECONDS = 0.05;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- time: blocks ---------------------------------------------------------------------------- */
/* Short intervals between saves are gathered into a block, long ones are cut into several. */
static int64_t intervals_per_block(const PiRun *run) {
    return run->save < BLOCK_STEPS ? smaller(BLOCK_SAVES, BLOCK_STEPS / run->save) : 1;
}
static int64_t blocks_per_interval(const PiRun *run) {
    return run->save < BLOCK_STEPS ? 1 : ceil_div(run->save, BLOCK_STEPS);
}
/* The steps done after b blocks. */
static int64_t steps_after(const PiRun *run, int64_t b) {
    const int64_t pieces = blocks_per_interval(run);
    int64_t steps;
    if (pieces == 1) steps = b * intervals_per_block(run) * run->save;
    else steps = b / pieces * run->save + smaller(b % pieces * BLOCK_STEPS, run->save);
    return smaller(steps, run->n_steps);
}
static int64_t count_blocks(const PiRun *run) {
    if (run->n_steps == 0) return 0;
    const int64_t whole = run->n_steps / run->save, rest = run->n_steps % run->save;
    if (blocks_per_interval(run) == 1)
        return ceil_div(whole + (rest > 0), intervals_per_block(run));
    return whole * blocks_per_interval(run) + ceil_div(rest, BLOCK_STEPS);
}

/* ---- rows ------------------------------------------------------------------------------------ */
static char *row_at(const PiRun *run, const void *rows, int64_t stride, int64_t d, int64_t lane) {
    return (char *)rows + (d * stride + lane) * run->real_bytes;
}
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
    for (int d = 0; d < run->system->dim; d++)
        memcpy(row_at(run, to, to_stride, d, to_lane), row_at(run, from, from_stride, d, from_lane),
               run->real_bytes);
}
/* OK, or why a state is not. */
static PiStatus judge(const PiRun *run, const void *rows, int64_t stride, int64_t lane) {
    PiStatus status = PI_OK;
    for (int d = 0; d < run->system->dim; d++) {
        const double y = fabs(value(run, rows, stride, d, lane));
        if (!(y <= DBL_MAX)) return PI_NOT_FINITE;
        if (y > run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}

/* ---- failures -------------------------------------------------------------------------------- */
static int64_t lanes_in(const PiRun *run, int64_t tile) {
    return smaller(run->tile_lanes, run->lanes - tile * run->tile_lanes);
}
/* Freezes a lane of a tile. Only the thread that works on the tile comes here. */
static int fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step) {
    PiFailures *f = &run->failures[tile];
    if (!f->mask) {
        f->mask = aligned_alloc(64, ceil_div(run->tile_lanes * run->real_bytes, 64) * 64);
        f->status = calloc(run->tile_lanes, 1);
        f->step = malloc(run->tile_lanes * sizeof *f->step);
        if (!f->mask || !f->status || !f->step) return -1;
        memset(f->mask, 0, ceil_div(run->tile_lanes * run->real_bytes, 64) * 64);
        for (int64_t i = 0; i < run->tile_lanes; i++) f->step[i] = -1;
    }
    if (f->step[lane] >= 0) return 0;
    memset((char *)f->mask + lane * run->real_bytes, 0xff, run->real_bytes);
    f->status[lane] = (int8_t)status;
    f->step[lane] = step;
    f->count++;
    /* The padding copies the last trajectory, and fails with it. */
    const int64_t last = lanes_in(run, tile) - 1;
    for (int64_t i = last + 1; lane == last && i < run->tile_lanes; i++)
        memset((char *)f->mask + i * run->real_bytes, 0xff, run->real_bytes);
    return 0;
}
int pi_run_fail(PiRun *run, int64_t lane, PiStatus status, int64_t step) {
    return fail(run, lane / run->tile_lanes, lane % run->tile_lanes, status, step);
}

/* Lanes that leave the good within `steps` steps of a good state, packed side by side. */
typedef struct {
    const PiTile *tile; /* theirs */
    int64_t count, stride;
    int64_t *lane; /* their places in the tile */
    char *y;       /* dim rows, then t0, h and the parameters */
} Patients;

static int patients_rows(const PiRun *run) { return run->system->dim + 2 + run->system->n_params; }

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
    const int dim = run->system->dim;
    const PiTile *tile = to->tile;
    to->lane[to->count] = lane;
    copy_lane(run, rows, stride, at, to->y, to->stride, to->count);
    for (int i = 0; i < 2 + run->system->n_params; i++) {
        const PiRow row = row_from(run,
                                   i == 0   ? tile->t0
                                   : i == 1 ? tile->h
                                            : tile->params[i - 2],
                                   lane);
        memcpy(row_at(run, to->y, to->stride, dim + i, to->count), row.data, run->real_bytes);
    }
    to->count++;
}
/* Fills the last register with copies, and advances all. */
static void patients_advance(const PiRun *run, Patients *patients, int64_t first, int64_t steps) {
    for (int64_t i = patients->count; i < patients->stride; i++)
        for (int d = 0; d < patients_rows(run); d++)
            memcpy(row_at(run, patients->y, patients->stride, d, i),
                   row_at(run, patients->y, patients->stride, d, patients->count - 1),
                   run->real_bytes);
    PiTile tile = *patients->tile;
    tile.registers = patients->stride * run->real_bytes / run->vector_bytes;
    tile.in = tile.out = patients->y;
    tile.in_stride = tile.out_stride = patients->stride;
    tile.record = NULL;
    tile.frozen = NULL;
    tile.t0 = patients_row(run, patients, run->system->dim);
    tile.h = patients_row(run, patients, run->system->dim + 1);
    for (int i = 0; i < run->system->n_params; i++)
        tile.params[i] = patients_row(run, patients, run->system->dim + 2 + i);
    tile.first = first;
    tile.steps = steps;
    run->kernel(&tile);
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
        patients_advance(run, &after, first, 1);
        for (int64_t i = 0; i < before->count && !error; i++) {
            const PiStatus status = judge(run, after.y, after.stride, i);
            error = fail(run, number, before->lane[i], status ? status : PI_NOT_FINITE, first + 1);
            copy_lane(run, before->y, before->stride, i, tile->out, tile->out_stride,
                      before->lane[i]);
        }
    } else if (!error) {
        patients_advance(run, &after, first, half);
        error = patients_make(run, tile, before->count, &early) |
                patients_make(run, tile, before->count, &late);
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

/* Looks at a tile whose kernel has found a bad lane. */
static int examine(PiRun *run, int64_t number, const PiTile *tile) {
    const PiFailures *failures = &run->failures[number];
    const int64_t lanes = lanes_in(run, number);
    Patients patients;
    int error = patients_make(run, tile, lanes, &patients);
    for (int64_t i = 0; i < lanes && !error; i++)
        if (!(failures->mask && failures->step[i] >= 0) &&
            judge(run, tile->out, tile->out_stride, i))
            patients_add(run, &patients, i, tile->in, tile->in_stride, i);
    if (!error) error = diagnose(run, number, &patients, tile->first, tile->steps);
    patients_free(&patients);
    return error;
}

/* ---- records --------------------------------------------------------------------------------- */
/* Writes the rows of a tile for one save. */
static void write_record(const PiRun *run, int64_t save, int64_t tile, const void *rows,
                         int64_t stride) {
    const int64_t lane = tile * run->tile_lanes, lanes = lanes_in(run, tile);
    for (int d = 0; d < run->system->dim; d++)
        memcpy(row_at(run, run->record, run->record_stride, save * run->system->dim + d, lane),
               row_at(run, rows, stride, d, 0), lanes * run->real_bytes);
}

/* ---- one tile, one block --------------------------------------------------------------------- */
static int begin_tile(PiRun *run, int64_t number) {
    const int64_t lane = number * run->tile_lanes;
    const char *rows = row_at(run, run->initial, run->stride, 0, lane);
    for (int64_t i = 0; i < lanes_in(run, number); i++) {
        const PiStatus status = judge(run, rows, run->stride, i);
        if (status && fail(run, number, i, status, run->first)) return -1;
    }
    if (run->record) write_record(run, 0, number, rows, run->stride);
    return 0;
}

static int advance_tile(PiRun *run, int64_t number, int64_t block, char *scratch) {
    const int64_t lane = number * run->tile_lanes, lanes = lanes_in(run, number);
    const int64_t from = steps_after(run, block), to = steps_after(run, block + 1);
    const int64_t vector = run->vector_bytes / run->real_bytes;
    const int64_t chunk =
        isinf(run->bound) ? run->save : 1; /* a bound is looked at after each step */
    PiFailures *failures = &run->failures[number];
    void *target = row_at(run, run->state[block & 1], run->stride, 0, lane);
    void *source = block == 0 ? run->initial : run->state[(block - 1) & 1];
    source = row_at(run, source, run->stride, 0, lane);

    PiTile tile = {.registers = ceil_div(lanes, vector),
                   .in = source,
                   .in_stride = run->stride,
                   .stream = run->stream,
                   .bound = isinf(run->bound) ? DBL_MAX : run->bound,
                   .method = run->method,
                   .table = &run->table};
    if (run->real_bytes == 4 && tile.bound > FLT_MAX) tile.bound = FLT_MAX;
    tile.t0 = row_from(run, run->t0, lane);
    tile.h = row_from(run, run->h, lane);
    for (int i = 0; i < run->system->n_params; i++)
        tile.params[i] = row_from(run, run->params[i], lane);

    /* Each kernel reads one set of rows and writes another, so that what it read is there if it
     * fails. */
    const int64_t calls = ceil_div(to, chunk) - from / chunk;
    int64_t call = calls;
    for (int64_t step = from; step < to;) {
        const int64_t stop = smaller(to, (step / chunk + 1) * chunk);
        const int to_target = --call % 2 == 0;
        if (to_target && tile.in == target) { /* one state buffer and an odd number of calls */
            for (int d = 0; d < run->system->dim; d++)
                memcpy(row_at(run, scratch, run->tile_lanes, d, 0),
                       row_at(run, target, run->stride, d, 0), tile.registers * run->vector_bytes);
            tile.in = scratch;
            tile.in_stride = run->tile_lanes;
        }
        tile.out = to_target ? target : scratch;
        tile.out_stride = to_target ? run->stride : run->tile_lanes;
        tile.first = run->first + step;
        tile.steps = stop - step;
        tile.frozen = failures->mask;
        const int saved = run->record && (stop % run->save == 0 || stop == run->n_steps);
        const int64_t save = ceil_div(stop, run->save);
        const int direct = saved && run->record_stride >= run->stride;
        tile.record_stride = run->record_stride;
        tile.record =
            direct ? row_at(run, run->record, run->record_stride, save * run->system->dim, lane)
                   : NULL;
        if (run->kernel(&tile)) {
            if (examine(run, number, &tile)) return -1;
            if (saved) write_record(run, save, number, tile.out, tile.out_stride);
        } else if (saved && !direct) write_record(run, save, number, tile.out, tile.out_stride);
        tile.in = tile.out;
        tile.in_stride = tile.out_stride;
        step = stop;
    }
    return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */
int pi_run_prepare(PiRun *run) {
    const int64_t group = IN_FLIGHT * run->vector_bytes / run->real_bytes;
    const int64_t fitting = TILE_BYTES / (run->system->dim * run->real_bytes) / group * group;
    const int64_t sharing = ceil_div(ceil_div(run->lanes, 2 * run->workers), group) * group;
    run->tile_lanes = smaller(fitting, sharing);
    if (run->tile_lanes < group) run->tile_lanes = group;
    run->n_tiles = ceil_div(run->lanes, run->tile_lanes);
    run->n_blocks = count_blocks(run);
    const uint32_t mode = pi_enter_float_mode();
    pi_make_table(run->method, run->system, &run->table);
    pi_leave_float_mode(mode);
    run->failures = calloc(run->n_tiles ? run->n_tiles : 1, sizeof *run->failures);
    return run->failures ? 0 : -1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void pi_run_work(PiRun *run, PiPoll *poll, void *context) {
    const int64_t tickets = run->n_tiles * (run->n_blocks + 1);
    const size_t bytes = (size_t)(run->system->dim * run->tile_lanes * run->real_bytes);
    char *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    const uint32_t mode = pi_enter_float_mode();
    double polled = poll ? now() : 0;
    if (!scratch) run->out_of_memory = run->cancelled = 1;
    while (!run->cancelled) {
        const int64_t ticket = atomic_fetch_add(&run->next, 1);
        if (ticket >= tickets) break;
        const int64_t block = ticket / run->n_tiles, tile = ticket % run->n_tiles;
        for (;;) { /* a block begins when the one before is complete */
            if (poll && now() - polled > POLL_SECONDS) {
                const int64_t complete = run->done / run->n_tiles;
                if (poll(context, complete ? steps_after(run, complete - 1) : 0))
                    run->cancelled = 1;
                polled = now();
            }
            if (run->cancelled || run->done >= block * run->n_tiles) break;
            sched_yield();
        }
        if (run->cancelled) break;
        const int error =
            block ? advance_tile(run, tile, block - 1, scratch) : begin_tile(run, tile);
        if (error) run->out_of_memory = run->cancelled = 1;
        else atomic_fetch_add(&run->done, 1);
    }
    pi_leave_float_mode(mode);
    free(scratch);
}

static int64_t blocks_done(const PiRun *run) {
    const int64_t rounds = run->n_tiles ? run->done / run->n_tiles : run->n_blocks + 1;
    return rounds ? rounds - 1 : 0;
}
int64_t pi_run_completed(const PiRun *run) { return steps_after(run, blocks_done(run)); }

const void *pi_run_state(const PiRun *run) {
    const int64_t blocks = blocks_done(run);
    if (blocks == 0) return run->initial;
    if (blocks < run->n_blocks && run->state[0] == run->state[1]) return NULL;
    return run->state[(blocks - 1) & 1];
}

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

void pi_run_free(PiRun *run) {
    for (int64_t i = 0; run->failures && i < run->n_tiles; i++) {
        free(run->failures[i].mask);
        free(run->failures[i].status);
        free(run->failures[i].step);
    }
    free(run->failures);
    run->failures = NULL;
}
