/* The Python type of a run: made by start(), worked on by threads, asked for its outcome. */
#include "module.h"

typedef struct {
    PyObject_HEAD PiRun run;
    Views views;
    PyObject *system, *method, *starter; /* kept alive */
    int64_t *drive;
} Run;

static void run_dealloc(PyObject *self) {
    Run *r = (Run *)self;
    PyTypeObject *type = Py_TYPE(self);
    pi_run_free(&r->run);
    views_release(&r->views);
    Py_XDECREF(r->system);
    Py_XDECREF(r->method);
    Py_XDECREF(r->starter);
    PyMem_Free(r->run.params);
    PyMem_Free(r->run.record.which);
    PyMem_Free(r->drive);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* The kernel of a method on a system: compiled for the two, for the system and the method's family,
 * or for any force. */
static void choose_kernel(PiRun *run, const Moved *moved, int rows) {
    const PiSystem *system = moved->system;
    const PiMethod *m = run->method;
    const int in_registers = moved->kernels && !rows &&
                             (m->family != PI_NYSTROM || (system->structure == PI_SECOND_ORDER &&
                                                          !system->velocity_dependent));
    run->kernel = in_registers && m->specialised ? moved->kernels->specialised[m->specialised]
                  : in_registers                 ? moved->kernels->family[m->family]
                                                 : NULL;
    if (run->kernel) return;
    run->kernel = moved->set->rows[m->family];
    run->force = moved->force;
    run->context = moved->context;
}

int choose_method(PiRun *run, const Moved *moved, PyObject *method, PyObject *starter, int rows) {
    const PiMethod *m = PyCapsule_GetPointer(method, METHOD_CAPSULE);
    if (!m) return -1;
    const PiMethod *first = pi_starter(m);
    if (starter != Py_None) {
        const int usual = first != NULL;
        first = PyCapsule_GetPointer(starter, METHOD_CAPSULE);
        if (!first) return -1;
        if (!usual || (first->family != PI_EXPLICIT_RK && first->family != PI_IMPLICIT_RK)) {
            PyErr_SetString(PyExc_ValueError, "starter must be a Runge-Kutta method, for a "
                                              "multistep method");
            return -1;
        }
    }
    const int second = moved->system->structure == PI_SECOND_ORDER;
    if ((m->family == PI_COMPOSITION && moved->system->dof == 0) ||
        ((m->family == PI_NYSTROM || m->derivative == 2) && !second)) {
        PyErr_SetString(PyExc_ValueError, "the method needs positions and velocities");
        return -1;
    }
    if (m->family == PI_RIGID_MOTION && moved->system->structure != PI_RIGID_BODY) {
        PyErr_SetString(PyExc_ValueError, "the method needs a rigid body");
        return -1;
    }
    run->system = moved->system;
    run->vector_bytes = moved->set->vector_bytes;
    run->method = m;
    run->starter = first;
    run->begun = pi_first_steps(m);
    run->rows = moved->system->dim + pi_history_rows(m, moved->system);
    choose_kernel(run, moved, rows);
    return 0;
}

/* Which parameters change with each step; their rows must last to the end. There may be tens of
 * thousands: the list lies on the heap. */
static int read_drive(Run *r, PyObject *advances) {
    PiRun *run = &r->run;
    const int n = run->system->n_params;
    double *items = PyMem_Calloc((size_t)n + 1, sizeof *items);
    r->drive = PyMem_Calloc((size_t)n + 1, sizeof *r->drive);
    int error =
        !items || !r->drive ? (PyErr_NoMemory(), -1) : read_numbers(advances, "advances", n, items);
    for (int i = 0; !error && i < n; i++) {
        if (items[i] == 0) continue;
        const Py_buffer *view = r->views.view[2 + i]; /* past t0 and dt */
        const int64_t each = items[i] == 1 ? 1 : run->stride;
        if (items[i] != (double)each || view->len / run->real_bytes < run->n_steps * each) {
            PyErr_SetString(PyExc_ValueError, "a driven parameter has too few items");
            error = -1;
            break;
        }
        r->drive[i] = each;
        if (each == 1) run->params[i].step = 0;
    }
    PyMem_Free(items);
    run->drive = r->drive;
    return error;
}

/* The array that the saves go to, and the components that are saved. */
static int read_record(Run *r, PyObject *array, PyObject *which) {
    PiRun *run = &r->run;
    PiRecord *record = &run->record;
    const int64_t saves = 1 + (run->n_steps + run->save - 1) / run->save, bytes = run->real_bytes;
    const Py_ssize_t n = PyTuple_Check(which) ? PyTuple_Size(which) : -1;
    const Py_buffer *view = views_strided(&r->views, array, "record", 3, run->real_bytes);
    if (!view) return -1;
    if (view->shape[0] < saves || view->shape[1] != n || view->shape[2] < run->lanes) {
        PyErr_SetString(PyExc_ValueError, "record has not the shape (saves, components, lanes)");
        return -1;
    }
    record->which = PyMem_Calloc(n + 1, sizeof *record->which);
    if (!record->which) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const long c = PyLong_AsLong(PyTuple_GetItem(which, i));
        if (c == -1 && PyErr_Occurred()) return -1;
        if (c < 0 || c >= run->system->dim) {
            PyErr_Format(PyExc_ValueError, "there is no component %ld", c);
            return -1;
        }
        record->which[i] = (int)c;
    }
    record->n = (int)n;
    record->data = view->buf;
    record->save = view->strides[0] / bytes;
    record->component = view->strides[1] / bytes;
    record->lane = view->strides[2] / bytes;
    record->room = view->shape[2];
    const uintptr_t places = (uintptr_t)view->buf | view->strides[0] | view->strides[1];
    if (places % 64) record->stream = 0;
    return 0;
}

const char start_doc[] =
    "start(system, method, bits, lanes, first, n_steps, save, bound, workers, t0, h, params,\n"
    "      initial, state_a, state_b, record, which, stream, starter=None, begun=0, rows=0,\n"
    "      advances=None) -> Run\n\n"
    "States have rows for the components and for what the method remembers (history_rows);\n"
    "initial may have one item a row, which serves all lanes.\n"
    "record: (saves, components, lanes) with any strides, or None; lanes past those of the batch,\n"
    "up to whole cache lines, may be written; which: the numbers of the components; stream: write\n"
    "past the caches.\n"
    "starter: the method that makes the first steps of a multistep method; None: the usual one;\n"
    "begun: the past is there already; rows: use the kernels for any force; advances: of driven\n"
    "parameters, the items from each row to that of the next step (1: one value serves all).";
PyObject *core_start(PyObject *module, PyObject *args) {
    PyObject *system, *method, *t0, *h, *params, *initial, *state_a, *state_b, *record, *which;
    PyObject *starter = Py_None, *advances = Py_None;
    int bits, workers, stream, begun = 0, rows = 0;
    long long lanes, first, n_steps, save;
    double bound;
    if (!PyArg_ParseTuple(args, "OOiLLLLdiOOOOOOOOi|OiiO:start", &system, &method, &bits, &lanes,
                          &first, &n_steps, &save, &bound, &workers, &t0, &h, &params, &initial,
                          &state_a, &state_b, &record, &which, &stream, &starter, &begun, &rows,
                          &advances))
        return NULL;
    Moved moved;
    if (find_system(module, system, bits, &moved)) return NULL;
    if (lanes < 0 || lanes > (int64_t)1 << 48 || first < 0 || n_steps < 0 ||
        first > (int64_t)1 << 54 || n_steps > (int64_t)1 << 54 || save < 1 ||
        save > (int64_t)1 << 54 || workers < 1)
        return PyErr_Format(PyExc_ValueError, "lanes, steps, save or workers out of range");
    Run *r = (Run *)PyType_GenericAlloc((PyTypeObject *)state_of(module)->run_type, 0);
    if (!r) return NULL;
    r->system = Py_NewRef(system);
    r->method = Py_NewRef(method);
    r->starter = Py_NewRef(starter);
    PiRun *run = &r->run;
    run->params = PyMem_Calloc(moved.system->n_params + 1, sizeof *run->params);
    if (!run->params) PyErr_NoMemory();
    if (!run->params || choose_method(run, &moved, method, starter, rows)) {
        Py_DECREF(r);
        return NULL;
    }
    if (begun) run->begun = 0;
    run->real_bytes = bits / 8;
    run->lanes = lanes;
    run->first = first;
    run->n_steps = n_steps;
    run->save = save;
    run->bound = bound;
    run->workers = workers;
    run->record.stream = stream;
    const int64_t unit = 64 / run->real_bytes;
    run->stride = (lanes + unit - 1) / unit * unit;
    Views *v = &r->views;
    const int bytes = run->real_bytes;
    int error =
        views_row(v, t0, "t0", run->stride, bytes, &run->t0) ||
        views_row(v, h, "dt", run->stride, bytes, &run->h) ||
        views_rows(v, params, "params", run->system->n_params, run->stride, bytes, run->params) ||
        !(run->initial = views_array(v, initial, "initial", run->rows, bytes, 0)) ||
        !(run->state[0] = views_array(v, state_a, "state_a", run->rows * run->stride, bytes, 1)) ||
        !(run->state[1] = views_array(v, state_b, "state_b", run->rows * run->stride, bytes, 1));
    if (!error) { /* the last view but two */
        const int64_t items = v->view[v->count - 3]->len / bytes;
        run->same = items < run->rows * run->stride;
        if (run->same && items != run->rows)
            error =
                !PyErr_Format(PyExc_ValueError, "initial has %lld items, expected %lld or %d",
                              (long long)items, (long long)(run->rows * run->stride), run->rows);
    }
    if (!error && advances != Py_None) error = read_drive(r, advances);
    if (!error && record != Py_None) error = read_record(r, record, which);
    if (!error && pi_run_prepare(run)) error = !PyErr_NoMemory();
    if (!error) return (PyObject *)r;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a run of these sizes cannot be");
    Py_DECREF(r);
    return NULL;
}

/* Every 50 ms: signals, and the progress callback if there is one. */
static int poll(void *context, int64_t steps) {
    PyObject *progress = (PyObject *)context;
    const PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals();
    if (!stop && progress != Py_None) {
        PyObject *result = PyObject_CallFunction(progress, "L", (long long)steps);
        stop = result == NULL;
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
    return stop;
}

PyDoc_STRVAR(
    work_doc,
    "work(progress=None): works until nothing is left; progress(steps) is called now and then.");
static PyObject *run_work(PyObject *self, PyObject *args) {
    Run *r = (Run *)self;
    PyObject *progress = NULL; /* absent: a helper, which neither polls nor reports */
    if (!PyArg_ParseTuple(args, "|O:work", &progress)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    pi_run_work(&r->run, progress ? poll : NULL, progress);
    Py_END_ALLOW_THREADS
    if (PyErr_Occurred()) return NULL;
    if (r->run.out_of_memory) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(cancel_doc, "cancel(): stops all who work on the run.");
static PyObject *run_cancel(PyObject *self, PyObject *none) {
    (void)none;
    ((Run *)self)->run.cancelled = 1;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    outcome_doc,
    "outcome() -> (steps that every trajectory completed, where the state after them is:\n"
    "0 initial, 1 state_a, 2 state_b, -1 overwritten; how many trajectories have failed).");
static PyObject *run_outcome(PyObject *self, PyObject *none) {
    (void)none;
    const PiRun *run = &((Run *)self)->run;
    const void *state = pi_run_state(run);
    const int where = !state ? -1 : state == run->initial ? 0 : state == run->state[0] ? 1 : 2;
    return Py_BuildValue("(LiL)", (long long)pi_run_completed(run), where,
                         (long long)pi_run_count_failures(run));
}

/* The arguments (index, status, step) of fail() and failures(). */
static int failure_arrays(PyObject *args, Views *views, int64_t count, int writable,
                          int64_t **index, int8_t **status, int64_t **step) {
    PyObject *objects[3];
    if (!PyArg_ParseTuple(args, "OOO", &objects[0], &objects[1], &objects[2])) return -1;
    *index = views_array(views, objects[0], "index", count, 8, writable);
    *status = *index ? views_array(views, objects[1], "status", count, 1, writable) : NULL;
    *step = *status ? views_array(views, objects[2], "step", count, 8, writable) : NULL;
    return *step ? 0 : -1;
}

PyDoc_STRVAR(
    fail_doc,
    "fail(index, status, step): arrays; trajectories that have failed before the run begins.");
static PyObject *run_fail(PyObject *self, PyObject *args) {
    PiRun *run = &((Run *)self)->run;
    Views views = {0};
    int64_t *index, *step;
    int8_t *status;
    int error = failure_arrays(args, &views, 0, 0, &index, &status, &step);
    for (int64_t i = 0; !error && i < views.view[0]->len / 8; i++) {
        if (index[i] < 0 || index[i] >= run->lanes || i >= views.view[1]->len ||
            i >= views.view[2]->len / 8)
            error = !PyErr_Format(PyExc_IndexError, "no trajectory %lld", (long long)index[i]);
        else if (pi_run_fail(run, index[i], (PiStatus)status[i], step[i]))
            error = !PyErr_NoMemory();
    }
    views_release(&views);
    return error ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(failures_doc,
             "failures(index, status, step): writes as many as outcome() says, in batch order.");
static PyObject *run_failures(PyObject *self, PyObject *args) {
    const PiRun *run = &((Run *)self)->run;
    Views views = {0};
    int64_t *index, *step;
    int8_t *status;
    const int error =
        failure_arrays(args, &views, pi_run_count_failures(run), 1, &index, &status, &step);
    if (!error) pi_run_read_failures(run, index, status, step);
    views_release(&views);
    return error ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef run_methods[] = {
    {"work", run_work, METH_VARARGS, work_doc},
    {"cancel", run_cancel, METH_NOARGS, cancel_doc},
    {"outcome", run_outcome, METH_NOARGS, outcome_doc},
    {"fail", run_fail, METH_VARARGS, fail_doc},
    {"failures", run_failures, METH_VARARGS, failures_doc},
    {NULL, NULL, 0, NULL},
};
PyDoc_STRVAR(run_doc, "A batch on its way; made by start().");
static PyType_Slot run_slots[] = {{Py_tp_dealloc, run_dealloc},
                                  {Py_tp_methods, run_methods},
                                  {Py_tp_doc, (void *)run_doc},
                                  {0, NULL}};
PyType_Spec run_spec = {"pyintegrate._core.Run", sizeof(Run), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};
