/* Watches and events of a run to a tolerance: named fields of each, and memory for each
 * trajectory. */
#include "observation.h"

void free_observation(Observation *to) {
    if (!to) return;
    PiObservation *p = &to->observation;
    for (int w = 0; w < p->n_watches; w++) PyMem_Free(p->watch[w].params);
    PyMem_Free(p->watch);
    PyMem_Free(p->detect.params);
    PyMem_Free(p->timed.params);
    PyMem_Free(p->detect.linear);
    PyMem_Free(p->timed.linear);
    PyMem_Free(p->reduction);
    PyMem_Free(p->need);
    PyMem_Free(p->after);
    PyMem_Free(p->react.params);
    PyMem_Free(p->event);
    Py_XDECREF(to->programs);
    PyMem_Free(to);
}

/* Field linear: the factors of the components, one result after the other; None: they are not. */
static int read_linear(PyObject *fields, PiLaneProgram *one) {
    PyObject *linear = watch_field(fields, "linear");
    const int n = one->program.system->n_invariants * one->system.system->dim;
    if (!linear) return -1;
    if (linear == Py_None) return 0;
    one->linear = PyMem_Calloc((size_t)n + 1, sizeof *one->linear);
    if (!one->linear) return PyErr_NoMemory(), -1;
    return read_numbers(linear, "linear", n, one->linear);
}
/* Fields program, asks, sums, linear, params and, if there are sums, kept: (lanes, sums). */
static int read_program(PyObject *module, Observation *to, const PiAdaptiveRun *run,
                        PyObject *system, PyObject *fields, Views *views, PiLaneProgram *one) {
    const int64_t lanes = run->solve.lanes;
    PyObject *program = watch_field(fields, "program"), *asks, *sums, *params, *kept;
    if (!program || !(asks = watch_field(fields, "asks")) ||
        !(sums = watch_field(fields, "sums")) || !(params = watch_field(fields, "params")) ||
        !(kept = watch_field(fields, "kept")) || PyList_Append(to->programs, program) ||
        find_system(module, program, 64, &one->program) ||
        find_system(module, system, 64, &one->system))
        return -1;
    const PiSystem *s = one->system.system, *p = one->program.system;
    const unsigned unanswered = one->system.unanswered;
    const int64_t n_sums = PyLong_AsLongLong(sums), n_asks = PyLong_AsLongLong(asks);
    if (PyErr_Occurred()) return -1;
    const int64_t rows = s->dim + 1 + (n_asks & PI_WATCH_ENERGY ? 1 : 0) +
                         (n_asks & PI_WATCH_INVARIANTS ? s->n_invariants : 0) + n_sums;
    if (n_asks < 0 || n_asks > PI_WATCH_ALL || n_sums < 0 || n_sums > PI_MAX_REGISTERS ||
        rows != p->dim || p->dof || p->n_params < s->n_params || p->n_invariants < 1 ||
        (kept != Py_None && p->n_invariants < n_sums) ||
        one->program.unanswered >> PI_INVARIANTS & 1 || s->dim != run->solve.system->dim ||
        (n_asks & PI_WATCH_ENERGY && unanswered >> PI_ENERGY & 1) ||
        (n_asks & PI_WATCH_INVARIANTS && unanswered >> PI_INVARIANTS & 1)) {
        PyErr_SetString(PyExc_ValueError, "the program of a watch does not fit its system");
        return -1;
    }
    one->n_sums = (int)n_sums;
    one->asks = (int)n_asks;
    one->params = PyMem_Calloc((size_t)p->n_params + 1, sizeof *one->params);
    if (!one->params) return PyErr_NoMemory(), -1;
    if (read_linear(fields, one) ||
        views_rows(views, params, "params of a watch", p->n_params, lanes, 8, one->params))
        return -1;
    if (kept == Py_None) return 0;
    one->sums = views_array(views, kept, "kept", pi_product(lanes, n_sums), 8, 1);
    return one->sums ? 0 : -1;
}
static int read_watches_of(PyObject *module, Observation *to, const PiAdaptiveRun *run,
                           PyObject *system, PyObject *list, Views *views) {
    PiObservation *p = &to->observation;
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 0 || n > PI_MAX_OBSERVERS) {
        PyErr_SetString(PyExc_ValueError, "watches: expected a tuple of some dictionaries");
        return -1;
    }
    p->watch = PyMem_Calloc((size_t)n + 1, sizeof *p->watch);
    if (!p->watch) return PyErr_NoMemory(), -1;
    for (Py_ssize_t w = 0; w < n; w++) {
        p->n_watches++;
        if (read_program(module, to, run, system, PyTuple_GetItem(list, w), views, &p->watch[w]))
            return -1;
        if (!p->watch[w].sums) {
            PyErr_SetString(PyExc_ValueError, "a watch keeps something");
            return -1;
        }
    }
    return 0;
}
/* Fields program, ..., reductions: a tuple of (kind, quantity, after), apart: which quantities need
 * their zeros apart, numbers: (lanes, numbers of all), after: rows of times. */
static int read_reductions(PyObject *module, Observation *to, const PiAdaptiveRun *run,
                           PyObject *system, PyObject *fields, Views *views) {
    PiObservation *p = &to->observation;
    const int64_t lanes = run->solve.lanes;
    PyObject *list, *numbers, *after;
    if (!(list = watch_field(fields, "reductions")) ||
        !(numbers = watch_field(fields, "numbers")) || !(after = watch_field(fields, "after")) ||
        read_program(module, to, run, system, fields, views, &p->timed))
        return -1;
    const int quantities = p->timed.program.system->n_invariants;
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    const Py_ssize_t n_after = PyTuple_Check(after) ? PyTuple_Size(after) : -1;
    if (n < 1 || n > PI_MAX_REGISTERS || n_after < 0 || n_after > PI_MAX_OBSERVERS * 8) {
        PyErr_SetString(PyExc_ValueError, "reductions: expected a tuple of some");
        return -1;
    }
    p->reduction = PyMem_Calloc((size_t)n, sizeof *p->reduction);
    p->need = PyMem_Calloc((size_t)quantities, 1);
    p->after = PyMem_Calloc((size_t)n_after + 1, sizeof *p->after);
    if (!p->reduction || !p->need || !p->after) return PyErr_NoMemory(), -1;
    for (int i = 0; i < quantities; i++) p->need[i] = PI_NEED_APART; /* of comparisons */
    for (Py_ssize_t i = 0; i < n; i++) {
        PiPieceReduction *r = &p->reduction[i];
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, i), "iii", &r->kind, &r->quantity, &r->after))
            return -1;
        if (r->kind < 0 || r->kind >= PI_PIECE_KINDS || r->quantity < 0 ||
            r->quantity >= quantities || r->after < -1 || r->after >= n_after)
            return PyErr_SetString(PyExc_ValueError, "a reduction is out of range"), -1;
        const int8_t need = pi_piece_need[r->kind];
        int8_t *known = &p->need[r->quantity];
        if (*known == PI_NEED_APART || need > *known) *known = need;
        r->first = p->n_numbers;
        p->n_numbers += pi_piece_rows[r->kind];
    }
    p->n_reductions = (int)n;
    p->n_after = (int)n_after;
    p->numbers = views_array(views, numbers, "numbers", pi_product(lanes, p->n_numbers), 8, 1);
    if (!p->numbers) return -1;
    return n_after ? views_rows(views, after, "after of watches", (int)n_after, lanes, 8, p->after)
                   : 0;
}
static int read_all_events(PyObject *module, Observation *to, const PiAdaptiveRun *run,
                           PyObject *system, PyObject *fields, Views *views) {
    PiObservation *p = &to->observation;
    const int64_t lanes = run->solve.lanes;
    const int dim = run->solve.system->dim;
    PyObject *detect = watch_field(fields, "detect"), *react, *list, *most, *counts, *at, *by,
             *known;
    if (!detect || !(react = watch_field(fields, "react")) ||
        !(list = watch_field(fields, "events")) || !(most = watch_field(fields, "most")) ||
        !(counts = watch_field(fields, "counts")) || !(at = watch_field(fields, "stopped_at")) ||
        !(by = watch_field(fields, "stopped_by")) || !(known = watch_field(fields, "known")) ||
        read_program(module, to, run, system, detect, views, &p->detect) ||
        (react != Py_None && read_program(module, to, run, system, react, views, &p->react)))
        return -1;
    p->most = PyLong_AsLongLong(most);
    if (PyErr_Occurred()) return -1;
    const Py_ssize_t n = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
    if (n < 1 || n > 127 || p->detect.program.system->n_invariants < n || p->most < 1) {
        PyErr_SetString(PyExc_ValueError, "events: expected a tuple, and a quantity of each");
        return -1;
    }
    p->stride = lanes;
    p->event = PyMem_Calloc((size_t)n, sizeof *p->event);
    if (!p->event) return PyErr_NoMemory(), -1;
    const int64_t each = pi_known_numbers(n);
    if (!(p->counts =
              views_array(views, counts, "counts", pi_product(2, pi_product(n, lanes)), 8, 1)) ||
        !(p->stopped_at = views_array(views, at, "stopped_at", lanes, 8, 1)) ||
        !(p->stopped_by = views_array(views, by, "stopped_by", lanes, 1, 1)) ||
        !(p->known = views_array(views, known, "known", pi_product(lanes, each), 8, 1)))
        return -1;
    const int64_t answers = react == Py_None ? 0 : p->react.program.system->n_invariants;
    for (p->count = 0; p->count < n; p->count++)
        if (read_event(PyTuple_GetItem(list, p->count), dim, lanes, answers, views,
                       &p->event[p->count]))
            return -1;
    return 0;
}

Observation *read_observation(PyObject *module, PiAdaptiveRun *run, PyObject *system,
                              PyObject *fields, Views *views) {
    Observation *to = PyMem_Calloc(1, sizeof *to);
    if (!to) return (Observation *)PyErr_NoMemory();
    PyObject *watches = watch_field(fields, "watches"), *events, *seen, *timed;
    to->programs = PyList_New(0);
    if (!to->programs || !watches || !(events = watch_field(fields, "events")) ||
        !(seen = watch_field(fields, "seen")) || !(timed = watch_field(fields, "timed")) ||
        !(to->observation.seen = views_array(views, seen, "seen", run->solve.lanes, 1, 1)) ||
        read_watches_of(module, to, run, system, watches, views) ||
        (timed != Py_None && read_reductions(module, to, run, system, timed, views)) ||
        (events != Py_None && read_all_events(module, to, run, system, events, views))) {
        free_observation(to);
        return NULL;
    }
    run->observation = &to->observation;
    run->solve.segments = to->observation.count || to->observation.n_reductions;
    return to;
}
