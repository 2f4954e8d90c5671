/* Observation of a run to a tolerance: see observation.h. */
#include "observation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../aligned.h"

struct PiStepObserver {
    const PiObservation *of;
    const PiSolve *solve;
    ProgramRows *watch;
    Pieces timed; /* the quantities of watches */
    EventLanes e;
    int8_t *sees[2]; /* which lanes a watch sees */
    char *memory;
};
/* How far the coefficients of a quantity must decay for a trajectory: a twentieth of rtol. */
static double resolution_of(const PiStepObserver *p, int64_t id) {
    double least = INFINITY;
    for (int k = 0; k < p->solve->n_rtol; k++) {
        const PiRow row = p->solve->rtol[k];
        const double rtol = get(&p->e, row.data, row.stride * id);
        if (rtol > 0) least = fmin(least, rtol);
    }
    return fmin(fmax(0.05 * least, p->e.single ? 0x1p-20 : 0x1p-43), 1e-5);
}

/* ---- sums over the steps --------------------------------------------------------------------- */
/* The state after the step of lane i, before it jumps if it does. */
static double landing(const PiStepObserver *p, const PiSteps *s, int64_t i, int64_t at) {
    return s->end[i] == PI_STEP_JUMPED ? p->e.landing[at] : get(&p->e, s->after, at);
}
/* Shows states of the lanes, after their steps; before: those before jumps. */
static int show_after(const PiStepObserver *p, ProgramRows *r, const PiSteps *s, int before) {
    for (int64_t i = 0; i < p->e.lanes; i++) {
        r->t[i] = get(&p->e, s->t, i);
        for (int d = 0; d < p->e.dim; d++) {
            const int64_t at = d * p->e.lanes + i;
            r->y[at] = before ? landing(p, s, i, at) : get(&p->e, s->after, at);
        }
    }
    return pi_load_parameters(r, s->id) || pi_run_program(r) ? -1 : 0;
}
/* A watch sees states of the lanes marked in `sees`. */
static int add_up(const PiStepObserver *p, int number, const PiSteps *s, const int8_t *sees,
                  int before) {
    const PiLaneProgram *program = &p->of->watch[number];
    ProgramRows *r = &p->watch[number];
    double *sums = program_sums(r);
    const int n = program->n_sums;
    for (int64_t i = 0; i < p->e.lanes; i++)
        for (int k = 0; sees[i] && k < n; k++)
            sums[k * p->e.lanes + i] = program->sums[s->id[i] * n + k];
    if (show_after(p, r, s, before)) return -1;
    for (int64_t i = 0; i < p->e.lanes; i++)
        for (int k = 0; sees[i] && k < n; k++)
            program->sums[s->id[i] * n + k] = r->answer[k * p->e.lanes + i];
    return 0;
}

/* ---- reductions over time -------------------------------------------------------------------- */
/* From which time on a reduction counts, for a trajectory; 0: it does from the start on. */
static int counts_from(const PiStepObserver *p, int number, int64_t id, double *after) {
    if (number < 0) return 0;
    const PiRow row = p->of->after[number];
    *after = ((const double *)row.data)[row.stride * id];
    return 1;
}
static double item(const PiStepObserver *p, PiRow row, int64_t id) {
    return get(&p->e, row.data, row.stride * id);
}
/* The time that is left. */
static double ahead_of(const PiStepObserver *p, int64_t id, double t) {
    return item(p, p->solve->t_end, id) - t;
}
/* Single states of the marked lanes: the first ones, or those after jumps. */
static int reduce_states(PiStepObserver *p, const PiSteps *s, const int8_t *sees, int first) {
    ProgramRows *rows = &p->timed.rows;
    if (show_after(p, rows, s, 0)) return -1;
    for (int64_t i = 0; first && i < p->e.lanes; i++)
        for (int k = 0; sees[i] && k < p->of->n_samples; k++) {
            const PiPieceSamples *one = &p->of->samples[k];
            const double *const q = rows->answer + i;
            double after, ahead = ahead_of(p, s->id[i], rows->t[i]);
            if (counts_from(p, one->after, s->id[i], &after) &&
                !((rows->t[i] - after) * ahead >= 0))
                continue;
            pi_count_sample(one, q[one->of.quantity[0] * p->e.lanes],
                            q[one->of.quantity[1] * p->e.lanes], s->id[i]);
        }
    for (int64_t i = 0; i < p->e.lanes; i++)
        for (int k = 0; sees[i] && k < p->of->n_reductions; k++) {
            const PiPieceReduction *r = &p->of->reduction[k];
            const int64_t id = s->id[i];
            const double t = rows->t[i], ahead = ahead_of(p, id, t);
            double after;
            if (counts_from(p, r->after, id, &after) && !((t - after) * ahead >= 0)) continue;
            pi_reduce_value(r, rows->answer[r->quantity * p->e.lanes + i], t,
                            p->of->numbers + id * p->of->n_numbers);
        }
    return 0;
}
/* How far the quantities are off at the beginning of the steps if each component is by its
 * tolerance, to either side as the digits of the time have it: what they then are, until the first
 * piece of a step tells what they are. */
static double tolerance_of(const PiStepObserver *p, int64_t id, int d, double y) {
    const PiSolve *s = p->solve;
    return item(p, s->atol[s->n_atol > 1 ? d : 0], id) +
           item(p, s->rtol[s->n_rtol > 1 ? d : 0], id) * fabs(y);
}
static int ask_tolerance(PiStepObserver *p, const PiSteps *s, const int8_t *sees) {
    Pieces *q = &p->timed;
    const int64_t lanes = p->e.lanes;
    for (int64_t i = 0; i < lanes; i++) {
        if (!sees[i]) continue;
        q->rows.t[i] = get(&p->e, s->t0, i);
        for (int k = 0; q->linear && k < q->count; k++) q->off[k * lanes + i] = 0;
        uint64_t digits;
        memcpy(&digits, &q->rows.t[i], sizeof digits);
        digits *= 0x9e3779b97f4a7c15;
        for (int d = 0; d < p->e.dim; d++) {
            const double y = get(&p->e, s->before, d * lanes + i);
            const double by = tolerance_of(p, s->id[i], d, y);
            q->rows.y[d * lanes + i] = digits >> (63 - d % 64) & 1 ? y - by : y + by;
            for (int k = 0; q->linear && k < q->count; k++)
                q->off[k * lanes + i] += fabs(p->of->timed.linear[k * p->e.dim + d]) * by;
        }
    }
    if (q->linear) return 0;
    if (pi_load_parameters(&q->rows, s->id) || pi_run_program(&q->rows)) return -1;
    memcpy(q->off, q->rows.answer, (size_t)(q->count * lanes) * sizeof *q->off);
    memset(q->learns, 1, (size_t)lanes);
    return 0;
}
/* The steps of the marked lanes, as far as they were made. */
static int reduce_steps(PiStepObserver *p, const PiSteps *s, const int8_t *sees) {
    Pieces *q = &p->timed;
    for (int64_t i = 0; i < p->e.lanes; i++) {
        end_pieces(q, i);
        if (!sees[i] || p->e.part[i] == 0) continue;
        pi_begin_pieces(q, i, s->id[i], p->e.h[i], p->e.resolution[i], p->e.part[i]);
        for (int k = 0; k < p->of->n_after; k++) {
            const PiRow row = p->of->after[k];
            const double after = ((const double *)row.data)[row.stride * s->id[i]];
            pi_cut_pieces(q, i, (after - get(&p->e, s->t0, i)) / p->e.h[i]);
        }
    }
    if (ask_tolerance(p, s, sees)) return -1;
    if (q->linear) {
        double *const begun = q->value, *const ended = begun + q->count * p->e.lanes;
        for (int end = 0; end < 2; end++) {
            if (end)
                memcpy(q->rows.y, p->e.after, (size_t)(p->e.dim * p->e.lanes) * sizeof *p->e.after);
            else widen(&p->e, s->before, p->e.dim * p->e.lanes, q->rows.y);
            if (pi_load_parameters(&q->rows, s->id) || pi_run_program(&q->rows)) return -1;
            memcpy(end ? ended : begun, q->rows.answer,
                   (size_t)(q->count * p->e.lanes) * sizeof *begun);
        }
        pi_linear_pieces(q, s, p->e.real_bytes, begun, ended);
    }
    for (;;) {
        int any = 0;
        for (int64_t i = 0; i < p->e.lanes; i++) any |= q->n_ends[i] > 0;
        if (!any) return 0;
        if (pi_next_pieces(q, s, p->e.real_bytes, p->e.after)) return -1;
        for (int64_t i = 0; i < p->e.lanes; i++) {
            if (!q->points[i]) continue;
            const double from = pi_time_within(&p->e, s, i, q->from[i]);
            const double to = pi_time_within(&p->e, s, i, q->to[i]),
                         middle = from + 0.5 * (to - from);
            for (int k = 0; k < p->of->n_reductions; k++) {
                const PiPieceReduction *r = &p->of->reduction[k];
                double after;
                if (counts_from(p, r->after, s->id[i], &after) &&
                    !((middle - after) * p->e.h[i] > 0))
                    continue;
                pi_reduce_piece(r, q, i, from, to, p->of->numbers + s->id[i] * p->of->n_numbers);
            }
            for (int k = 0; k < p->of->n_samples; k++) {
                const PiPieceSamples *one = &p->of->samples[k];
                const int64_t id = s->id[i];
                const double t0 = item(p, p->solve->t0, id), t_end = item(p, p->solve->t_end, id);
                double after = t0;
                counts_from(p, one->after, id, &after);
                pi_sample_piece(one, q, i, from, to, t0, t_end, after, id);
            }
            take_piece(q, i);
        }
    }
}

/* ---- a chunk of lanes ------------------------------------------------------------------------ */
int pi_step_observer_begin(PiStepObserver *p, const PiSteps *s) {
    int8_t *first = p->sees[0];
    int any = 0;
    for (int64_t i = 0; i < p->e.lanes; i++) {
        first[i] = s->end[i] == PI_STEP_MADE && !p->of->seen[s->id[i]];
        any |= first[i];
    }
    for (int w = 0; any && w < p->of->n_watches; w++)
        if (add_up(p, w, s, first, 0)) return -1;
    if (any && p->of->need && reduce_states(p, s, first, 1)) return -1;
    if (any && p->of->events.count && pi_begin_events(&p->e, s, first)) return -1;
    for (int64_t i = 0; i < p->e.lanes; i++)
        if (first[i]) p->of->seen[s->id[i]] = 1;
    return 0;
}
int pi_step_observer_locate(PiStepObserver *p, const PiSteps *s) {
    for (int64_t i = 0; !p->e.locating && i < p->e.lanes; i++)
        if (s->id[i] >= 0) p->e.resolution[i] = resolution_of(p, s->id[i]);
    return pi_locate_events(&p->e, s, NULL);
}
/* Has a step ended where it begins? Its state is that after the step before. */
static int stands(const PiStepObserver *p, const PiSteps *s, int64_t i) {
    return get(&p->e, s->t, i) == get(&p->e, s->t0, i) &&
           get(&p->e, s->t_low, i) == get(&p->e, s->t0_low, i);
}
static int keep_landings(const PiStepObserver *p, const PiSteps *s, PiSolver *solver) {
    const PiSolve *solve = solver->solve;
    for (int64_t i = 0; i < p->e.lanes; i++) {
        if (s->end[i] != PI_STEP_JUMPED || stands(p, s, i)) continue;
        void *to = solver->keep(solver, s->id[i]);
        if (!to) return -1;
        set(&p->e, to, 0, get(&p->e, s->t, i));
        int d = 0;
        for (; d < solve->n_saved; d++)
            set(&p->e, to, d + 1, landing(p, s, i, solve->saved[d] * p->e.lanes + i));
        for (; d < pi_kept_numbers(solve) - 1; d++) set(&p->e, to, d + 1, NAN);
    }
    return 0;
}
int pi_step_observer_accept(PiStepObserver *p, const PiSteps *s, PiSolver *solver) {
    int8_t *const *sees = p->sees;
    int jumped = 0;
    for (int64_t i = 0; i < p->e.lanes; i++) {
        sees[0][i] = s->end[i] != PI_STEP_NONE && s->end[i] != PI_STEP_LOST && !stands(p, s, i);
        jumped |= sees[1][i] = s->end[i] == PI_STEP_JUMPED;
    }
    for (int w = 0; w < p->of->n_watches; w++)
        if (add_up(p, w, s, sees[0], 1) || (jumped && add_up(p, w, s, sees[1], 0))) return -1;
    if (p->of->need && (reduce_steps(p, s, sees[0]) || (jumped && reduce_states(p, s, sees[1], 0))))
        return -1;
    if (jumped && solver->keep && keep_landings(p, s, solver)) return -1;
    return p->of->events.count ? pi_settle_events(&p->e, s, NULL) : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */
/* The bytes that it needs; assigns them within a memory, if there is one. */
static int64_t lay_out(PiStepObserver *p, char *memory) {
    const PiObservation *of = p->of;
    const int64_t lanes = p->e.lanes;
    int64_t used = 0;
    p->watch = pi_part_of(memory, &used, pi_product(of->n_watches, sizeof *p->watch));
    for (int w = 0; w < of->n_watches; w++)
        pi_place_program(memory, &used, &of->watch[w], memory ? &p->watch[w] : NULL, lanes);
    for (int i = 0; i < 2; i++) p->sees[i] = pi_part_of(memory, &used, lanes);
    if (of->need) pi_place_pieces(memory, &used, &of->timed, of->need, lanes, &p->timed);
    pi_place_events(memory, &used, &p->e);
    return used;
}
PiStepObserver *pi_step_observer_new(const PiObservation *of, const PiAdaptiveRun *run) {
    PiStepObserver *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->of = of;
    p->solve = &run->solve;
    p->e = (EventLanes){.of = &of->events,
                        .dim = run->solve.system->dim,
                        .real_bytes = run->real_bytes,
                        .single = run->real_bytes == 4,
                        .counts = of->events.counts,
                        .lanes = run->solve.registers * (run->vector_bytes / run->real_bytes)};
    const int64_t bytes = lay_out(p, NULL);
    p->memory = pi_aligned(bytes);
    if (!p->memory) {
        free(p);
        return NULL;
    }
    memset(p->memory, 0, (size_t)bytes);
    lay_out(p, p->memory);
    return p;
}
void pi_step_observer_free(PiStepObserver *p) {
    for (int64_t i = 0; p->e.locating && i < p->e.lanes; i++)
        if (p->e.id[i] >= 0) pi_forget_events(&p->e, i);
    pi_free_aligned(p->memory);
    free(p);
}
