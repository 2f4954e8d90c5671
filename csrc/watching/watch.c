/* Sums over the steps: see watch.h. A chunk of lanes at a time, whose rows lie in the first cache,
 * through all the states that are shown. */
#include "watch.h"
#include "../run/families.h"
#include "../run/layout.h"

enum { CHUNK_REGISTERS = 16, MOST_LANES = 512, STATES = 16, STATES_BYTES = 64 << 10 };

/* What is kept in the scratch, and the rows of a chunk: two states of the program, as it reads the
 * sums of one and writes those of the other; parameters, time, scratch; and of the states at hand
 * the components, where they are not read where they lie, energies and answers. */
typedef struct {
    const PiWatch *w;
    int64_t lane, lanes; /* the first, and how many: whole registers; no lanes: nothing is here */
    double *y[2], *p, *own_p, *t, *scratch;
    double *origin, *factor, *ends, *copied, *energy, *answers;
    uint64_t uniform; /* parameters with one value for all lanes, as bits */
} WatchChunk;
enum { CHUNK_BYTES = (sizeof(WatchChunk) + 63) / 64 * 64 };

static int64_t width(const PiWatch *w) {
    return w->program.set->vector_bytes / (int64_t)sizeof(double);
}
static int64_t chunk_lanes(const PiWatch *w, const PiRun *run) {
    const int64_t lanes = CHUNK_REGISTERS * width(w);
    return run->tile_lanes > lanes && run->tile_lanes <= MOST_LANES ? run->tile_lanes : lanes;
}
static int first_sum(const PiWatch *w) { return w->program.system->dim - w->n_sums; }
static int has_program(const PiWatch *w) { return w->runs; }
static int has_energy(const PiWatch *w) {
    int found = w->asks & PI_WATCH_ENERGY;
    for (int i = 0; i < w->n_reduced; i++) found |= w->reduced[i].source >= PI_OF_ENERGY;
    return found;
}
static int asks_system(const PiWatch *w) { return has_energy(w) || w->asks & PI_WATCH_INVARIANTS; }
static int64_t scratch_rows(const PiWatch *w) {
    const int a = w->program.system->scratch, b = w->system.system->scratch;
    return a > b ? a : b;
}
static int64_t rows_of_state(const PiWatch *w) {
    return w->components + 1 + (int64_t)w->n_quantities;
}
/* How many states are looked at together: as many as the first cache has room for. */
static int64_t states_at_once(const PiWatch *w, int64_t lanes) {
    const int64_t bytes = pi_product(rows_of_state(w), lanes * (int64_t)sizeof(double));
    const int64_t fit = STATES_BYTES / bytes;
    return fit < 1 ? 1 : smaller(fit, STATES);
}
/* Rows beside those of the states at hand. */
static int64_t watch_rows(const PiWatch *w) {
    return 2 * (int64_t)(w->program.system->dim + w->n_quantities) +
           pi_parameter_rows(w->program.system) + pi_parameter_rows(w->system.system) + 4 +
           scratch_rows(w);
}

/* Lanes of a row of the run, or of one in double precision. */
static void copy_row(double *to, const void *from, int64_t lanes, int real_bytes) {
    if (real_bytes == 8) memcpy(to, from, lanes * sizeof *to);
    else
        for (int64_t i = 0; i < lanes; i++) to[i] = ((const float *)from)[i];
}
/* One value; lanes are whole cache lines, or a register of the narrowest kind. */
static void fill_row(double *to, double value, int64_t lanes) {
    typedef double Pair __attribute__((vector_size(16)));
    const Pair pair = {value, value};
    int64_t i = 0;
    for (; i + 8 <= lanes; i += 8)
        for (int j = 0; j < 8; j += 2) memcpy(to + i + j, &pair, sizeof pair);
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

/* Lanes from `lane` on, and their parameters. */
static int open_chunk(WatchChunk *c, int64_t lane, int64_t lanes, double *free) {
    const PiWatch *w = c->w;
    const int n = w->program.system->n_params;
    const int64_t states = states_at_once(w, lanes);
    c->lane = lane;
    c->lanes = lanes;
    for (int i = 0; i < 2; i++, free += (w->program.system->dim + w->n_quantities) * lanes)
        c->y[i] = free;
    c->p = free, free += pi_parameter_rows(w->program.system) * lanes;
    c->own_p = free, free += pi_parameter_rows(w->system.system) * lanes;
    c->t = free, free += lanes;
    c->origin = free, free += lanes;
    c->factor = free, free += lanes;
    c->ends = free, free += lanes;
    c->scratch = free, free += scratch_rows(w) * lanes;
    c->energy = free, free += states * lanes;
    c->answers = free, free += states * w->n_quantities * lanes;
    c->copied = free;
    c->uniform = 0;
    for (int i = 0; i < n; i++) {
        spread_row(c->p + i * lanes, w->params[i], lane, lanes);
        if (i < 64 && !w->params[i].stride) c->uniform |= (uint64_t)1 << i;
    }
    spread_row(c->origin, w->origin, lane, lanes);
    spread_row(c->factor, w->factor, lane, lanes);
    if (has_program(w) && ask(&w->program, PI_PREPARE, c, c->y[0], c->p, c->p)) return -1;
    if (!asks_system(w)) return 0;
    const int own = w->system.system->n_params;
    memcpy(c->own_p, c->p, own * lanes * sizeof *c->p);
    memset(c->own_p + own * lanes, 0,
           (pi_parameter_rows(w->system.system) - own) * lanes * sizeof *c->p);
    return ask(&w->system, PI_PREPARE, c, c->y[0], c->own_p, c->own_p);
}
/* From which step on each lane stands still; 0 if none does. */
static int find_ends(const WatchChunk *c, const PiRun *run, const PiFailures *failures,
                     int64_t at) {
    for (int64_t i = 0; failures->count && i < c->lanes; i++) {
        const int64_t end = at + i < run->tile_lanes ? failures->step[at + i] : -1;
        c->ends[i] = end < 0 ? INFINITY : (double)end;
    }
    return failures->count > 0;
}
static void copy_sums(const WatchChunk *c, const PiRun *run, double *sums, int back) {
    for (int i = 0; i < c->w->n_sums; i++) {
        double *here = c->y[0] + (first_sum(c->w) + i) * c->lanes;
        double *there = sums + i * run->stride + c->lane;
        memcpy(back ? there : here, back ? here : there, c->lanes * sizeof *here);
    }
}
/* t0 + n h with two roundings, as the times of a solution have. */
static void set_time(WatchChunk *c, double n) {
    const int64_t lane = c->lane;
    const double *t0 = c->w->t0.data, *h = c->w->h.data;
    if (!c->w->t0.stride && !c->w->h.stride) {
        fill_row(c->t, *t0 + n * *h, c->lanes);
        return;
    }
    for (int64_t i = 0; i < c->lanes; i++)
        c->t[i] = t0[(lane + i) * c->w->t0.stride] + n * h[(lane + i) * c->w->h.stride];
}
/* The program looks at one state, and its sums go on; lanes that stand still keep theirs. */
static int run_program(WatchChunk *c, double n, const double *state, const double *energy,
                       double *answers, const double *ends) {
    const PiWatch *w = c->w;
    const int64_t lanes = c->lanes;
    double *y = c->y[0], *row = y + w->components * lanes;
    memcpy(y, state, w->components * lanes * sizeof *y);
    if (w->asks & PI_WATCH_STEP) fill_row(row, n, lanes);
    row += lanes;
    if (w->asks & PI_WATCH_ENERGY) {
        memcpy(row, energy, lanes * sizeof *row);
        row += lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS && ask(&w->system, PI_INVARIANTS, c, y, c->own_p, row))
        return -1;
    double *sums = y + first_sum(w) * lanes, *after = c->y[1] + first_sum(w) * lanes;
    if (ask(&w->program, PI_INVARIANTS, c, y, c->p, w->n_sums ? after : answers)) return -1;
    if (!w->n_sums) return 0;
    for (int64_t i = 0; ends && i < lanes; i++)
        for (int j = 0; n >= ends[i] && j < w->n_sums; j++)
            after[j * lanes + i] = sums[j * lanes + i];
    memcpy(answers, after + w->n_sums * lanes, w->n_quantities * lanes * sizeof *after);
    c->y[0] = c->y[1];
    c->y[1] = y;
    return 0;
}
/* The answers for the lanes that still move, `valid` of them at most, to the densities. */
static void see_densities(const WatchChunk *c, const PiSeen *seen, int64_t valid, double n,
                          const double *answers, const double *ends) {
    const PiWatch *w = c->w;
    int at[MOST_LANES], count = 0;
    for (int64_t i = 0; i < smaller(c->lanes, valid); i++)
        if (!ends || n < ends[i]) at[count++] = (int)i;
    for (int i = 0; i < w->n_densities; i++)
        pi_density_add(&w->density[i], seen->block, answers, c->lanes, at, count);
}
/* The time that the energy depends on, or the program. */
static int asks_time(const PiWatch *w) {
    const ResolvedSystem *s = &w->system;
    const int own = s->system->time_dependent || s->force == w->program.set->program;
    return w->asks & PI_WATCH_TIME || (own && asks_system(w));
}
/* Some states, of each `every`-th step from step n on: their rows are `next` reals apart. */
static int see(WatchChunk *c, const PiRun *run, const PiSeen *seen, int64_t n, int64_t count,
               const char *rows, int64_t next, const double *ends, double *sums) {
    const PiWatch *w = c->w;
    const int64_t lanes = c->lanes, every = w->every, stride = seen->stride;
    const double *states = (const double *)rows;
    const int in_place =
        run->real_bytes == 8 && stride == lanes &&
        (((uintptr_t)rows | (uintptr_t)(next * 8)) & (w->program.set->vector_bytes - 1)) == 0;
    if (!in_place) {
        for (int64_t k = 0; k < count; k++)
            for (int d = 0; d < w->components; d++)
                copy_row(c->copied + (k * w->components + d) * lanes,
                         rows + (k * next + d * stride) * run->real_bytes, lanes, run->real_bytes);
        states = c->copied;
        next = w->components * lanes;
    }
    for (int64_t k = 0; k < count; k++) {
        double *y = (double *)states + k * next, *energy = c->energy + k * lanes;
        if (asks_time(w)) set_time(c, (double)(n + k * every));
        if (has_energy(w) && ask(&w->system, PI_ENERGY, c, y, c->own_p, energy)) return -1;
        double *answers = c->answers + k * w->n_quantities * lanes;
        const double step = (double)(n + k * every);
        if (has_program(w) && run_program(c, step, y, energy, answers, ends)) return -1;
        if (w->n_densities)
            see_densities(c, seen, seen->lane + seen->lanes - c->lane, step, answers, ends);
    }
    const int64_t index = every == 1 ? n : n / every;
    for (int i = 0; i < w->n_reduced; i++) {
        const PiReduced *one = &w->reduced[i];
        const double *const of[PI_SOURCES] = {c->answers, states, c->energy, c->energy};
        const int64_t from[PI_SOURCES] = {w->n_quantities * lanes, next, lanes, lanes};
        const int change = one->source == PI_OF_CHANGE;
        const PiReduceRows reduced = {.registers = lanes / width(w),
                                      .count = count,
                                      .next = from[one->source] / width(w),
                                      .step = n,
                                      .every = every,
                                      .index = index,
                                      .quantity = of[one->source] + one->number * lanes,
                                      .origin = change ? c->origin : NULL,
                                      .factor = c->factor,
                                      .ends = ends,
                                      .sums = sums + one->first * run->stride + c->lane,
                                      .stride = run->stride};
        w->program.set->reduce((PiReduction)one->kind, &reduced);
    }
    return 0;
}

int pi_watch_see(PiWatch *w, const PiRun *run, const PiSeen *seen) {
    double *sums = w->sums[seen->block & 1];
    const int64_t most = chunk_lanes(w, run), unit = 64 / run->real_bytes;
    const int64_t padded = ceil_div(seen->lanes, unit) * unit;
    /* Each `each`-th of the states from number `first` on is of a step that is a multiple of
     * `every`. (The last state of a run that ends between two of them is shown alone.) */
    const int64_t each = w->every / seen->every, from = run->first + seen->step;
    const int64_t to_next = ceil_div(from, w->every) * w->every - from;
    int64_t first = to_next / seen->every, n = from + to_next;
    if (n < w->begin) {
        const int64_t skipped = ceil_div(w->begin - n, w->every);
        first += skipped * each;
        n += skipped * w->every;
    }
    const int shown = first < seen->count && to_next % seen->every == 0;
    const int64_t count = shown ? (seen->count - 1 - first) / each + 1 : 0;
    WatchChunk *c = seen->scratch; /* kept while the tile makes a block */
    for (int64_t at = 0; count && at < padded; at += most) {
        const int64_t lanes = smaller(most, padded - at), lane = seen->lane + at;
        if (seen->block == 0 || c->lanes != lanes || c->lane != lane) {
            *c = (WatchChunk){.w = w};
            if (open_chunk(c, lane, lanes, (double *)((char *)seen->scratch + CHUNK_BYTES)))
                return -1;
        }
        const double *ends = find_ends(c, run, &run->failures[seen->tile], at) ? c->ends : NULL;
        copy_sums(c, run, sums, 0);
        const int64_t some = states_at_once(w, lanes);
        for (int64_t i = 0; i < count; i += some)
            if (see(c, run, seen, n + i * w->every, smaller(some, count - i),
                    row_at(run, seen->rows, seen->next, first + i * each, at), each * seen->next,
                    ends, sums))
                return -1;
        copy_sums(c, run, sums, 1);
    }
    return 0;
}
void pi_watch_open(const PiWatch *w, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    ((WatchChunk *)scratch)->lanes = 0;
    const int64_t lane = tile * run->tile_lanes, unit = 64 / run->real_bytes;
    const int64_t lanes = ceil_div(lanes_in(run, tile), unit) * unit;
    for (int i = 0; i < w->n_densities; i++) pi_density_open(&w->density[i], block);
    for (int i = 0; i < w->n_rows && w->sums[0] != w->sums[1]; i++)
        memcpy(w->sums[block & 1] + i * run->stride + lane,
               w->sums[1 - (block & 1)] + i * run->stride + lane, lanes * sizeof(double));
}

int64_t pi_watch_scratch_bytes(const PiWatch *w, const PiRun *run) {
    const int64_t row = pi_product(chunk_lanes(w, run), (int64_t)sizeof(double));
    const int64_t one = pi_product(rows_of_state(w), row);
    return CHUNK_BYTES +
           pi_sum(pi_product(watch_rows(w), row), one > STATES_BYTES ? one : STATES_BYTES);
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    return pi_watch_scratch_bytes(self, run);
}
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    return pi_watch_see(self, run, seen);
}
static void open(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    pi_watch_open(self, run, tile, block, scratch);
}
PiObserver pi_watch_observer(PiWatch *w, const PiRun *run) {
    return (PiObserver){.self = w,
                        .every = common_divisor(w->every, run->first % w->every),
                        .observe = observe,
                        .open = open,
                        .scratch_bytes = scratch_bytes};
}

/* ---- some lanes by themselves ---------------------------------------------------------------- */
static int64_t whole_registers(const PiWatch *w, int64_t lanes) {
    return ceil_div(lanes, width(w)) * width(w);
}
static int64_t lanes_scratch(const PiWatch *w, const ResolvedSystem *program) {
    const int a = program->system->scratch, b = w->system.system->scratch;
    return a > b ? a : b;
}
/* Rows of each: y, parameters, the system's own, time, scratch, answer. */
static WatchChunk chunk_of_lanes(const PiWatchLanes *l) {
    const PiWatch *w = l->watch;
    WatchChunk c = {.w = w, .lanes = whole_registers(w, l->count)};
    c.y[0] = l->memory;
    c.p = c.y[0] + l->program->system->dim * c.lanes;
    c.own_p = c.p + pi_parameter_rows(l->program->system) * c.lanes;
    c.t = c.own_p + pi_parameter_rows(w->system.system) * c.lanes;
    c.scratch = c.t + c.lanes;
    c.y[1] = c.scratch + lanes_scratch(w, l->program) * c.lanes; /* the answer */
    return c;
}
int64_t pi_watch_lanes_bytes(const PiWatch *w, const ResolvedSystem *program, int64_t room) {
    const int64_t rows = program->system->dim + pi_parameter_rows(program->system) +
                         pi_parameter_rows(w->system.system) + 1 + lanes_scratch(w, program) +
                         program->system->n_invariants;
    return pi_product(rows, pi_product(whole_registers(w, room), sizeof(double)));
}
int pi_watch_lanes(PiWatchLanes *l, const int64_t *lane, int64_t count) {
    const PiWatch *w = l->watch;
    l->count = count;
    WatchChunk c = chunk_of_lanes(l);
    memset(c.y[0], 0, l->program->system->dim * c.lanes * sizeof(double));
    for (int i = 0; i < l->program->system->n_params; i++) {
        const PiRow row = w->params[i];
        for (int64_t k = 0; k < c.lanes; k++)
            c.p[i * c.lanes + k] =
                ((const double *)row.data)[row.stride * lane[smaller(k, count - 1)]];
    }
    if (ask(l->program, PI_PREPARE, &c, c.y[0], c.p, c.p)) return -1;
    if (!(w->asks & PI_WATCH_SYSTEM)) return 0;
    const int own = w->system.system->n_params;
    memset(c.own_p, 0, pi_parameter_rows(w->system.system) * c.lanes * sizeof(double));
    memcpy(c.own_p, c.p, own * c.lanes * sizeof(double));
    return ask(&w->system, PI_PREPARE, &c, c.y[0], c.own_p, c.own_p);
}
int pi_watch_ask(const PiWatchLanes *l, const PiWatchMoment *moment) {
    const PiWatch *w = l->watch;
    WatchChunk c = chunk_of_lanes(l);
    double *row = c.y[0] + w->components * c.lanes;
    for (int64_t k = 0; k < c.lanes; k++) {
        const PiWatchMoment *m = &moment[smaller(k, l->count - 1)];
        for (int d = 0; d < w->components; d++) c.y[0][d * c.lanes + k] = m->y[d];
        c.t[k] = m->t;
        row[k] = (double)m->n;
    }
    row += c.lanes;
    if (w->asks & PI_WATCH_ENERGY) {
        if (ask(&w->system, PI_ENERGY, &c, c.y[0], c.own_p, row)) return -1;
        row += c.lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS && ask(&w->system, PI_INVARIANTS, &c, c.y[0], c.own_p, row))
        return -1;
    if (ask(l->program, PI_INVARIANTS, &c, c.y[0], c.p, c.y[1])) return -1;
    for (int64_t k = 0; k < l->count; k++)
        for (int i = 0; i < l->program->system->n_invariants; i++)
            moment[k].answer[i] = c.y[1][i * c.lanes + k];
    return 0;
}
double pi_watch_time(const PiWatch *w, int64_t lane, int64_t n) {
    const double t0 = ((const double *)w->t0.data)[lane * w->t0.stride];
    return t0 + (double)n * ((const double *)w->h.data)[lane * w->h.stride];
}
