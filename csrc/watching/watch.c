/* Sums over the steps: see watch.h. A chunk of lanes at a time, whose rows fit the first-level
 * cache, through all the shown states. */
#include "watch.h"
#include "../run/families.h"
#include "../run/layout.h"

enum { CHUNK_REGISTERS = 16, MOST_LANES = 512, STATES = PI_REDUCE_STATES, STATES_BYTES = 64 << 10 };

static int64_t chunk_lanes(const PiWatch *w, const PiRun *run) {
    const int64_t lanes = CHUNK_REGISTERS * pi_watch_width(w);
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
/* How many states are evaluated together: as many as fit the first-level cache. */
static int64_t states_at_once(const PiWatch *w, int64_t lanes) {
    const int64_t bytes = pi_product(rows_of_state(w), lanes * (int64_t)sizeof(double));
    const int64_t fit = STATES_BYTES / bytes;
    return fit < 1 ? 1 : smaller(fit, STATES);
}
/* Rows besides those of the current states. */
static int64_t watch_rows(const PiWatch *w) {
    return 2 * (int64_t)(w->program.system->dim + w->n_quantities) + w->n_rows +
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
/* The lanes of a row of the batch; copies of the last selected one fill its register. */
static void pick_row(const WatchChunk *c, double *to, const double *from) {
    from += c->lane;
    if (!c->at) memcpy(to, from, c->lanes * sizeof *to);
    else
        for (int64_t i = 0; i < c->lanes; i++) to[i] = from[c->at[smaller(i, c->n_at - 1)]];
}
static void spread_row(const WatchChunk *c, double *to, PiRow row) {
    if (row.stride) pick_row(c, to, row.data);
    else fill_row(to, *(const double *)row.data, c->lanes);
}
/* The time, if the energy or the program depends on it. */
static int asks_time(const PiWatch *w) {
    const ResolvedSystem *s = &w->system;
    const int own = s->system->time_dependent || s->force == w->program.set->program;
    return w->asks & PI_WATCH_TIME || (own && asks_system(w));
}
static int wants_energy_itself(const PiWatch *w) {
    int found = w->asks & PI_WATCH_ENERGY;
    for (int i = 0; i < w->n_reduced; i++) found |= w->reduced[i].source == PI_OF_ENERGY;
    return found;
}
/* Lanes from `lane` on, and their parameters. */
static int open_chunk(WatchChunk *c, int64_t lane, int64_t lanes, double *free) {
    const PiWatch *w = c->w;
    const int n = w->program.system->n_params;
    const ResolvedSystem *own = &w->system;
    const int64_t states = states_at_once(w, lanes);
    c->lane = lane;
    c->lanes = lanes;
    c->states = (int)states;
    c->has_energy = has_energy(w);
    c->asks_time = asks_time(w);
    if (c->has_energy && own->kernels && !own->system->time_dependent)
        c->energies = own->kernels->energies;
    c->changes = c->energies && !wants_energy_itself(w);
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
    if (c->at) c->sums = free, free += w->n_rows * lanes;
    c->copied = free;
    c->uniform = 0;
    for (int i = 0; i < n; i++) {
        spread_row(c, c->p + i * lanes, w->params[i]);
        if (i < 64 && !w->params[i].stride) c->uniform |= (uint64_t)1 << i;
    }
    spread_row(c, c->origin, w->origin);
    spread_row(c, c->factor, w->factor);
    if (has_program(w) && pi_chunk_ask(&w->program, PI_PREPARE, c, c->y[0], c->p, c->p)) return -1;
    if (!asks_system(w)) return 0;
    const int given = own->system->n_params;
    memcpy(c->own_p, c->p, given * lanes * sizeof *c->p);
    memset(c->own_p + given * lanes, 0,
           (pi_parameter_rows(own->system) - given) * lanes * sizeof *c->p);
    return pi_chunk_ask(own, PI_PREPARE, c, c->y[0], c->own_p, c->own_p);
}
/* The step from which each lane is frozen; 0 if none is. */
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
/* The sums of selected lanes; without a program (events have none of their own). */
static void pick_sums(const WatchChunk *c, const PiRun *run, double *sums, int back) {
    for (int i = 0; i < c->w->n_rows; i++, sums += run->stride) {
        double *const own = c->sums + i * c->lanes;
        if (!back) pick_row(c, own, sums);
        for (int64_t k = 0; back && k < c->n_at; k++) sums[c->lane + c->at[k]] = own[k];
    }
}
/* t0 + n h with two roundings, like the times of a solution. */
static void set_time(WatchChunk *c, double n) {
    const int64_t lane = c->lane;
    const double *t0 = c->w->t0.data, *h = c->w->h.data;
    if (!c->w->t0.stride && !c->w->h.stride) {
        fill_row(c->t, *t0 + n * *h, c->lanes);
        return;
    }
    for (int64_t i = 0; i < c->lanes; i++) {
        const int64_t one = lane + (c->at ? c->at[smaller(i, c->n_at - 1)] : i);
        c->t[i] = t0[one * c->w->t0.stride] + n * h[one * c->w->h.stride];
    }
}
/* The program evaluates one state and updates its sums; frozen lanes keep theirs. */
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
    if (w->asks & PI_WATCH_INVARIANTS &&
        pi_chunk_ask(&w->system, PI_INVARIANTS, c, y, c->own_p, row))
        return -1;
    double *sums = y + first_sum(w) * lanes, *after = c->y[1] + first_sum(w) * lanes;
    if (pi_chunk_ask(&w->program, PI_INVARIANTS, c, y, c->p, w->n_sums ? after : answers))
        return -1;
    if (!w->n_sums) return 0;
    for (int64_t i = 0; ends && i < lanes; i++)
        for (int j = 0; n >= ends[i] && j < w->n_sums; j++)
            after[j * lanes + i] = sums[j * lanes + i];
    memcpy(answers, after + w->n_sums * lanes, w->n_quantities * lanes * sizeof *after);
    c->y[0] = c->y[1];
    c->y[1] = y;
    return 0;
}
/* Passes the results of the lanes that still move, `valid` of them at most, to the densities. */
static void see_densities(const WatchChunk *c, const PiSeen *seen, int64_t valid, double n,
                          const double *answers, const double *ends) {
    const PiWatch *w = c->w;
    int at[MOST_LANES], count = 0;
    for (int64_t i = 0; i < smaller(c->lanes, valid); i++)
        if (!ends || n < ends[i]) at[count++] = (int)i;
    for (int i = 0; i < w->n_densities; i++)
        pi_density_add(&w->density[i], seen->block, answers, c->lanes, at, count);
}
static void see_energies(const WatchChunk *c, const double *states, int64_t next, int64_t count) {
    const ResolvedSystem *system = &c->w->system;
    const PiEnergyRows rows = {.registers = pi_in_registers(system, c->lanes),
                               .count = count,
                               .next = pi_in_registers(system, next),
                               .y = states,
                               .p = c->own_p,
                               .origin = c->changes ? c->origin : NULL,
                               .factor = c->factor,
                               .out = c->energy};
    c->energies(&rows);
}
static int is_same(const PiReduced *a, const PiReduced *b) {
    return a->source == b->source && a->number == b->number;
}
/* Some states, each `every`-th step from step n on: their rows are `next` reals apart. */
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
    const int single = has_program(w) || w->n_densities;
    if (c->energies) see_energies(c, states, next, count);
    for (int64_t k = 0; k < count && (single || (c->has_energy && !c->energies)); k++) {
        double *y = (double *)states + k * next, *energy = c->energy + k * lanes;
        if (c->asks_time) set_time(c, (double)(n + k * every));
        if (c->has_energy && !c->energies &&
            pi_chunk_ask(&w->system, PI_ENERGY, c, y, c->own_p, energy))
            return -1;
        double *answers = c->answers + k * w->n_quantities * lanes;
        const double step = (double)(n + k * every);
        if (has_program(w) && run_program(c, step, y, energy, answers, ends)) return -1;
        if (w->n_densities)
            see_densities(c, seen, seen->lane + seen->lanes - c->lane, step, answers, ends);
    }
    PiReduceRows reduced = {.registers = pi_in_registers(&w->program, lanes),
                            .count = count,
                            .step = n,
                            .every = every,
                            .index = over(n, every),
                            .factor = c->factor,
                            .ends = ends,
                            .stride = c->at ? lanes : run->stride};
    const double *const of[PI_SOURCES] = {c->answers, states, c->energy, c->energy};
    const int64_t from[PI_SOURCES] = {w->n_quantities * lanes, next, lanes, lanes};
    PiReduceOne all[PI_MAX_REDUCED];
    for (int i = 0; i < w->n_reduced; i += reduced.n) {
        const PiReduced *one = &w->reduced[i];
        reduced.n = 0;
        for (int j = i; j < w->n_reduced && is_same(&w->reduced[j], one); j++)
            all[reduced.n++] = (PiReduceOne){(PiReduction)w->reduced[j].kind,
                                             sums + w->reduced[j].first * reduced.stride};
        reduced.of = all;
        reduced.quantity = of[one->source] + one->number * lanes;
        reduced.next = pi_in_registers(&w->program, from[one->source]);
        reduced.origin = one->source == PI_OF_CHANGE && !c->changes ? c->origin : NULL;
        w->program.set->reduce(&reduced);
    }
    return 0;
}

int pi_watch_see(PiWatch *w, const PiRun *run, const PiSeen *seen) {
    double *sums = w->sums[seen->block & 1];
    const int64_t most = chunk_lanes(w, run), unit = lanes_in_line(run);
    const int64_t padded = ceil_div(seen->lanes, unit) * unit;
    /* Each `each`-th of the states from index `first` on belongs to a step that is a multiple of
     * `every`. (The last state of a run that ends between two of them is shown alone.) */
    const int64_t each = over(w->every, seen->every), from = run->first + seen->step;
    const int64_t to_next = ceil_div(from, w->every) * w->every - from;
    int64_t first = over(to_next, seen->every), n = from + to_next;
    if (n < w->begin) {
        const int64_t skipped = ceil_div(w->begin - n, w->every);
        first += skipped * each;
        n += skipped * w->every;
    }
    const int shown = first < seen->count && left_over(to_next, seen->every) == 0;
    const int64_t count = shown ? over(seen->count - 1 - first, each) + 1 : 0;
    WatchChunk *c = seen->scratch; /* kept during a block of the tile */
    for (int64_t at = 0; count && at < padded; at += most) {
        const int64_t lanes = smaller(most, padded - at), lane = seen->lane + (seen->at ? 0 : at);
        if (seen->block == 0 || seen->at || c->at || c->lanes != lanes || c->lane != lane) {
            *c = (WatchChunk){.w = w};
            if (seen->at) c->at = seen->at + at, c->n_at = smaller(lanes, seen->lanes - at);
            if (open_chunk(c, lane, lanes, (double *)((char *)seen->scratch + CHUNK_BYTES)))
                return -1;
        }
        const int still = !c->at && find_ends(c, run, &run->failures[seen->tile], at);
        double *const own = c->at ? c->sums : sums + lane;
        if (c->at) pick_sums(c, run, sums, 0);
        else copy_sums(c, run, sums, 0);
        const int64_t some = c->states;
        for (int64_t i = 0; i < count; i += some)
            if (see(c, run, seen, n + i * w->every, smaller(some, count - i),
                    row_at(run, seen->rows, seen->next, first + i * each, at), each * seen->next,
                    still ? c->ends : NULL, own))
                return -1;
        if (c->at) pick_sums(c, run, sums, 1);
        else copy_sums(c, run, sums, 1);
    }
    return 0;
}
void pi_watch_open(const PiWatch *w, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    ((WatchChunk *)scratch)->lanes = 0;
    const int64_t lane = tile * run->tile_lanes, unit = lanes_in_line(run);
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
