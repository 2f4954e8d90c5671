/* Observation of a run to a tolerance: see observation.h. */
#include "observation.h"
#include "../run/layout.h"

struct PiStepObserver {
    const PiObservation *of;
    const PiSolve *solve;
    ProgramRows *watch;
    Pieces timed; /* the quantities of watches */
    EventLanes e;
    /* Of each lane the trajectory whose tolerances it holds; rows of rtol, then of atol. */
    int64_t *holds;
    double *tolerances, *begun, *ended; /* linear quantities at both ends of the steps */
    int8_t *sees[2];                    /* which lanes a watch sees */
    char *memory;
};
static double item(const PiStepObserver *p, PiRow row, int64_t id) {
    return get(&p->e, row.data, row.stride * id);
}
/* The tolerances of the lanes' trajectories. The coefficients of a quantity must decay to a
 * twentieth of the smallest rtol. */
static void hold_tolerances(PiStepObserver *p, const int64_t *id) {
    const PiSolve *s = p->solve;
    const int64_t lanes = p->e.lanes;
    if (!memcmp(p->holds, id, lanes * sizeof *id)) return;
    EACH_BELOW(i, lanes) {
        if (id[i] < 0 || id[i] == p->holds[i]) continue;
        p->holds[i] = id[i];
        double least = INFINITY, *to = p->tolerances + i;
        for (int k = 0; k < s->n_rtol; k++, to += lanes) {
            *to = item(p, s->rtol[k], id[i]);
            if (*to > 0) least = fmin(least, *to);
        }
        for (int k = 0; k < s->n_atol; k++, to += lanes) *to = item(p, s->atol[k], id[i]);
        p->e.occurring[i].resolution =
            fmin(fmax(0.05 * least, p->e.single ? 0x1p-20 : 0x1p-43), 1e-5);
    }
}

/* ---- sums over the steps --------------------------------------------------------------------- */
/* The state after the step of lane i, before it jumps if it does. */
static double landing(const PiStepObserver *p, const PiSteps *s, int64_t i, int64_t at) {
    return s->end[i] == PI_STEP_JUMPED ? p->e.landing[at] : get(&p->e, s->after, at);
}
/* Shows states of the lanes, after their steps; before: those before jumps. */
static int show_after(const PiStepObserver *p, ProgramRows *r, const PiSteps *s, int before) {
    EACH_LANE(i, &p->e) {
        r->t[i] = get(&p->e, s->t, i);
        EACH_BELOW(d, p->e.dim) {
            const int64_t at = d * p->e.lanes + i;
            r->y[at] = before ? landing(p, s, i, at) : get(&p->e, s->after, at);
        }
    }
    return pi_load_parameters(r, s->id) || pi_answer_lanes(r) ? -1 : 0;
}
/* The sums of the marked lanes' trajectories: as they are before a step, or back. */
static void move_sums(const PiStepObserver *p, int number, const PiSteps *s, const int8_t *sees,
                      double *sums, int back) {
    const PiLaneProgram *program = &p->of->watch[number];
    const int n = program->n_sums;
    EACH_LANE(i, &p->e)
        for (int64_t k = 0; sees[i] && k < n; k++) {
            double *own = &sums[k * p->e.lanes + i], *kept = &program->sums[s->id[i] * n + k];
            if (back) *kept = *own;
            else *own = *kept;
        }
}
/* The program of reductions within steps reads the sums, too: an angle is unwrapped from its value
 * at the end of the step before. */
static void show_sums(const PiStepObserver *p, const PiSteps *s, const int8_t *sees) {
    const PiObservation *of = p->of;
    if (of->need && of->n_watches && of->timed.n_sums == of->watch->n_sums)
        move_sums(p, 0, s, sees, program_sums(&p->timed.rows), 0);
}
/* A watch sees states of the lanes marked in `sees`. */
static int add_up(const PiStepObserver *p, int number, const PiSteps *s, const int8_t *sees,
                  int before) {
    ProgramRows *r = &p->watch[number];
    move_sums(p, number, s, sees, program_sums(r), 0);
    if (show_after(p, r, s, before)) return -1;
    move_sums(p, number, s, sees, r->answer, 1);
    return 0;
}

/* ---- reductions over time -------------------------------------------------------------------- */
/* Does a time count for a trajectory: has it come to the `number`-th time of `after`? A number
 * below 0: every time counts. */
static int counts(const PiStepObserver *p, int number, int64_t id, double t, double ahead) {
    return number < 0 || (t - pi_item(p->of->after[number], id)) * ahead >= 0;
}
/* The direction of time. */
static double ahead_of(const PiStepObserver *p, int64_t id) {
    return pi_item(p->of->until, id) < pi_item(p->of->sampled, id) ? -1 : 1;
}
/* Single states of the marked lanes: the first ones, or those after jumps. */
static int reduce_states(PiStepObserver *p, const PiSteps *s, const int8_t *sees, int first) {
    ProgramRows *rows = &p->timed.rows;
    if (show_after(p, rows, s, 0)) return -1;
    for (int64_t i = 0; first && i < p->e.lanes; i++)
        for (int k = 0; sees[i] && k < p->of->n_samples; k++) {
            const PiPieceSamples *one = &p->of->samples[k];
            const double *q = rows->answer + i;
            if (!counts(p, one->after, s->id[i], rows->t[i], ahead_of(p, s->id[i]))) continue;
            pi_count_sample(one, q[one->of.quantity[0] * p->e.lanes],
                            q[one->of.quantity[1] * p->e.lanes], s->id[i]);
        }
    EACH_BELOW(i, p->e.lanes)
        for (int k = 0; sees[i] && k < p->of->n_reductions; k++) {
            const PiPieceReduction *r = &p->of->reduction[k];
            const int64_t id = s->id[i];
            const double t = rows->t[i], value = rows->answer[r->quantity * p->e.lanes + i];
            double *numbers = p->of->numbers + id * p->of->n_numbers;
            const int counted = counts(p, r->after, id, t, ahead_of(p, id));
            if (r->kind == PI_STATES) pi_count_state(r, value, counted, numbers);
            else if (counted) pi_reduce_value(r, value, t, numbers);
        }
    return 0;
}
/* How far the quantities may be off at the beginning of the steps because every component may be
 * off by its tolerance, to q->off. Of a linear quantity that is the sum of |factor| tolerance. For
 * others (asks) the state is moved by its tolerance, each component up or down as digits of the
 * time say: q->off gets the quantities there, and the first piece of a step subtracts those of the
 * state itself (q->learns). The rows of the program hold the state at the beginning. 0, or -1. */
static int ask_tolerance(PiStepObserver *p, const PiSteps *s, int asks) {
    Pieces *q = &p->timed;
    const PiSolve *solve = p->solve;
    const int64_t lanes = p->e.lanes;
    const double *factors = p->of->timed.linear ? p->of->timed.linear : p->of->timed.borders;
    if (factors) memset(q->off, 0, q->count * lanes * sizeof *q->off);
    if (asks) widen(&p->e, s->t0, lanes, q->rows.t);
    EACH_BELOW(d, p->e.dim) {
        const double *rtol = p->tolerances + (solve->n_rtol > 1 ? d : 0) * lanes;
        const double *atol = p->tolerances + (solve->n_rtol + (solve->n_atol > 1 ? d : 0)) * lanes;
        double *y = q->rows.y + d * lanes;
        if (factors)
            EACH_BELOW(k, q->count) {
                const double factor = fabs(factors[k * p->e.dim + d]);
                double *off = q->off + k * lanes;
                if (factor != 0)
                    EACH_BELOW(i, lanes) off[i] += factor * (atol[i] + rtol[i] * fabs(y[i]));
            }
        if (asks)
            EACH_BELOW(i, lanes) {
                uint64_t digits;
                memcpy(&digits, &q->rows.t[i], sizeof digits);
                const double by = atol[i] + rtol[i] * fabs(y[i]);
                y[i] += digits * 0x9e3779b97f4a7c15 >> (63 - d % 64) & 1 ? -by : by;
            }
    }
    if (!asks) return 0;
    if (pi_answer_lanes(&q->rows)) return -1;
    EACH_LANE(i, &p->e) q->piece[i].learns = !q->piece[i].points;
    EACH_BELOW(at, q->count * lanes)
        if (q->piece[at % lanes].learns) q->off[at] = q->rows.answer[at];
    return 0;
}
/* The piece of lane i. */
static void reduce_piece(PiStepObserver *p, const PiSteps *s, int64_t i) {
    Pieces *q = &p->timed;
    Piece *piece = &q->piece[i];
    const double h = p->e.occurring[i].h;
    const double from = pi_time_within(&p->e, s, i, piece->from);
    const double to = pi_time_within(&p->e, s, i, piece->to), middle = from + 0.5 * (to - from);
    const PiPieceReduction *r = p->of->reduction, *end = r + p->of->n_reductions;
    double *numbers = p->of->numbers + s->id[i] * p->of->n_numbers;
    for (; r < end; r++) {
        if (r->kind != PI_STATES) {
            if (r->after < 0 || (middle - pi_item(p->of->after[r->after], s->id[i])) * h > 0)
                pi_reduce_piece(r, q, i, from, to, numbers);
        } else if (!piece->n_ends) {
            pi_count_state(r, pi_piece_end(q, i, r->quantity), counts(p, r->after, s->id[i], to, h),
                           numbers);
        }
    }
    EACH_BELOW(k, p->of->n_samples) {
        const PiPieceSamples *one = &p->of->samples[k];
        const int64_t id = s->id[i];
        const double t_end = pi_item(p->of->until, id);
        const double t0 = pi_item(p->of->sampled, id);
        const double after = one->after < 0 ? t0 : pi_item(p->of->after[one->after], id);
        pi_sample_piece(one, q, i, from, to, t0, t_end, after, id);
    }
    piece->points = 0;
}
/* The steps of the marked lanes, as far as they were made. */
static int reduce_steps(PiStepObserver *p, const PiSteps *s, const int8_t *sees) {
    Pieces *q = &p->timed;
    const int whole = q->linear && !p->of->n_after;
    const int compares = p->of->timed.borders && !p->of->n_samples;
    int any, asks = !q->linear;
    EACH_LANE(i, &p->e) {
        Piece *piece = &q->piece[i];
        const Occurring *o = &p->e.occurring[i];
        end_pieces(piece);
        if (!sees[i] || o->part == 0) continue;
        if (whole && o->part == 1) {
            whole_piece(piece, s->degree);
            continue;
        }
        pi_begin_pieces(piece, o->h, o->resolution, o->part);
        EACH_BELOW(k, p->of->n_after) {
            const double after = pi_item(p->of->after[k], s->id[i]);
            pi_cut_pieces(piece, (after - get(&p->e, s->t0, i)) / o->h);
        }
    }
    if (pi_load_parameters(&q->rows, s->id)) return -1;
    if ((q->linear || compares) &&
        pi_ask_steps(q, s, p->e.real_bytes, p->e.after, p->begun, p->ended))
        return -1;
    if (q->linear) pi_linear_pieces(q, s, p->begun, p->ended);
    if (compares) asks = pi_known_pieces(q, s, p->begun, p->ended);
    if (!q->linear) widen(&p->e, s->before, p->e.dim * p->e.lanes, q->rows.y);
    if (asks < 0 || ask_tolerance(p, s, asks)) return -1;
    do { /* the first known ones are there already */
        any = 0;
        EACH_LANE(i, &p->e) {
            if (q->piece[i].points) reduce_piece(p, s, i);
            any |= q->piece[i].n_ends > 0;
        }
        if (any) any = pi_next_pieces(q, s, p->e.real_bytes, p->e.after);
    } while (any > 0);
    return any;
}

/* ---- a chunk of lanes ------------------------------------------------------------------------ */
int pi_step_observer_begin(PiSolver *solver, const PiSteps *s) {
    PiStepObserver *p = solver->observer;
    int8_t *first = p->sees[0];
    int any = 0;
    EACH_LANE(i, &p->e) {
        first[i] = s->end[i] == PI_STEP_MADE && !p->of->seen[s->id[i]];
        any |= first[i];
    }
    if (any) {
        show_sums(p, s, first);
        EACH_BELOW(w, p->of->n_watches)
            if (add_up(p, w, s, first, 0)) return -1;
    }
    if (any && p->of->need && reduce_states(p, s, first, 1)) return -1;
    if (any && p->of->events.count && pi_begin_events(&p->e, s, first)) return -1;
    EACH_LANE(i, &p->e)
        if (first[i]) p->of->seen[s->id[i]] = 1;
    return 0;
}
int pi_step_observer_locate(PiSolver *solver, const PiSteps *s) {
    PiStepObserver *p = solver->observer;
    if (!p->e.locating) hold_tolerances(p, s->id);
    return pi_locate_events(&p->e, s, NULL);
}
void pi_step_observer_mark(PiSolver *solver, int64_t lane) {
    const PiObservation *of = ((const PiStepObserver *)solver->observer)->of;
    for (const PiCounted *c = of->counted; c < of->counted + of->n_counted; c++) {
        const int64_t at = lane * c->bytes, row = solver->solve->lanes * c->bytes;
        copy_rows(c->rows, c->bytes, c->live + at, row, c->onward + at, row);
    }
}
/* Has a step ended where it begins? Its state is that after the step before. */
static int stands(const PiStepObserver *p, const PiSteps *s, int64_t i) {
    return get(&p->e, s->t, i) == get(&p->e, s->t0, i) &&
           get(&p->e, s->t_low, i) == get(&p->e, s->t0_low, i);
}
static int keep_landings(const PiStepObserver *p, const PiSteps *s, PiSolver *solver) {
    const PiSolve *solve = solver->solve;
    EACH_LANE(i, &p->e) {
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
int pi_step_observer_accept(PiSolver *solver, const PiSteps *s) {
    PiStepObserver *p = solver->observer;
    int8_t *const *sees = p->sees, *made = sees[0], *jumps = sees[1];
    int jumped = 0;
    EACH_WHILE(i, p->e.lanes, p->of->n_watches || p->of->need || solver->keep) {
        const int end = s->end[i];
        made[i] =
            end == PI_STEP_MADE || (end > PI_STEP_MADE && end != PI_STEP_LOST && !stands(p, s, i));
        jumped |= jumps[i] = end == PI_STEP_JUMPED;
    }
    show_sums(p, s, sees[0]);
    EACH_BELOW(w, p->of->n_watches)
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
    PiMemory m = {memory, 0};
    PLACE(&m, p->watch, of->n_watches);
    EACH_BELOW(w, of->n_watches)
        pi_place_program(&m, &of->watch[w], memory ? &p->watch[w] : NULL, lanes);
    EACH_BELOW(i, 2) PLACE(&m, p->sees[i], lanes);
    if (of->need) {
        const int64_t all = pi_product(of->timed.program.system->n_invariants, lanes);
        pi_place_pieces(&m, &of->timed, of->need, lanes, &p->timed);
        if (of->timed.linear) p->timed.zero = NULL; /* it is not asked for */
        PLACE(&m, p->begun, all);
        PLACE(&m, p->ended, all);
    }
    PLACE(&m, p->holds, lanes);
    PLACE(&m, p->tolerances, pi_product(p->solve->n_rtol + p->solve->n_atol, lanes));
    if (memory)
        EACH_BELOW(i, lanes) p->holds[i] = -1;
    pi_place_events(&m, &p->e);
    return m.used;
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
    memset(p->memory, 0, bytes);
    lay_out(p, p->memory);
    return p;
}
void pi_step_observer_free(PiStepObserver *p) {
    if (p->e.locating)
        EACH_BELOW(i, p->e.lanes)
            if (p->e.occurring[i].id >= 0) pi_forget_events(&p->e, i, 1);
    pi_free_aligned(p->memory);
    free(p);
}
