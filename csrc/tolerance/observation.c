/* Observation of a run to a tolerance: see observation.h. */
#include "observation.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../aligned.h"
#include "event_order.h"

/* Intervals between jumps that are lost in the rounding of the time, a few rounding units in single
 * precision: the jumps make no progress. */
#define NOWHERE_NEAR        0x1p-30
#define NOWHERE_NEAR_SINGLE 0x1p-18

static double to_real(const PiStepObserver *p, double x) {
    return p->real_bytes == 8 ? x : (float)x;
}

/* Does condition j begin to hold by the jump of another event? */
static int begins(const PiStepObserver *p, const PiSteps *s, int64_t i, int j) {
    const double side = p->of->event[j].direction, landing = side * p->g[i * p->of->count + j];
    const int waits = is_begun(p, s->id[i], j) && p->found[2 * (i * p->of->count + j)] == 0;
    return !p->of->event[j].located && j != p->search[i].slot / 2 &&
           side * p->detect.answer[j * p->lanes + i] > 0 &&
           (side * known(p, s->id[i])[j] < 0 || landing < 0 || waits);
}

/* ---- consequences of an event ---------------------------------------------------------------- */
static double time_at(const PiStepObserver *p, const PiSteps *s, int64_t i) {
    const Search *search = &p->search[i];
    if (search->part == search->h) return get(p, s->t, i);
    return get(p, s->t0, i) + (get(p, s->t0_low, i) + search->part);
}
/* The state that a lane has requested. */
static const void *state_at(const PiStepObserver *p, const PiSteps *s, int64_t i) {
    const Search *search = &p->search[i];
    return search->part == 0 ? s->before : search->part == search->h ? s->after : s->within;
}
/* The step ends there, at the state of the event. */
static void end_at(PiStepObserver *p, const PiSteps *s, int64_t i, PiStepEnd end) {
    const Search *search = &p->search[i];
    const void *from = state_at(p, s, i);
    for (int d = 0; d < p->dim; d++) {
        p->landing[d * p->lanes + i] = get(p, from, d * p->lanes + i);
        set(p, s->after, d * p->lanes + i, p->landing[d * p->lanes + i]);
    }
    s->end[i] = (int8_t)end;
    if (search->part == search->h) return;
    const double t0 = get(p, s->t0, i), rest = get(p, s->t0_low, i) + search->part;
    const double t = to_real(p, t0 + rest), back = t - t0;
    set(p, s->t, i, t);
    set(p, s->t_low, i, (t0 - (t - back)) + (rest - back));
}
/* Do the jumps make no progress? */
static int is_zeno(const PiStepObserver *p, double t, int64_t id) {
    const double *last = last_step(p, id);
    const double near = p->real_bytes == 8 ? NOWHERE_NEAR : NOWHERE_NEAR_SINGLE;
    return fabs(t - last[LAST_JUMP]) <= near * fabs(t - last[START]);
}
static void jump(PiStepObserver *p, const PiSteps *s, int64_t i, const PiEvent *event) {
    const double *answer = p->react.answer + event->then * p->lanes + i;
    int finite = 1;
    end_at(p, s, i, PI_STEP_JUMPED);
    for (int j = 0; j < p->of->count; j++)
        p->g[i * p->of->count + j] = p->detect.answer[j * p->lanes + i]; /* before the jump */
    for (int d = 0; d < p->dim; d++) {
        const double y = answer[d * p->lanes];
        finite &= fabs(y) <= (p->real_bytes == 8 ? DBL_MAX : FLT_MAX);
        set(p, s->after, d * p->lanes + i, y);
    }
    if (!finite) s->end[i] = PI_STEP_LOST;
}
static void happens(PiStepObserver *p, const PiSteps *s, int64_t i) {
    Search *search = &p->search[i];
    const PiObservation *of = p->of;
    const int j = search->slot / 2;
    const PiEvent *event = &of->event[j];
    const int64_t id = s->id[i];
    const double t = time_at(p, s, i);
    const void *y = state_at(p, s, i);
    const int lost = event->then >= 0 && is_zeno(p, t, id);
    search->doing = RESTS;
    if (search->events++ == of->most ||
        (lost && last_step(p, id)[LOST_JUMPS] >= (double)of->most)) {
        end_at(p, s, i, PI_STEP_ZENO);
        return;
    }
    double *count = &of->counts[j * of->stride + id];
    const int64_t k = pi_kept_before(event, *count);
    *count += 1;
    p->added[i * 2 * of->count + j] += 1;
    if (k >= 0) {
        event->t[k * of->stride + id] = t;
        for (int d = 0; d < p->dim; d++)
            event->y[(k * p->dim + d) * of->stride + id] = get(p, y, d * p->lanes + i);
        for (int v = 0; v < event->n_values; v++)
            event->values[(k * event->n_values + v) * of->stride + id] =
                p->react.answer[(event->value + v) * p->lanes + i];
    }
    const int stops = event->stop && *count >= (double)event->stop;
    const double more = p->more[i * 2 * of->count + search->slot];
    if (!isnan(more) && (fabs(more) < fabs(search->part) || (!stops && event->then < 0))) {
        of->counts[(of->count + j) * of->stride + id] += 1;
        p->added[(i * 2 + 1) * of->count + j] += 1;
    }
    if (stops) {
        search->stopped_by = j;
        end_at(p, s, i, PI_STEP_STOPPED);
    } else if (event->then >= 0) jump(p, s, i, event);
    else {
        p->found[i * 2 * of->count + search->slot] = INFINITY;
        choose_event(p, i);
    }
}

/* ---- a chunk of lanes ------------------------------------------------------------------------ */
/* The requested states and times of lanes, or those at the end of the step. */
static int show(const PiStepObserver *p, ProgramRows *r, const PiSteps *s, int within) {
    for (int64_t i = 0; i < p->lanes; i++) {
        const int own = within && p->search[i].doing != RESTS;
        const void *y = own ? state_at(p, s, i) : s->after;
        r->t[i] = own ? time_at(p, s, i) : get(p, s->t, i);
        for (int d = 0; d < p->dim; d++) r->y[d * p->lanes + i] = get(p, y, d * p->lanes + i);
    }
    return load_parameters(r, s->id) || run_program(r) ? -1 : 0;
}
/* A watch sees states of the lanes marked in `sees`: before jumps, or those at the end. */
static int add_up(const PiStepObserver *p, int number, const PiSteps *s, const int8_t *sees,
                  int before) {
    const PiLaneProgram *program = &p->of->watch[number];
    ProgramRows *r = &p->watch[number];
    double *sums = program_sums(r);
    const int n = program->n_sums;
    for (int64_t i = 0; i < p->lanes; i++)
        for (int k = 0; sees[i] && k < n; k++)
            sums[k * p->lanes + i] = program->sums[s->id[i] * n + k];
    for (int64_t i = 0; i < p->lanes; i++) {
        const int lands = before && s->end[i] == PI_STEP_JUMPED;
        r->t[i] = get(p, s->t, i);
        for (int d = 0; d < p->dim; d++) {
            const int64_t at = d * p->lanes + i;
            r->y[at] = lands ? p->landing[at] : get(p, s->after, at);
        }
    }
    if (load_parameters(r, s->id) || run_program(r)) return -1;
    for (int64_t i = 0; i < p->lanes; i++)
        for (int k = 0; sees[i] && k < n; k++)
            program->sums[s->id[i] * n + k] = r->answer[k * p->lanes + i];
    return 0;
}

int pi_step_observer_begin(PiStepObserver *p, const PiSteps *s) {
    int8_t *first = p->sees[0];
    int any = 0;
    for (int64_t i = 0; i < p->lanes; i++) {
        first[i] = s->end[i] == PI_STEP_MADE && !p->of->seen[s->id[i]];
        any |= first[i];
    }
    for (int w = 0; any && w < p->of->n_watches; w++)
        if (add_up(p, w, s, first, 0)) return -1;
    if (any && p->of->count && show(p, &p->detect, s, 0)) return -1;
    for (int64_t i = 0; i < p->lanes; i++) {
        if (!first[i]) continue;
        p->of->seen[s->id[i]] = 1;
        if (!p->of->count) continue;
        for (int j = 0; j < p->of->count; j++)
            known(p, s->id[i])[j] = p->detect.answer[j * p->lanes + i];
        last_step(p, s->id[i])[START] = get(p, s->t, i);
        last_step(p, s->id[i])[LOST_JUMPS] = 0;
    }
    return 0;
}

/* The steps as a whole. */
static int whole_steps(PiStepObserver *p, const PiSteps *s) {
    const int count = p->of->count;
    p->locating = 1;
    memcpy(p->id, s->id, (size_t)p->lanes * sizeof *p->id);
    for (int64_t i = 0; i < p->lanes; i++)
        p->search[i] = (Search){.run = &p->precision, .h = get(p, s->part, i), .j = -1, .dip = NAN};
    if (show(p, &p->detect, s, 0)) return -1;
    for (int64_t i = 0; i < p->lanes; i++) {
        if (s->end[i] != PI_STEP_MADE) continue;
        for (int j = 0; j < count; j++) p->g[i * count + j] = p->detect.answer[j * p->lanes + i];
        for (int k = 0; k < 2 * count; k++) {
            p->found[i * 2 * count + k] = INFINITY;
            p->more[i * 2 * count + k] = NAN;
        }
        next_search(p, i, s->id[i]);
    }
    return 0;
}
/* The requested parts. */
static int requested_parts(PiStepObserver *p, const PiSteps *s) {
    if (show(p, &p->detect, s, 1)) return -1;
    int happen = 0;
    for (int64_t i = 0; i < p->lanes; i++) happen |= p->search[i].doing == HAPPENS;
    if (happen && p->react.of && show(p, &p->react, s, 1)) return -1;
    for (int64_t i = 0; i < p->lanes; i++) {
        Search *search = &p->search[i];
        if (search->doing == RESTS) continue;
        if (search->doing == HAPPENS) {
            happens(p, s, i);
            continue;
        }
        const double g = p->detect.answer[search->j * p->lanes + i];
        const double old = known(p, s->id[i])[search->j];
        const int passed = crosses(&p->of->event[search->j], old, g);
        if (search->doing == SEEKS_ROOT) next_root(search, g);
        else if (search->doing == SEEKS_DIP) next_dip(search, old > 0 ? g : -g, g);
        else if (search->doing == SEEKS_MORE) next_more(search, g);
        else next_recrossing(search, passed ? fabs(g - old) : 0);
    }
    return 0;
}
int pi_step_observer_locate(PiStepObserver *p, const PiSteps *s) {
    if (!p->of->count) return 0;
    if (p->locating ? requested_parts(p, s) : whole_steps(p, s)) return -1;
    int asks = 0;
    for (int64_t i = 0; i < p->lanes; i++) {
        Search *search = &p->search[i];
        while (isnan(search->part) && search->doing != RESTS) end_search(p, i, s->id[i]);
        asks |= search->doing != RESTS;
        set(p, s->part, i, search->doing != RESTS ? search->part : 0);
    }
    return asks;
}

/* Has event j just jumped: at the end of the step, or, as its quantity passes on, at its beginning,
 * if the jump at its end came at once? */
static int has_just_jumped(const PiStepObserver *p, int64_t i, int64_t id, int j) {
    const Search *search = &p->search[i];
    if (j == search->slot / 2) return 1;
    return known(p, id)[j] == 0 && known(p, id)[p->of->count + j] == JUST_JUMPED &&
           is_short(p, search, id, search->part);
}
/* Accepted steps: updates the data of their trajectories. */
static int settle_events(PiStepObserver *p, const PiSteps *s) {
    const int count = p->of->count;
    int jumped = 0;
    for (int64_t i = 0; i < p->lanes; i++) jumped |= s->end[i] == PI_STEP_JUMPED;
    if (jumped && show(p, &p->detect, s, 0)) return -1;
    for (int64_t i = 0; i < p->lanes; i++) {
        if (s->end[i] == PI_STEP_NONE || s->end[i] == PI_STEP_LOST) continue;
        double *g = known(p, s->id[i]), *last = last_step(p, s->id[i]), t = get(p, s->t, i);
        const int lands = s->end[i] == PI_STEP_JUMPED;
        for (int j = 0; j < count; j++) {
            const int jumped = lands && has_just_jumped(p, i, s->id[i], j);
            g[count + j] = !lands               ? g[j]
                           : jumped             ? JUST_JUMPED
                           : begins(p, s, i, j) ? JUST_BEGUN
                                                : NAN;
            g[j] = lands ? p->detect.answer[j * p->lanes + i] : p->g[i * count + j];
        }
        last[LAST_STEP] = p->search[i].h;
        if (lands) {
            last[LOST_JUMPS] = is_zeno(p, t, s->id[i]) ? last[LOST_JUMPS] + 1 : 0;
            last[LAST_JUMP] = t;
        }
        if (s->end[i] != PI_STEP_STOPPED) continue;
        p->of->stopped_at[s->id[i]] = time_at(p, s, i);
        p->of->stopped_by[s->id[i]] = (int8_t)p->search[i].stopped_by;
    }
    memset(p->added, 0, (size_t)(p->lanes * 2 * count) * sizeof *p->added);
    p->locating = 0;
    return 0;
}
/* Has a step ended where it begins? Its state is that after the step before. */
static int stands(const PiStepObserver *p, const PiSteps *s, int64_t i) {
    return get(p, s->t, i) == get(p, s->t0, i) && get(p, s->t_low, i) == get(p, s->t0_low, i);
}
static int keep_landings(const PiStepObserver *p, const PiSteps *s, PiSolver *solver) {
    const PiSolve *solve = solver->solve;
    for (int64_t i = 0; i < p->lanes; i++) {
        if (s->end[i] != PI_STEP_JUMPED || stands(p, s, i)) continue;
        void *to = solver->keep(solver, s->id[i]);
        if (!to) return -1;
        set(p, to, 0, get(p, s->t, i));
        for (int d = 0; d < solve->n_saved; d++)
            set(p, to, d + 1, p->landing[solve->saved[d] * p->lanes + i]);
    }
    return 0;
}
int pi_step_observer_accept(PiStepObserver *p, const PiSteps *s, PiSolver *solver) {
    int8_t *const *sees = p->sees;
    int jumped = 0;
    for (int64_t i = 0; i < p->lanes; i++) {
        sees[0][i] = s->end[i] != PI_STEP_NONE && s->end[i] != PI_STEP_LOST && !stands(p, s, i);
        jumped |= sees[1][i] = s->end[i] == PI_STEP_JUMPED;
    }
    for (int w = 0; w < p->of->n_watches; w++)
        if (add_up(p, w, s, sees[0], 1) || (jumped && add_up(p, w, s, sees[1], 0))) return -1;
    if (jumped && solver->keep && keep_landings(p, s, solver)) return -1;
    return p->of->count ? settle_events(p, s) : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */
/* The bytes that it needs; assigns them within a memory, if there is one. */
static int64_t lay_out(PiStepObserver *p, char *memory) {
    const PiObservation *of = p->of;
    const int64_t lanes = p->lanes, row = pi_product(lanes, sizeof(double)), n = of->count;
    int64_t used = 0;
    p->watch = place(memory, &used, pi_product(of->n_watches, sizeof *p->watch));
    for (int w = 0; w < of->n_watches; w++)
        place_program(memory, &used, &of->watch[w], memory ? &p->watch[w] : NULL, lanes);
    for (int i = 0; i < 2; i++) p->sees[i] = place(memory, &used, lanes);
    if (!n) return used;
    place_program(memory, &used, &of->detect, &p->detect, lanes);
    if (of->react.program.system) place_program(memory, &used, &of->react, &p->react, lanes);
    p->search = place(memory, &used, pi_product(lanes, sizeof *p->search));
    p->g = place(memory, &used, pi_product(n, row));
    p->found = place(memory, &used, pi_product(2 * n, row));
    p->more = place(memory, &used, pi_product(2 * n, row));
    p->id = place(memory, &used, row);
    p->added = place(memory, &used, pi_product(2 * n, row));
    p->landing = place(memory, &used, pi_product(p->dim, row));
    return used;
}
PiStepObserver *pi_step_observer_new(const PiObservation *of, const PiAdaptiveRun *run) {
    PiStepObserver *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->of = of;
    p->dim = run->solve.system->dim;
    p->real_bytes = p->precision.real_bytes = run->real_bytes;
    p->lanes = run->solve.registers * (run->vector_bytes / run->real_bytes);
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
    const int rows = 2 * p->of->count;
    for (int64_t i = 0; p->locating && i < p->lanes; i++)
        for (int j = 0; j < rows; j++)
            if (p->added[i * rows + j])
                p->of->counts[j * p->of->stride + p->id[i]] -= p->added[i * rows + j];
    pi_free_aligned(p->memory);
    free(p);
}
