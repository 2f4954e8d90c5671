/* The watches and events of a run, of fixed steps and to a tolerance: named fields of each, and
 * memory for each lane. */
#include "watching.h"

/* A pointer, or the member of its name, to an array that is written, or to zeros. Not 0: with an
 * exception. */
#define ARRAY(to, name, items)    (!((to) = pi_array(f, name, items, 8, 1)))
#define MEMORY(one, field, items) ARRAY((one)->field, #field, items)
#define ZEROS(one, field, n) (!((one)->field = pi_views_zeros(f->views, n, sizeof *(one)->field)))
#define NAMED(to, name, least, most) pi_integer(f, name, 1, least, most, &(to), sizeof(to))
/* One value, or one for each lane. */
static int row(Fields *f, const char *name, PiRow *to) { return pi_row(f, name, f->stride, 8, to); }
/* So many numbers for each result; none if they are not known. */
static int read_numbers(Fields *f, const char *name, const PiLaneProgram *one, int each,
                        double **to) {
    PyObject *numbers = pi_given(f, name);
    const int n = one->program.system->n_invariants * each;
    return numbers && (!(*to = pi_views_zeros(f->views, n, sizeof **to)) ||
                       pi_read_numbers(numbers, name, n, *to));
}
/* Fields program, rounded, asks, sums, params; linear, borders: factors of the components; degrees,
 * reads. */
static int read_program(Fields *f, PiLaneProgram *one) {
    PyObject *program = pi_needed(f, "program");
    if (!program || pi_find_system(f->module, program, 64, &one->program) ||
        pi_find_system(f->module, f->system, 64, &one->system) ||
        NUMBER(one, asks, 0, PI_WATCH_ALL) || NAMED(one->n_sums, "sums", 0, PI_MAX_REGISTERS))
        return -1;
    const PiSystem *s = one->system.system, *p = one->program.system;
    const unsigned unanswered = one->system.unanswered;
    const int64_t rows = s->dim + 1 + (one->asks & PI_WATCH_ENERGY ? 1 : 0) +
                         (one->asks & PI_WATCH_INVARIANTS ? s->n_invariants : 0) + one->n_sums;
    if (rows != p->dim || p->dof || p->n_params < s->n_params || s->dim != f->dim ||
        one->program.unanswered >> PI_INVARIANTS & 1 ||
        (one->asks & PI_WATCH_ENERGY && unanswered >> PI_ENERGY & 1) ||
        (one->asks & PI_WATCH_INVARIANTS && unanswered >> PI_INVARIANTS & 1))
        return pi_refused("the program of a watch does not fit its system");
    PyObject *rounded = pi_given(f, "rounded");
    if (rounded && pi_find_system(f->module, rounded, 64, &one->rounded)) return -1;
    const PiSystem *r = rounded ? one->rounded.system : p;
    if (r->dim != p->dim || r->dof || r->n_params != p->n_params ||
        r->n_invariants != p->n_invariants ||
        (rounded && one->rounded.unanswered >> PI_INVARIANTS & 1))
        return pi_refused("the rounded program of a watch is another");
    one->reads = UINT64_MAX;
    return ZEROS(one, params, p->n_params) || OPTION(one, reads, -1, INT64_MAX) ||
           read_numbers(f, "linear", one, s->dim, &one->linear) ||
           read_numbers(f, "borders", one, s->dim, &one->borders) ||
           read_numbers(f, "degrees", one, 1, &one->degrees) ||
           pi_rows(f, "params", p->n_params, f->stride, 8, one->params);
}
/* Reads a dictionary. */
#define WITHIN(dictionary, read, ...)                                                              \
    ({                                                                                             \
        Fields within = pi_within(f, dictionary);                                                  \
        read(&within, __VA_ARGS__);                                                                \
    })
/* A tuple, of `least` to `most` items: its length, or -1. */
static Py_ssize_t tuple_of(PyObject *list, const char *name, Py_ssize_t least, Py_ssize_t most) {
    const Py_ssize_t n = list && PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n >= least && n <= most) return n;
    return pi_refused("%s: expected a tuple of %zd to %zd", name, least, most);
}
/* Reads each dictionary of such a tuple; room: for as many items of so many bytes. Not 0: with an
 * exception. */
static int read_each(Fields *f, PyObject *list, const char *name, Py_ssize_t least, Py_ssize_t most,
                     void *room, size_t bytes, int read(Fields *one, void *to), void *to) {
    const Py_ssize_t n = tuple_of(list, name, least, most);
    void *zeros = n < 0 ? NULL : pi_views_zeros(f->views, n, bytes);
    int error = !zeros;
    memcpy(room, &zeros, sizeof zeros);
    for (Py_ssize_t i = 0; !error && i < n; i++) error = WITHIN(PyTuple_GetItem(list, i), read, to);
    return error;
}
#define ITEMS(list, name, least, most, room, read, to)                                             \
    read_each(f, list, name, least, most, &(room), sizeof *(room), read, to)

/* Item i of a tuple: three numbers, the first two below these. */
static int read_three(PyObject *list, int64_t i, int *a, int most_a, int *b, int most_b, int *c) {
    PyObject *three = PyTuple_GetItem(list, i);
    return !PyTuple_Check(three) || !PyArg_ParseTuple(three, "iii", a, b, c) || *a < 0 ||
           *a >= most_a || *b < 0 || *b >= most_b;
}

/* ---- watches --------------------------------------------------------------------------------- */
/* Reductions that the core knows: (kind, source, number) each. Their sums follow the program's. */
static int read_reduced(Fields *f, PiWatch *watch) {
    PyObject *list = pi_needed(f, "reduced");
    const Py_ssize_t n = tuple_of(list, "reduced", 0, PI_MAX_REDUCED);
    const int64_t energies = !(watch->system.unanswered >> PI_ENERGY & 1);
    watch->n_rows = watch->n_sums;
    EACH_BELOW(i, n) {
        PiReduced *one = &watch->reduced[i];
        if (read_three(list, i, &one->kind, PI_REDUCTIONS, &one->source, PI_SOURCES,
                       &one->number) ||
            one->number < 0 ||
            one->number >= (one->source == PI_OF_PROGRAM ? watch->n_quantities
                            : one->source == PI_OF_STATE ? watch->components
                                                         : energies))
            return pi_refused("reduced: expected tuples of a kind, a source and a number");
        if (one->kind == PI_BRIDGED && !watch->system.system->noisy)
            return pi_refused("bridged: only for systems with noise");
        one->first = watch->n_rows;
        watch->n_rows += pi_reductions[one->kind].rows;
        watch->runs |= one->source == PI_OF_PROGRAM;
        watch->n_reduced++;
    }
    return n < 0;
}
/* The quantities of an image, of samples or of a statistic, below `count`. */
static int read_quantities(Fields *f, int count, int *to) {
    return NAMED(to[0], "first", 0, count - 1) || NAMED(to[1], "second", 0, count - 1);
}
static int read_bins(Fields *f, int quantities, PiBins *b) {
    const int64_t most = 0x1p31;
    if (NUMBER(b, axes, 1, 2) || read_quantities(f, quantities, b->quantity) ||
        NAMED(b->bins[0], "rows", 1, most) || NAMED(b->bins[1], "columns", 1, most))
        return -1;
    if (b->axes == 1) b->bins[1] = 1;
    return ARRAY(b->edges[0], "row_edges", b->bins[0] + 1) ||
           ARRAY(b->edges[1], "column_edges", b->bins[1] + 1);
}
static int read_density(Fields *f, void *of) {
    PiWatch *watch = of;
    PiDensity *d = &watch->density[watch->n_densities++];
    if (read_bins(f, watch->n_quantities, &d->of)) return -1;
    const int64_t bins = pi_product(d->of.bins[0], d->of.bins[1]);
    d->room = bins < PI_DENSITY_ROOM ? bins : PI_DENSITY_ROOM;
    if (MEMORY(d, image, bins) || ZEROS(d, pending, pi_product(2, bins)) ||
        ZEROS(d, list, 2 * d->room) || ZEROS(d, state, PI_DENSITY_STATE))
        return -1;
    d->state[PI_MERGED] = -1;
    return 0;
}
static int read_statistic(Fields *f, void *of) {
    PiWatch *watch = of;
    PiAcross *a = &watch->across[watch->n_across++];
    const int64_t most = 0x1p31;
    atomic_flag_clear(&a->busy);
    if (NUMBER(a, kind, 0, PI_ACROSS_KINDS - 1) ||
        read_quantities(f, watch->n_quantities, a->quantity) || NAMED(a->first, "row", 0, 0x1p54) ||
        NUMBER(a, rows, 0, 0x1p40) || NUMBER(a, groups, 1, most) || NUMBER(a, bins, 1, most))
        return -1;
    PyObject *about = pi_needed(f, "about"), *label = pi_given(f, "label");
    if (!about) return -1;
    a->about = PyFloat_AsDouble(about);
    if (PyErr_Occurred()) return -1;
    const int64_t widths[PI_ACROSS_KINDS] = {[PI_EXACT_SUM] = PI_SUM_LIMBS,
                                             [PI_EXACT_PRODUCT] = PI_PRODUCT_LIMBS,
                                             [PI_EXTREMES] = 2,
                                             [PI_BINS] = a->bins};
    a->width = widths[a->kind];
    a->stride = f->stride;
    const int64_t rows = pi_product(a->rows, a->groups);
    const int64_t values = a->kind == PI_VALUES ? pi_product(a->rows, a->stride) : 0;
    if (label && !(a->label = pi_views_array(f->views, label, "label", f->run->lanes, 4, 0)))
        return -1;
    return MEMORY(a, tally, pi_product(rows, PI_TALLY)) ||
           MEMORY(a, items, pi_product(rows, a->width)) || MEMORY(a, values, values) ||
           MEMORY(a, edges, a->bins + 1);
}
void pi_finish_images(const Watches *watches, int64_t blocks) {
    EACH_BELOW(i, watches->count)
        EACH_BELOW(j, watches->watch[i].n_densities)
            pi_density_open(&watches->watch[i].density[j], blocks + 1);
}
/* The cells of each statistic of the batch: pi_across_cells. */
PyObject *pi_cells_of(const Watches *watches) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < watches->count; i++)
        for (int j = 0; list && j < watches->watch[i].n_across; j++) {
            PiAcross *a = &watches->watch[i].across[j];
            const int64_t cells = pi_across_cells(a, NULL);
            PyObject *one =
                cells < 0 ? PyErr_NoMemory() : PyBytes_FromStringAndSize(NULL, 32 * cells);
            if (one) pi_across_cells(a, (int64_t *)PyBytes_AsString(one));
            pi_append(&list, one);
        }
    return list;
}
/* own: its program. */
static int read_watch(Fields *f, PiWatch *watch, PiLaneProgram *own) {
    if (read_program(f, own)) return -1;
    watch->program = own->program;
    watch->system = own->system;
    watch->asks = own->asks;
    watch->params = own->params;
    watch->n_sums = own->n_sums;
    watch->components = f->dim;
    watch->n_quantities = own->program.system->n_invariants - own->n_sums;
    if (watch->n_quantities < 0)
        return pi_refused("the program of a watch does not fit its system");
    if (NUMBER(watch, every, 1, 0x1p54) || NUMBER(watch, begin, 0, 0x1p54) ||
        read_reduced(f, watch) ||
        ITEMS(pi_needed(f, "densities"), "densities", 0, PI_MAX_REDUCED, watch->density,
              read_density, watch) ||
        ITEMS(pi_needed(f, "across"), "across", 0, PI_MAX_REGISTERS, watch->across, read_statistic,
              watch))
        return -1;
    const int of_batch = watch->n_densities + watch->n_across;
    if (!of_batch && !watch->n_rows)
        return pi_refused("a watch without sums, densities or statistics");
    watch->runs |= watch->n_sums || of_batch;
    const int64_t items = pi_product(watch->n_rows, f->stride);
    return row(f, "t0", &watch->t0) || row(f, "dt", &watch->h) ||
           row(f, "origin", &watch->origin) || row(f, "factor", &watch->factor) ||
           ARRAY(watch->sums[0], "sums_a", items) || ARRAY(watch->sums[1], "sums_b", items);
}
static int read_one_watch(Fields *f, void *to) {
    Watches *watches = to;
    PiWatch *watch = &watches->watch[watches->count++];
    PiLaneProgram own = {0};
    return read_watch(f, watch, &own) || pi_run_observe(f->run, pi_watch_observer(watch, f->run));
}
/* A watch of the ends of steps to a tolerance: its sums are `kept`, (lanes, sums), not two copies.
 */
static int read_ends(Fields *f, void *of) {
    PiObservation *p = of;
    PiLaneProgram *one = &p->watch[p->n_watches++];
    if (read_program(f, one)) return -1;
    if (one->n_sums > one->program.system->n_invariants)
        return pi_refused("the program of a watch does not fit its system");
    return ARRAY(one->sums, "kept", pi_product(f->stride, one->n_sums));
}
/* Counts at equal times: fields of bins; samples, after, each: has every trajectory its own? */
static int read_samples(Fields *f, void *of) {
    PiObservation *p = of;
    PiPieceSamples *one = &p->samples[p->n_samples++];
    int each;
    if (read_bins(f, p->timed.program.system->n_invariants, &one->of) ||
        NAMED(one->count, "samples", 1, 0x1p40) || NUMBER(one, after, -1, p->n_after - 1) ||
        NAMED(each, "each", 0, 1))
        return -1;
    const int64_t bins = pi_product(one->of.bins[0], one->of.bins[1]);
    one->stride = each ? bins : 0;
    EACH_BELOW(i, one->of.axes) {
        int8_t *need = &p->need[one->of.quantity[i]];
        if (*need == PI_NEED_APART) *need = PI_NEED_VALUE;
    }
    return MEMORY(one, counts, pi_product(bins, each ? f->stride : 1));
}
/* Field counted: two arrays (rows, lanes, numbers) each: what is counted, and room for a copy. */
static int read_counted(Fields *f, PiObservation *p) {
    PyObject *list = pi_needed(f, "counted");
    const Py_ssize_t n = tuple_of(list, "counted", 0, 2 * PI_MAX_OBSERVERS);
    if (n < 0) return -1;
    if (n % 2) return pi_refused("counted: expected pairs of arrays");
    if (ZEROS(p, counted, n / 2)) return -1;
    for (; p->n_counted < n / 2; p->n_counted++) {
        PiCounted *one = &p->counted[p->n_counted];
        PyObject *live = PyTuple_GetItem(list, 2 * p->n_counted),
                 *onward = PyTuple_GetItem(list, 2 * p->n_counted + 1);
        if (!(one->live = pi_views_array(f->views, live, "counted", 0, 8, 1))) return -1;
        const Py_buffer *view = &f->views->view[f->views->count - 1]->buffer;
        if (view->ndim != 3 || view->shape[1] != f->stride)
            return pi_refused("counted: expected arrays (rows, lanes, numbers)");
        one->rows = view->shape[0], one->bytes = 8 * view->shape[2];
        one->onward = pi_views_array(f->views, onward, "counted", view->len / 8, 8, 1);
        if (!one->onward) return -1;
    }
    return 0;
}
/* Fields program, ..., reductions: a tuple of (kind, quantity, after), numbers: (lanes, numbers of
 * all), after: rows of times, samples. */
static int read_reductions(Fields *f, PiObservation *p) {
    if (read_program(f, &p->timed)) return -1;
    PyObject *list = pi_needed(f, "reductions"), *after = pi_needed(f, "after");
    const Py_ssize_t n = tuple_of(list, "reductions", 0, PI_MAX_REGISTERS);
    const Py_ssize_t n_after = tuple_of(after, "after", 0, PI_MAX_OBSERVERS * 8);
    const int quantities = p->timed.program.system->n_invariants;
    if (n < 0 || n_after < 0 || ZEROS(p, reduction, n) ||
        !(p->need = pi_views_zeros(f->views, quantities, 1)) || ZEROS(p, after, n_after))
        return -1;
    EACH_BELOW(i, quantities) p->need[i] = PI_NEED_APART; /* of comparisons */
    EACH_BELOW(i, n) {
        PiPieceReduction *one = &p->reduction[i];
        if (read_three(list, i, &one->kind, PI_PIECE_KINDS, &one->quantity, quantities,
                       &one->after) ||
            one->after < -1 || one->after >= n_after)
            return pi_refused("reductions: expected tuples of a kind, a quantity and an after");
        const int8_t need = pi_piece_reductions[one->kind].need;
        int8_t *known = &p->need[one->quantity];
        if (need != PI_NEED_NOTHING && (*known == PI_NEED_APART || need > *known)) *known = need;
        one->first = p->n_numbers;
        p->n_numbers += pi_piece_reductions[one->kind].rows;
    }
    p->n_reductions = n;
    p->n_after = n_after;
    if (ITEMS(pi_needed(f, "samples"), "samples", n == 0, PI_MAX_REGISTERS, p->samples,
              read_samples, p) ||
        MEMORY(p, numbers, pi_product(f->stride, p->n_numbers)))
        return -1;
    return n_after
               ? pi_views_rows(f->views, after, "after of watches", n_after, f->stride, 8, p->after)
               : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */
static int read_event(Fields *f, void *of) {
    PiEvents *e = of;
    PiEvent *event = &e->event[e->count++];
    const PiSystem *react = e->react.program.system;
    const int64_t answers = react ? react->n_invariants : 0;
    const int64_t last = answers >= f->dim ? answers - f->dim : -1;
    if (NUMBER(event, direction, -1, 1) || NUMBER(event, located, 0, 1) ||
        NUMBER(event, stop, 0, 0x1p54) || NUMBER(event, keep, 0, 0x1p40) ||
        NUMBER(event, onto, -1, last) || NUMBER(event, then, -1, last) ||
        NUMBER(event, n_values, 0, answers) || NUMBER(event, value, 0, answers - event->n_values))
        return -1;
    if (event->onto >= 0 && !e->detect.system.system->noisy)
        return pi_refused("onto: only for systems with noise");
    if (!event->keep) return 0;
    const int64_t items = pi_product(event->keep, f->stride);
    if (MEMORY(event, t, items) || MEMORY(event, y, pi_product(items, f->dim))) return -1;
    return event->n_values && MEMORY(event, values, pi_product(items, event->n_values));
}
/* Fields react, most, stopped_at, stopped_by and events, a tuple; `detect` is known. */
static int read_all_events(Fields *f, PiEvents *e) {
    PyObject *react = pi_given(f, "react");
    e->stride = f->stride;
    if (NUMBER(e, most, 1, 0x1p54) || (react && WITHIN(react, read_program, &e->react)) ||
        ITEMS(pi_needed(f, "events"), "events", 1, 127, e->event, read_event, e) ||
        MEMORY(e, stopped_at, f->stride) ||
        !(e->stopped_by = pi_array(f, "stopped_by", f->stride, 1, 1)))
        return -1;
    const int quantities = e->detect.program.system->n_invariants;
    return quantities < e->count || e->detect.n_sums || e->react.n_sums
               ? pi_refused("events: %d of %d quantities", e->count, quantities)
               : 0;
}
/* Are the reductions those of events? */
static int all_pass(const PiWatch *watch) {
    int pass = watch->every == 1;
    EACH_BELOW(i, watch->n_reduced) pass &= watch->reduced[i].kind >= PI_RISES;
    return pass;
}
static int read_events(Fields *f, Watches *to) {
    PiRun *run = f->run;
    PyObject *detect = pi_needed(f, "detect");
    PiFixedEvents *e = to->events = pi_views_zeros(f->views, 1, sizeof *e);
    if (!e || !detect) return -1;
    const PiWatch *w = &e->watch;
    e->between = to->between;
    if (WITHIN(detect, read_watch, &e->watch, &e->events.detect)) return -1;
    e->events.exact = 1;
    PiLaneProgram *program = &e->events.detect; /* their steps are no polynomials */
    program->linear = program->borders = program->degrees = NULL;
    if (read_all_events(f, &e->events)) return -1;
    const int n = e->events.count;
    if (w->n_densities || w->n_across || w->n_quantities != w->n_reduced || w->n_reduced < n ||
        w->n_reduced > n + 1 || !all_pass(w) ||
        run->state_rows != run->system->dim * (run->compensated ? 2 : 1))
        return pi_refused("events: %d of %d quantities, for a method that remembers nothing", n,
                          w->n_quantities);
    const int64_t items = pi_product(pi_event_rows(n), run->stride);
    if (ARRAY(e->counts[0], "counts_a", items) || ARRAY(e->counts[1], "counts_b", items)) return -1;
    return pi_run_observe(run, pi_events_observer(e));
}
static int read_located(Fields *f, PiEvents *e) {
    PyObject *detect = pi_needed(f, "detect");
    if (!detect || WITHIN(detect, read_program, &e->detect) || read_all_events(f, e)) return -1;
    e->counts = pi_array(f, "counts", pi_product(pi_event_rows(e->count), f->stride), 8, 1);
    return e->counts ? 0 : -1;
}
static int read_all(Fields *f, PiObservation *p) {
    if (ITEMS(pi_needed(f, "watches"), "watches", 0, PI_MAX_OBSERVERS, p->watch, read_ends, p) ||
        !(p->seen = pi_array(f, "seen", f->stride, 1, 1)) || read_counted(f, p) ||
        row(f, "sampled", &p->sampled) || row(f, "until", &p->until))
        return -1;
    PyObject *timed = pi_given(f, "timed"), *events = pi_given(f, "events");
    return (timed && WITHIN(timed, read_reductions, p)) ||
           (events && WITHIN(events, read_located, &p->events));
}
int pi_read_observation(const Fields *f, PyObject *observation, PiAdaptiveRun *run, Watches *to) {
    PiObservation *p = to->observation = pi_views_zeros(f->views, 1, sizeof *p);
    if (!p || WITHIN(observation, read_all, p)) return -1;
    run->observation = p;
    run->solve.asked = (p->n_reductions || p->n_samples ? p->timed.reads | 1 : 0) |
                       (p->events.count ? p->events.detect.reads | 1 : 0);
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */
static int read_times(Fields *f, PiRecord *record, Watches *to) {
    PiRun *run = f->run;
    PiBetween *b = to->between = pi_views_zeros(f->views, 1, sizeof *b);
    int each;
    if (!b || NAMED(each, "each", 0, 1) || NUMBER(b, count, 0, 0x1p48)) return -1;
    b->t_stride = each ? f->stride : 1;
    b->t_lane = each;
    b->record = record;
    if (ZEROS(b, next, f->stride) || ZEROS(b, due, f->stride) ||
        !(b->before = pi_views_zeros(f->views, pi_product(f->dim, f->stride), run->real_bytes)) ||
        row(f, "t0", &b->t0) || row(f, "dt", &b->h) ||
        !(b->t = pi_array(f, "t", pi_product(b->count, b->t_stride), 8, 0)))
        return -1;
    if (!record->data) return pi_refused("times need a record");
    if (record->saves < b->count)
        return pi_refused("record has room for %lld of %lld times", (long long)record->saves,
                          (long long)b->count);
    return pi_run_observe(run, pi_between_observer(b));
}

static int read_renormalise(Fields *f, PiRenormalise *own) {
    PiRun *run = f->run;
    if (NUMBER(own, every, 1, 0x1p54) || NUMBER(own, vectors, 1, f->dim) ||
        NUMBER(own, dim, 1, f->dim / own->vectors) || NUMBER(own, orthogonal, 0, 1) ||
        NUMBER(own, indicators, 0, 1))
        return -1;
    const int64_t items = pi_product(own->vectors, own->dim);
    const int64_t rows = own->vectors + (own->indicators ? PI_INDICATORS : 0);
    const int64_t *given = pi_array(f, "places", items, 8, 0);
    /* A copy, as others may write to the array. */
    int64_t *row = pi_views_zeros(f->views, items, sizeof *row);
    if (!given || !row || MEMORY(own, sums, pi_product(rows, f->stride))) return -1;
    memcpy(row, given, items * sizeof *row);
    own->row = row;
    EACH_BELOW(i, items)
        if (row[i] < 0 || row[i] >= f->dim)
            return pi_refused("there is no component %lld", (long long)row[i]);
    if (run->state_rows != f->dim || run->n_observers)
        return pi_refused("renormalise: for a method that remembers nothing, and "
                          "a run that nobody else observes");
    return pi_run_observe(run, pi_renormalise_observer(own));
}

/* Times come before events, which pass pieces to them. */
int pi_read_watching(Fields *f, PyObject *times, PiRecord *record, Watches *to) {
    PyObject *watches = pi_given(f, "watches"), *events = pi_given(f, "events");
    PyObject *renormalise = pi_given(f, "renormalise");
    return (times && WITHIN(times, read_times, record, to)) ||
           (watches &&
            ITEMS(watches, "watches", 0, PI_MAX_OBSERVERS - 1, to->watch, read_one_watch, to)) ||
           (events && WITHIN(events, read_events, to)) ||
           (renormalise && WITHIN(renormalise, read_renormalise, &to->renormalise));
}

void pi_free_watches(Watches *watches) {
    EACH_BELOW(i, watches->count)
        EACH_BELOW(j, watches->watch[i].n_across) pi_across_free(&watches->watch[i].across[j]);
}
