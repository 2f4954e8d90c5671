/* The Python type of a batch that goes to a tolerance. */
#include <string.h>
#include "../tolerance/solve.h"
#include "passing.h"

typedef struct {
    PyObject_HEAD PiJourney journey;
    _Atomic int busy;
    Views views;
    PyObject *system, *method; /* kept alive */
    PiRow *rows;
    int *saved;
    Passing *passing; /* or NULL */
} Journey;

static void journey_dealloc(PyObject *self) {
    Journey *j = (Journey *)self;
    PyTypeObject *type = Py_TYPE(self);
    pi_journey_free(&j->journey);
    views_release(&j->views);
    Py_XDECREF(j->system);
    Py_XDECREF(j->method);
    PyMem_Free(j->rows);
    PyMem_Free(j->saved);
    free_passing(j->passing);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

typedef struct {
    PyObject *system, *method, *initial, *params, *t0, *t_end, *first_step, *max_step, *rtol, *atol;
    PyObject *state, *t, *h, *accepted, *rejected, *status, *saved, *times, *record, *passing;
    int bits, keep, each; /* each: a row of times of its own for every trajectory */
    long long lanes, workers, max_steps;
} Arguments;

static int tolerance_rows(Journey *j, PyObject *tuple, const char *name, int dim, PiRow *rows) {
    const Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n != 1 && n != dim)
        return PyErr_Format(PyExc_ValueError, "%s: expected a tuple of 1 or %d rows", name, dim),
               -1;
    if (views_rows(&j->views, tuple, name, (int)n, j->journey.solve.lanes, j->journey.real_bytes,
                   rows))
        return -1;
    return (int)n;
}
static int read_saved(Journey *j, PyObject *saved) {
    PiSolve *s = &j->journey.solve;
    const Py_ssize_t n = PyTuple_Check(saved) ? PyTuple_Size(saved) : -1;
    j->saved = PyMem_Calloc(n < 0 ? 1 : n + 1, sizeof *j->saved);
    if (!j->saved) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const long c = PyLong_AsLong(PyTuple_GetItem(saved, i));
        if (c == -1 && PyErr_Occurred()) return -1;
        if (c < 0 || c >= s->system->dim)
            return PyErr_Format(PyExc_ValueError, "there is no component %ld", c), -1;
        j->saved[i] = (int)c;
    }
    s->saved = j->saved;
    s->n_saved = n < 0 ? 0 : (int)n;
    return 0;
}
static int read_due_times(Journey *j, const Arguments *a) {
    PiSolve *s = &j->journey.solve;
    const int item = j->journey.real_bytes;
    const Py_buffer *record = views_strided(&j->views, a->record, "record", 3, item);
    if (!record) return -1;
    if (record->shape[1] != s->n_saved || record->shape[2] < s->lanes)
        return PyErr_Format(PyExc_ValueError, "record has not the shape (n, %d, %lld)", s->n_saved,
                            (long long)s->lanes),
               -1;
    s->n_times = record->shape[0];
    s->times_next = a->each ? s->lanes : 1;
    s->times_lane = a->each;
    s->times =
        views_array(&j->views, a->times, "times", pi_product(s->n_times, s->times_next), item, 0);
    s->record = record->buf;
    s->record_next = record->strides[0] / item;
    s->record_component = record->strides[1] / item;
    s->record_lane = record->strides[2] / item;
    return s->times ? 0 : -1;
}
static int read_results(Journey *j, const Arguments *a) {
    PiSolve *s = &j->journey.solve;
    Views *v = &j->views;
    const int64_t n = s->lanes;
    const int item = j->journey.real_bytes;
    s->stride = n;
    return (s->state = views_array(v, a->state, "state", pi_product(s->system->dim, n), item, 1)) &&
                   (s->t = views_array(v, a->t, "t", n, item, 1)) &&
                   (s->h = views_array(v, a->h, "h", n, item, 1)) &&
                   (s->accepted = views_array(v, a->accepted, "accepted", n, 8, 1)) &&
                   (s->rejected = views_array(v, a->rejected, "rejected", n, 8, 1)) &&
                   (s->status = views_array(v, a->status, "status", n, 1, 1))
               ? 0
               : -1;
}

static int make_journey(PyObject *module, Journey *j, const Arguments *a) {
    PiSolve *s = &j->journey.solve;
    ResolvedSystem resolved;
    if (find_system(module, a->system, a->bits, &resolved)) return -1;
    const PiMethod *m = PyCapsule_GetPointer(a->method, METHOD_CAPSULE);
    if (!m) return -1;
    j->system = Py_NewRef(a->system);
    j->method = Py_NewRef(a->method);
    const char *refusal = pi_journey_choose(&j->journey, &resolved, m);
    if (refusal) return PyErr_SetString(PyExc_ValueError, refusal), -1;
    if (a->lanes < 0 || a->lanes > (int64_t)1 << 48 || a->workers < 1 || a->workers > 1 << 20 ||
        a->max_steps < 0)
        return PyErr_SetString(PyExc_ValueError, "lanes, workers or max_steps: out of range"), -1;
    s->lanes = a->lanes;
    s->max_steps = a->max_steps;
    j->journey.workers = a->workers;
    j->journey.keep = a->keep;
    const int dim = s->system->dim, n_params = s->system->n_params, item = j->journey.real_bytes;
    PiRow *rows = j->rows = PyMem_Calloc((size_t)pi_product(3, dim) + n_params + 1, sizeof *rows);
    if (!rows) return PyErr_NoMemory(), -1;
    PiRow *rtol = rows + dim, *atol = rtol + dim, *params = atol + dim;
    s->initial = rows;
    s->rtol = rtol;
    s->atol = atol;
    s->params = params;
    Views *v = &j->views;
    if (views_rows(v, a->initial, "initial", dim, s->lanes, item, rows) ||
        (s->n_rtol = tolerance_rows(j, a->rtol, "rtol", dim, rtol)) < 0 ||
        (s->n_atol = tolerance_rows(j, a->atol, "atol", dim, atol)) < 0 ||
        views_rows(v, a->params, "params", n_params, s->lanes, item, params) ||
        views_row(v, a->t0, "t0", s->lanes, item, &s->t0) ||
        views_row(v, a->t_end, "t_end", s->lanes, item, &s->t_end) ||
        views_row(v, a->first_step, "first_step", s->lanes, item, &s->first_step) ||
        views_row(v, a->max_step, "max_step", s->lanes, item, &s->max_step) || read_results(j, a) ||
        read_saved(j, a->saved) || (a->record != Py_None && read_due_times(j, a)))
        return -1;
    pi_journey_prepare(&j->journey);
    if (a->passing == Py_None) return 0;
    j->passing = read_passing(module, &j->journey, a->system, a->passing, v);
    return j->passing ? 0 : -1;
}

const char journey_doc[] =
    "journey(**fields) -> Journey\n\n"
    "system, method: name or handle, handle; bits: 64 or 32; lanes: trajectories; workers:\n"
    "threads that will share it. initial, params, rtol, atol: tuples of rows, each of one value\n"
    "or one for each lane; rtol and atol of one row, or one for each component. t0, t_end,\n"
    "first_step (0: to be estimated), max_step: rows. max_steps: attempted; bound: of the\n"
    "components. Results, written: state (dim, lanes), t, h, and as 64-bit integers accepted and\n"
    "rejected; status (bytes): trajectories of status CANCELLED are integrated, others stay.\n"
    "saved: indices of components. record (n, components, lanes) with any strides: states at\n"
    "times, (n,), or with each=True (n, lanes); None for none. keep: whether gather() will be\n"
    "called. passing: watches and events (passing.c), or None. decay: h times the rate of decay\n"
    "from which a trajectory leaves as stiff, with the status 16; 0: never. accepted and rejected\n"
    "are incremented from their given values.";
PyObject *core_journey(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"system",   "method",    "bits",    "lanes", "workers", "initial",
                            "params",   "rtol",      "atol",    "t0",    "t_end",   "first_step",
                            "max_step", "max_steps", "bound",   "state", "t",       "h",
                            "accepted", "rejected",  "status",  "saved", "record",  "times",
                            "each",     "keep",      "passing", "decay", NULL};
    Arguments a;
    double bound, decay;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOiLLOOOOOOOOLdOOOOOOOOOppOd:journey", names,
                                     &a.system, &a.method, &a.bits, &a.lanes, &a.workers,
                                     &a.initial, &a.params, &a.rtol, &a.atol, &a.t0, &a.t_end,
                                     &a.first_step, &a.max_step, &a.max_steps, &bound, &a.state,
                                     &a.t, &a.h, &a.accepted, &a.rejected, &a.status, &a.saved,
                                     &a.record, &a.times, &a.each, &a.keep, &a.passing, &decay))
        return NULL;
    PyObject *self = PyType_GenericAlloc((PyTypeObject *)state_of(module)->journey_type, 0);
    if (!self) return NULL;
    Journey *j = (Journey *)self;
    j->journey.solve.bound = bound;
    j->journey.solve.decay = decay;
    const uint32_t mode = pi_enter_float_mode();
    if (make_journey(module, j, &a)) Py_CLEAR(self);
    pi_leave_float_mode(mode);
    return self;
}

static int claim(Journey *j) {
    if (!atomic_exchange(&j->busy, 1)) return 0;
    PyErr_SetString(PyExc_RuntimeError, "another thread is at work on this journey");
    return -1;
}
static void work(void *journey, PiPoll *poll, void *context) {
    pi_journey_work(journey, poll, context);
}
PyDoc_STRVAR(work_doc,
             "work(progress=None, helpers=0): until every trajectory has arrived, with `helpers`\n"
             "further threads; progress(trajectories) is called now and then.");
static PyObject *journey_work(PyObject *self, PyObject *args) {
    Journey *j = (Journey *)self;
    PyObject *progress = Py_None;
    long long helpers = 0;
    if (!PyArg_ParseTuple(args, "|OL:work", &progress, &helpers)) return NULL;
    if (helpers < 0 || helpers >= j->journey.workers)
        return PyErr_Format(PyExc_ValueError, "helpers is %lld, expected 0 to %lld", helpers,
                            (long long)j->journey.workers - 1);
    if (claim(j)) return NULL;
    const Task task = {work, &j->journey, &j->journey.out_of_memory};
    const int error = work_together(task, progress, helpers);
    j->busy = 0;
    return error ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(
    gather_doc,
    "gather(counts, times, states): the kept steps. counts: 64-bit, (lanes,): how many each has;\n"
    "times (n, lanes); states (n, components, lanes).");
static PyObject *journey_gather(PyObject *self, PyObject *args) {
    Journey *j = (Journey *)self;
    const PiSolve *s = &j->journey.solve;
    PyObject *objects[3];
    if (!PyArg_ParseTuple(args, "OOO:gather", &objects[0], &objects[1], &objects[2])) return NULL;
    if (claim(j)) return NULL;
    Views views = {0};
    const int item = j->journey.real_bytes;
    int64_t *counts = views_array(&views, objects[0], "counts", s->lanes, 8, 1);
    /* Of our own while they tell places: others may write to the array, it may be one of these. */
    int64_t *own = counts ? PyMem_Calloc((size_t)s->lanes + 1, sizeof *own) : NULL;
    if (counts && !own) PyErr_NoMemory();
    const int64_t most = own ? pi_journey_longest(&j->journey, own) : 0;
    void *times =
        own ? views_array(&views, objects[1], "times", pi_product(most, s->lanes), item, 1) : NULL;
    const int64_t entry = pi_product(s->n_saved, s->lanes);
    void *states =
        times ? views_array(&views, objects[2], "states", pi_product(most, entry), item, 1) : NULL;
    if (states) {
        pi_journey_gather(&j->journey, own, times, s->lanes, states, entry, s->lanes);
        memcpy(counts, own, (size_t)s->lanes * sizeof *own);
    }
    PyMem_Free(own);
    views_release(&views);
    j->busy = 0;
    return states ? Py_NewRef(Py_None) : NULL;
}
PyDoc_STRVAR(longest_doc, "longest(counts) -> the most entries kept of one trajectory.\n"
                          "counts: 64-bit, (lanes,): how many each has.");
static PyObject *journey_longest(PyObject *self, PyObject *array) {
    Journey *j = (Journey *)self;
    if (claim(j)) return NULL;
    Views views = {0};
    int64_t *counts = views_array(&views, array, "counts", j->journey.solve.lanes, 8, 1);
    const int64_t most = counts ? pi_journey_longest(&j->journey, counts) : 0;
    views_release(&views);
    j->busy = 0;
    return counts ? PyLong_FromLongLong(most) : NULL;
}
PyDoc_STRVAR(lanes_doc, "lanes() -> (attempted steps of lanes, those of trajectories).");
static PyObject *journey_lanes(PyObject *self, PyObject *none) {
    (void)none;
    const PiJourney *j = &((Journey *)self)->journey;
    return Py_BuildValue("(LL)", (long long)j->tried, (long long)j->useful);
}

static PyMethodDef journey_methods[] = {
    {"work", journey_work, METH_VARARGS, work_doc},
    {"gather", journey_gather, METH_VARARGS, gather_doc},
    {"longest", journey_longest, METH_O, longest_doc},
    {"lanes", journey_lanes, METH_NOARGS, lanes_doc},
    {NULL, NULL, 0, NULL},
};
PyDoc_STRVAR(type_doc, "A batch integrated to a tolerance; made by journey().");
static PyType_Slot journey_slots[] = {{Py_tp_dealloc, journey_dealloc},
                                      {Py_tp_methods, journey_methods},
                                      {Py_tp_doc, (void *)type_doc},
                                      {0, NULL}};
PyType_Spec journey_spec = {"pyintegrate._core.Journey", sizeof(Journey), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, journey_slots};
