/* Forces that are outside functions: Python functions, called for many lanes with the
 * interpreter lock, and compiled ones, called without it. */
#include "module.h"

typedef enum { PYTHON, COMPILED, COMPILED_BATCHED } Kind;
typedef int Compiled(double t, const double *y, double *dydt, const double *p);
typedef int CompiledBatched(int64_t n, int64_t stride, const double *t, const double *y,
                            double *dydt, const double *p);

typedef struct {
    SystemHandle handle; /* keeps the function and its owner */
    PiSystem system;
    Kind kind;
    void *address;
} Callback;

/* ---- Python ---------------------------------------------------------------------------------- */
static PyObject *memory(const void *data, int64_t bytes, int writable) {
    static char nothing[1];
    return PyMemoryView_FromMemory(bytes ? (char *)data : nothing, bytes,
                                   writable ? PyBUF_WRITE : PyBUF_READ);
}
/* function(question, lanes, t, y, v, p, out): memory, which it must not keep. */
static int call_python(const void *data, PiQuestion question, const PiRows *rows) {
    const Callback *callback = data;
    if (question == PI_PREPARE) return 0;
    const PiSystem *s = &callback->system;
    const int64_t row = rows->bytes;
    const int halves = question == PI_ACCELERATION;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *views[5] = {
        memory(rows->t, row, 0), memory(rows->y, row * (halves ? s->dof : s->dim), 0),
        memory(rows->v, halves ? row * s->dof : 0, 0), memory(rows->p, row * s->n_params, 0),
        memory(rows->out, row * (halves ? s->dof : s->dim), 1)};
    int error = 0;
    EACH_BELOW(i, 5) error |= !views[i];
    PyObject *result = error
                           ? NULL
                           : PyObject_CallFunction(callback->handle.kept[0], "iLOOOOO",
                                                   (int)question, (long long)rows->lanes, views[0],
                                                   views[1], views[2], views[3], views[4]);
    EACH_BELOW(i, 5) { /* released: an error if the memory is still viewed */
        PyObject *done = result && views[i] ? PyObject_CallMethod(views[i], "release", NULL) : NULL;
        if (result && !done) Py_CLEAR(result);
        Py_XDECREF(done);
        Py_XDECREF(views[i]);
    }
    error = !result;
    Py_XDECREF(result);
    PyGILState_Release(gil);
    pi_keep_float_mode();
    return error;
}

/* ---- compiled -------------------------------------------------------------------------------- */
/* One trajectory after the other; one that fails gets a derivative that is not a number, as does a
 * state that is none: the failure of one stage is not lost in the next. */
static int call_compiled(const void *data, PiQuestion question, const PiRows *rows) {
    const Callback *callback = data;
    if (question != PI_RHS) return question != PI_PREPARE;
    const PiSystem *s = &callback->system;
    Compiled *function = (Compiled *)callback->address;
    const int64_t lanes = rows->lanes;
    const double *t = rows->t, *y_rows = rows->y, *p_rows = rows->p;
    double *out = rows->out, *y = rows->scratch, *dydt = y + s->dim, *p = dydt + s->dim;
    EACH_BELOW(i, lanes) {
        int error = 0;
        EACH_BELOW(d, s->dim) {
            y[d] = y_rows[d * lanes + i];
            dydt[d] = NAN;
            error |= y[d] != y[d];
        }
        EACH_BELOW(d, s->n_params) p[d] = p_rows[d * lanes + i];
        if (!error) error = function(t[i], y, dydt, p);
        pi_keep_float_mode();
        EACH_BELOW(d, s->dim) out[d * lanes + i] = error ? NAN : dydt[d];
    }
    return 0;
}
/* All at once: component d of trajectory i at d * stride + i. A failure stops the run. In both,
 * what the function does not write is not a number. */
static int call_compiled_batched(const void *data, PiQuestion question, const PiRows *rows) {
    const Callback *callback = data;
    if (question != PI_RHS) return question != PI_PREPARE;
    const int64_t lanes = rows->lanes;
    CompiledBatched *function = (CompiledBatched *)callback->address;
    EACH_BELOW(i, callback->system.dim * lanes) ((double *)rows->out)[i] = NAN;
    const int error = function(lanes, lanes, rows->t, rows->y, rows->out, rows->p);
    pi_keep_float_mode();
    if (error) {
        const PyGILState_STATE gil = PyGILState_Ensure();
        PyErr_Format(PyExc_RuntimeError, "the compiled right-hand side has returned %d", error);
        PyGILState_Release(gil);
    }
    return error;
}

/* ---- callbacks ------------------------------------------------------------------------------- */
static int resolve_callback(const void *self, ResolvedSystem *to) {
    static PiForce *const forces[] = {[PYTHON] = call_python,
                                      [COMPILED] = call_compiled,
                                      [COMPILED_BATCHED] = call_compiled_batched};
    const Callback *callback = self;
    if (to->set->real_bits == 32 && callback->kind != PYTHON) {
        PyErr_SetString(PyExc_TypeError,
                        "a compiled right-hand side computes in float64: give dtype=np.float64");
        return -1;
    }
    to->system = &callback->system;
    to->force = forces[callback->kind];
    to->context = callback;
    to->unanswered = 1u << PI_ENERGY | 1u << PI_INVARIANTS | 1u << PI_JACOBIAN;
    return 0;
}

/* The address in a capsule of any name, or in an integer; or NULL with an exception. */
static void *address_of(PyObject *object) {
    if (PyCapsule_CheckExact(object)) {
        const char *name = PyCapsule_GetName(object);
        return PyErr_Occurred() ? NULL : PyCapsule_GetPointer(object, name);
    }
    void *address = PyLong_AsVoidPtr(object);
    if (!address && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the address is zero");
    return address;
}

PyObject *pi_core_make_callback(PyObject *module, PyObject *args) {
    PyObject *function, *owner = Py_None;
    int kind, dim, dof, n_params, lanes_a_call, velocity_dependent = 1, tangents = 0;
    if (!PyArg_ParseTuple(args, "Oiiiii|Oii:make_callback", &function, &kind, &dim, &dof, &n_params,
                          &lanes_a_call, &owner, &velocity_dependent, &tangents))
        return NULL;
    if (kind < PYTHON || kind > COMPILED_BATCHED || dim < 1 || dim > PI_MAX_NUMBER || dof < 0 ||
        (dof && (kind != PYTHON || dim != 2 * dof)) || n_params < 0 || n_params > PI_MAX_NUMBER ||
        lanes_a_call < 0 || lanes_a_call > 1 << 24 || tangents < 0 || tangents >= dim ||
        (dof ? dof : dim) % (1 + tangents))
        return PyErr_Format(PyExc_ValueError,
                            "kind, dim, dof, n_params, lanes_a_call or tangents out of range");
    void *address = NULL;
    if (kind != PYTHON && !(address = address_of(function))) return NULL;
    const Callback callback = {
        .handle = {resolve_callback, NULL, {Py_NewRef(function), Py_NewRef(owner)}},
        .system = {.name = "",
                   .structure = dof ? PI_SECOND_ORDER : PI_FIRST_ORDER,
                   .dim = dim,
                   .dof = dof,
                   .velocity_dependent = dof > 0 && velocity_dependent,
                   .time_dependent = 1,
                   .n_params = n_params,
                   .scratch = kind == COMPILED ? 2 * dim + n_params : 0, /* a row holds a double */
                   .tangents = tangents,
                   .no_jacobian = 1,
                   .may_stop = 1,
                   .operations = 1 << 20, /* unknown, and slow */
                   .lanes_a_call = lanes_a_call},
        .kind = kind,
        .address = address};
    return pi_system_capsule(&callback, sizeof callback);
}
