/* The watches and events of a run: named fields of each, and memory for each lane, as observers of
 * the core. */
#include "watching.h"
#include <string.h>

PyObject *watch_field(PyObject *fields, const char *name) {
    PyObject *key = PyUnicode_FromString(name), *value = NULL;
    if (key && PyDict_Check(fields)) value = PyDict_GetItemWithError(fields, key);
    Py_XDECREF(key);
    if (!value && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "a watch is a dictionary with the field %s", name);
    return value;
}
static int integer(PyObject *fields, const char *name, int64_t least, int64_t most, int64_t *to) {
    PyObject *value = watch_field(fields, name);
    if (!value) return -1;
    *to = PyLong_AsLongLong(value);
    if (*to == -1 && PyErr_Occurred()) return -1;
    if (*to >= least && *to <= most) return 0;
    PyErr_Format(PyExc_ValueError, "%s of a watch is %lld, expected %lld to %lld", name,
                 (long long)*to, (long long)least, (long long)most);
    return -1;
}

/* Reductions that the core knows: (kind, source, number) each. Their sums follow the program's. */
static int read_reduced(PyObject *fields, int64_t n_quantities, PiWatch *watch) {
    static const int rows[PI_REDUCTIONS] = {
        [PI_LARGEST] = 2, [PI_SMALLEST] = 2,       [PI_LARGEST_MAGNITUDE] = 2,
        [PI_SUM] = 2,     [PI_SUM_OF_SQUARES] = 2, [PI_LINE] = 10,
        [PI_RISES] = 4,   [PI_FALLS] = 4,          [PI_PASSES] = 4};
    PyObject *list = watch_field(fields, "reduced");
    if (!list) return -1;
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    const int64_t energies = !(watch->system.unanswered >> PI_ENERGY & 1);
    watch->n_quantities = (int)n_quantities;
    watch->n_rows = watch->n_sums;
    int error = n < 0 || n > PI_MAX_REDUCED;
    for (watch->n_reduced = 0; !error && watch->n_reduced < n; watch->n_reduced++) {
        PiReduced *one = &watch->reduced[watch->n_reduced];
        PyObject *three = PyTuple_GetItem(list, watch->n_reduced);
        error = !PyTuple_Check(three) ||
                !PyArg_ParseTuple(three, "iii", &one->kind, &one->source, &one->number) ||
                one->kind < 0 || one->kind >= PI_REDUCTIONS || one->source < 0 ||
                one->source >= PI_SOURCES || one->number < 0;
        if (error) break;
        const int64_t numbers = one->source == PI_OF_PROGRAM ? n_quantities
                                : one->source == PI_OF_STATE ? watch->components
                                                             : energies;
        error = one->number >= numbers;
        if (error) break;
        one->first = watch->n_rows;
        watch->n_rows += rows[one->kind];
    }
    if (!error) return 0;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError,
                        "reduced: expected a kind, a source and a number of each");
    return -1;
}
/* An array of whole numbers, and of doubles, in a field. */
static void *items(PyObject *fields, const char *name, int64_t count, Views *views) {
    PyObject *array = watch_field(fields, name);
    return array ? views_array(views, array, name, count, 8, 1) : NULL;
}
static int read_density(PyObject *fields, int64_t n_quantities, Views *views, PiDensity *d) {
    int64_t first, second, axes;
    const int64_t most = (int64_t)1 << 31;
    if (integer(fields, "axes", 1, 2, &axes) ||
        integer(fields, "first", 0, n_quantities - 1, &first) ||
        integer(fields, "second", 0, n_quantities - 1, &second) ||
        integer(fields, "rows", 1, most, &d->bins[0]) ||
        integer(fields, "columns", 1, most, &d->bins[1]) ||
        integer(fields, "room", 0, most, &d->room))
        return -1;
    d->axes = (int)axes;
    d->quantity[0] = (int)first;
    d->quantity[1] = (int)second;
    if (axes == 1) d->bins[1] = 1;
    const int64_t bins = pi_product(d->bins[0], d->bins[1]);
    return !(d->edges[0] = items(fields, "row_edges", d->bins[0] + 1, views)) ||
                   !(d->edges[1] = items(fields, "column_edges", d->bins[1] + 1, views)) ||
                   !(d->image = items(fields, "image", bins, views)) ||
                   !(d->pending = items(fields, "pending", pi_product(2, bins), views)) ||
                   !(d->list = items(fields, "list", pi_product(2, d->room), views)) ||
                   !(d->state = items(fields, "state", PI_DENSITY_STATE, views))
               ? -1
               : 0;
}
static int read_densities(PyObject *fields, Views *views, PiWatch *watch) {
    PyObject *list = watch_field(fields, "densities");
    const Py_ssize_t n = list && PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 0 || n > PI_MAX_REDUCED) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "densities: expected a tuple");
        return -1;
    }
    watch->density = PyMem_Calloc((size_t)n + 1, sizeof *watch->density);
    if (!watch->density) return PyErr_NoMemory(), -1;
    for (; watch->n_densities < n; watch->n_densities++)
        if (read_density(PyTuple_GetItem(list, watch->n_densities), watch->n_quantities, views,
                         &watch->density[watch->n_densities]))
            return -1;
    return 0;
}
static int read_statistic(PyObject *fields, const PiRun *run, int64_t n_quantities, Views *views,
                          PiAcross *a) {
    int64_t kind, first, second;
    const int64_t most = (int64_t)1 << 31;
    PyObject *about = watch_field(fields, "about"), *label;
    atomic_flag_clear(&a->busy);
    if (!about || integer(fields, "kind", 0, PI_ACROSS_KINDS - 1, &kind) ||
        integer(fields, "first", 0, n_quantities - 1, &first) ||
        integer(fields, "second", 0, n_quantities - 1, &second) ||
        integer(fields, "row", 0, (int64_t)1 << 54, &a->first) ||
        integer(fields, "rows", 0, (int64_t)1 << 40, &a->rows) ||
        integer(fields, "groups", 1, most, &a->groups) ||
        integer(fields, "bins", 1, most, &a->bins) || !(label = watch_field(fields, "label")))
        return -1;
    a->kind = (int)kind;
    a->quantity[0] = (int)first;
    a->quantity[1] = (int)second;
    a->about = PyFloat_AsDouble(about);
    if (PyErr_Occurred()) return -1;
    const int64_t widths[PI_ACROSS_KINDS] = {[PI_EXACT_SUM] = PI_SUM_LIMBS,
                                             [PI_EXACT_PRODUCT] = PI_PRODUCT_LIMBS,
                                             [PI_EXTREMES] = 2,
                                             [PI_BINS] = a->bins};
    a->width = widths[kind];
    a->stride = run->stride;
    const int64_t rows = pi_product(a->rows, a->groups);
    const int64_t values = kind == PI_VALUES ? pi_product(a->rows, a->stride) : 0;
    if (label != Py_None && !(a->label = views_array(views, label, "label", run->lanes, 4, 0)))
        return -1;
    return !(a->tally = items(fields, "tally", pi_product(rows, PI_TALLY), views)) ||
                   !(a->items = items(fields, "items", pi_product(rows, a->width), views)) ||
                   !(a->values = items(fields, "values", values, views)) ||
                   !(a->edges = items(fields, "edges", a->bins + 1, views))
               ? -1
               : 0;
}
static int read_across(PyObject *fields, const PiRun *run, Views *views, PiWatch *watch) {
    PyObject *list = watch_field(fields, "across");
    const Py_ssize_t n = list && PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 0 || n > PI_MAX_REGISTERS || n + watch->n_densities + watch->n_rows == 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a watch of nothing");
        return -1;
    }
    watch->across = PyMem_Calloc((size_t)n + 1, sizeof *watch->across);
    if (!watch->across) return PyErr_NoMemory(), -1;
    for (; watch->n_across < n; watch->n_across++)
        if (read_statistic(PyTuple_GetItem(list, watch->n_across), run, watch->n_quantities, views,
                           &watch->across[watch->n_across]))
            return -1;
    return 0;
}
/* For each statistic of the batch the keys and the counts of its pages of cells, in no order. */
PyObject *cells_of(const Watches *watches) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < watches->count; i++)
        for (int j = 0; list && j < watches->watch[i].n_across; j++) {
            const PiAcross *a = &watches->watch[i].across[j];
            PyObject *keys = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * a->pages)), *both;
            for (int64_t k = 0; keys && k < 2 * a->room; k++)
                if (a->slots[2 * k]) {
                    const int64_t key = a->slots[2 * k] - 1;
                    memcpy(PyBytes_AsString(keys) + 8 * a->slots[2 * k + 1], &key, 8);
                }
            both = Py_BuildValue("(Ny#)", keys, a->pages ? (char *)a->counts : "",
                                 (Py_ssize_t)(PI_PAGE * sizeof *a->counts * a->pages));
            if (!both || PyList_Append(list, both)) Py_CLEAR(list);
            Py_XDECREF(both);
        }
    return list;
}
static int read_watch(PyObject *module, const PiRun *run, PyObject *system, PyObject *fields,
                      Views *views, PyObject *programs, PiWatch *watch) {
    PyObject *program = watch_field(fields, "program"), *params, *t0, *dt, *origin, *factor, *a, *b;
    int64_t asks, n_sums;
    if (!program || PyList_Append(programs, program) ||
        find_system(module, program, 64, &watch->program) ||
        find_system(module, system, 64, &watch->system) ||
        integer(fields, "every", 1, (int64_t)1 << 54, &watch->every) ||
        integer(fields, "begin", 0, (int64_t)1 << 54, &watch->begin) ||
        integer(fields, "asks", 0, PI_WATCH_ALL, &asks) ||
        integer(fields, "sums", 0, PI_MAX_REGISTERS, &n_sums) ||
        !(params = watch_field(fields, "params")) || !(t0 = watch_field(fields, "t0")) ||
        !(dt = watch_field(fields, "dt")) || !(origin = watch_field(fields, "origin")) ||
        !(factor = watch_field(fields, "factor")) || !(a = watch_field(fields, "sums_a")) ||
        !(b = watch_field(fields, "sums_b")))
        return -1;
    const PiSystem *s = watch->system.system, *p = watch->program.system;
    watch->asks = (int)asks;
    watch->components = s->dim;
    watch->n_sums = (int)n_sums;
    const int64_t rows = s->dim + 1 + (asks & PI_WATCH_ENERGY ? 1 : 0) +
                         (asks & PI_WATCH_INVARIANTS ? s->n_invariants : 0) + n_sums;
    const unsigned unanswered = watch->system.unanswered;
    if (read_reduced(fields, p->n_invariants - n_sums, watch) ||
        read_densities(fields, views, watch) || read_across(fields, run, views, watch))
        return -1;
    if (rows != p->dim || p->dof || p->n_invariants < n_sums || p->n_params < s->n_params ||
        watch->program.unanswered >> PI_INVARIANTS & 1 || s->dim != run->system->dim ||
        (asks & PI_WATCH_ENERGY && unanswered >> PI_ENERGY & 1) ||
        (asks & PI_WATCH_INVARIANTS && unanswered >> PI_INVARIANTS & 1)) {
        PyErr_SetString(PyExc_ValueError, "the program of a watch does not fit its system");
        return -1;
    }
    watch->runs = n_sums || watch->n_densities || watch->n_across;
    for (int i = 0; i < watch->n_reduced; i++)
        watch->runs |= watch->reduced[i].source == PI_OF_PROGRAM;
    watch->params = PyMem_Calloc((size_t)p->n_params + 1, sizeof *watch->params);
    if (!watch->params) return PyErr_NoMemory(), -1;
    const int64_t items = pi_product(watch->n_rows, run->stride);
    return views_rows(views, params, "params of a watch", p->n_params, run->stride, 8,
                      watch->params) ||
                   views_row(views, t0, "t0 of a watch", run->stride, 8, &watch->t0) ||
                   views_row(views, dt, "dt of a watch", run->stride, 8, &watch->h) ||
                   views_row(views, origin, "origin of a watch", run->stride, 8, &watch->origin) ||
                   views_row(views, factor, "factor of a watch", run->stride, 8, &watch->factor) ||
                   !(watch->sums[0] = views_array(views, a, "sums_a", items, 8, 1)) ||
                   !(watch->sums[1] = views_array(views, b, "sums_b", items, 8, 1))
               ? -1
               : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */
/* A writable array of doubles (or bytes) in a field. */
static void *memory(PyObject *fields, const char *name, int64_t items, int item, Views *views) {
    PyObject *array = watch_field(fields, name);
    return array ? views_array(views, array, name, items, item, 1) : NULL;
}
static int small(PyObject *fields, const char *name, int64_t least, int64_t most, int *to) {
    int64_t value;
    if (integer(fields, name, least, most, &value)) return -1;
    *to = (int)value;
    return 0;
}
int read_event(PyObject *fields, int dim, int64_t stride, int64_t answers, Views *views,
               PiEvent *event) {
    if (small(fields, "direction", -1, 1, &event->direction) ||
        small(fields, "located", 0, 1, &event->located) ||
        integer(fields, "stop", 0, (int64_t)1 << 54, &event->stop) ||
        integer(fields, "keep", 0, (int64_t)1 << 40, &event->keep) ||
        small(fields, "then", -1, answers >= dim ? answers - dim : -1, &event->then) ||
        small(fields, "n_values", 0, answers, &event->n_values) ||
        small(fields, "value", 0, answers - event->n_values, &event->value))
        return -1;
    if (!event->keep) {
        event->n_values = event->n_values > 0 ? event->n_values : 0;
        return 0;
    }
    const int64_t items = pi_product(event->keep, stride);
    if (!(event->t = memory(fields, "t", items, 8, views)) ||
        !(event->y = memory(fields, "y", pi_product(items, dim), 8, views)))
        return -1;
    if (!event->n_values) return 0;
    event->values = memory(fields, "values", pi_product(items, event->n_values), 8, views);
    return event->values ? 0 : -1;
}
/* The program that says what follows, of the same state as that of the quantities. */
static int read_reaction(PyObject *module, PyObject *program, PiEvents *e, Watches *to) {
    ResolvedSystem *react = &e->react;
    if (PyList_Append(to->programs, program) || find_system(module, program, 64, react)) return -1;
    const PiSystem *a = react->system, *b = e->watch.program.system;
    if (a->dim == b->dim && !a->dof && a->n_params == b->n_params &&
        !(react->unanswered >> PI_INVARIANTS & 1))
        return 0;
    PyErr_SetString(PyExc_ValueError, "the programs of events do not fit each other");
    return -1;
}
/* Are the reductions those of events? */
static int all_pass(const PiWatch *watch) {
    int pass = watch->every == 1;
    for (int i = 0; i < watch->n_reduced; i++) pass &= watch->reduced[i].kind >= PI_RISES;
    return pass;
}
int read_events(PyObject *module, PiRun *run, PyObject *system, PyObject *fields, Views *views,
                Watches *to) {
    PyObject *detect = watch_field(fields, "detect"), *react, *list;
    PiEvents *e = to->events = PyMem_Calloc(1, sizeof *e);
    if (!e) return PyErr_NoMemory(), -1;
    e->between = to->between;
    if (!to->programs) to->programs = PyList_New(0);
    if (!to->programs || !detect || !(react = watch_field(fields, "react")) ||
        !(list = watch_field(fields, "events")) ||
        read_watch(module, run, system, detect, views, to->programs, &e->watch) ||
        integer(fields, "most", 1, (int64_t)1 << 54, &e->most))
        return -1;
    if (react != Py_None && read_reaction(module, react, e, to)) return -1;
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 1 || n > 127 || e->watch.n_sums || e->watch.n_densities || e->watch.n_across ||
        e->watch.n_quantities != n || e->watch.n_reduced != n || !all_pass(&e->watch) ||
        run->state_rows != run->system->dim * (run->compensated ? 2 : 1)) {
        PyErr_Format(PyExc_ValueError,
                     "events: %zd of %d quantities, for a method that remembers nothing", n,
                     e->watch.n_quantities);
        return -1;
    }
    const int64_t items = pi_product(2, pi_product(n, run->stride));
    e->event = PyMem_Calloc((size_t)n, sizeof *e->event);
    if (!e->event) return PyErr_NoMemory(), -1;
    if (!(e->counts[0] = memory(fields, "counts_a", items, 8, views)) ||
        !(e->counts[1] = memory(fields, "counts_b", items, 8, views)) ||
        !(e->stopped_at = memory(fields, "stopped_at", run->stride, 8, views)) ||
        !(e->stopped_by = memory(fields, "stopped_by", run->stride, 1, views)))
        return -1;
    for (e->count = 0; e->count < n; e->count++)
        if (read_event(PyTuple_GetItem(list, e->count), run->system->dim, run->stride,
                       e->react.system ? e->react.system->n_invariants : 0, views,
                       &e->event[e->count]))
            return -1;
    return pi_run_observe(run, pi_events_observer(e));
}

/* ---- times ----------------------------------------------------------------------------------- */
int read_times(PyObject *module, PiRun *run, PyObject *system, PyObject *fields, PiRecord *record,
               Views *views, Watches *to) {
    PyObject *t = watch_field(fields, "t"), *params, *t0, *dt;
    PiBetween *b = to->between = PyMem_Calloc(1, sizeof *b);
    if (!b) return PyErr_NoMemory(), -1;
    int64_t each;
    if (!t || !(params = watch_field(fields, "params")) || !(t0 = watch_field(fields, "t0")) ||
        !(dt = watch_field(fields, "dt")) || integer(fields, "each", 0, 1, &each) ||
        integer(fields, "count", 0, (int64_t)1 << 48, &b->count) ||
        find_system(module, system, 64, &b->system))
        return -1;
    const int n = b->system.system->n_params, dim = b->system.system->dim;
    b->t_stride = each ? run->stride : 1;
    b->t_lane = each;
    b->record = record;
    b->params = PyMem_Calloc((size_t)n + 1, sizeof *b->params);
    b->next = PyMem_Calloc((size_t)run->stride + 1, sizeof *b->next);
    b->due = PyMem_Calloc((size_t)run->stride + 1, sizeof *b->due);
    b->before = PyMem_Calloc((size_t)pi_product(dim, run->stride) + 1, (size_t)run->real_bytes);
    if (!b->params || !b->next || !b->due || !b->before) return PyErr_NoMemory(), -1;
    if (views_rows(views, params, "params of times", n, run->stride, 8, b->params) ||
        views_row(views, t0, "t0 of times", run->stride, 8, &b->t0) ||
        views_row(views, dt, "dt of times", run->stride, 8, &b->h) ||
        !(b->t = views_array(views, t, "t", pi_product(b->count, b->t_stride), 8, 0)))
        return -1;
    return pi_run_observe(run, pi_between_observer(b));
}

int read_renormalise(PiRun *run, PyObject *fields, Views *views, Watches *to) {
    PiRenormalise *r = &to->renormalise;
    PyObject *places;
    if (integer(fields, "every", 1, (int64_t)1 << 54, &r->every) ||
        small(fields, "vectors", 1, run->system->dim, &r->vectors) ||
        small(fields, "dim", 1, run->system->dim / r->vectors, &r->dim) ||
        small(fields, "orthogonal", 0, 1, &r->orthogonal) ||
        small(fields, "indicators", 0, 1, &r->indicators) ||
        !(places = watch_field(fields, "places")))
        return -1;
    const int64_t items = pi_product(r->vectors, r->dim);
    const int64_t rows = r->vectors + (r->indicators ? PI_INDICATORS : 0);
    const int64_t *given = views_array(views, places, "places", items, 8, 0);
    if (!given || !(r->sums = memory(fields, "sums", pi_product(rows, run->stride), 8, views)))
        return -1;
    /* A copy, as others may write to the array. */
    if (!(to->places = PyMem_Calloc((size_t)items, sizeof *to->places)))
        return PyErr_NoMemory(), -1;
    memcpy(to->places, given, (size_t)items * sizeof *to->places);
    r->row = to->places;
    for (int64_t i = 0; i < items; i++)
        if (r->row[i] < 0 || r->row[i] >= run->system->dim)
            return PyErr_Format(PyExc_ValueError, "there is no component %lld",
                                (long long)r->row[i]),
                   -1;
    if (run->state_rows != run->system->dim || run->n_observers) {
        PyErr_SetString(PyExc_ValueError, "renormalise: for a method that remembers nothing, and "
                                          "a run that nobody else observes");
        return -1;
    }
    return pi_run_observe(run, pi_renormalise_observer(r));
}

int read_watches(PyObject *module, PiRun *run, PyObject *system, PyObject *list, Views *views,
                 Watches *to) {
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 0 || n > PI_MAX_OBSERVERS - 1) {
        PyErr_Format(PyExc_ValueError, "watches: expected a tuple of at most %d",
                     PI_MAX_OBSERVERS - 1);
        return -1;
    }
    to->watch = PyMem_Calloc((size_t)n + 1, sizeof *to->watch);
    if (!to->programs) to->programs = PyList_New(0);
    if (!to->watch || !to->programs) return PyErr_NoMemory(), -1;
    for (to->count = 0; to->count < n;) {
        PiWatch *watch = &to->watch[to->count++];
        PyObject *fields = PyTuple_GetItem(list, to->count - 1);
        if (read_watch(module, run, system, fields, views, to->programs, watch)) return -1;
        if (pi_run_observe(run, pi_watch_observer(watch, run))) return -1;
    }
    return 0;
}
void free_watches(Watches *watches) {
    for (int i = 0; i < watches->count; i++) {
        PyMem_Free(watches->watch[i].params);
        PyMem_Free(watches->watch[i].density);
        for (int j = 0; j < watches->watch[i].n_across; j++)
            pi_across_free(&watches->watch[i].across[j]);
        PyMem_Free(watches->watch[i].across);
    }
    PyMem_Free(watches->watch);
    PyMem_Free(watches->places);
    if (watches->events) {
        PyMem_Free(watches->events->watch.params);
        PyMem_Free(watches->events->watch.density);
        PyMem_Free(watches->events->watch.across);
        PyMem_Free(watches->events->event);
    }
    PyMem_Free(watches->events);
    if (watches->between) {
        PyMem_Free(watches->between->params);
        PyMem_Free(watches->between->next);
        PyMem_Free(watches->between->due);
        PyMem_Free(watches->between->before);
    }
    PyMem_Free(watches->between);
    Py_XDECREF(watches->programs);
}
