/* The watches and events of a run, of fixed steps and to a tolerance: named fields of each, and
 * memory for each lane. */
#include "watching.h"
#include <string.h>

static PyObject *field(PyObject *fields, const char *name) {
    PyObject *key = PyUnicode_FromString(name), *value = NULL;
    if (key && PyDict_Check(fields)) value = PyDict_GetItemWithError(fields, key);
    Py_XDECREF(key);
    if (!value && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "expected a dictionary with the field %s", name);
    return value;
}
static int integer(PyObject *fields, const char *name, int64_t least, int64_t most, int64_t *to) {
    PyObject *value = field(fields, name);
    if (!value) return -1;
    *to = PyLong_AsLongLong(value);
    if (*to == -1 && PyErr_Occurred()) return -1;
    if (*to >= least && *to <= most) return 0;
    return pi_refused("%s of a watch is %lld, expected %lld to %lld", name, (long long)*to,
                      (long long)least, (long long)most);
}

static int small(PyObject *fields, const char *name, int64_t least, int64_t most, int *to) {
    int64_t value;
    if (integer(fields, name, least, most, &value)) return -1;
    *to = value;
    return 0;
}
/* What reading needs: the module, the system of the run, its components, the lanes of its rows,
 * where views are held, and where the result goes. */
typedef struct {
    PyObject *module, *system;
    int dim;
    int64_t stride;
    Views *views;
    Watches *to;
} Reader;
/* A writable array of doubles in a field. */
static void *memory(const Reader *r, PyObject *fields, const char *name, int64_t items) {
    return pi_views_array(r->views, field(fields, name), name, items, 8, 1);
}
/* One value, or one for each lane. */
static int row(const Reader *r, PyObject *fields, const char *name, PiRow *to) {
    PyObject *value = field(fields, name);
    return !value || pi_views_row(r->views, value, name, r->stride, 8, to);
}
/* From a field to the member of its name; not 0: with an exception. */
#define FIELD(name)               (!((name) = field(fields, #name)))
#define ARRAY(to, name, items)    (!((to) = memory(r, fields, name, items)))
#define MEMORY(one, field, items) ARRAY((one)->field, #field, items)
#define ZEROS(one, field, n) (!((one)->field = pi_views_zeros(r->views, n, sizeof *(one)->field)))
#define INTEGER(one, field, least, most) integer(fields, #field, least, most, &(one)->field)
#define SMALL(one, field, least, most)   small(fields, #field, least, most, &(one)->field)
/* So many numbers for each result; no field, or None: they are not known. */
static int read_numbers(const Reader *r, PyObject *fields, const char *name,
                        const PiLaneProgram *one, int each, double **to) {
    PyObject *numbers = PyDict_GetItemString(fields, name);
    const int n = one->program.system->n_invariants * each;
    if (!numbers || numbers == Py_None) return 0;
    return !(*to = pi_views_zeros(r->views, n, sizeof **to)) ||
           pi_read_numbers(numbers, name, n, *to);
}
/* Fields program, asks, sums, params; linear, borders: factors of the components; degrees. */
static int read_program(const Reader *r, PyObject *fields, PiLaneProgram *one) {
    PyObject *program = field(fields, "program"), *params;
    if (!r->to->programs) r->to->programs = PyList_New(0);
    if (!program || !r->to->programs || PyList_Append(r->to->programs, program) ||
        pi_find_system(r->module, program, 64, &one->program) ||
        pi_find_system(r->module, r->system, 64, &one->system) ||
        SMALL(one, asks, 0, PI_WATCH_ALL) ||
        small(fields, "sums", 0, PI_MAX_REGISTERS, &one->n_sums) || FIELD(params))
        return -1;
    const PiSystem *s = one->system.system, *p = one->program.system;
    const unsigned unanswered = one->system.unanswered;
    const int64_t rows = s->dim + 1 + (one->asks & PI_WATCH_ENERGY ? 1 : 0) +
                         (one->asks & PI_WATCH_INVARIANTS ? s->n_invariants : 0) + one->n_sums;
    if (rows != p->dim || p->dof || p->n_params < s->n_params || s->dim != r->dim ||
        one->program.unanswered >> PI_INVARIANTS & 1 ||
        (one->asks & PI_WATCH_ENERGY && unanswered >> PI_ENERGY & 1) ||
        (one->asks & PI_WATCH_INVARIANTS && unanswered >> PI_INVARIANTS & 1))
        return pi_refused("the program of a watch does not fit its system");
    return ZEROS(one, params, p->n_params) ||
           read_numbers(r, fields, "linear", one, s->dim, &one->linear) ||
           read_numbers(r, fields, "borders", one, s->dim, &one->borders) ||
           read_numbers(r, fields, "degrees", one, 1, &one->degrees) ||
           pi_views_rows(r->views, params, "params of a watch", p->n_params, r->stride, 8,
                         one->params);
}
/* A tuple in a field, of `least` to `most` items: its length, or -1. */
static Py_ssize_t tuple_of(PyObject *list, const char *name, Py_ssize_t least, Py_ssize_t most) {
    const Py_ssize_t n = list && PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n >= least && n <= most) return n;
    return pi_refused("%s: expected a tuple of %zd to %zd", name, least, most);
}

/* Item i of a tuple: three numbers, the first two below these. */
static int read_three(PyObject *list, int64_t i, int *a, int most_a, int *b, int most_b, int *c) {
    PyObject *three = PyTuple_GetItem(list, i);
    return !PyTuple_Check(three) || !PyArg_ParseTuple(three, "iii", a, b, c) || *a < 0 ||
           *a >= most_a || *b < 0 || *b >= most_b;
}

/* ---- watches --------------------------------------------------------------------------------- */
/* Reductions that the core knows: (kind, source, number) each. Their sums follow the program's. */
static int read_reduced(PyObject *fields, PiWatch *watch) {
    PyObject *list = field(fields, "reduced");
    const Py_ssize_t n = tuple_of(list, "reduced", 0, PI_MAX_REDUCED);
    const int64_t energies = !(watch->system.unanswered >> PI_ENERGY & 1);
    watch->n_rows = watch->n_sums;
    for (int64_t i = 0; i < n; i++) {
        PiReduced *one = &watch->reduced[i];
        if (read_three(list, i, &one->kind, PI_REDUCTIONS, &one->source, PI_SOURCES,
                       &one->number) ||
            one->number < 0 ||
            one->number >= (one->source == PI_OF_PROGRAM ? watch->n_quantities
                            : one->source == PI_OF_STATE ? watch->components
                                                         : energies))
            return pi_refused("reduced: expected a kind, a source and a number of each");
        if (one->kind == PI_BRIDGED && !watch->system.system->steps)
            return pi_refused("bridged: of systems with noise");
        one->first = watch->n_rows;
        watch->n_rows += pi_reductions[one->kind].rows;
        watch->runs |= one->source == PI_OF_PROGRAM;
        watch->n_reduced++;
    }
    return n < 0;
}
/* The quantities of an image, of samples or of a statistic, below `count`. */
static int read_quantities(PyObject *fields, int count, int *to) {
    return small(fields, "first", 0, count - 1, &to[0]) ||
           small(fields, "second", 0, count - 1, &to[1]);
}
static int read_bins(const Reader *r, PyObject *fields, int quantities, PiBins *b) {
    const int64_t most = 0x1p31;
    if (SMALL(b, axes, 1, 2) || read_quantities(fields, quantities, b->quantity) ||
        integer(fields, "rows", 1, most, &b->bins[0]) ||
        integer(fields, "columns", 1, most, &b->bins[1]))
        return -1;
    if (b->axes == 1) b->bins[1] = 1;
    return ARRAY(b->edges[0], "row_edges", b->bins[0] + 1) ||
           ARRAY(b->edges[1], "column_edges", b->bins[1] + 1);
}
static int read_density(const Reader *r, PyObject *fields, PiWatch *watch) {
    PiDensity *d = &watch->density[watch->n_densities++];
    if (read_bins(r, fields, watch->n_quantities, &d->of)) return -1;
    const int64_t bins = pi_product(d->of.bins[0], d->of.bins[1]);
    d->room = bins < PI_DENSITY_ROOM ? bins : PI_DENSITY_ROOM;
    if (MEMORY(d, image, bins) || ZEROS(d, pending, pi_product(2, bins)) ||
        ZEROS(d, list, 2 * d->room) || ZEROS(d, state, PI_DENSITY_STATE))
        return -1;
    d->state[PI_MERGED] = -1;
    return 0;
}
static int read_statistic(const Reader *r, PyObject *fields, int64_t lanes, PiWatch *watch) {
    PiAcross *a = &watch->across[watch->n_across++];
    const int64_t most = 0x1p31;
    PyObject *about = field(fields, "about"), *label;
    atomic_flag_clear(&a->busy);
    if (!about || SMALL(a, kind, 0, PI_ACROSS_KINDS - 1) ||
        read_quantities(fields, watch->n_quantities, a->quantity) ||
        integer(fields, "row", 0, 0x1p54, &a->first) || INTEGER(a, rows, 0, 0x1p40) ||
        INTEGER(a, groups, 1, most) || INTEGER(a, bins, 1, most) || FIELD(label))
        return -1;
    a->about = PyFloat_AsDouble(about);
    if (PyErr_Occurred()) return -1;
    const int64_t widths[PI_ACROSS_KINDS] = {[PI_EXACT_SUM] = PI_SUM_LIMBS,
                                             [PI_EXACT_PRODUCT] = PI_PRODUCT_LIMBS,
                                             [PI_EXTREMES] = 2,
                                             [PI_BINS] = a->bins};
    a->width = widths[a->kind];
    a->stride = r->stride;
    const int64_t rows = pi_product(a->rows, a->groups);
    const int64_t values = a->kind == PI_VALUES ? pi_product(a->rows, a->stride) : 0;
    if (label != Py_None && !(a->label = pi_views_array(r->views, label, "label", lanes, 4, 0)))
        return -1;
    return MEMORY(a, tally, pi_product(rows, PI_TALLY)) ||
           MEMORY(a, items, pi_product(rows, a->width)) || MEMORY(a, values, values) ||
           MEMORY(a, edges, a->bins + 1);
}
void pi_finish_images(const Watches *watches, int64_t blocks) {
    for (int64_t i = 0; i < watches->count; i++)
        for (int64_t j = 0; j < watches->watch[i].n_densities; j++)
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
static int read_watch(const Reader *r, const PiRun *run, PyObject *fields, PiWatch *watch,
                      PiLaneProgram *own) {
    PyObject *densities = field(fields, "densities"), *across;
    const int error = read_program(r, fields, own);
    watch->program = own->program;
    watch->system = own->system;
    watch->asks = own->asks;
    watch->params = own->params;
    watch->n_sums = own->n_sums;
    watch->components = r->dim;
    if (error || !densities || FIELD(across) || INTEGER(watch, every, 1, 0x1p54) ||
        INTEGER(watch, begin, 0, 0x1p54))
        return -1;
    const int quantities = own->program.system->n_invariants - own->n_sums;
    if (quantities < 0) return pi_refused("the program of a watch does not fit its system");
    watch->n_quantities = quantities;
    const Py_ssize_t images = tuple_of(densities, "densities", 0, PI_MAX_REDUCED);
    const Py_ssize_t statistics = tuple_of(across, "across", 0, PI_MAX_REGISTERS);
    if (images < 0 || statistics < 0 || read_reduced(fields, watch) ||
        ZEROS(watch, density, images) || ZEROS(watch, across, statistics))
        return -1;
    for (int64_t i = 0; i < images; i++)
        if (read_density(r, PyTuple_GetItem(densities, i), watch)) return -1;
    for (int64_t i = 0; i < statistics; i++)
        if (read_statistic(r, PyTuple_GetItem(across, i), run->lanes, watch)) return -1;
    if (!images && !statistics && !watch->n_rows)
        return pi_refused("a watch without sums, densities or statistics");
    watch->runs |= watch->n_sums || images || statistics;
    const int64_t items = pi_product(watch->n_rows, r->stride);
    return row(r, fields, "t0", &watch->t0) || row(r, fields, "dt", &watch->h) ||
           row(r, fields, "origin", &watch->origin) || row(r, fields, "factor", &watch->factor) ||
           ARRAY(watch->sums[0], "sums_a", items) || ARRAY(watch->sums[1], "sums_b", items);
}
static int read_watches(const Reader *r, PiRun *run, PyObject *list) {
    Watches *to = r->to;
    const Py_ssize_t n = tuple_of(list, "watches", 0, PI_MAX_OBSERVERS - 1);
    if (n < 0 || ZEROS(to, watch, n)) return -1;
    for (to->count = 0; to->count < n;) {
        PiWatch *watch = &to->watch[to->count++];
        PiLaneProgram own = {0};
        if (read_watch(r, run, PyTuple_GetItem(list, to->count - 1), watch, &own) ||
            pi_run_observe(run, pi_watch_observer(watch, run)))
            return -1;
    }
    return 0;
}
/* The components on which the results of a program depend, as bits. */
static uint64_t asked_for(const PiLaneProgram *one) {
    const int dim = one->system.system->dim, n = one->program.system->n_invariants * dim;
    uint64_t bits = one->linear && dim <= 64 ? 0 : ~(uint64_t)0;
    if (one->linear && dim <= 64)
        for (int64_t i = 0; i < n; i++)
            if (one->linear[i] != 0) bits |= (uint64_t)1 << i % dim;
    return bits ? bits : 1;
}
/* A watch of the ends of steps to a tolerance: its sums are `kept`, (lanes, sums), not two copies.
 */
static int read_ends(const Reader *r, PyObject *fields, int64_t lanes, PiObservation *p) {
    PiLaneProgram *one = &p->watch[p->n_watches++];
    if (read_program(r, fields, one)) return -1;
    if (one->n_sums > one->program.system->n_invariants)
        return pi_refused("the program of a watch does not fit its system");
    return ARRAY(one->sums, "kept", pi_product(lanes, one->n_sums));
}
/* Counts at equal times: fields of bins; samples, after, each: has every trajectory its own? */
static int read_samples(const Reader *r, PyObject *fields, int64_t lanes, PiObservation *p) {
    PiPieceSamples *one = &p->samples[p->n_samples++];
    int64_t each;
    if (read_bins(r, fields, p->timed.program.system->n_invariants, &one->of) ||
        integer(fields, "samples", 1, 0x1p40, &one->count) ||
        SMALL(one, after, -1, p->n_after - 1) || integer(fields, "each", 0, 1, &each))
        return -1;
    const int64_t bins = pi_product(one->of.bins[0], one->of.bins[1]);
    one->stride = each ? bins : 0;
    for (int64_t i = 0; i < one->of.axes; i++) {
        int8_t *const need = &p->need[one->of.quantity[i]];
        if (*need == PI_NEED_APART) *need = PI_NEED_VALUE;
    }
    return MEMORY(one, counts, pi_product(bins, each ? lanes : 1));
}
/* Field counted: two arrays (rows, lanes, numbers) each: what is counted, and room for a copy. */
static int read_counted(const Reader *r, PyObject *fields, int64_t lanes, PiObservation *p) {
    PyObject *list = field(fields, "counted");
    const Py_ssize_t n = tuple_of(list, "counted", 0, 2 * PI_MAX_OBSERVERS);
    if (n < 0) return -1;
    if (n % 2) return pi_refused("counted: expected two arrays of each");
    if (ZEROS(p, counted, n / 2)) return -1;
    for (; p->n_counted < n / 2; p->n_counted++) {
        PiCounted *one = &p->counted[p->n_counted];
        PyObject *const *pair = (PyObject *[]){PyTuple_GetItem(list, 2 * p->n_counted),
                                               PyTuple_GetItem(list, 2 * p->n_counted + 1)};
        if (!(one->live = pi_views_array(r->views, pair[0], "counted", 0, 8, 1))) return -1;
        const Py_buffer *view = &r->views->view[r->views->count - 1]->buffer;
        if (view->ndim != 3 || view->shape[1] != lanes)
            return pi_refused("counted: expected arrays (rows, lanes, numbers)");
        one->rows = view->shape[0], one->bytes = 8 * view->shape[2];
        one->onward = pi_views_array(r->views, pair[1], "counted", view->len / 8, 8, 1);
        if (!one->onward) return -1;
    }
    return 0;
}
/* Fields program, ..., reductions: a tuple of (kind, quantity, after), numbers: (lanes, numbers of
 * all), after: rows of times, samples. */
static int read_reductions(const Reader *r, PyObject *fields, int64_t lanes, PiObservation *p) {
    PyObject *list = field(fields, "reductions"), *after = field(fields, "after");
    PyObject *samples = field(fields, "samples");
    const Py_ssize_t n = tuple_of(list, "reductions", 0, PI_MAX_REGISTERS);
    const Py_ssize_t n_samples = tuple_of(samples, "samples", n == 0, PI_MAX_REGISTERS);
    const Py_ssize_t n_after = tuple_of(after, "after", 0, PI_MAX_OBSERVERS * 8);
    if (n < 0 || n_samples < 0 || n_after < 0 || read_program(r, fields, &p->timed)) return -1;
    const int quantities = p->timed.program.system->n_invariants;
    if (ZEROS(p, reduction, n) || !(p->need = pi_views_zeros(r->views, quantities, 1)) ||
        ZEROS(p, samples, n_samples) || ZEROS(p, after, n_after))
        return -1;
    for (int64_t i = 0; i < quantities; i++) p->need[i] = PI_NEED_APART; /* of comparisons */
    for (int64_t i = 0; i < n; i++) {
        PiPieceReduction *one = &p->reduction[i];
        if (read_three(list, i, &one->kind, PI_PIECE_KINDS, &one->quantity, quantities,
                       &one->after) ||
            one->after < -1 || one->after >= n_after)
            return pi_refused("reductions: expected a kind, a quantity and an after of each");
        const int8_t need = pi_piece_reductions[one->kind].need;
        int8_t *known = &p->need[one->quantity];
        if (need != PI_NEED_NOTHING && (*known == PI_NEED_APART || need > *known)) *known = need;
        one->first = p->n_numbers;
        p->n_numbers += pi_piece_reductions[one->kind].rows;
    }
    p->n_reductions = n;
    p->n_after = n_after;
    for (int64_t i = 0; i < n_samples; i++)
        if (read_samples(r, PyTuple_GetItem(samples, i), lanes, p)) return -1;
    if (MEMORY(p, numbers, pi_product(lanes, p->n_numbers))) return -1;
    return n_after ? pi_views_rows(r->views, after, "after of watches", n_after, lanes, 8, p->after)
                   : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */
static int read_event(const Reader *r, PyObject *fields, int64_t answers, PiEvent *event) {
    if (SMALL(event, direction, -1, 1) || SMALL(event, located, 0, 1) ||
        INTEGER(event, stop, 0, 0x1p54) || INTEGER(event, keep, 0, 0x1p40) ||
        SMALL(event, onto, -1, answers >= r->dim ? answers - r->dim : -1) ||
        SMALL(event, then, -1, answers >= r->dim ? answers - r->dim : -1) ||
        SMALL(event, n_values, 0, answers) || SMALL(event, value, 0, answers - event->n_values))
        return -1;
    if (!event->keep) return 0;
    const int64_t items = pi_product(event->keep, r->stride);
    if (MEMORY(event, t, items) || MEMORY(event, y, pi_product(items, r->dim))) return -1;
    return event->n_values && MEMORY(event, values, pi_product(items, event->n_values));
}
/* Fields react, most, stopped_at, stopped_by and events, a tuple; `detect` is known. */
static int read_all_events(const Reader *r, PyObject *fields, PiEvents *e) {
    PyObject *react = field(fields, "react"), *list = field(fields, "events");
    const Py_ssize_t n = tuple_of(list, "events", 1, 127);
    if (!react || n < 0 || INTEGER(e, most, 1, 0x1p54) ||
        (react != Py_None && read_program(r, react, &e->react)))
        return -1;
    if (e->detect.program.system->n_invariants < n || e->detect.n_sums || e->react.n_sums)
        return pi_refused("events: %zd of %d quantities", n,
                          e->detect.program.system->n_invariants);
    e->stride = r->stride;
    if (ZEROS(e, event, n) || MEMORY(e, stopped_at, r->stride) ||
        !(e->stopped_by =
              pi_views_array(r->views, field(fields, "stopped_by"), "stopped_by", r->stride, 1, 1)))
        return -1;
    const int64_t answers = react == Py_None ? 0 : e->react.program.system->n_invariants;
    for (e->count = 0; e->count < n; e->count++)
        if (read_event(r, PyTuple_GetItem(list, e->count), answers, &e->event[e->count])) return -1;
    for (int64_t i = 0; i < n; i++)
        if (e->event[i].onto >= 0 && !e->detect.system.system->steps)
            return pi_refused("onto: of systems with noise");
    return 0;
}
/* Are the reductions those of events? */
static int all_pass(const PiWatch *watch) {
    int pass = watch->every == 1;
    for (int64_t i = 0; i < watch->n_reduced; i++) pass &= watch->reduced[i].kind >= PI_RISES;
    return pass;
}
static int read_events(const Reader *r, PiRun *run, PyObject *fields) {
    PyObject *detect = field(fields, "detect");
    PiFixedEvents *e = r->to->events = pi_views_zeros(r->views, 1, sizeof *e);
    if (!e || !detect) return -1;
    const PiWatch *w = &e->watch;
    e->between = r->to->between;
    if (read_watch(r, run, detect, &e->watch, &e->events.detect)) return -1;
    e->events.exact = 1;
    PiLaneProgram *const program = &e->events.detect; /* their steps are no polynomials */
    program->linear = program->borders = program->degrees = NULL;
    if (read_all_events(r, fields, &e->events)) return -1;
    const int n = e->events.count;
    if (w->n_densities || w->n_across || w->n_quantities != n || w->n_reduced != n ||
        !all_pass(w) || run->state_rows != run->system->dim * (run->compensated ? 2 : 1))
        return pi_refused("events: %d of %d quantities, for a method that remembers nothing", n,
                          w->n_quantities);
    const int64_t items = pi_product(pi_event_rows(n), run->stride);
    if (ARRAY(e->counts[0], "counts_a", items) || ARRAY(e->counts[1], "counts_b", items)) return -1;
    return pi_run_observe(run, pi_events_observer(e));
}
int pi_read_observation(PyObject *module, PiAdaptiveRun *run, const Given *o, Views *views,
                        Watches *to) {
    PyObject *fields = o->observation;
    const int64_t lanes = run->solve.lanes;
    const Reader reader = {module, o->system, run->solve.system->dim, lanes, views, to},
                 *const r = &reader;
    PiObservation *p = to->observation = pi_views_zeros(views, 1, sizeof *p);
    PyObject *watches = field(fields, "watches"), *events, *timed, *detect;
    const Py_ssize_t n = tuple_of(watches, "watches", 0, PI_MAX_OBSERVERS);
    if (!p || n < 0 || FIELD(events) || FIELD(timed) ||
        !(p->seen = pi_views_array(views, field(fields, "seen"), "seen", lanes, 1, 1)) ||
        ZEROS(p, watch, n))
        return -1;
    for (int64_t w = 0; w < n; w++)
        if (read_ends(r, PyTuple_GetItem(watches, w), lanes, p)) return -1;
    if (read_counted(r, fields, lanes, p) || row(r, fields, "sampled", &p->sampled) ||
        row(r, fields, "until", &p->until) ||
        (timed != Py_None && read_reductions(r, timed, lanes, p)))
        return -1;
    if (events != Py_None) {
        PiEvents *e = &p->events;
        if (!(detect = field(events, "detect")) || read_program(r, detect, &e->detect) ||
            read_all_events(r, events, e) ||
            !(e->counts = memory(r, events, "counts", pi_product(pi_event_rows(e->count), lanes))))
            return -1;
    }
    run->observation = p;
    run->solve.segments = (p->n_reductions || p->n_samples ? asked_for(&p->timed) : 0) |
                          (p->events.count ? asked_for(&p->events.detect) : 0);
    return 0;
}

/* ---- what is known of reductions --------------------------------------------------------------
 */
static PyObject *told_reductions(const PiDeclared *declared, int count) {
    PyObject *out = PyDict_New();
    for (int i = 0; out && i < count; i++) {
        PyObject *initial = PyTuple_New(declared[i].rows);
        for (int k = 0; initial && k < declared[i].rows; k++)
            PyTuple_SetItem(initial, k, PyFloat_FromDouble(declared[i].initial[k]));
        pi_put(&out, declared[i].name, Py_BuildValue("(iNd)", i, initial, declared[i].again));
    }
    return out;
}
PyObject *pi_core_reductions(PyObject *module, PyObject *none) {
    return Py_BuildValue("(NN)", told_reductions(pi_reductions, PI_REDUCTIONS),
                         told_reductions(pi_piece_reductions, PI_PIECE_KINDS));
}

/* ---- times ----------------------------------------------------------------------------------- */
static int read_times(const Reader *r, PiRun *run, PyObject *fields, PiRecord *record) {
    PyObject *t = field(fields, "t");
    PiBetween *b = r->to->between = pi_views_zeros(r->views, 1, sizeof *b);
    int64_t each;
    if (!b || !t || integer(fields, "each", 0, 1, &each) || INTEGER(b, count, 0, 0x1p48)) return -1;
    b->t_stride = each ? r->stride : 1;
    b->t_lane = each;
    b->record = record;
    if (ZEROS(b, next, r->stride) || ZEROS(b, due, r->stride) ||
        !(b->before = pi_views_zeros(r->views, pi_product(r->dim, r->stride), run->real_bytes)) ||
        row(r, fields, "t0", &b->t0) || row(r, fields, "dt", &b->h) ||
        !(b->t = pi_views_array(r->views, t, "t", pi_product(b->count, b->t_stride), 8, 0)))
        return -1;
    View *const *place = pi_views_find(r->views, "record"); /* each new view may move the list */
    if (!place) return pi_refused("times need a record");
    if ((*place)->buffer.shape[0] < b->count)
        return pi_refused("record has room for %zd of %lld times", (*place)->buffer.shape[0],
                          (long long)b->count);
    return pi_run_observe(run, pi_between_observer(b));
}

static int read_renormalise(const Reader *r, PiRun *run, PyObject *fields) {
    PiRenormalise *own = &r->to->renormalise;
    PyObject *places;
    if (INTEGER(own, every, 1, 0x1p54) || SMALL(own, vectors, 1, r->dim) ||
        SMALL(own, dim, 1, r->dim / own->vectors) || SMALL(own, orthogonal, 0, 1) ||
        SMALL(own, indicators, 0, 1) || FIELD(places))
        return -1;
    const int64_t items = pi_product(own->vectors, own->dim);
    const int64_t rows = own->vectors + (own->indicators ? PI_INDICATORS : 0);
    const int64_t *given = pi_views_array(r->views, places, "places", items, 8, 0);
    /* A copy, as others may write to the array. */
    int64_t *row = pi_views_zeros(r->views, items, sizeof *row);
    if (!given || !row || MEMORY(own, sums, pi_product(rows, r->stride))) return -1;
    memcpy(row, given, items * sizeof *row);
    own->row = row;
    for (int64_t i = 0; i < items; i++)
        if (row[i] < 0 || row[i] >= r->dim)
            return pi_refused("there is no component %lld", (long long)row[i]);
    if (run->state_rows != r->dim || run->n_observers)
        return pi_refused("renormalise: for a method that remembers nothing, and "
                          "a run that nobody else observes");
    return pi_run_observe(run, pi_renormalise_observer(own));
}

int pi_read_watching(PyObject *module, PiRun *run, const Given *o, PiRecord *record, Views *views,
                     Watches *to) {
    const Reader reader = {module, o->system, run->system->dim, run->stride, views, to},
                 *const r = &reader;
    /* Times come before events, which pass pieces to them. */
    return (o->times && read_times(r, run, o->times, record)) ||
           (o->watches && read_watches(r, run, o->watches)) ||
           (o->events && read_events(r, run, o->events)) ||
           (o->renormalise && read_renormalise(r, run, o->renormalise));
}

void pi_free_watches(Watches *watches) {
    for (int64_t i = 0; i < watches->count; i++)
        for (int64_t j = 0; j < watches->watch[i].n_across; j++)
            pi_across_free(&watches->watch[i].across[j]);
    Py_XDECREF(watches->programs);
}
