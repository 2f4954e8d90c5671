/* Events of fixed steps: see fixed_steps.h. */
#include "fixed_steps.h"
#include "../run/layout.h"

enum { MOST_LANES = 64, MOST_BYTES = 1 << 20 };

enum { WAITS_FOR_STEP = 1, WAITS_FOR_REST };
/* A lane on its way through the shown steps. */
typedef struct {
    int64_t at, lane;     /* its index in the shown rows; in the batch, or -1: no lane */
    int64_t i, bits;      /* the current step goes to the i-th shown state; the marked steps */
    int64_t end, leaving; /* the step from which it is frozen; the index of that in which it leaves
                             its bound, unless an event ends that; or of none */
    int changed, jumped;  /* has it jumped at all, and how often in the current step? */
    double h, passed;     /* how much of the step lies before the segment */
    double begun;         /* when the step did, in the run's precision */
    double length;        /* of the part of a step that is made */
    int asks, waits;      /* is it made now? WAITS_..., or 0 */
    PiStatus why;         /* its solve failed, or OK */
} Slot;
/* The segments of some lanes, in rows of lanes.lanes numbers. */
typedef struct {
    PiFixedEvents *e;
    PiRun *run;
    const PiTile *tile;
    const PiSeen *seen;
    int64_t *due, n_due, next; /* the lanes in which an event may occur; the next to be taken */
    EventLanes lanes;
    PiSteps steps;
    PiPacked packed; /* those whose steps are made, each from its column */
    Slot *slot;
    int64_t count, *id;
    /* How its segment ends (PiStepEnd); is it searched? are its quantities wanted? */
    int8_t *end, *looked, *wanted;
    double *before, *after, *t0, *passed, *t, *t_low, *part;
    double *sums;      /* each PiCrossingRow of each reduction, for lanes that have jumped */
    void *between;     /* scratch */
    int failed, jumps; /* has the kernel failed? does any event make a lane jump? */
} Segments;

/* Each place that a lane may have; each reduction, of the events and then of the branch. */
#define EACH_PLACE(k, p)   EACH_BELOW(k, (p)->count)
#define EACH_REDUCED(j, p) EACH_BELOW(j, (p)->e->watch.n_reduced)
static double rounded(const PiRun *run, double value) {
    return run->real_bytes == 8 ? value : (float)value;
}
static int dim(const Segments *p) { return p->run->system->dim; }
/* Lanes in a register of the narrowest numbers. */
static int64_t unit(const PiRun *run) { return run->vector_bytes / sizeof(float); }

/* ---- parts of steps -------------------------------------------------------------------------- */
/* Makes parts of the segments that ask, from their beginnings by their lengths; whole: steps, to
 * step n, with the rounding errors that a compensated run carries, which are unknown within one.
 * n: 0 if the number of the step does not matter. `to` gets the first `rows` rows of the states. 0,
 * or -1 if the kernel fails. */
static int advance(Segments *p, int64_t n, int whole, double *to, int rows) {
    const PiRun *run = p->run;
    const int64_t first = n ? n - 1 : 0;
    const int part = !whole && p->lanes.chords, of_run = run->system->n_params - PI_OF_RUN;
    PiPacked *a = &p->packed;
    const int64_t lanes = p->lanes.lanes;
    int64_t count = 0;
    EACH_PLACE(k, p) {
        if (!p->slot[k].asks) continue;
        a->at[count] = p->slot[k].lane - p->tile->lane;
        a->list[count++] = k;
    }
    if ((a->count = count) == 0) return 0;
    pi_packed_own(a);
    const PiRow t0 = p->tile->t0;
    EACH_BELOW(k, (ceil_div(count, unit(run)) * unit(run))) {
        const Slot *s = &p->slot[a->list[smaller(k, count - 1)]];
        const double later = s->passed != 0 ? rounded(run, s->passed) : 0;
        const double start = s->begun + later - first * s->length;
        set_number(run, a->own, k, whole ? number_at(run, t0.data, t0.stride * s->lane) : start);
        set_number(run, a->own, a->stride + k, s->length);
        for (int r = PI_OF_STEP; part && r < PI_OF_RUN; r += PI_OF_JUMPS - PI_OF_STEP)
            set_number(run, a->own, (of_run + r + 2) * a->stride + k,
                       r == PI_OF_STEP ? s->length : s->jumped);
    }
    EACH_ROW(d, run) {
        const double *from = p->before + d * lanes;
        if (!whole && d >= dim(p))
            memset(row_at(run, a->in, a->stride, d, 0), 0, count * run->real_bytes);
        else
            EACH_BELOW(k, count) set_number(run, a->in, d * a->stride + k, from[a->list[k]]);
    }
    PiTile tile = pi_packed_tile(a, first, 1);
    tile.t0 = (PiRow){a->own, 1};
    tile.h = (PiRow){row_at(run, a->own, a->stride, 1, 0), 1};
    for (int r = PI_OF_STEP; part && r < PI_OF_RUN; r += PI_OF_JUMPS - PI_OF_STEP)
        a->params[of_run + r] = (PiRow){row_at(run, a->own, a->stride, of_run + r + 2, 0), 1};
    int8_t why[MOST_LANES] = {0};
    tile.status = why;
    if (run->kernel(&tile) < 0) return -1;
    for (int64_t k = 0; to == p->after && k < count; k++) p->slot[a->list[k]].why = why[k];
    EACH_BELOW(d, rows)
        EACH_BELOW(k, count) to[d * lanes + a->list[k]] = number_at(run, a->out, d * a->stride + k);
    return 0;
}
/* For PiSteps: states within the segments, as the method makes them; with noise on the chords. */
static void states_at(const PiSteps *steps, const double *part, uint64_t of, double *y) {
    Segments *p = (Segments *)steps->of;
    const int64_t lanes = p->lanes.lanes;
    if (!of) return; /* clocks read none */
    if (p->lanes.chords)
        EACH_BELOW(i, dim(p) * lanes)
            y[i] = rounded(p->run, p->before[i] + part[i % lanes] * (p->after[i] - p->before[i]));
    if (p->lanes.chords) return;
    EACH_PLACE(k, p) {
        p->slot[k].asks = part[k] > 0 && part[k] < 1;
        p->slot[k].length = rounded(p->run, part[k] * p->lanes.occurring[k].h);
    }
    if (p->failed || advance(p, 0, 0, y, dim(p))) p->failed = 1;
}

/* ---- memory ---------------------------------------------------------------------------------- */
/* The scratch of the watch comes first, then the list of due lanes, and the scratch for states
 * between the steps. */
static PiMemory begin_memory(Segments *p, void *scratch) {
    PiMemory m = {scratch, 0};
    pi_part_of(&m, p->e->watch_bytes);
    PLACE(&m, p->due, p->run->tile_lanes);
    if (p->e->between) p->between = pi_part_of(&m, pi_between_scratch_bytes(NULL, p->run));
    return m;
}
/* The rest, for so many lanes; returns the bytes of all. */
static int64_t lay_out(Segments *p, PiMemory m) {
    const PiRun *run = p->run;
    const int64_t lanes = p->lanes.lanes, state = pi_product(run->state_rows, lanes);
    double **const rows[] = {&p->t0, &p->passed, &p->t, &p->t_low, &p->part};
    int8_t **const marks[] = {&p->end, &p->looked, &p->wanted};
    EACH_BELOW(i, 5) PLACE(&m, *rows[i], lanes);
    EACH_BELOW(i, 3) PLACE(&m, *marks[i], lanes);
    PLACE(&m, p->id, lanes);
    PLACE(&m, p->slot, lanes);
    PLACE(&m, p->before, state);
    PLACE(&m, p->after, state);
    PLACE(&m, p->sums, pi_product(PI_CROSSING_ROWS * p->e->watch.n_reduced, lanes));
    p->packed = pi_place_packed(&m, run, p->tile, lanes);
    pi_place_events(&m, &p->lanes);
    p->steps = (PiSteps){.lanes = lanes,
                         .id = p->id,
                         .end = p->end,
                         .t0 = p->t0,
                         .t0_low = p->passed,
                         .before = p->before,
                         .t = p->t,
                         .t_low = p->t_low,
                         .after = p->after,
                         .part = p->part,
                         .at = states_at,
                         .of = p};
    return m.used;
}
static Segments segments_of(PiFixedEvents *e, const PiRun *run) {
    return (Segments){.e = e,
                      .run = (PiRun *)run,
                      .lanes = {.of = &e->events,
                                .dim = run->system->dim,
                                .real_bytes = sizeof(double),
                                .single = run->real_bytes == 4,
                                .chords = run->system->noisy}};
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    PiFixedEvents *e = (PiFixedEvents *)self;
    Segments p = segments_of(e, run);
    e->watch_bytes = pi_watch_scratch_bytes(&e->watch, run);
    const PiMemory m = begin_memory(&p, NULL);
    const int64_t u = unit(run);
    p.lanes.lanes = ceil_div(MOST_LANES, u) * u;
    while (p.lanes.lanes > u && lay_out(&p, m) - m.used > MOST_BYTES) p.lanes.lanes -= u;
    e->lanes = p.lanes.lanes;
    return lay_out(&p, m);
}

/* ---- the shown steps ------------------------------------------------------------------------- */
/* The sums of reduction j of a shown lane, rows of p->run->stride (PiCrossingRow); one of the lane
 * in place k. */
static inline double *sums_of(const Segments *p, int64_t at, int j) {
    const PiWatch *w = &p->e->watch;
    return w->sums[p->seen->block & 1] + w->reduced[j].first * p->run->stride + p->seen->lane +
           pi_place(p->seen, at);
}
static inline double *own_sum(const Segments *p, int64_t k, int j, PiCrossingRow row) {
    return p->sums + (j * PI_CROSSING_ROWS + row) * p->lanes.lanes + k;
}
/* May the quantity of an event come to zero and return within a step, or the branch change? A
 * condition does not, and of a path with noise only the ends of steps are known. */
static int may_dip(const Segments *p, int j) {
    const PiEvents *e = &p->e->events;
    return !p->lanes.chords && (j == e->count || e->event[j].located);
}
static void *seen_rows(const Segments *p, int64_t i) {
    return row_at(p->run, p->seen->rows, p->seen->next, i, 0);
}
/* The state after i of the shown steps. */
static void read_state(const Segments *p, int64_t at, int64_t i, double *y, int64_t apart) {
    const void *from = i ? seen_rows(p, i - 1) : p->tile->in;
    const int64_t stride = i ? p->seen->stride : p->tile->in_stride;
    EACH_BELOW(d, dim(p)) y[d * apart] = number_at(p->run, from, d * stride + at);
    EACH_FROM(d, dim(p), p->run->state_rows) y[d * apart] = 0;
}
/* The states before and after the current step of a lane. */
static void read_step(const Segments *p, int64_t k) {
    const Slot *s = &p->slot[k];
    read_state(p, s->at, s->i, p->before + k, p->lanes.lanes);
    read_state(p, s->at, s->i + 1, p->after + k, p->lanes.lanes);
}
static void write_state(const Segments *p, int64_t k, void *to, int64_t stride, int rows) {
    EACH_BELOW(d, rows)
        set_number(p->run, to, d * stride + p->slot[k].at, p->after[d * p->lanes.lanes + k]);
}
static void copy_state(const Segments *p, int64_t k, const double *from, double *to) {
    EACH_ROW(d, p->run) to[d * p->lanes.lanes + k] = from[d * p->lanes.lanes + k];
}
/* Does a quantity begin the lane's next step in its own way, after a jump at the end of the last?
 */
static int begins_anew(const Segments *p, int64_t lane) {
    int anew = 0;
    EACH_EVENT(j, &p->e->events) anew |= *event_row(&p->lanes, PI_BEGINS, lane, j) != BEGINS_ANYHOW;
    return anew;
}
/* The first step from the i-th on that is marked, as a bit: that of the last step is the lowest. */
static int64_t marked(const Segments *p, const Slot *s, int64_t i) {
    const int64_t count = p->seen->count;
    const int64_t rest = i < count ? s->bits & pi_lowest_bits(count - i) : 0;
    return smaller(rest ? count - (64 - __builtin_clzll(rest)) : count, s->leaving);
}
/* Lists in p->due the lanes in whose shown steps an event may occur. */
static void list_due(Segments *p) {
    const PiFailures *f = &p->run->failures[p->seen->tile];
    const int64_t stride = p->run->stride;
    EACH_BELOW(at, p->seen->lanes) {
        const int64_t place = pi_place(p->seen, at);
        int due = f->count && f->status[place] == PI_OUT_OF_BOUNDS;
        EACH_REDUCED(j, p) {
            const double *sums = sums_of(p, at, j);
            due |= sums[PI_CROSSED * stride] != 0;
            due |= !p->lanes.chords && sums[PI_DIPPED * stride] != 0;
        }
        due |= p->jumps && begins_anew(p, p->seen->lane + place);
        p->due[p->n_due] = at;
        p->n_due += due;
    }
}
/* Takes a lane in which an event may occur. */
static void take(Segments *p, Slot *s, int64_t at) {
    PiRun *run = p->run;
    const PiFailures *f = &run->failures[p->seen->tile];
    const int64_t place = pi_place(p->seen, at), step = is_frozen(f, place) ? f->step[place] : -1;
    int begins = 0;
    *s = (Slot){.at = at, .lane = p->seen->lane + place, .leaving = p->seen->count};
    EACH_REDUCED(j, p) {
        double *sums = sums_of(p, at, j);
        double *crossed = sums + PI_CROSSED * run->stride, *dipped = sums + PI_DIPPED * run->stride;
        const int64_t passes = *crossed, count = p->seen->count;
        s->bits |= passes & pi_lowest_bits(count);
        if (passes >> count && !p->e->events.event[j].located) { /* it holds as the run begins */
            *event_row(&p->lanes, PI_BEGINS, s->lane, j) = BEGINS_WITH_EVENT;
            begins = 1;
        }
        if (may_dip(p, j)) s->bits |= (int64_t)*dipped;
        *crossed = *dipped = 0;
    }
    s->end = step < 0 ? INT64_MAX : step;
    const int64_t i = step < 0 ? -1 : step - p->tile->first - 1;
    if (begins && i == 0) s->leaving = 0; /* it occurs before the lane fails */
    if (step >= 0 && f->status[place] == PI_OUT_OF_BOUNDS && i >= 0 && i < p->seen->count)
        s->leaving = i;
    s->h = number_at(run, p->tile->h.data, p->tile->h.stride * s->lane);
}
/* ---- a step ---------------------------------------------------------------------------------- */
static int show_piece(const Segments *p, int64_t k, double to, const double *y) {
    const Slot *s = &p->slot[k];
    const int64_t lanes = p->lanes.lanes;
    const double from = s->passed / s->h, until = to == s->h ? 1 : to / s->h;
    if (!p->e->between) return 0;
    const int64_t n = p->tile->first + s->i + 1;
    return pi_between_piece(p->e->between, p->run, p->tile, s->lane, n, from, until, p->before + k,
                            y + k, lanes, p->between);
}
/* Begins the current step of a lane, from p->before; its end is known unless it has jumped. */
static void begin_step(Segments *p, int64_t k) {
    Slot *s = &p->slot[k];
    const int64_t n = p->tile->first + s->i + 1;
    const PiRun *run = p->run;
    const double t0 = number_at(run, p->tile->t0.data, p->tile->t0.stride * s->lane);
    s->passed = 0;
    s->jumped = 0;
    s->begun = run->real_bytes == 8 ? fma(n - 1, s->h, t0) : fmaf(n - 1, s->h, t0);
    p->t0[k] = pi_watch_time(&p->e->watch, s->lane, n - 1);
    p->t[k] = pi_watch_time(&p->e->watch, s->lane, n);
    p->passed[k] = p->t_low[k] = 0;
    p->part[k] = p->lanes.occurring[k].whole = s->h;
    p->lanes.occurring[k].events = 0;
    p->end[k] = PI_STEP_MADE;
}
/* Takes the lane in place k to its next step in which an event may occur, or to the end of the
 * shown steps, which frees the place. 0, or -1. */
static int go_on(Segments *p, int64_t k) {
    Slot *s = &p->slot[k];
    if (!s->changed) {
        const int64_t next = begins_anew(p, s->lane) ? s->i : marked(p, s, s->i);
        for (; p->e->between && s->i < next && p->tile->first + s->i + 1 < s->end; s->i++) {
            read_step(p, k);
            s->passed = 0;
            if (show_piece(p, k, s->h, p->after)) return -1;
        }
        s->i = next;
        if (s->i < p->seen->count && (s->i == s->leaving || p->tile->first + s->i + 1 < s->end)) {
            read_step(p, k);
            begin_step(p, k);
            s->waits = s->i == s->leaving ? WAITS_FOR_STEP : 0;
            p->looked[k] = 1;
            return 0;
        }
    } else if (s->i < p->seen->count) {
        copy_state(p, k, p->after, p->before);
        begin_step(p, k);
        s->waits = WAITS_FOR_STEP;
        p->looked[k] = 0;
        return 0;
    }
    if (s->changed) {
        write_state(p, k, p->tile->out, p->tile->out_stride, p->run->state_rows);
        EACH_REDUCED(j, p) {
            double *sums = sums_of(p, s->at, j);
            const int branch = j == p->e->events.count;
            sums[PI_NOW] =
                branch ? *own_sum(p, k, j, PI_NOW) : *event_row(&p->lanes, PI_QUANTITY, s->lane, j);
            if (!may_dip(p, j)) continue;
            sums[PI_BEFORE * p->run->stride] = *own_sum(p, k, j, PI_BEFORE);
            sums[PI_BEND * p->run->stride] = *own_sum(p, k, j, PI_BEND);
        }
    }
    s->lane = -1;
    return 0;
}

/* ---- all lanes that are under way ------------------------------------------------------------ */
static PiStatus status_of(const Segments *p, int64_t k) {
    PiStatus status = PI_OK;
    EACH_BELOW(d, dim(p)) {
        const double y = fabs(p->after[d * p->lanes.lanes + k]);
        if (!(y <= DBL_MAX)) return p->slot[k].why ? p->slot[k].why : PI_NOT_FINITE;
        if (y > p->run->bound) status = PI_OUT_OF_BOUNDS;
    }
    return status;
}
/* Makes what the lanes wait for: the rests of steps after jumps; whole steps. The latter, and rests
 * with noise, to one step of the run at a time: the other lanes go on waiting. 0, or -1. */
static int make(Segments *p) {
    int64_t n = INT64_MAX;
    int rests = 0;
    EACH_PLACE(k, p) {
        const Slot *s = &p->slot[k];
        rests |= s->waits == WAITS_FOR_REST;
        if (s->waits == WAITS_FOR_STEP || (s->waits && p->lanes.chords))
            n = smaller(n, p->tile->first + s->i + 1);
    }
    EACH_FROM(what, WAITS_FOR_STEP, WAITS_FOR_REST + 1) {
        const int whole = what == WAITS_FOR_STEP, numbered = whole || p->lanes.chords;
        if (whole ? n == INT64_MAX : !rests) continue;
        EACH_PLACE(k, p) {
            Slot *s = &p->slot[k];
            s->length = whole ? s->h : rounded(p->run, s->h - s->passed);
            s->asks = s->waits == what && (!numbered || p->tile->first + s->i + 1 == n);
            if (s->asks) s->waits = 0;
        }
        if (advance(p, numbered ? n : 0, whole, p->after, p->run->state_rows)) return -1;
    }
    return 0;
}
/* The kernel's reduction j includes its quantity after the steps that are not marked yet, and marks
 * those in which it may occur, as pi_watch_see() does for lanes that have not jumped.
 * Other lanes are shown the value that they have, which changes nothing. */
static void reduce(const Segments *p, int j) {
    const PiWatch *w = &p->e->watch;
    const PiReduced own = {.kind = w->reduced[j].kind};
    const int64_t lanes = p->lanes.lanes;
    double *g = p->lanes.quantities.rows.answer + j * lanes;
    EACH_BELOW(k, lanes) {
        *own_sum(p, k, j, PI_CROSSED) = *own_sum(p, k, j, PI_DIPPED) = 0;
        if (!p->end[k] || p->looked[k]) g[k] = *own_sum(p, k, j, PI_NOW);
    }
    w->program.set->reduce(&(PiReduceRows){.registers = pi_in_registers(&w->program, lanes),
                                           .count = 1,
                                           .every = 1,
                                           .quantity = g,
                                           .of = &own,
                                           .n = 1,
                                           .sums = own_sum(p, 0, j, PI_NOW),
                                           .stride = lanes});
}
/* Marks in p->looked the lanes that do not wait and in whose steps an event may occur. 0, or -1. */
static int look(Segments *p) {
    const PiEvents *e = &p->e->events;
    int again = 0;
    EACH_BELOW(k, p->lanes.lanes) {
        const Slot *s = &p->slot[k];
        const int goes = k < p->count && s->lane >= 0 && !s->waits;
        p->id[k] = goes ? s->lane : -1;
        p->end[k] = goes ? PI_STEP_MADE : PI_STEP_NONE;
        again |= goes && !p->looked[k];
    }
    if (!again) return 0;
    if (pi_ask_ends(&p->lanes, &p->steps)) return -1;
    EACH_REDUCED(j, p)
        if (j == e->count || e->event[j].onto < 0) reduce(p, j);
    EACH_PLACE(k, p) {
        const PiStatus status = status_of(p, k);
        if (!p->end[k] || p->looked[k] || (status && status != PI_OUT_OF_BOUNDS)) continue;
        p->looked[k] = status || begins_anew(p, p->id[k]);
        EACH_EVENT(j, e) p->looked[k] |= e->event[j].onto >= 0;
        EACH_REDUCED(j, p)
            p->looked[k] |= *own_sum(p, k, j, PI_CROSSED) != 0 ||
                            (may_dip(p, j) && *own_sum(p, k, j, PI_DIPPED) != 0);
    }
    return 0;
}
/* Freezes a lane from the current step on, in spite of any later failure: it keeps the state in
 * p->after. */
static int freeze(Segments *p, int64_t k, PiStatus status) {
    Slot *s = &p->slot[k];
    PiRun *run = p->run;
    pi_run_clear_failure(run, s->lane);
    if (pi_fail(run, p->seen->tile, pi_place(p->seen, s->at), status, p->tile->first + s->i + 1))
        return -1;
    for (; s->i < p->seen->count && !p->seen->at; s->i++) /* packed, nobody sees it any more */
        write_state(p, k, seen_rows(p, s->i), p->seen->stride, dim(p));
    write_state(p, k, p->tile->out, p->tile->out_stride, run->state_rows);
    s->lane = -1;
    return 0;
}
/* The current step of a lane is complete. */
static int complete(Segments *p, int64_t k) {
    Slot *s = &p->slot[k];
    if (s->jumped) {
        EACH_EVENT(j, &p->e->events) {
            double *begins = event_row(&p->lanes, PI_BEGINS, s->lane, j);
            if (*begins == BEGINS_ANYHOW) *begins = BEGINS_UNSEEN;
            *own_sum(p, k, j, PI_NOW) = *event_row(&p->lanes, PI_QUANTITY, s->lane, j);
            *own_sum(p, k, j, PI_BEFORE) = *own_sum(p, k, j, PI_BEND) = NAN;
        }
        if (p->e->watch.n_reduced > p->e->events.count) /* the next step is searched anyway */
            *own_sum(p, k, p->e->events.count, PI_NOW) = NAN;
    }
    if (s->changed) {
        pi_run_clear_failure(p->run, s->lane); /* a failure without the jump */
        write_state(p, k, seen_rows(p, s->i), p->seen->stride, dim(p));
    }
    s->i++;
    return go_on(p, k);
}
/* How much of the step lies before the end of the segment, as it was made. */
static double passed_by(const Segments *p, int64_t k) {
    const Occurring *o = &p->lanes.occurring[k];
    const Slot *s = &p->slot[k];
    return o->part == 1 ? s->h : s->passed + rounded(p->run, o->part * o->h);
}
/* The status of the state after the segment; one that is not valid is replaced by that before. */
static PiStatus checked(const Segments *p, int64_t k) {
    const PiStatus status = status_of(p, k);
    if (status) copy_state(p, k, p->before, p->after);
    return status;
}
/* Follows up the end of a segment: a complete step, a jump, or the end of the lane. 0, or -1. */
static int follow(Segments *p, int64_t k) {
    Slot *s = &p->slot[k];
    const int64_t lanes = p->lanes.lanes;
    const int end = p->end[k], made = end == PI_STEP_MADE, jumped = end == PI_STEP_JUMPED;
    PiStatus status = end == PI_STEP_STOPPED ? PI_STOPPED
                      : end == PI_STEP_ZENO  ? PI_ZENO
                      : end == PI_STEP_LOST  ? PI_NOT_FINITE
                                             : PI_OK;
    const double passed = passed_by(p, k);
    if (made && s->changed) status = checked(p, k);
    for (int d = dim(p); !made && d < p->run->state_rows; d++)
        p->after[d * lanes + k] = 0; /* rounding errors, which are unknown within a step */
    if (end == PI_STEP_LOST)
        EACH_BELOW(d, dim(p)) p->after[d * lanes + k] = p->lanes.landing[d * lanes + k];
    if ((!made || !status) && show_piece(p, k, passed, jumped ? p->lanes.landing : p->after))
        return -1;
    if (status) return freeze(p, k, status);
    if (!jumped) return complete(p, k);
    s->changed = 1;
    s->jumped++;
    status = checked(p, k);
    if (status) return freeze(p, k, status);
    if (rounded(p->run, s->h - passed) == 0) return complete(p, k);
    copy_state(p, k, p->after, p->before);
    s->passed = p->passed[k] = passed;
    p->t[k] = pi_watch_time(&p->e->watch, s->lane, p->tile->first + s->i + 1);
    p->t_low[k] = 0;
    s->waits = WAITS_FOR_REST;
    p->looked[k] = 1;
    return 0;
}
/* Goes through one segment of each lane that does not wait. 0, or -1. */
static int go_through(Segments *p) {
    if (make(p) || look(p)) return -1;
    EACH_PLACE(k, p)
        if (p->end[k]) {
            const Slot *s = &p->slot[k];
            p->part[k] = rounded(p->run, s->h - s->passed);
            p->lanes.occurring[k].step = p->tile->first + s->i;
            p->lanes.occurring[k].jumps = s->jumped;
        }
    if (pi_locate_events(&p->lanes, &p->steps, p->looked) || p->failed) return -1;
    EACH_PLACE(k, p) {
        Slot *s = &p->slot[k];
        const int end = p->end[k],
                  leaves = end == PI_STEP_MADE && !s->changed && s->i == s->leaving;
        if (end == PI_STEP_JUMPED && p->lanes.occurring[k].part != 1)
            p->t[k] = p->t0[k] + passed_by(p, k), p->t_low[k] = 0;
        p->wanted[k] = end && (s->changed || end == PI_STEP_JUMPED || begins_anew(p, s->lane));
        if (leaves || (end == PI_STEP_MADE && s->changed && !s->jumped && status_of(p, k)))
            pi_forget_events(&p->lanes, k, 0);
        if (leaves) { /* nothing keeps it */
            p->end[k] = PI_STEP_NONE;
            s->lane = -1;
        }
    }
    if (pi_settle_events(&p->lanes, &p->steps, p->wanted)) return -1;
    EACH_PLACE(k, p)
        if (p->end[k] && follow(p, k)) return -1;
    return 0;
}
/* Gives place k to the next due lane with something to do. 0, or -1. */
static int fill(Segments *p, int64_t k) {
    Slot *s = &p->slot[k];
    while (s->lane < 0 && p->next < p->n_due) {
        take(p, s, p->due[p->next++]);
        if (go_on(p, k)) return -1;
    }
    return 0;
}
/* Lists in p->due the lanes without a step before the first that could tell whether a quantity may
 * cross zero twice; of one that has jumped that is unknown however its steps are divided. */
static void list_unseen(Segments *p) {
    EACH_BELOW(at, p->seen->lanes) {
        const int64_t lane = p->seen->lane + pi_place(p->seen, at);
        int unseen = 0;
        EACH_EVENT(j, &p->e->events)
            unseen |= p->e->events.event[j].located &&
                      isnan(sums_of(p, at, j)[PI_BEFORE * p->run->stride]);
        p->due[p->n_due] = at;
        p->n_due += unseen && !begins_anew(p, lane) &&
                    isnan(*event_row(&p->lanes, PI_TIMES, lane, PI_LAST_JUMP));
    }
}
/* That step is made, backwards. */
static int look_back(Segments *p) {
    const int n = p->e->events.count;
    while (p->next < p->n_due) {
        for (p->count = 0; p->next < p->n_due && p->count < p->lanes.lanes; p->count++) {
            const int64_t k = p->count, at = p->due[p->next++];
            const int64_t lane = p->seen->lane + pi_place(p->seen, at);
            Slot *s = &p->slot[k];
            *s = (Slot){.at = at, .lane = lane, .asks = 1};
            s->h = number_at(p->run, p->tile->h.data, p->tile->h.stride * lane);
            read_state(p, at, 0, p->before + k, p->lanes.lanes);
            begin_step(p, k);
            p->t[k] = pi_watch_time(&p->e->watch, lane, p->tile->first - 1);
            s->length = -s->h;
            p->id[k] = lane;
        }
        EACH_FROM(k, p->count, p->lanes.lanes) p->id[k] = -1;
        if (advance(p, 0, 0, p->after, dim(p)) || pi_ask_ends(&p->lanes, &p->steps)) return -1;
        EACH_PLACE(k, p)
            EACH_BELOW(j, n) {
                double *last = sums_of(p, p->slot[k].at, j) + PI_BEFORE * p->run->stride;
                if (isnan(*last)) *last = p->lanes.quantities.rows.answer[j * p->lanes.lanes + k];
            }
    }
    p->count = p->next = p->n_due = 0;
    return 0;
}

/* ---- conditions alone ------------------------------------------------------------------------ */
/* Conditions without jumps and values occur at states that are shown: no segments are needed. But
 * one that stops a lane may hold at a state out of bounds, which is not shown. */
static int are_plain(const PiFixedEvents *e, double bound) {
    int plain = !e->between && e->events.count <= e->events.most;
    EACH_EVENT(j, &e->events) {
        const PiEvent *event = &e->events.event[j];
        plain &= !event->located && event->then < 0 && event->n_values == 0;
        plain &= !event->stop || bound == INFINITY;
    }
    return plain;
}
/* Event j of the lane in the first place occurs after n steps, at the state in p->after. */
static int occur_plainly(Segments *p, int j, int64_t n) {
    const PiEvents *of = &p->e->events;
    const PiEvent *event = &of->event[j];
    const int64_t lane = p->slot->lane;
    const double t = pi_watch_time(&p->e->watch, lane, n);
    double *count = event_row(&p->lanes, PI_COUNT, lane, j);
    if (*count >= 0 && *count < event->keep)
        keep_event(&p->lanes, event, *count, lane, t, p->after);
    *count += 1;
    if (!event->stop || *count < event->stop) return 0;
    of->stopped_at[lane] = t;
    of->stopped_by[lane] = j;
    return freeze(p, 0, PI_STOPPED);
}
/* Goes through the due lanes, one after the other. 0, or -1. */
static int go_through_plainly(Segments *p, PiMemory m) {
    const int64_t count = p->seen->count, first = p->tile->first;
    p->lanes.lanes = 1;
    PLACE(&m, p->after, p->run->state_rows);
    PLACE(&m, p->slot, 1);
    Slot *s = p->slot;
    while (p->next < p->n_due) {
        const int64_t at = p->due[p->next++];
        uint64_t passes[PI_MAX_REDUCED], left = 0;
        EACH_EVENT(j, &p->e->events)
            left |= passes[j] = sums_of(p, at, j)[PI_CROSSED * p->run->stride];
        take(p, s, at);
        const int64_t end = smaller(s->leaving, s->end - first - 1);
        while (left && s->lane >= 0) {
            const int bit = 63 - __builtin_clzll(left);
            const int64_t i = larger(count - 1 - bit, -1); /* -1: it holds as the run begins */
            const uint64_t mark = (uint64_t)1 << bit;
            left ^= mark;
            if (i >= 0 && i >= end) break;
            s->i = larger(i, 0);
            read_state(p, at, i + 1, p->after, p->lanes.lanes);
            EACH_WHILE(j, p->e->events.count, s->lane >= 0) {
                if (!(passes[j] & mark)) continue;
                *event_row(&p->lanes, PI_BEGINS, s->lane, j) = BEGINS_ANYHOW;
                if (occur_plainly(p, j, first + i + 1)) return -1;
            }
        }
    }
    return 0;
}

/* ---- the observer ---------------------------------------------------------------------------- */
static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    PiFixedEvents *e = self;
    Segments p = segments_of(e, run);
    p.seen = seen;
    p.tile = tile;
    p.lanes.counts = e->counts[seen->block & 1];
    const PiMemory memory = begin_memory(&p, seen->scratch);
    if (!p.lanes.chords && tile->first == run->first) list_unseen(&p);
    if (p.n_due) {
        p.lanes.lanes = e->lanes;
        lay_out(&p, memory);
        if (look_back(&p)) return -1;
    }
    if (pi_watch_see(&e->watch, run, seen)) return -1;
    EACH_EVENT(j, &e->events) p.jumps |= e->events.event[j].then >= 0;
    list_due(&p);
    if (!p.n_due) return 0;
    if (are_plain(e, run->bound)) return go_through_plainly(&p, memory);
    p.lanes.lanes = ceil_div(smaller(p.n_due, e->lanes), unit(run)) * unit(run);
    lay_out(&p, memory);
    memset(p.sums, 0, PI_CROSSING_ROWS * e->watch.n_reduced * p.lanes.lanes * sizeof *p.sums);
    EACH_BELOW(k, p.lanes.lanes) {
        p.slot[k] = (Slot){.lane = -1};
        p.looked[k] = 0;
        p.lanes.occurring[k].resolution = p.lanes.single ? 1e-4 : 1e-9;
    }
    for (int64_t left = 1; left;) {
        left = 0;
        EACH_BELOW(k, p.lanes.lanes) {
            if (fill(&p, k)) return -1;
            if (p.slot[k].lane < 0) continue;
            left++;
            if (k >= p.count) p.count = k + 1;
        }
        if (left && go_through(&p)) return -1;
    }
    return 0;
}
/* The initial state: no events, but from here on a quantity may change its sign. */
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    return seen->block == 0 ? pi_watch_see(&((PiFixedEvents *)self)->watch, run, seen) : 0;
}
static void open(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    PiFixedEvents *e = self;
    pi_watch_open(&e->watch, run, tile, block, scratch);
    begin_sums(run, pi_event_rows(e->events.count), e->counts, tile, block);
}
PiObserver pi_events_observer(PiFixedEvents *e) {
    int stops = 0;
    EACH_EVENT(j, &e->events) stops |= e->events.event[j].stop > 0;
    return (PiObserver){.self = e,
                        .every = 1,
                        .observe = observe,
                        .intervene = intervene,
                        .packed = stops && !e->between,
                        .open = open,
                        .scratch_bytes = scratch_bytes};
}
