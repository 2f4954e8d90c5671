/* Events of many lanes together: see ahead.h. */
#include "ahead.h"
#include "../run/layout.h"

enum { MOST = 64, BYTES = 64 << 10, MOMENTS = 4 };

static int64_t room(const PiEvents *e, const PiRun *run) {
    const int64_t fit = BYTES / pi_product(MOMENTS, moment_bytes(e, run));
    return fit < 1 ? 1 : smaller(fit, MOST);
}
int64_t aheads_bytes(const PiEvents *e, const PiRun *run) {
    const int64_t n = room(e, run);
    const int64_t each =
        sizeof(Ahead) + sizeof(Ahead *) + sizeof(PiPart) + sizeof(PiWatchMoment) + sizeof(int64_t);
    int64_t bytes = pi_rounded_up(pi_watch_lanes_bytes(&e->watch, &e->watch.program, n), 64);
    bytes = pi_sum(bytes, pi_parts_bytes(run, n));
    bytes = pi_sum(bytes, pi_product(n * MOMENTS, moment_bytes(e, run)));
    return pi_sum(bytes, pi_rounded_up(pi_product(n, each), 64));
}
Aheads make_aheads(PiEvents *e, PiRun *run, const PiTile *tile, const PiSeen *seen, void *memory) {
    char *free = memory;
    Aheads a = {.e = e, .run = run, .tile = tile, .seen = seen, .room = room(e, run)};
    a.look = (PiWatchLanes){&e->watch, &e->watch.program, a.room, 0, (double *)free};
    free += pi_rounded_up(pi_watch_lanes_bytes(&e->watch, &e->watch.program, a.room), 64);
    a.parts = pi_parts_make(run, tile, a.room, free);
    free += pi_parts_bytes(run, a.room);
    a.moments = free;
    free += a.room * MOMENTS * moment_bytes(e, run);
    a.item = (Ahead *)free;
    a.part = (PiPart *)(a.item + a.room);
    a.moment = (PiWatchMoment *)(a.part + a.room);
    a.lane = (int64_t *)(a.moment + a.room);
    a.now = (Ahead **)(a.lane + a.room);
    return a;
}
int add_ahead(Aheads *a, int64_t at, int64_t k, int event) {
    if (a->count == a->room) return 0;
    Ahead *item = &a->item[a->count];
    const int64_t bytes = moment_bytes(a->e, a->run);
    char *memory = a->moments + a->count * MOMENTS * bytes;
    *item = (Ahead){.at = at, .k = k, .event = event};
    Moment *const moments[MOMENTS] = {&item->before, &item->after, &item->best, &item->trial};
    for (int i = 0; i < MOMENTS; i++, memory += bytes)
        *moments[i] = moment_at(a->run, (double *)memory);
    a->now[a->count] = item;
    a->lane[a->count++] = a->seen->lane + pi_place(a->seen, at);
    return 1;
}

static int64_t step_of(const Aheads *a, const Ahead *item) { return a->tile->first + item->k + 1; }
static double length(const Aheads *a, int64_t i) {
    return pi_real_at(a->run, a->tile->h.data, a->tile->h.stride * a->lane[i]);
}
/* The quantities of the first n. */
static int ask_all(Aheads *a, int64_t n, Moment *(*which)(Ahead *)) {
    for (int64_t i = 0; i < n; i++) {
        const Moment *m = which(a->now[i]);
        const int64_t step = step_of(a, a->now[i]);
        a->moment[i] = (PiWatchMoment){
            step, time_within(a->e, a->lane[i], step, length(a, i), m->passed), m->y, m->g};
    }
    return pi_watch_ask(&a->look, a->moment);
}
static Moment *before(Ahead *item) { return &item->before; }
static Moment *after(Ahead *item) { return &item->after; }
static Moment *trial(Ahead *item) { return &item->trial; }

/* The states at both ends of the step, as shown. */
static void read_ends(Aheads *a, int64_t i) {
    Ahead *item = &a->item[i];
    const PiRun *run = a->run;
    const PiSeen *seen = a->seen;
    const int first = item->k == 0;
    const void *from = first ? a->tile->in : row_at(run, seen->rows, seen->next, item->k - 1, 0);
    const void *to = row_at(run, seen->rows, seen->next, item->k, 0);
    const int64_t stride = first ? a->tile->in_stride : seen->stride;
    for (int d = 0; d < run->state_rows; d++) {
        const int known = d < run->system->dim;
        item->before.y[d] = known ? pi_real_at(run, from, d * stride + item->at) : 0;
        item->after.y[d] = known ? pi_real_at(run, to, d * seen->stride + item->at) : 0;
    }
    item->before.passed = 0;
    item->after.passed = length(a, i);
}
static void take(const Aheads *a, const Moment *from, Moment *to) {
    memcpy(to->y, from->y, a->run->state_rows * sizeof *to->y);
    memcpy(to->g, from->g, a->e->count * sizeof *to->g);
    to->passed = from->passed;
}
static void begin_search(Aheads *a, int64_t i) {
    Ahead *item = a->now[i];
    if (item->event == NO_EVENT) return;
    const PiEvent *event = &a->e->event[item->event];
    const double lo = item->before.g[item->event], hi = item->after.g[item->event];
    if (!event->located || !crosses(event, lo, hi)) return;
    item->searched = 1;
    item->search = pi_search(a->run, length(a, i), 0, item->after.passed, lo, hi);
    take(a, &item->before, &item->best);
}
/* The first n, as lanes side by side. */
static int take_lanes(Aheads *a, int64_t n) {
    pi_parts_take(&a->parts, a->lane, n);
    return pi_watch_lanes(&a->look, a->lane, n);
}
/* Of the first n those that go on, in their order, and the places where; returns their number. */
static int64_t go_on(Aheads *a, int64_t n) {
    int64_t going = 0;
    for (int64_t i = 0; i < n; i++) {
        Ahead *item = a->now[i];
        double x;
        if (item->searched != 1) continue;
        if (!pi_search_next(a->run, &item->search, &x)) {
            item->searched = 2;
            continue;
        }
        a->now[going] = item;
        a->lane[going] = a->lane[i];
        a->part[going++] = (PiPart){step_of(a, item), 0, x, item->before.y, 0, item->trial.y};
    }
    return going;
}
static void use_trial(const Aheads *a, Ahead *item, double x) {
    const double fx = item->trial.g[item->event];
    const int found = pi_search_found(&item->search, x, fx);
    if (isfinite(fx) && !pi_search_has_passed(&item->search, fx) &&
        fabs(item->trial.passed) >= fabs(item->best.passed))
        take(a, &item->trial, &item->best);
    if (!found) item->searched = 2;
}
int find_ahead(Aheads *a) {
    int64_t n = a->count, taken = n;
    if (take_lanes(a, n)) return -1;
    for (int64_t i = 0; i < n; i++) read_ends(a, i);
    if (ask_all(a, n, before) || ask_all(a, n, after)) return -1;
    for (int64_t i = 0; i < n; i++) begin_search(a, i);
    while ((n = go_on(a, n)) > 0) {
        if (n < taken && take_lanes(a, taken = n)) return -1;
        if (pi_parts_advance(&a->parts, a->part)) return -1;
        for (int64_t i = 0; i < n; i++) a->now[i]->trial.passed = pi_rounded(a->run, a->part[i].h);
        if (ask_all(a, n, trial)) return -1;
        for (int64_t i = 0; i < n; i++) use_trial(a, a->now[i], a->part[i].h);
    }
    return 0;
}
