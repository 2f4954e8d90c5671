/* User-defined methods, from their numbers; a method's halves and history; random numbers. */
#include "module.h"

static void free_method(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, METHOD_CAPSULE));
}

/* It owns the method, NULL without memory. */
static PyObject *method_capsule(PiMethod *m) {
    PyObject *capsule = m ? PyCapsule_New(m, METHOD_CAPSULE, free_method) : PyErr_NoMemory();
    if (!capsule) PyMem_Free(m);
    return capsule;
}

static PyObject *core_make_method(PyObject *module, PyObject *args) {
    const char *name;
    int stages, evaluations, derivative = 1, order = 0, embedded_order = 0;
    PyObject *rows, *embedded = NULL;
    if (!PyArg_ParseTuple(args, "siiO!|iiiO:make_method", &name, &stages, &evaluations,
                          &PyTuple_Type, &rows, &derivative, &order, &embedded_order, &embedded))
        return NULL;
    int family = 0;
    while (family < PI_FAMILIES && strcmp(name, pi_families[family].name)) family++;
    if (family == PI_FAMILIES || !pi_families[family].most_stages)
        return PyErr_Format(PyExc_ValueError, "no family %s", name);
    PiMethod *m = PyMem_Calloc(1, PI_METHOD_BYTES);
    PyObject *capsule = method_capsule(m);
    if (!capsule) return NULL;
    *m = (PiMethod){.name = "",
                    .family = family,
                    .stages = stages,
                    .order = order > 0 ? order : stages,
                    .evaluations = evaluations,
                    .derivative = pi_families[family].most_derivative ? derivative : 0};
    const int needed = pi_method_rows(m);
    int error = 0;
    if (needed < 0 || PyTuple_Size(rows) != needed)
        error = pi_refused("%d stages and %zd rows: at most %d stages, and rows for them; "
                           "evaluations %d, derivative %d",
                           stages, PyTuple_Size(rows), pi_families[family].most_stages, evaluations,
                           derivative);
    for (int64_t i = 0; !error && i < needed; i++) {
        PyObject *row = PyTuple_GetItem(rows, i);
        int n, optional;
        double *to = pi_method_row(m, i, &n, &optional);
        if (!optional || !PyTuple_Check(row) || PyTuple_Size(row))
            error = pi_read_numbers(row, name, n, to);
    }
    const int estimates = m->family == PI_EXPLICIT_RK || m->family == PI_IMPLICIT_RK;
    if (!error && embedded && estimates && embedded_order > 0) {
        m->embedded_order = embedded_order;
        error = pi_read_numbers(embedded, "b_embedded", stages, m->b_embedded);
    }
    if (error) Py_CLEAR(capsule);
    return capsule;
}

static PyObject *half_of(const PiMethod *m, PiPhase phase) {
    PiMethod *half = PyMem_Malloc(sizeof *half);
    if (half) *half = *m, half->phase = phase;
    return method_capsule(half);
}
static PyObject *core_rigid_phases(PyObject *module, PyObject *method) {
    const PiMethod *m = PyCapsule_GetPointer(method, METHOD_CAPSULE);
    if (!m) return NULL;
    if (m->family != PI_RIGID_MOTION || m->rule != PI_VELOCITIES_FIRST) return PyTuple_New(0);
    return Py_BuildValue("(NN)", half_of(m, PI_VELOCITIES_ONLY), half_of(m, PI_POSITIONS_ONLY));
}

static PyObject *core_history_rows(PyObject *module, PyObject *args) {
    PyObject *system, *method;
    int compensated = 0;
    ResolvedSystem resolved;
    if (!PyArg_ParseTuple(args, "OO|p:history_rows", &system, &method, &compensated)) return NULL;
    const PiMethod *m = PyCapsule_GetPointer(method, METHOD_CAPSULE);
    if (!m || pi_find_system(module, system, 64, &resolved)) return NULL;
    if (compensated && !pi_compensates(m))
        return PyErr_Format(PyExc_ValueError,
                            "compensated=True: %s has no sums to compensate; leave it"
                            " out, or take a method that requires 'any', such as 'rk4'",
                            m->name);
    return PyLong_FromLong(pi_history_rows(m, resolved.system, compensated));
}

/* ---- random numbers -------------------------------------------------------------------------- */
static PyObject *core_noise(PyObject *module, PyObject *args) {
    enum { REGISTER = 8 }; /* doubles of the widest */
    PyObject *counters, *result;
    unsigned long long seed;
    int stream;
    if (!PyArg_ParseTuple(args, "KiOO:noise", &seed, &stream, &counters, &result)) return NULL;
    Views views = {0};
    const uint64_t *asked = pi_views_array(&views, counters, "counters", 0, 8, 0);
    const int64_t n = asked ? pi_views_items(&views, 24) : 0;
    double *out = asked ? pi_views_array(&views, result, "out", n, 8, 1) : NULL,
           both[2][REGISTER] = {{0}};
    uint64_t trajectory[REGISTER] = {0};
    const uint32_t mode = pi_enter_float_mode();
    for (int64_t i = 0; out && i < n; i++, asked += 3) {
        const PiPairs pair = {seed,     asked[1] / 2, asked[2], stream,
                              REGISTER, trajectory,   both[0],  both[1]};
        trajectory[0] = asked[0];
        pi_isa(state_of(module)->isa)->f64->draw(&pair);
        out[i] = both[asked[1] % 2][0];
    }
    pi_leave_float_mode(mode);
    pi_views_release(&views);
    return out ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef pi_method_functions[] = {
    {"rigid_phases", core_rigid_phases, METH_O,
     "rigid_phases(method) -> handles of its halves, which change velocities and positions;\n"
     "empty if it has none."},
    {"make_method", core_make_method, METH_VARARGS,
     "make_method(family, stages, evaluations, rows, derivative=1, order=stages, "
     "embedded_order=0,\n"
     "b_embedded=()) -> handle\n\n"
     "rows of explicit_rk and implicit_rk: those of A, then b and c; of nystrom: also velocity;\n"
     "of composition: kicks and drifts; of multistep: alpha, beta, predictor, velocity (the last\n"
     "two may be empty)."},
    {"noise", core_noise, METH_VARARGS,
     "noise(seed, stream, counters, out)\n\n"
     "seed: below 2**64; stream: 0 normals, 1 second normals, 2 uniforms; counters: (n, 3)\n"
     "uint64, trajectory, step and component; out: n doubles."},
    {"history_rows", core_history_rows, METH_VARARGS,
     "history_rows(system, method, compensated=False) -> rows of the state past its components,\n"
     "for the history of the method, and for the rounding errors of a compensated run."},
    {NULL, NULL, 0, NULL},
};
