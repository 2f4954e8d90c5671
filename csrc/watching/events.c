/* Events: see events.h. Location: R. P. Brent's bracketing in the form of T. R. Chandrupatla (Adv.
 * Eng. Software 28, 145, 1997): inverse quadratic interpolation where it is safe, else halving. */
#include "events.h"
#include <float.h>
#include "../run/families.h"
#include "../run/layout.h"

/* ---- a lane ---------------------------------------------------------------------------------- */
/* A moment within a step: a state, its quantities, and how far the step has come, in time. Past its
 * components the state holds what a compensated run carries: nothing where a lane is taken up, as
 * what is shown are components, and what its steps since then have rounded away. */
typedef struct {
    double *y, *g;
    double passed;
} Moment;
typedef struct {
    PiEvents *e;
    PiRun *run;
    const PiTile *tile;
    const PiSeen *seen;
    int64_t at, lane; /* in the tile, in the batch */
    int64_t n;        /* the step under way goes to step n */
    double h;         /* of the run's precision */
    PiWatchLane look, react;
    Moment before, after, best, trial;
    double *answer;
    PiRow *params;
    char *in, *out; /* rows of one register */
    void *between;  /* scratch */
} Lane;

static double real_at(const PiRun *run, const void *data, int64_t i) {
    return run->real_bytes == 8 ? ((const double *)data)[i] : ((const float *)data)[i];
}
static void set_real(const PiRun *run, void *data, int64_t i, double value) {
    if (run->real_bytes == 8) ((double *)data)[i] = value;
    else ((float *)data)[i] = (float)value;
}
static double rounded(const PiRun *run, double value) {
    return run->real_bytes == 8 ? value : (double)(float)value;
}
static int dim(const Lane *l) { return l->run->system->dim; }
static int rows(const Lane *l) { return l->run->state_rows; }
static int quantities(const Lane *l) { return l->e->count + 1; /* and the flag */ }
static void copy_moment(const Lane *l, const Moment *from, Moment *to) {
    memcpy(to->y, from->y, rows(l) * sizeof *to->y);
    memcpy(to->g, from->g, quantities(l) * sizeof *to->g);
    to->passed = from->passed;
}
/* The time of a moment, as solutions tell times. */
static double time_of(const Lane *l, double passed) {
    const double end = pi_watch_time(&l->e->watch, l->lane, l->n);
    if (passed == l->h) return end;
    return pi_watch_time(&l->e->watch, l->lane, l->n - 1) + passed;
}
static int quantities_at(const Lane *l, Moment *m) {
    return pi_watch_ask(&l->look, l->n, time_of(l, m->passed), m->y, m->g);
}

/* A step of length h from a moment, or the whole step from its beginning. */
static int make_step(Lane *l, const Moment *from, double h, Moment *to) {
    const PiRun *run = l->run;
    const int64_t width = run->vector_bytes / run->real_bytes;
    /* A part of a step begins without what is carried: who takes a lane up does not know it. */
    const int known = from->passed == 0 && h == l->h ? rows(l) : dim(l);
    for (int d = 0; d < rows(l); d++)
        for (int64_t i = 0; i < width; i++)
            set_real(run, l->in, d * width + i, d < known ? from->y[d] : 0);
    PiTile tile = *l->tile;
    const double t0 = real_at(run, tile.t0.data, tile.t0.stride * l->lane);
    double t_double, h_double = h;
    float t_float, h_float = (float)h;
    const int narrow = run->real_bytes == 4;
    t_float = fmaf((float)(l->n - 1), (float)l->h, (float)t0);
    t_double = fma((double)(l->n - 1), l->h, t0);
    if (from->passed != 0) {
        t_float += (float)from->passed;
        t_double += from->passed;
    }
    tile.registers = 1;
    tile.in = l->in;
    tile.out = l->out;
    tile.in_stride = tile.out_stride = width;
    tile.record = NULL;
    tile.stream = 0;
    tile.lane = 0;
    tile.t0 = (PiRow){narrow ? (void *)&t_float : (void *)&t_double, 0};
    tile.h = (PiRow){narrow ? (void *)&h_float : (void *)&h_double, 0};
    tile.params = l->params;
    tile.first = 0;
    tile.steps = 1;
    tile.frozen = NULL;
    tile.status = NULL;
    if (run->kernel(&tile) < 0) return -1;
    for (int d = 0; d < rows(l); d++) to->y[d] = real_at(run, l->out, d * width);
    to->passed = rounded(run, from->passed + h);
    return 0;
}

/* ---- crossings ------------------------------------------------------------------------------- */
static int crossing(const PiEvent *e, double before, double after) {
    return (e->direction >= 0 && before < 0 && after >= 0) ||
           (e->direction <= 0 && before > 0 && after <= 0);
}
/* The last moment before event j, in l->best; 0, or -1. The crossing lies between l->before and
 * l->after. */
static int locate(Lane *l, int j) {
    const double whole = rounded(l->run, l->h - l->before.passed);
    const double tiny = (l->run->real_bytes == 8 ? DBL_EPSILON : FLT_EPSILON) * fabs(l->h);
    double a = whole, b = 0, c = 0, fa = l->after.g[j], fb = l->before.g[j], fc = fb;
    double least = 0.5 * tiny / fabs(whole), back = 1;
    double part = fmin(fmax(fa / (fa - fb), least), 0.5 + 0.5 * (1 - least)); /* the chord's root */
    const int rising = fb < 0;
    if (!l->e->event[j].located) {
        copy_moment(l, &l->after, &l->best);
        return 0;
    }
    copy_moment(l, &l->before, &l->best);
    for (int i = 0; i < 100; i++) {
        const double x = rounded(l->run, a + part * (b - a));
        if (x == a || x == b) break;
        if (make_step(l, &l->before, x, &l->trial) || quantities_at(l, &l->trial)) return -1;
        const double fx = l->trial.g[j];
        if (!(fabs(fx) <= DBL_MAX)) break;
        const int crossed = rising ? fx >= 0 : fx <= 0, end = rising ? fa >= 0 : fa <= 0;
        if (!crossed && fabs(l->trial.passed) >= fabs(l->best.passed))
            copy_moment(l, &l->trial, &l->best);
        if (crossed == end) c = a, fc = fa;
        else c = b, fc = fb, b = a, fb = fa;
        a = x, fa = fx;
        if (fabs(b - a) <= tiny) break;
        least = fmin(0.5, 0.5 * tiny / fabs(b - a));
        const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
        part = 0.5;
        if (fa == 0) part = fmin(0.5, least * (back *= 2)); /* the side before is close */
        else if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
            part = fa / (fb - fa) * fc / (fb - fc) +
                   (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
        part = fmin(fmax(part, least), fmax(0.5, 1 - least));
    }
    return 0;
}

/* ---- what happens at an event ---------------------------------------------------------------- */
static double *count_of(const Lane *l, int j) {
    return l->e->counts[l->seen->block & 1] + j * l->run->stride + l->lane;
}
static void keep(const Lane *l, int j, const Moment *m) {
    const PiEvent *event = &l->e->event[j];
    const int64_t stride = l->run->stride, k = (int64_t)*count_of(l, j);
    *count_of(l, j) += 1;
    if (k >= event->keep) return;
    event->t[k * stride + l->lane] = time_of(l, m->passed);
    for (int d = 0; event->y && d < dim(l); d++)
        event->y[(k * dim(l) + d) * stride + l->lane] = m->y[d];
    for (int i = 0; i < event->n_values; i++)
        event->values[(k * event->n_values + i) * stride + l->lane] = l->answer[event->value + i];
}
enum { GOES_ON, JUMPS, STOPS, BREAKS = -1 };
/* The lane is frozen from this step on; 0, or -1 without memory for its failure. */
static int freeze(const Lane *l, PiStatus status) {
    if (!fail(l->run, l->seen->tile, l->at, status, l->n)) return 0;
    l->run->out_of_memory = 1;
    return -1;
}
/* Ends a lane at a moment. */
static int stop_at(const Lane *l, const Moment *m, PiStatus status, int j) {
    if (status == PI_STOPPED) {
        l->e->stopped_at[l->lane] = time_of(l, m->passed);
        l->e->stopped_by[l->lane] = (int8_t)j;
    }
    return freeze(l, status) ? BREAKS : STOPS;
}
/* Times that were asked for in a piece of the step. 0, or -1. */
static int show_piece(const Lane *l, const Moment *from, const Moment *to) {
    const double a = from->passed / l->h, b = to->passed == l->h ? 1 : to->passed / l->h;
    if (!l->e->between) return 0;
    return pi_between_piece(l->e->between, l->run, l->lane, l->n, a, b, from->y, to->y, l->between);
}
/* Event j, at l->best. */
static int happens(Lane *l, int j) {
    const PiEvent *event = &l->e->event[j];
    Moment *m = &l->best;
    if ((event->then >= 0 || event->n_values) &&
        pi_watch_ask(&l->react, l->n, time_of(l, m->passed), m->y, l->answer))
        return BREAKS;
    keep(l, j, m);
    const int stops = event->stop && *count_of(l, j) >= (double)event->stop;
    if ((stops || event->then >= 0) && show_piece(l, &l->before, m)) return BREAKS;
    if (stops) return stop_at(l, m, PI_STOPPED, j);
    if (event->then < 0) return GOES_ON;
    for (int d = 0; d < dim(l); d++) m->y[d] = rounded(l->run, l->answer[event->then + d]);
    for (int d = dim(l); d < rows(l); d++) m->y[d] = 0;
    return JUMPS;
}

/* The step from l->before to l->after with all its events, one after the other in time. The state
 * where it ends is in l->after; STOPS: where it stopped. */
static int go_through(Lane *l, char *done) {
    const int count = l->e->count;
    int jumped = 0;
    memset(done, 0, count);
    for (int64_t events = 0;; events++) {
        int next = -1, last = -1;
        double when = 0;
        for (int j = 0; j < count; j++) {
            if (done[j] || !crossing(&l->e->event[j], l->before.g[j], l->after.g[j])) continue;
            if (locate(l, last = j)) return BREAKS;
            if (next < 0 || fabs(l->best.passed) < fabs(when)) next = j, when = l->best.passed;
        }
        if (next < 0) return jumped ? JUMPS : GOES_ON;
        if (events == l->e->most) {
            const int ends = stop_at(l, &l->before, PI_ZENO, next);
            copy_moment(l, &l->before, &l->after);
            return ends;
        }
        if (last != next && locate(l, next)) return BREAKS;
        const int what = happens(l, next);
        if (what == BREAKS) return BREAKS;
        if (what == STOPS) {
            copy_moment(l, &l->best, &l->after);
            return STOPS;
        }
        done[next] = 1;
        if (what == GOES_ON) continue;
        jumped = 1;
        memset(done, 0, count);
        if (quantities_at(l, &l->best)) return BREAKS;
        copy_moment(l, &l->best, &l->before);
        const double rest = rounded(l->run, l->h - l->before.passed);
        if (rest == 0) {
            copy_moment(l, &l->before, &l->after);
            l->after.passed = l->h;
            return JUMPS;
        }
        if (make_step(l, &l->before, rest, &l->after)) return BREAKS;
        l->after.passed = l->h;
        if (quantities_at(l, &l->after)) return BREAKS;
    }
}

/* ---- the lanes with a flag ------------------------------------------------------------------- */
static int64_t moment_bytes(const PiEvents *e, const PiRun *run) {
    return pi_product(run->state_rows + e->count + 1, sizeof(double));
}
static int64_t answers(const PiEvents *e) {
    const int a = e->react.system ? e->react.system->n_invariants : 0, b = e->count + 1;
    return a > b ? a : b;
}
static int64_t one_register(const PiRun *run) {
    return pi_product(run->state_rows, run->vector_bytes);
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    const PiEvents *e = self;
    const int64_t look = pi_watch_lane_bytes(&e->watch, &e->watch.program);
    const int64_t react = e->react.system ? pi_watch_lane_bytes(&e->watch, &e->react) : 0;
    int64_t bytes = pi_sum(pi_rounded_up(look, 64), pi_rounded_up(react, 64));
    bytes = pi_sum(bytes, pi_product(2, pi_rounded_up(one_register(run), 64)));
    bytes = pi_sum(bytes, pi_product(4, pi_rounded_up(moment_bytes(e, run), 64)));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(answers(e), sizeof(double)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(pi_product(run->system->n_params + 1, sizeof(PiRow)), 64));
    bytes = pi_sum(bytes, pi_rounded_up(e->count, 64));
    if (e->between) bytes = pi_sum(bytes, pi_between_scratch_bytes(e->between));
    return pi_sum(bytes, pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64));
}
static __attribute__((noinline)) void *take(char **free, int64_t bytes) {
    void *here = *free;
    *free += pi_rounded_up(bytes, 64);
    return here;
}
static Moment take_moment(const PiEvents *e, const PiRun *run, char **free) {
    double *memory = take(free, moment_bytes(e, run));
    return (Moment){memory, memory + run->state_rows, 0};
}

static void read_state(const Lane *l, const void *from, int64_t stride, double *y) {
    for (int d = 0; d < dim(l); d++) y[d] = real_at(l->run, from, d * stride + l->at);
    for (int d = dim(l); d < rows(l); d++) y[d] = 0;
}
static void write_state(const Lane *l, void *to, int64_t stride, const double *y, int count) {
    for (int d = 0; d < count; d++) set_real(l->run, to, d * stride + l->at, y[d]);
}
static void *seen_rows(const Lane *l, int64_t i) {
    return row_at(l->run, l->seen->rows, l->seen->next, i, 0);
}

/* All steps of one lane that were shown. */
static int lane_steps(Lane *l, char *done) {
    const PiSeen *seen = l->seen;
    double *sums = l->e->watch.sums[seen->block & 1] + l->lane;
    int changed = 0;
    l->n = l->tile->first;
    read_state(l, l->tile->in, l->tile->in_stride, l->before.y);
    l->before.passed = l->h;
    if (quantities_at(l, &l->before)) return -1;
    for (int64_t i = 0; i < seen->count; i++) {
        l->n = l->tile->first + i + 1;
        l->before.passed = 0;
        if (changed) {
            if (make_step(l, &l->before, l->h, &l->after)) return -1;
        } else read_state(l, seen_rows(l, i), seen->stride, l->after.y);
        l->after.passed = l->h;
        if (quantities_at(l, &l->after)) return -1;
        int what = go_through(l, done);
        if (what == BREAKS) return -1;
        if (what == JUMPS || changed) {
            int finite = 1;
            for (int d = 0; d < dim(l); d++) finite &= fabs(l->after.y[d]) <= DBL_MAX;
            if (!finite) {
                if (freeze(l, PI_NOT_FINITE)) return -1;
                copy_moment(l, &l->before, &l->after);
                what = STOPS;
            }
            changed = 1;
        }
        if (what == STOPS) {
            for (; i < seen->count; i++)
                write_state(l, seen_rows(l, i), seen->stride, l->after.y, dim(l));
            write_state(l, l->tile->out, l->tile->out_stride, l->after.y, rows(l));
            return 0;
        }
        if (changed) write_state(l, seen_rows(l, i), seen->stride, l->after.y, dim(l));
        if (show_piece(l, &l->before, &l->after)) return -1;
        copy_moment(l, &l->after, &l->before);
    }
    if (!changed) return 0;
    write_state(l, l->tile->out, l->tile->out_stride, l->after.y, rows(l));
    for (int j = 0; j < l->e->count; j++) sums[j * l->run->stride] = l->after.g[j];
    return 0;
}

static int go_through_lane(PiEvents *e, PiRun *run, const PiSeen *seen, const PiTile *tile,
                           int64_t at) {
    char *free = (char *)seen->scratch + pi_rounded_up(pi_watch_scratch_bytes(&e->watch, run), 64);
    Lane l = {.e = e, .run = run, .tile = tile, .seen = seen, .at = at, .lane = seen->lane + at};
    l.h = real_at(run, tile->h.data, tile->h.stride * l.lane);
    l.look = (PiWatchLane){&e->watch, &e->watch.program, l.lane,
                           take(&free, pi_watch_lane_bytes(&e->watch, &e->watch.program))};
    if (pi_watch_lane(&l.look)) return -1;
    if (e->react.system) {
        l.react = (PiWatchLane){&e->watch, &e->react, l.lane,
                                take(&free, pi_watch_lane_bytes(&e->watch, &e->react))};
        if (pi_watch_lane(&l.react)) return -1;
    }
    l.in = take(&free, one_register(run));
    l.out = take(&free, one_register(run));
    l.before = take_moment(e, run, &free);
    l.after = take_moment(e, run, &free);
    l.best = take_moment(e, run, &free);
    l.trial = take_moment(e, run, &free);
    l.answer = take(&free, pi_product(answers(e), sizeof(double)));
    l.params = take(&free, pi_product(run->system->n_params + 1, sizeof(PiRow)));
    for (int i = 0; i < run->system->n_params; i++) {
        const PiRow row = tile->params[i];
        l.params[i].data = (const char *)row.data + row.stride * l.lane * run->real_bytes;
        l.params[i].stride = 0;
    }
    char *done = take(&free, e->count);
    l.between = free;
    return lane_steps(&l, done);
}

static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    PiEvents *e = self;
    if (pi_watch_see(&e->watch, run, seen)) return -1;
    double *flag = e->watch.sums[seen->block & 1] + e->count * run->stride + seen->lane;
    const PiFailures *failures = &run->failures[seen->tile];
    for (int64_t at = 0; at < seen->lanes; at++) {
        if (flag[at] == 0) continue;
        flag[at] = 0;
        if (failures->count && failures->step[at] >= 0) continue;
        if (go_through_lane(e, run, seen, tile, at)) return -1;
    }
    return 0;
}
/* The initial state: no events, but from here on a quantity may change its sign. */
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    return seen->block == 0 ? pi_watch_see(&((PiEvents *)self)->watch, run, seen) : 0;
}
static void open(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch) {
    const PiEvents *e = self;
    const int64_t lane = tile * run->tile_lanes, bytes = lanes_in(run, tile) * sizeof(double);
    pi_watch_open(&e->watch, run, tile, block, scratch);
    for (int j = 0; j < e->count && e->counts[0] != e->counts[1]; j++)
        memcpy(e->counts[block & 1] + j * run->stride + lane,
               e->counts[1 - (block & 1)] + j * run->stride + lane, bytes);
}
PiObserver pi_events_observer(PiEvents *e) {
    return (PiObserver){.self = e,
                        .every = 1,
                        .observe = observe,
                        .intervene = intervene,
                        .open = open,
                        .scratch_bytes = scratch_bytes};
}
