/* Moments of single lanes: see PiWatchLanes in watch.h. */
#include "watch.h"
#include "../run/layout.h"

static int64_t whole_registers(const PiWatch *w, int64_t lanes) {
    return ceil_div(lanes, pi_watch_width(w)) * pi_watch_width(w);
}
static int64_t lanes_scratch(const PiWatch *w, const ResolvedSystem *program) {
    const int a = program->system->scratch, b = w->system.system->scratch;
    return a > b ? a : b;
}
/* Rows of each: y, parameters, the system's own, time, scratch, result. */
static WatchChunk chunk_of_lanes(const PiWatchLanes *l) {
    const PiWatch *w = l->watch;
    WatchChunk c = {.w = w, .lanes = whole_registers(w, l->count)};
    c.y[0] = l->memory;
    c.p = c.y[0] + l->program->system->dim * c.lanes;
    c.own_p = c.p + pi_parameter_rows(l->program->system) * c.lanes;
    c.t = c.own_p + pi_parameter_rows(w->system.system) * c.lanes;
    c.scratch = c.t + c.lanes;
    c.y[1] = c.scratch + lanes_scratch(w, l->program) * c.lanes; /* the result */
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
    if (pi_chunk_ask(l->program, PI_PREPARE, &c, c.y[0], c.p, c.p)) return -1;
    if (!(w->asks & PI_WATCH_SYSTEM)) return 0;
    const int own = w->system.system->n_params;
    memset(c.own_p, 0, pi_parameter_rows(w->system.system) * c.lanes * sizeof(double));
    memcpy(c.own_p, c.p, own * c.lanes * sizeof(double));
    return pi_chunk_ask(&w->system, PI_PREPARE, &c, c.y[0], c.own_p, c.own_p);
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
        if (pi_chunk_ask(&w->system, PI_ENERGY, &c, c.y[0], c.own_p, row)) return -1;
        row += c.lanes;
    }
    if (w->asks & PI_WATCH_INVARIANTS &&
        pi_chunk_ask(&w->system, PI_INVARIANTS, &c, c.y[0], c.own_p, row))
        return -1;
    if (pi_chunk_ask(l->program, PI_INVARIANTS, &c, c.y[0], c.p, c.y[1])) return -1;
    for (int64_t k = 0; k < l->count; k++)
        for (int i = 0; i < l->program->system->n_invariants; i++)
            moment[k].answer[i] = c.y[1][i * c.lanes + k];
    return 0;
}
double pi_watch_time(const PiWatch *w, int64_t lane, int64_t n) {
    const double t0 = ((const double *)w->t0.data)[lane * w->t0.stride];
    return t0 + (double)n * ((const double *)w->h.data)[lane * w->h.stride];
}
