/* Sums over the steps: see watch.h. A chunk of lanes at a time, whose rows fit the first-level
 * cache, through all the shown states. */
#include "watch.h"
#include "../run/layout.h"

enum { CHUNK_REGISTERS = 16, MOST_LANES = PI_TOGETHER };

static int64_t chunk_lanes(const PiWatch *w, const PiRun *run) {
    const int64_t width = w->program.set->vector_bytes / sizeof(double);
    const int64_t lanes = w->n_across ? MOST_LANES : CHUNK_REGISTERS * width;
    return run->tile_lanes > lanes && run->tile_lanes <= MOST_LANES ? run->tile_lanes : lanes;
}
/* The step from which each lane is frozen, infinite if it is not, in c->ends; returns 0 if none
 * is. */
static int find_ends(const WatchChunk *c, const PiRun *run, const PiFailures *failures,
                     int64_t at) {
    if (failures->count)
        EACH_BELOW(i, c->lanes) {
            const int ends = c->lane + i < run->lanes && is_frozen(failures, at + i);
            c->ends[i] = ends ? (double)failures->step[at + i] : INFINITY;
        }
    return failures->count > 0;
}
/* Copies sums of lanes from the rows of a run to our own, `next` doubles apart, or back. */
static void move_sums(const PiRun *run, int64_t rows, int64_t lanes, double *sums, double *own,
                      int64_t next, int back) {
    const int64_t bytes = sizeof *sums, run_next = run->stride * bytes;
    if (back) copy_rows(rows, lanes * bytes, own, next * bytes, sums, run_next);
    else copy_rows(rows, lanes * bytes, sums, run_next, own, next * bytes);
}
/* From the sums to the chunk, or back. Of selected lanes all rows, side by side there; of others
 * those of the program: reductions work in place. */
static void copy_sums(const WatchChunk *c, const PiRun *run, double *sums, int back) {
    if (!c->at)
        move_sums(run, c->w->n_sums, c->lanes, sums + c->lane,
                  c->y[0] + pi_first_sum(c->w) * c->lanes, c->lanes, back);
    for (int i = 0; c->at && i < c->w->n_rows; i++, sums += run->stride) {
        double *own = c->sums + i * c->lanes;
        if (!back) pi_chunk_pick(c, own, sums);
        if (back)
            EACH_BELOW(k, c->n_at) sums[c->lane + c->at[k]] = own[k];
    }
}
/* The components of states: that d of the k-th is the row at + k next + d apart. */
typedef struct {
    const double *at;
    int64_t next, apart;
} States;
static double *answer_of(const WatchChunk *c, int64_t k, int i) {
    return c->answers + (i * c->states + k) * c->lanes;
}
/* The k-th state as the first rows of c->y[0]. */
static void take_state(const WatchChunk *c, const States *states, int64_t k) {
    const int64_t row = c->lanes * sizeof *states->at;
    copy_rows(c->w->components, row, states->at + k * states->next,
              states->apart * sizeof *states->at, c->y[0], row);
}
/* The program evaluates the state that has been taken and updates its sums; frozen lanes keep
 * theirs. */
static int run_program_on_state(WatchChunk *c, double n, int64_t k, const double *ends) {
    const PiWatch *w = c->w;
    const int64_t lanes = c->lanes;
    double *y = c->y[0], *row = y + w->components * lanes;
    if (w->asks & PI_WATCH_STEP) pi_fill_row(row, n, lanes);
    row += lanes;
    if (w->asks & PI_WATCH_ENERGY) {
        memcpy(row, c->energy + k * lanes, lanes * sizeof *row);
        row += lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS &&
        pi_chunk_ask(&w->system, PI_INVARIANTS, c, y, c->own_p, row))
        return -1;
    double *sums = y + pi_first_sum(w) * lanes, *after = c->y[1] + pi_first_sum(w) * lanes;
    if (pi_chunk_ask(&w->program, PI_INVARIANTS, c, y, c->p, after)) return -1;
    if (ends)
        EACH_BELOW(i, lanes)
            if (n >= ends[i])
                EACH_BELOW(j, w->n_sums) after[j * lanes + i] = sums[j * lanes + i];
    const int64_t bytes = lanes * sizeof *after;
    copy_rows(w->n_quantities, bytes, after + w->n_sums * lanes, bytes, answer_of(c, k, 0),
              c->states * bytes);
    c->y[0] = c->y[1];
    c->y[1] = y;
    return 0;
}
/* The program evaluates `count` states, several at once where they lie side by side. */
static int run_program_on(const WatchChunk *c, int64_t n, const States *states, int64_t count) {
    const PiWatch *w = c->w;
    const ResolvedSystem *s = &w->program;
    const int64_t lanes = c->lanes, row = c->several * lanes;
    double *t = c->call + pi_parameter_rows(s->system) * row, *scratch = t + row;
    for (int64_t from = 0, some; from < count; from += some) {
        some = smaller(states->next == lanes ? c->several : 1, count - from);
        if (c->asks_time)
            EACH_BELOW(k, some) pi_chunk_time(c, n + (from + k) * w->every, t + k * lanes);
        const PiApartRows rows = {.rows = {.registers = pi_in_registers(s, some * lanes),
                                           .t = t,
                                           .y = (double *)states->at + from * states->next,
                                           .p = c->call,
                                           .out = answer_of(c, from, 0),
                                           .scratch = scratch,
                                           .uniform = c->uniform},
                                  .y = pi_in_registers(s, states->apart),
                                  .p = pi_in_registers(s, row),
                                  .out = pi_in_registers(s, c->states * lanes)};
        if (s->set->apart(s->context, PI_INVARIANTS, &rows)) return -1;
    }
    return 0;
}
/* Passes the results of the lanes that still move, `valid` of them at most, to densities and
 * statistics of the batch. */
static int see_batch(const WatchChunk *c, const PiSeen *seen, int64_t valid, double n, int64_t k,
                     const double *ends) {
    const PiWatch *w = c->w;
    int at[MOST_LANES];
    int64_t lane[MOST_LANES];
    PiSome some = {
        answer_of(c, k, 0), c->states * c->lanes, smaller(c->lanes, valid), c->lane, NULL, NULL};
    if (ends || c->at || w->n_densities) {
        const int64_t all = some.count;
        some = (PiSome){some.quantities, some.apart, 0, 0, at, lane};
        EACH_BELOW(i, all)
            if (!ends || n < ends[i]) {
                lane[some.count] = c->lane + (c->at ? c->at[i] : i);
                at[some.count++] = i;
            }
    }
    EACH_BELOW(i, w->n_densities)
        pi_density_add(&w->density[i], seen->block, some.quantities, some.apart, at, some.count);
    return pi_across_add(w->across, w->n_across, (int64_t)n / w->every, &some,
                         w->program.set->survey);
}
static void see_energies(const WatchChunk *c, const States *states, int64_t count) {
    const ResolvedSystem *system = &c->w->system;
    const PiEnergyRows rows = {.registers = pi_in_registers(system, c->lanes),
                               .count = count,
                               .next = pi_in_registers(system, states->next),
                               .apart = pi_in_registers(system, states->apart),
                               .y = states->at,
                               .p = c->own_p,
                               .origin = c->changes ? c->origin : NULL,
                               .factor = c->factor,
                               .out = c->energy};
    c->energies(&rows);
}
/* `count` states of a run in double precision and whole registers: in place if they are so, else
 * copied. */
static States states_from(const WatchChunk *c, const PiRun *run, const char *rows, int64_t next,
                          int64_t apart, int64_t count) {
    const int64_t lanes = c->lanes, bytes = c->w->program.set->vector_bytes;
    const uint64_t all = (uintptr_t)rows | next * 8 | apart * 8;
    if (run->real_bytes == 8 && !(all & (bytes - 1)))
        return (States){(const double *)rows, next, apart};
    EACH_BELOW(d, c->w->components)
        EACH_BELOW(k, count)
            pi_copy_row(c->copied + (d * c->states + k) * lanes,
                        rows + (k * next + d * apart) * run->real_bytes, lanes, run->real_bytes);
    return (States){c->copied, lanes, c->states * lanes};
}
/* Where each source of a reduction has the rows of the first state, and how many reals lie from
 * one state to the next, and from one number of a state to the next. */
typedef struct {
    const double *of[PI_SOURCES];
    int64_t next[PI_SOURCES], apart[PI_SOURCES];
} Sources;
/* All reductions of `count` states, from step n on. */
static void reduce(const WatchChunk *c, const PiRun *run, const Sources *from, int64_t n,
                   int64_t count, const double *ends, double *sums) {
    const PiWatch *w = c->w;
    PiReduceRows reduced = {.registers = pi_in_registers(&w->program, c->lanes),
                            .count = count,
                            .step = n,
                            .every = w->every,
                            .index = n / w->every,
                            .factor = c->factor,
                            .ends = ends,
                            .sums = sums,
                            .stride = c->at ? c->lanes : run->stride};
    for (int i = 0; i < w->n_reduced; i += reduced.n) {
        const PiReduced *one = reduced.of = &w->reduced[i];
        reduced.n = 1;
        while (i + reduced.n < w->n_reduced && one[reduced.n].source == one->source &&
               one[reduced.n].number == one->number)
            reduced.n++;
        reduced.quantity = from->of[one->source] + one->number * from->apart[one->source];
        reduced.next = pi_in_registers(&w->program, from->next[one->source]);
        const PiSystem *system = w->system.system;
        reduced.of_run = c->p + (system->n_params - PI_OF_RUN) * c->lanes;
        reduced.component = one->number;
        reduced.origin = one->source == PI_OF_CHANGE && !c->changes ? c->origin : NULL;
        w->program.set->reduce(&reduced);
    }
}
/* Includes `count` states, each `every`-th from step n on, whose rows are `next` reals apart. 0, or
 * -1. */
static int see(WatchChunk *c, const PiRun *run, const PiSeen *seen, int64_t n, int64_t count,
               const char *rows, int64_t next, const double *ends, double *sums) {
    const PiWatch *w = c->w;
    const int of_batch = w->n_densities || w->n_across;
    const int64_t lanes = c->lanes, every = w->every;
    const States states = states_from(c, run, rows, next, seen->stride, count);
    const int one_by_one = w->runs && !c->several;
    const int energy_of_each = c->has_energy && !c->energies;
    if (c->energies) see_energies(c, &states, count);
    if (c->several && run_program_on(c, n, &states, count)) return -1;
    if (one_by_one || energy_of_each || of_batch)
        EACH_BELOW(k, count) {
            const double step = n + k * every;
            if (one_by_one || energy_of_each) take_state(c, &states, k);
            if (c->asks_time) pi_chunk_time(c, step, c->t);
            if (energy_of_each &&
                pi_chunk_ask(&w->system, PI_ENERGY, c, c->y[0], c->own_p, c->energy + k * lanes))
                return -1;
            if (one_by_one && run_program_on_state(c, step, k, ends)) return -1;
            const int64_t valid = c->at ? c->n_at : seen->lane + seen->lanes - c->lane;
            if (of_batch && see_batch(c, seen, valid, step, k, ends)) return -1;
        }
    const Sources from = {{c->answers, states.at, c->energy, c->energy},
                          {lanes, states.next, lanes, lanes},
                          {c->states * lanes, states.apart}};
    reduce(c, run, &from, n, count, ends, sums);
    return 0;
}

int pi_watch_see(void *watch, const PiRun *run, const PiSeen *seen) {
    PiWatch *w = watch;
    double *sums = w->sums[seen->block & 1];
    const int64_t most = chunk_lanes(w, run), all = padded(run, seen->lanes);
    /* Each `each`-th of the states from index `first` on belongs to a step that is a multiple of
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
    WatchChunk *c = seen->scratch; /* kept during a block of the tile */
    for (int64_t at = 0; count && at < all; at += most) {
        const int64_t lanes = smaller(most, all - at), lane = seen->lane + (seen->at ? 0 : at);
        const int64_t *there = seen->at ? seen->at + at : NULL;
        const int64_t n_there = smaller(lanes, seen->lanes - at);
        const int same = seen->block && c->lanes == lanes && !c->at == !there;
        if (same && c->at && c->alike) c->lane = lane, c->at = there, c->n_at = n_there;
        else if ((!same || c->at || c->lane != lane) &&
                 pi_chunk_open(c, w, there, n_there, lane, lanes))
            return -1;
        const int still = !c->at && find_ends(c, run, &run->failures[seen->tile], at);
        double *own = c->at ? c->sums : sums + lane;
        copy_sums(c, run, sums, 0);
        const int64_t some = c->states;
        for (int64_t i = 0; i < count; i += some)
            if (see(c, run, seen, n + i * w->every, smaller(some, count - i),
                    row_at(run, seen->rows, seen->next, first + i * each, at), each * seen->next,
                    still ? c->ends : NULL, own))
                return -1;
        copy_sums(c, run, sums, 1);
    }
    return 0;
}
void pi_watch_open(void *watch, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    const PiWatch *w = watch;
    ((WatchChunk *)scratch)->lanes = 0;
    EACH_BELOW(i, w->n_densities) pi_density_open(&w->density[i], block);
    begin_sums(run, w->n_rows, w->sums, tile, block);
}

/* After the chunk, if kernels make the reductions: a copy of the sums of a tile, so that a call
 * that fails leaves those of the run; then room for the changes of energy. */
static int64_t own_place(const PiWatch *w, const PiRun *run) {
    return pi_rounded_up(pi_chunk_bytes(w, chunk_lanes(w, run)), 64);
}
static double *own_sums(const PiWatch *w, const PiRun *run, void *scratch) {
    return (double *)((char *)scratch + own_place(w, run));
}
int64_t pi_watch_scratch_bytes(const void *watch, const PiRun *run) {
    const PiWatch *w = watch;
    const int64_t changes = PI_CHANGES * PI_MAX_FLIGHT * run->vector_bytes;
    const int64_t sums = pi_product(pi_product(w->n_rows, run->tile_lanes), sizeof(double));
    return pi_sum(own_place(w, run), run->reducer ? pi_sum(sums, changes) : 0);
}
static void copy_own_sums(const PiWatch *w, const PiRun *run, const PiSeen *seen, int back) {
    move_sums(run, w->n_rows, padded(run, seen->lanes), w->sums[seen->block & 1] + seen->lane,
              own_sums(w, run, seen->scratch), run->tile_lanes, back);
}
static int ask_reductions(void *watch, const PiRun *run, const PiSeen *seen, PiTile *tile) {
    const PiWatch *w = watch;
    WatchChunk *c = seen->scratch;
    if (run->first + seen->step + 1 < w->begin) return 0;
    copy_own_sums(w, run, seen, 0);
    c->reduced = (PiReduceRows){.every = w->every,
                                .of = w->reduced,
                                .n = w->n_reduced,
                                .sums = own_sums(w, run, c),
                                .stride = run->tile_lanes};
    tile->reduced = &c->reduced;
    tile->reduce = w->program.set->reduce;
    tile->changes = own_sums(w, run, c) + w->n_rows * run->tile_lanes;
    static const double zero = 0, one = 1;
    const int change = w->reduced[0].source == PI_OF_CHANGE;
    tile->origin = change ? w->origin : (PiRow){&zero, 0};
    tile->factor = change ? w->factor : (PiRow){&one, 0};
    return 1;
}
static void keep_reductions(void *watch, const PiRun *run, const PiSeen *seen) {
    copy_own_sums(watch, run, seen, 1);
}
/* Does it reduce nothing but the energy, or nothing but its change, so that kernels can supply it?
 */
static int reduces_only(const PiWatch *w, PiSource source) {
    int others = w->runs || !w->n_reduced;
    EACH_BELOW(i, w->n_reduced) others |= w->reduced[i].source != (int)source;
    const ResolvedSystem *s = &w->system;
    return !others && s->kernels && s->kernels->changes && !s->system->time_dependent;
}
PiObserver pi_watch_observer(PiWatch *w, const PiRun *run) {
    const int reduces = reduces_only(w, PI_OF_CHANGE) || reduces_only(w, PI_OF_ENERGY);
    return (PiObserver){.self = w,
                        .every = common_divisor(w->every, run->first % w->every),
                        .wide = w->n_across > 0,
                        .observe = pi_watch_see,
                        .open = pi_watch_open,
                        .scratch_bytes = pi_watch_scratch_bytes,
                        .reduced = reduces ? ask_reductions : NULL,
                        .keep = keep_reductions};
}
