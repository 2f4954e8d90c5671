/* The watches of a run: named fields of each, and sums for each lane, as observers of the core. */
#include "watching.h"

/* A field of a watch; NULL with an exception. */
static PyObject *field(PyObject *fields, const char *name) {
    PyObject *value = PyDict_Check(fields) ? PyDict_GetItemString(fields, name) : NULL;
    return value ? value
                 : PyErr_Format(PyExc_TypeError, "a watch is a dictionary with the field %s", name);
}
static int integer(PyObject *fields, const char *name, int64_t least, int64_t most, int64_t *to) {
    PyObject *value = field(fields, name);
    if (!value) return -1;
    *to = PyLong_AsLongLong(value);
    if (*to == -1 && PyErr_Occurred()) return -1;
    if (*to >= least && *to <= most) return 0;
    PyErr_Format(PyExc_ValueError, "%s of a watch is %lld, expected %lld to %lld", name,
                 (long long)*to, (long long)least, (long long)most);
    return -1;
}

static int read_watch(PyObject *module, const PiRun *run, PyObject *system, PyObject *fields,
                      Views *views, PyObject *programs, PiWatch *watch) {
    PyObject *program = field(fields, "program"), *params, *t0, *dt, *a, *b;
    int64_t asks, n_sums;
    if (!program || PyList_Append(programs, program) ||
        find_system(module, program, 64, &watch->program) ||
        find_system(module, system, 64, &watch->system) ||
        integer(fields, "every", 1, (int64_t)1 << 54, &watch->every) ||
        integer(fields, "begin", 0, (int64_t)1 << 54, &watch->begin) ||
        integer(fields, "asks", 0, PI_WATCH_ENERGY | PI_WATCH_INVARIANTS, &asks) ||
        integer(fields, "sums", 1, PI_MAX_REGISTERS, &n_sums) ||
        !(params = field(fields, "params")) || !(t0 = field(fields, "t0")) ||
        !(dt = field(fields, "dt")) || !(a = field(fields, "sums_a")) ||
        !(b = field(fields, "sums_b")))
        return -1;
    const PiSystem *s = watch->system.system, *p = watch->program.system;
    watch->asks = (int)asks;
    watch->components = s->dim;
    watch->n_sums = (int)n_sums;
    const int64_t rows = s->dim + 1 + (asks & PI_WATCH_ENERGY ? 1 : 0) +
                         (asks & PI_WATCH_INVARIANTS ? s->n_invariants : 0) + n_sums;
    const unsigned unanswered = watch->system.unanswered;
    if (rows != p->dim || p->dof || p->n_invariants != n_sums || p->n_params < s->n_params ||
        watch->program.unanswered >> PI_INVARIANTS & 1 || s->dim != run->system->dim ||
        (asks & PI_WATCH_ENERGY && unanswered >> PI_ENERGY & 1) ||
        (asks & PI_WATCH_INVARIANTS && unanswered >> PI_INVARIANTS & 1)) {
        PyErr_SetString(PyExc_ValueError, "the program of a watch does not fit its system");
        return -1;
    }
    watch->params = PyMem_Calloc((size_t)p->n_params + 1, sizeof *watch->params);
    if (!watch->params) return PyErr_NoMemory(), -1;
    const int64_t items = pi_product(n_sums, run->stride);
    return views_rows(views, params, "params of a watch", p->n_params, run->stride, 8,
                      watch->params) ||
                   views_row(views, t0, "t0 of a watch", run->stride, 8, &watch->t0) ||
                   views_row(views, dt, "dt of a watch", run->stride, 8, &watch->h) ||
                   !(watch->sums[0] = views_array(views, a, "sums_a", items, 8, 1)) ||
                   !(watch->sums[1] = views_array(views, b, "sums_b", items, 8, 1))
               ? -1
               : 0;
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
    to->programs = PyList_New(0);
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
    for (int i = 0; i < watches->count; i++) PyMem_Free(watches->watch[i].params);
    PyMem_Free(watches->watch);
    Py_XDECREF(watches->programs);
}
