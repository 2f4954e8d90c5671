/* States between the steps: see between.h. Lanes whose next time lies in a step are packed, so that
 * the force is computed for these alone, at both ends of the step. */
#include "between.h"
#include "../run/layout.h"

enum { PACK = 64 }; /* lanes that are interpolated together */

/* Lanes within a part of the step to step n. */
typedef struct {
    PiBetween *b;
    const PiRun *run;
    int64_t n, count, lane[PACK];
    double from, to;                  /* fractions of the step */
    double *y[2], *f[2], *t, *params; /* rows of PACK; at the beginning and at the end */
    PiRow *rows;
    void *workspace;
} Pack;

static int64_t sample_bytes(const PiBetween *b) {
    const int64_t rows = pi_sample_rows(b->system.system, b->system.system->dim);
    return pi_product(rows, 8 * (int64_t)b->system.set->vector_bytes);
}
int64_t pi_between_scratch_bytes(const void *between, const PiRun *run) {
    const PiBetween *b = between;
    const PiSystem *s = b->system.system;
    const int64_t rows = 4 * (int64_t)s->dim + 1 + s->n_params;
    const int64_t bytes = pi_product(rows, PACK * sizeof(double));
    const int64_t list = pi_product(s->dim + s->n_params + 1, sizeof(PiRow));
    return pi_sum(pi_sum(pi_rounded_up(sample_bytes(b), 64), bytes), pi_rounded_up(list, 64));
}
static Pack make_pack(PiBetween *b, const PiRun *run, int64_t n, void *scratch) {
    const PiSystem *s = b->system.system;
    char *free = scratch;
    Pack pack = {.b = b, .run = run, .n = n, .to = 1, .workspace = free};
    free += pi_rounded_up(sample_bytes(b), 64);
    double *row = (double *)free;
    for (int i = 0; i < 2; i++, row += (int64_t)s->dim * PACK) pack.y[i] = row;
    for (int i = 0; i < 2; i++, row += (int64_t)s->dim * PACK) pack.f[i] = row;
    pack.t = row, row += PACK;
    pack.params = row, row += (int64_t)s->n_params * PACK;
    pack.rows = (PiRow *)row;
    return pack;
}

/* How many steps after t0 the next time of a lane lies; within the run. */
static double position(const PiBetween *b, const PiRun *run, int64_t lane) {
    const double t = b->t[b->next[lane] * b->t_stride + lane * b->t_lane];
    const double steps = (t - pi_item(b->t0, lane)) / pi_item(b->h, lane);
    const double least = run->first, most = least + run->n_steps;
    return steps >= least ? steps <= most ? steps : most : least;
}
static void look_ahead(PiBetween *b, const PiRun *run, int64_t lane) {
    b->due[lane] = b->next[lane] < b->count ? ceil(position(b, run, lane)) : INFINITY;
}
/* Component `at` of the kept ones, at the next time of a lane. */
static void put(const PiBetween *b, const PiRun *run, int64_t lane, int at, double y) {
    const PiRecord *r = b->record;
    set_number(run, r->data,
               b->next[lane] * r->save_stride + lane * r->lane_stride + at * r->component_stride,
               y);
}

/* The rates at one end of the part. */
static int rates(Pack *p, int end) {
    const PiBetween *b = p->b;
    const PiSystem *s = b->system.system;
    for (int64_t i = 0; i < p->count; i++) {
        const double h = pi_item(b->h, p->lane[i]);
        const double start = pi_item(b->t0, p->lane[i]) + (p->n - 1) * h;
        p->t[i] = start + (end ? p->to : p->from) * h;
    }
    for (int64_t d = 0; d < s->dim; d++) p->rows[d] = (PiRow){p->y[end] + d * PACK, 1};
    for (int64_t k = 0; k < s->n_params; k++) {
        double *row = p->params + k * PACK;
        for (int64_t i = 0; i < p->count; i++) row[i] = pi_item(b->params[k], p->lane[i]);
        p->rows[s->dim + k] = (PiRow){row, 1};
    }
    const PiSample sample = {.system = s,
                             .force = b->system.force,
                             .context = b->system.context,
                             .lanes = p->count,
                             .t = {p->t, 1},
                             .y = p->rows,
                             .params = p->rows + s->dim,
                             .out = p->f[end],
                             .workspace = p->workspace};
    return b->system.set->evaluate(&sample, PI_RHS);
}
static double cubic(double y0, double y1, double f0, double f1, double s) {
    const double change = y1 - y0, rest = 1 - s;
    return y0 + s * (change + rest * ((1 - 2 * s) * -change + rest * f0 - s * f1));
}
/* All times of the packed lanes up to the end of the part. */
static int interpolate(Pack *p) {
    PiBetween *b = p->b;
    if (p->count == 0) return 0;
    const int chord = b->system.system->steps; /* of noise */
    if (!chord && (rates(p, 0) || rates(p, 1))) return -1;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t lane = p->lane[i];
        const double width = (p->to - p->from) * pi_item(b->h, lane);
        while (b->due[lane] <= p->n) {
            const double part = position(b, p->run, lane) - (p->n - 1);
            if (part > p->to) break;
            const double s = (part - p->from) / (p->to - p->from);
            for (int64_t at = 0; at < b->record->n_saved; at++) {
                const int d = b->record->saved[at];
                const double y0 = p->y[0][d * PACK + i], y1 = p->y[1][d * PACK + i];
                const double f0 = chord ? y1 - y0 : p->f[0][d * p->count + i] * width;
                const double f1 = chord ? y1 - y0 : p->f[1][d * p->count + i] * width;
                put(b, p->run, lane, at, s == 1 ? y1 : cubic(y0, y1, f0, f1, s));
            }
            b->next[lane]++;
            look_ahead(b, p->run, lane);
        }
    }
    p->count = 0;
    return 0;
}
int pi_between_piece(PiBetween *b, const PiRun *run, int64_t lane, int64_t n, double from,
                     double to, const double *y0, const double *y1, int64_t apart, void *scratch) {
    if (!(b->due[lane] <= n) || !(to > from)) return 0;
    Pack pack = make_pack(b, run, n, scratch);
    pack.from = from;
    pack.to = to;
    pack.count = 1;
    pack.lane[0] = lane;
    for (int64_t d = 0; d < b->system.system->dim; d++) {
        pack.y[0][d * PACK] = y0[d * apart];
        pack.y[1][d * PACK] = y1[d * apart];
    }
    return interpolate(&pack);
}

/* The times of a lane up to a step have its current state: it is frozen, or has just begun. */
static void repeat(PiBetween *b, const PiRun *run, int64_t lane, int64_t n, const void *rows,
                   int64_t stride, int64_t at) {
    while (b->due[lane] <= n) {
        for (int64_t i = 0; i < b->record->n_saved; i++)
            put(b, run, lane, i, number_at(run, rows, b->record->saved[i] * stride + at));
        b->next[lane]++;
        look_ahead(b, run, lane);
    }
}
/* One step of the lanes of a tile, from the rows before to the rows after. */
static int see_step(PiBetween *b, const PiRun *run, const PiSeen *seen, int64_t n,
                    const void *before, int64_t before_stride, const void *after) {
    const PiFailures *failures = &run->failures[seen->tile];
    Pack pack = make_pack(b, run, n, seen->scratch);
    for (int64_t at = 0; at < seen->lanes; at++) {
        const int64_t lane = seen->lane + at;
        if (!(b->due[lane] <= n)) continue;
        if (is_frozen(failures, at) && n >= failures->step[at]) {
            repeat(b, run, lane, n, after, seen->stride, at);
            continue;
        }
        for (int64_t d = 0; d < b->system.system->dim; d++) {
            pack.y[0][d * PACK + pack.count] = number_at(run, before, d * before_stride + at);
            pack.y[1][d * PACK + pack.count] = number_at(run, after, d * seen->stride + at);
        }
        pack.lane[pack.count++] = lane;
        if (pack.count == PACK && interpolate(&pack)) return -1;
    }
    return interpolate(&pack);
}
static double soonest(const PiBetween *b, const PiSeen *seen) {
    double least = INFINITY;
    for (int64_t at = 0; at < seen->lanes; at++)
        least = b->due[seen->lane + at] < least ? b->due[seen->lane + at] : least;
    return least;
}
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    PiBetween *b = self;
    const void *before = row_at(run, b->before, run->stride, 0, seen->lane);
    int64_t stride = run->stride;
    if (seen->block == 0) {
        for (int64_t at = 0; at < seen->lanes; at++) {
            b->next[seen->lane + at] = 0;
            look_ahead(b, run, seen->lane + at);
            repeat(b, run, seen->lane + at, run->first, seen->rows, seen->stride, at);
        }
    }
    double due = soonest(b, seen);
    const char *rows = seen->rows;
    for (int64_t i = 0; i < seen->count; i++) {
        const int64_t n = run->first + smaller(seen->step + i * seen->every, run->n_steps);
        rows = row_at(run, seen->rows, seen->next, i, 0);
        if (seen->block > 0 && due <= n) {
            if (see_step(b, run, seen, n, before, stride, rows)) return -1;
            due = soonest(b, seen);
        }
        before = rows;
        stride = seen->stride;
    }
    copy_rows(b->system.system->dim, seen->lanes * run->real_bytes, rows,
              seen->stride * run->real_bytes, row_at(run, b->before, 0, 0, seen->lane),
              run->stride * run->real_bytes);
    return 0;
}
PiObserver pi_between_observer(PiBetween *b) {
    return (PiObserver){
        .self = b, .every = 1, .observe = observe, .scratch_bytes = pi_between_scratch_bytes};
}
