/* Lanes that a watch evaluates together: their rows and parameters, for all shown states.
 * See watch.h. */
#include "watch.h"
#include "../run/layout.h"

enum {
    STATES = PI_REDUCE_STATES,
    STATES_BYTES = 64 << 10,
    CALL_BYTES = 16 << 10, /* of scratch and results, if a program is asked for several states */
};

/* Does anything depend on the energy itself or, if `last` is PI_OF_CHANGE, on its change? */
static int has_energy(const PiWatch *w, PiSource last) {
    int found = w->asks & PI_WATCH_ENERGY;
    EACH_BELOW(i, w->n_reduced)
        found |= w->reduced[i].source >= PI_OF_ENERGY && w->reduced[i].source <= (int)last;
    return found;
}
static int asks_system(const PiWatch *w) {
    return has_energy(w, PI_OF_CHANGE) || w->asks & PI_WATCH_INVARIANTS;
}
/* Can one call of the program evaluate several states: is it byte code that has no sums, which
 * follow each other, and asks the system nothing? */
static int asks_nothing(const PiWatch *w) {
    const int alone = PI_WATCH_ENERGY | PI_WATCH_INVARIANTS | PI_WATCH_STEP;
    return w->runs && !w->n_sums && !(w->asks & alone) &&
           w->program.force == w->program.set->program;
}
/* A chunk of so many lanes, and after it its rows. As many states are evaluated together as fit the
 * first-level cache, or one; in a call of the program, which has parameters, times and scratch of
 * its own, also as many as fit. Returns the bytes, which are no less for more lanes. */
static int64_t lay_out(WatchChunk *c, const PiWatch *w, int64_t lanes, void *memory) {
    const PiSystem *s = w->program.system;
    const int64_t per_state = w->components + 1 + w->n_quantities;
    const int64_t per_call = pi_sum(s->scratch, w->n_quantities) + 1;
    const int64_t all = larger(STATES_BYTES / sizeof(double), pi_product(per_state, lanes));
    const int64_t call = larger(CALL_BYTES / sizeof(double) / per_call, lanes);
    PiMemory m = {memory, 0};
    pi_part_of(&m, sizeof *c);
    c->lanes = lanes;
    c->states = smaller(all / (per_state * lanes), STATES);
    c->several = asks_nothing(w) ? smaller(call / lanes, c->states) : 0;
    EACH_BELOW(i, 2) PLACE(&m, c->y[i], pi_product(s->dim + w->n_quantities, lanes));
    PLACE(&m, c->p, pi_product(pi_parameter_rows(s), lanes));
    PLACE(&m, c->own_p, pi_product(pi_parameter_rows(w->system.system), lanes));
    double **const rows[] = {&c->t, &c->origin, &c->factor, &c->ends};
    EACH_BELOW(i, 4) PLACE(&m, *rows[i], lanes);
    PLACE(&m, c->scratch, pi_product(pi_scratch_of_both(&w->program, &w->system), lanes));
    PLACE(&m, c->sums, pi_product(w->n_rows, lanes));
    PLACE(&m, c->call, pi_product(pi_sum(pi_parameter_rows(s) + 1, s->scratch), call));
    PLACE(&m, c->energy, all);
    if (!memory) return m.used;
    c->answers = c->energy + c->states * lanes;
    c->copied = c->answers + c->states * w->n_quantities * lanes;
    return m.used;
}
int64_t pi_chunk_bytes(const PiWatch *w, int64_t lanes) {
    return lay_out(&(WatchChunk){0}, w, lanes, NULL);
}

void pi_copy_row(double *to, const void *from, int64_t lanes, int real_bytes) {
    if (real_bytes == 8) memcpy(to, from, lanes * sizeof *to);
    else
        EACH_BELOW(i, lanes) to[i] = ((const float *)from)[i];
}
void pi_fill_row(double *to, double value, int64_t lanes) {
    EACH_BELOW(i, lanes) to[i] = value;
}
/* The lanes of a row of the batch; copies of the last selected one fill its register. */
void pi_chunk_pick(const WatchChunk *c, double *to, const double *from) {
    from += c->lane;
    if (!c->at) memcpy(to, from, c->lanes * sizeof *to);
    else
        EACH_LANE(i, c) to[i] = from[c->at[smaller(i, c->n_at - 1)]];
}
static void spread_row(const WatchChunk *c, double *to, PiRow row) {
    if (row.stride) pi_chunk_pick(c, to, row.data);
    else pi_fill_row(to, *(const double *)row.data, c->lanes);
}
int pi_chunk_open(WatchChunk *c, const PiWatch *w, const int64_t *at, int64_t n_at, int64_t lane,
                  int64_t lanes) {
    *c = (WatchChunk){.w = w, .at = at, .n_at = n_at, .lane = lane};
    lay_out(c, w, lanes, c);
    const int n = w->program.system->n_params;
    const ResolvedSystem *own = &w->system;
    c->has_energy = has_energy(w, PI_OF_CHANGE);
    c->asks_time = pi_asks_time(w->asks, asks_system(w), own);
    if (c->has_energy && own->kernels && !own->system->time_dependent)
        c->energies = own->kernels->energies;
    c->changes = c->energies && !has_energy(w, PI_OF_ENERGY);
    EACH_BELOW(i, n) {
        spread_row(c, c->p + i * lanes, w->params[i]);
        if (i < 64 && !w->params[i].stride) c->uniform |= (uint64_t)1 << i;
    }
    const int rows = n + w->program.system->n_derived, bits = 64;
    c->alike =
        rows < bits && c->uniform == pi_lowest_bits(n) && !w->origin.stride && !w->factor.stride;
    spread_row(c, c->origin, w->origin);
    spread_row(c, c->factor, w->factor);
    if (w->runs && pi_chunk_ask(&w->program, PI_PREPARE, c, c->y[0], c->p, c->p)) return -1;
    /* Byte code reads one register of rows that are alike, if they are no more than its bits. */
    EACH_BELOW(i, rows)
        for (int64_t k = 0; k < (c->alike ? smaller(c->several, 1) : c->several); k++)
            memcpy(c->call + (i * c->several + k) * lanes, c->p + i * lanes, lanes * sizeof *c->p);
    if (!asks_system(w)) return 0;
    const int given = own->system->n_params;
    memcpy(c->own_p, c->p, given * lanes * sizeof *c->p);
    memset(c->own_p + given * lanes, 0,
           (pi_parameter_rows(own->system) - given) * lanes * sizeof *c->p);
    return pi_chunk_ask(own, PI_PREPARE, c, c->y[0], c->own_p, c->own_p);
}
/* t0 + n h with two roundings, like the times of a solution. */
double pi_watch_time(const PiWatch *w, int64_t lane, int64_t n) {
    return pi_item(w->t0, lane) + n * pi_item(w->h, lane);
}
void pi_chunk_time(const WatchChunk *c, double n, double *t) {
    EACH_LANE(i, c) {
        const int64_t at = c->at ? c->at[smaller(i, c->n_at - 1)] : i;
        t[i] = pi_watch_time(c->w, c->lane + at, n);
    }
}
