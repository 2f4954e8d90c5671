/* Lanes that a watch evaluates together: their rows and parameters, for all shown states.
 * See watch.h. */
#include "watch.h"
#include "../run/families.h"
#include "../run/layout.h"

enum {
    STATES = PI_REDUCE_STATES,
    STATES_BYTES = 64 << 10,
    CALL_BYTES = 16 << 10, /* of scratch and results, if a program is asked for several states */
};

/* Does anything depend on the energy itself or, if `last` is PI_OF_CHANGE, on its change? */
static int has_energy(const PiWatch *w, PiSource last) {
    int found = w->asks & PI_WATCH_ENERGY;
    for (int64_t i = 0; i < w->n_reduced; i++)
        found |= w->reduced[i].source >= PI_OF_ENERGY && w->reduced[i].source <= (int)last;
    return found;
}
static int asks_system(const PiWatch *w) {
    return has_energy(w, PI_OF_CHANGE) || w->asks & PI_WATCH_INVARIANTS;
}
static int64_t scratch_rows(const PiWatch *w) {
    return pi_scratch_of_both(&w->program, &w->system);
}
static int64_t rows_of_state(const PiWatch *w) {
    return w->components + 1 + (int64_t)w->n_quantities;
}
/* How many states are evaluated together: as many as fit the first-level cache. */
static int64_t states_at_once(const PiWatch *w, int64_t lanes) {
    const int64_t bytes = pi_product(rows_of_state(w), lanes * sizeof(double));
    const int64_t fit = STATES_BYTES / bytes;
    return fit < 1 ? 1 : smaller(fit, STATES);
}
/* A program may be asked for several states in one call. Its rows besides states and results:
 * parameters, time, scratch; and how long they are at most, unless one state is longer. */
static int64_t rows_of_call(const PiWatch *w) {
    const PiSystem *s = w->program.system;
    return pi_sum(pi_parameter_rows(s) + 1, s->scratch);
}
static int64_t reals_of_call(const PiWatch *w) {
    const int64_t rows = pi_sum(w->program.system->scratch, w->n_quantities) + 1;
    return CALL_BYTES / sizeof(double) / rows;
}
/* How many states one call of the program evaluates; 0: it takes them one by one. Only byte code
 * takes several, without sums, which go from state to state, and without questions to the system.
 */
static int64_t states_of_call(const PiWatch *w, int64_t lanes, int64_t states) {
    const int alone = PI_WATCH_ENERGY | PI_WATCH_INVARIANTS | PI_WATCH_STEP;
    if (!w->runs || w->n_sums || w->asks & alone) return 0;
    if (w->program.force != w->program.set->program) return 0;
    const int64_t fit = reals_of_call(w) / lanes;
    return fit < 1 ? 1 : smaller(fit, states);
}
/* Rows besides those of the current states. */
static int64_t watch_rows(const PiWatch *w) {
    return 2 * (int64_t)(w->program.system->dim + w->n_quantities) + w->n_rows +
           pi_parameter_rows(w->program.system) + pi_parameter_rows(w->system.system) + 4 +
           scratch_rows(w);
}

void pi_copy_row(double *to, const void *from, int64_t lanes, int real_bytes) {
    if (real_bytes == 8) memcpy(to, from, lanes * sizeof *to);
    else
        for (int64_t i = 0; i < lanes; i++) to[i] = ((const float *)from)[i];
}
void pi_fill_row(double *to, double value, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i++) to[i] = value;
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
/* The time, if the energy or the program depends on it. */
static int asks_time(const PiWatch *w) {
    const ResolvedSystem *s = &w->system;
    const int own = s->system->time_dependent || s->force == w->program.set->program;
    return w->asks & PI_WATCH_TIME || (own && asks_system(w));
}
int pi_chunk_open(WatchChunk *c, const PiWatch *w, const int64_t *at, int64_t n_at, int64_t lane,
                  int64_t lanes) {
    double *free = (double *)((char *)c + CHUNK_BYTES);
    *c = (WatchChunk){.w = w, .at = at, .n_at = n_at};
    const int n = w->program.system->n_params;
    const ResolvedSystem *own = &w->system;
    const int64_t states = states_at_once(w, lanes);
    c->lane = lane;
    c->lanes = lanes;
    c->states = states;
    c->has_energy = has_energy(w, PI_OF_CHANGE);
    c->asks_time = asks_time(w);
    if (c->has_energy && own->kernels && !own->system->time_dependent)
        c->energies = own->kernels->energies;
    c->changes = c->energies && !has_energy(w, PI_OF_ENERGY);
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
    c->several = states_of_call(w, lanes, states);
    c->call = free, free += rows_of_call(w) * c->several * lanes;
    c->copied = free;
    c->uniform = 0;
    for (int64_t i = 0; i < n; i++) {
        spread_row(c, c->p + i * lanes, w->params[i]);
        if (i < 64 && !w->params[i].stride) c->uniform |= (uint64_t)1 << i;
    }
    const int rows = n + w->program.system->n_derived, bits = 64;
    c->alike = rows < bits && c->uniform == ((uint64_t)1 << n) - 1 && !w->origin.stride &&
               !w->factor.stride;
    spread_row(c, c->origin, w->origin);
    spread_row(c, c->factor, w->factor);
    if (w->runs && pi_chunk_ask(&w->program, PI_PREPARE, c, c->y[0], c->p, c->p)) return -1;
    /* Byte code reads one register of rows that are alike, if they are no more than its bits. */
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < (c->alike ? smaller(c->several, 1) : c->several); k++)
            memcpy(c->call + (i * c->several + k) * lanes, c->p + i * lanes, lanes * sizeof *c->p);
    if (!asks_system(w)) return 0;
    const int given = own->system->n_params;
    memcpy(c->own_p, c->p, given * lanes * sizeof *c->p);
    memset(c->own_p + given * lanes, 0,
           (pi_parameter_rows(own->system) - given) * lanes * sizeof *c->p);
    return pi_chunk_ask(own, PI_PREPARE, c, c->y[0], c->own_p, c->own_p);
}
int64_t pi_chunk_bytes(const PiWatch *w, int64_t lanes) {
    const int64_t row = pi_product(lanes, sizeof(double));
    const int64_t one = pi_product(rows_of_state(w), row);
    const int64_t length = pi_product(reals_of_call(w), sizeof(double));
    const int64_t call = pi_product(rows_of_call(w), length > row ? length : row);
    const int64_t states = one > STATES_BYTES ? one : STATES_BYTES;
    return CHUNK_BYTES + pi_sum(pi_product(watch_rows(w), row), pi_sum(states, call));
}
/* t0 + n h with two roundings, like the times of a solution. */
void pi_chunk_time(const WatchChunk *c, double n, double *t) {
    const int64_t lane = c->lane;
    const double *t0 = c->w->t0.data, *h = c->w->h.data;
    if (!c->w->t0.stride && !c->w->h.stride) {
        pi_fill_row(t, *t0 + n * *h, c->lanes);
        return;
    }
    EACH_LANE(i, c) {
        const int64_t one = lane + (c->at ? c->at[smaller(i, c->n_at - 1)] : i);
        t[i] = t0[one * c->w->t0.stride] + n * h[one * c->w->h.stride];
    }
}

double pi_watch_time(const PiWatch *w, int64_t lane, int64_t n) {
    return pi_item(w->t0, lane) + n * pi_item(w->h, lane);
}
