/* Sums over the steps: see watch.h. A chunk of lanes at a time, whose rows lie in the first cache,
 * through all the states that are shown. */
#include "watch.h"
#include "../run/families.h"
#include "../run/layout.h"

enum { CHUNK_REGISTERS = 16 };

/* The rows of a chunk: two states of the program, as it reads the sums of one and writes those of
 * the other; parameters, time, scratch. */
typedef struct {
    const PiWatch *w;
    int64_t lanes; /* whole registers */
    double *y[2], *p, *own_p, *t, *scratch;
    double *reduced, *frozen; /* the sums past the program's; masks */
    uint64_t uniform;         /* parameters with one value for all lanes, as bits */
} WatchChunk;

static int64_t width(const PiWatch *w) {
    return w->program.set->vector_bytes / (int64_t)sizeof(double);
}
static int64_t chunk_lanes(const PiWatch *w) { return CHUNK_REGISTERS * width(w); }
static int first_sum(const PiWatch *w) { return w->program.system->dim - w->n_sums; }
static int64_t scratch_rows(const PiWatch *w) {
    const int a = w->program.system->scratch, b = w->system.system->scratch;
    return a > b ? a : b;
}
static int64_t watch_rows(const PiWatch *w) {
    return 2 * (int64_t)(w->program.system->dim + w->n_quantities) +
           pi_parameter_rows(w->program.system) + pi_parameter_rows(w->system.system) + 2 +
           scratch_rows(w) + w->n_rows - w->n_sums;
}

/* Lanes of a row of the run, or of one in double precision. */
static void copy_row(double *to, const void *from, int64_t lanes, int real_bytes) {
    if (real_bytes == 8) memcpy(to, from, lanes * sizeof *to);
    else
        for (int64_t i = 0; i < lanes; i++) to[i] = ((const float *)from)[i];
}
/* One value; lanes are whole cache lines, or a register of the narrowest kind. */
static void fill_row(double *to, double value, int64_t lanes) {
    typedef double Line __attribute__((vector_size(64)));
    const Line line = value - (Line){0};
    int64_t i = 0;
    for (; i + 8 <= lanes; i += 8) memcpy(to + i, &line, sizeof line);
    for (; i < lanes; i++) to[i] = value;
}
static void spread_row(double *to, PiRow row, int64_t lane, int64_t lanes) {
    const double *from = row.data;
    if (row.stride) memcpy(to, from + lane, lanes * sizeof *to);
    else fill_row(to, *from, lanes);
}
static int ask(const ResolvedSystem *system, PiQuestion question, WatchChunk *c, double *y,
               double *p, double *out) {
    PiRows rows = {.registers = c->lanes * (int64_t)sizeof(double) / system->set->vector_bytes,
                   .t = c->t,
                   .y = y,
                   .v = y + (int64_t)system->system->dof * c->lanes,
                   .p = p,
                   .out = out,
                   .scratch = c->scratch,
                   .uniform = c->uniform};
    return system->force(system->context, question, &rows);
}

/* Lanes from `lane` on: their parameters, and their sums so far. */
static int open_chunk(WatchChunk *c, const PiRun *run, int64_t lane, int64_t lanes,
                      const double *sums, void *scratch) {
    const PiWatch *w = c->w;
    const int n = w->program.system->n_params;
    double *free = scratch;
    c->lanes = lanes;
    for (int i = 0; i < 2; i++, free += (w->program.system->dim + w->n_quantities) * lanes)
        c->y[i] = free;
    c->p = free, free += pi_parameter_rows(w->program.system) * lanes;
    c->own_p = free, free += pi_parameter_rows(w->system.system) * lanes;
    c->t = free, free += lanes;
    c->frozen = free, free += lanes;
    c->reduced = free, free += (w->n_rows - w->n_sums) * lanes;
    c->scratch = free;
    c->uniform = 0;
    for (int i = 0; i < n; i++) {
        spread_row(c->p + i * lanes, w->params[i], lane, lanes);
        if (i < 64 && !w->params[i].stride) c->uniform |= (uint64_t)1 << i;
    }
    for (int i = 0; i < w->n_sums; i++)
        copy_row(c->y[0] + (first_sum(w) + i) * lanes, sums + i * run->stride + lane, lanes, 8);
    for (int i = w->n_sums; i < w->n_rows; i++)
        copy_row(c->reduced + (i - w->n_sums) * lanes, sums + i * run->stride + lane, lanes, 8);
    int stop = ask(&w->program, PI_PREPARE, c, c->y[0], c->p, c->p);
    if (w->asks & PI_WATCH_SYSTEM && !stop) {
        const int own = w->system.system->n_params;
        memcpy(c->own_p, c->p, own * lanes * sizeof *c->p);
        memset(c->own_p + own * lanes, 0,
               (pi_parameter_rows(w->system.system) - own) * lanes * sizeof *c->p);
        stop = ask(&w->system, PI_PREPARE, c, c->y[0], c->own_p, c->own_p);
    }
    return stop;
}
/* t0 + n h with two roundings, as the times of a solution have. */
static void set_time(WatchChunk *c, int64_t lane, double n) {
    const double *t0 = c->w->t0.data, *h = c->w->h.data;
    if (!c->w->t0.stride && !c->w->h.stride) {
        fill_row(c->t, *t0 + n * *h, c->lanes);
        return;
    }
    for (int64_t i = 0; i < c->lanes; i++)
        c->t[i] = t0[(lane + i) * c->w->t0.stride] + n * h[(lane + i) * c->w->h.stride];
}
/* One state; lanes that have failed or stopped, and stand still, are not seen. */
static int see(WatchChunk *c, const PiRun *run, const PiFailures *failures, int64_t first_lane,
               int64_t lane, double n, const char *rows, int64_t stride) {
    const PiWatch *w = c->w;
    const int64_t lanes = c->lanes;
    double *y = c->y[0], *row = y;
    for (int d = 0; d < w->components; d++, row += lanes)
        copy_row(row, rows + d * stride * run->real_bytes, lanes, run->real_bytes);
    if (w->asks & (PI_WATCH_TIME | PI_WATCH_SYSTEM)) set_time(c, lane, n);
    if (w->asks & PI_WATCH_STEP) fill_row(row, n, lanes);
    row += lanes;
    if (w->asks & PI_WATCH_ENERGY) {
        if (ask(&w->system, PI_ENERGY, c, y, c->own_p, row)) return -1;
        row += lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS && ask(&w->system, PI_INVARIANTS, c, y, c->own_p, row))
        return -1;
    double *sums = y + first_sum(w) * lanes, *after = c->y[1] + first_sum(w) * lanes;
    if (ask(&w->program, PI_INVARIANTS, c, y, c->p, after)) return -1;
    const void *frozen = NULL;
    for (int64_t i = 0; failures->count && i < lanes; i++) {
        const int64_t at = lane - first_lane + i;
        const int still =
            at < run->tile_lanes && failures->step[at] >= 0 && n >= (double)failures->step[at];
        ((int64_t *)c->frozen)[i] = -still;
        frozen = c->frozen;
        for (int j = 0; still && j < w->n_sums; j++) after[j * lanes + i] = sums[j * lanes + i];
    }
    const double *quantities = after + w->n_sums * lanes;
    for (int i = 0; i < w->n_reduced; i++) {
        const PiReduceRows rows = {.registers = lanes / width(w),
                                   .step = (int64_t)n,
                                   .index = (int64_t)n / w->every,
                                   .quantity = quantities + w->reduced[i].quantity * lanes,
                                   .frozen = frozen,
                                   .sums = c->reduced + (w->reduced[i].first - w->n_sums) * lanes};
        w->program.set->reduce((PiReduction)w->reduced[i].kind, &rows);
    }
    c->y[0] = c->y[1];
    c->y[1] = y;
    return 0;
}

int pi_watch_see(PiWatch *w, const PiRun *run, const PiSeen *seen) {
    double *sums = w->sums[seen->block & 1];
    const int64_t most = chunk_lanes(w), unit = 64 / run->real_bytes;
    const int64_t padded = ceil_div(seen->lanes, unit) * unit;
    for (int64_t at = 0; at < padded; at += most) {
        const int64_t lanes = smaller(most, padded - at), lane = seen->lane + at;
        WatchChunk c = {.w = w};
        if (open_chunk(&c, run, lane, lanes, sums, seen->scratch)) return -1;
        for (int64_t i = 0; i < seen->count; i++) {
            const int64_t n = run->first + smaller(seen->step + i * seen->every, run->n_steps);
            if (n % w->every || n < w->begin) continue;
            if (see(&c, run, &run->failures[seen->tile], seen->lane, lane, (double)n,
                    row_at(run, seen->rows, seen->next, i, at), seen->stride))
                return -1;
        }
        for (int i = 0; i < w->n_rows; i++) {
            const double *row = i < w->n_sums ? c.y[0] + (first_sum(w) + i) * lanes
                                              : c.reduced + (i - w->n_sums) * lanes;
            memcpy(sums + i * run->stride + lane, row, lanes * sizeof *sums);
        }
    }
    return 0;
}
void pi_watch_open(const PiWatch *w, const PiRun *run, int64_t tile, int64_t block) {
    const int64_t lane = tile * run->tile_lanes, unit = 64 / run->real_bytes;
    const int64_t lanes = ceil_div(lanes_in(run, tile), unit) * unit;
    for (int i = 0; i < w->n_rows && w->sums[0] != w->sums[1]; i++)
        memcpy(w->sums[block & 1] + i * run->stride + lane,
               w->sums[1 - (block & 1)] + i * run->stride + lane, lanes * sizeof(double));
}

int64_t pi_watch_scratch_bytes(const PiWatch *w) {
    return pi_product(watch_rows(w), pi_product(chunk_lanes(w), (int64_t)sizeof(double)));
}
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    return pi_watch_see(self, run, seen);
}
static void open(void *self, const PiRun *run, int64_t tile, int64_t block) {
    pi_watch_open(self, run, tile, block);
}
PiObserver pi_watch_observer(PiWatch *w, const PiRun *run) {
    return (PiObserver){.self = w,
                        .every = common_divisor(w->every, run->first % w->every),
                        .observe = observe,
                        .open = open,
                        .scratch_bytes = pi_watch_scratch_bytes(w)};
}

/* ---- a lane by itself ------------------------------------------------------------------------ */
/* One register of each row: y, parameters, the system's own, time, scratch, answer. */
static int64_t lane_scratch(const PiWatchLane *l) {
    const int a = l->program->system->scratch, b = l->watch->system.system->scratch;
    return a > b ? a : b;
}
static WatchChunk lane_chunk(const PiWatchLane *l) {
    const PiWatch *w = l->watch;
    WatchChunk c = {.w = w, .lanes = width(w)};
    c.y[0] = l->memory;
    c.p = c.y[0] + l->program->system->dim * c.lanes;
    c.own_p = c.p + pi_parameter_rows(l->program->system) * c.lanes;
    c.t = c.own_p + pi_parameter_rows(w->system.system) * c.lanes;
    c.scratch = c.t + c.lanes;
    c.y[1] = c.scratch + lane_scratch(l) * c.lanes; /* the answer */
    return c;
}
int64_t pi_watch_lane_bytes(const PiWatch *w, const ResolvedSystem *program) {
    const PiWatchLane l = {.watch = w, .program = program};
    const int64_t rows = program->system->dim + pi_parameter_rows(program->system) +
                         pi_parameter_rows(w->system.system) + 1 + lane_scratch(&l) +
                         program->system->n_invariants;
    return pi_product(rows, w->program.set->vector_bytes);
}
int pi_watch_lane(PiWatchLane *l) {
    const PiWatch *w = l->watch;
    WatchChunk c = lane_chunk(l);
    memset(c.y[0], 0, l->program->system->dim * c.lanes * sizeof(double));
    for (int i = 0; i < l->program->system->n_params; i++) {
        const PiRow row = w->params[i];
        const PiRow one = {(const double *)row.data + row.stride * l->lane, 0};
        spread_row(c.p + i * c.lanes, one, 0, c.lanes);
    }
    if (ask(l->program, PI_PREPARE, &c, c.y[0], c.p, c.p)) return -1;
    if (!(w->asks & PI_WATCH_SYSTEM)) return 0;
    const int own = w->system.system->n_params;
    memset(c.own_p, 0, pi_parameter_rows(w->system.system) * c.lanes * sizeof(double));
    memcpy(c.own_p, c.p, own * c.lanes * sizeof(double));
    return ask(&w->system, PI_PREPARE, &c, c.y[0], c.own_p, c.own_p);
}
int pi_watch_ask(const PiWatchLane *l, int64_t n, double t, const double *y, double *answer) {
    const PiWatch *w = l->watch;
    WatchChunk c = lane_chunk(l);
    double *row = c.y[0] + w->components * c.lanes;
    for (int d = 0; d < w->components; d++)
        spread_row(c.y[0] + d * c.lanes, (PiRow){&y[d], 0}, 0, c.lanes);
    for (int64_t i = 0; i < c.lanes; i++) c.t[i] = t, row[i] = (double)n;
    row += c.lanes;
    if (w->asks & PI_WATCH_ENERGY) {
        if (ask(&w->system, PI_ENERGY, &c, c.y[0], c.own_p, row)) return -1;
        row += c.lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS && ask(&w->system, PI_INVARIANTS, &c, c.y[0], c.own_p, row))
        return -1;
    if (ask(l->program, PI_INVARIANTS, &c, c.y[0], c.p, c.y[1])) return -1;
    for (int i = 0; i < l->program->system->n_invariants; i++) answer[i] = c.y[1][i * c.lanes];
    return 0;
}
double pi_watch_time(const PiWatch *w, int64_t lane, int64_t n) {
    const double t0 = ((const double *)w->t0.data)[lane * w->t0.stride];
    return t0 + (double)n * ((const double *)w->h.data)[lane * w->h.stride];
}
