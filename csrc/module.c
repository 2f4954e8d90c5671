/* The extension module: catalogues as dictionaries, questions to systems, methods of one's own. */
#include "module.h"
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "GCC " __VERSION__
#endif
#ifndef PYINTEGRATE_VERSION
#define PYINTEGRATE_VERSION "0"
#endif

/* ---- catalogues ------------------------------------------------------------------------------ */
/* Appends and gives away the item; 0, or -1 with an exception. */
static int append(PyObject *list, PyObject *item) {
    const int error = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return error;
}

static PyObject *quantities(const PiQuantity *q, int n) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++)
        if (append(list, Py_BuildValue("(ssds)", q[i].name, q[i].unit, q[i].value, q[i].meaning)))
            Py_CLEAR(list);
    return list;
}

PyDoc_STRVAR(systems_doc, "systems() -> list of dictionaries, one for each system of the C core.");
static PyObject *core_systems(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    static const char *const structures[] = {"first_order", "second_order", "separable"};
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < pi_n_systems; i++) {
        const PiSystem *s = pi_systems[i];
        PyObject *item = Py_BuildValue(
            "{si ss ss ss ss ss si si sO sO sN sN sN}", "number", i, "name", s->name, "title",
            s->title, "equation", s->equation, "reference", s->reference, "structure",
            structures[s->structure], "dim", s->dim, "dof", s->dof, "velocity_dependent",
            s->velocity_dependent ? Py_True : Py_False, "time_dependent",
            s->time_dependent ? Py_True : Py_False, "state", quantities(s->state, s->dim), "params",
            quantities(s->params, s->n_params), "invariants",
            quantities(s->invariants, s->n_invariants));
        if (append(list, item)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *numbers(const double *a, int n) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++)
        if (append(list, PyFloat_FromDouble(a[i]))) Py_CLEAR(list);
    return list;
}
static PyObject *coefficients(const PiMethod *m) {
    if (m->family == PI_COMPOSITION)
        return Py_BuildValue("{sN sN}", "kick", numbers(m->kick, m->stages), "drift",
                             numbers(m->drift, m->stages));
    PyObject *rows = PyList_New(0);
    for (int s = 0; rows && s < m->stages; s++)
        if (append(rows, numbers(m->a[s], m->stages))) Py_CLEAR(rows);
    return Py_BuildValue("{sN sN sN}", "A", rows, "b", numbers(m->b, m->stages), "c",
                         numbers(m->c, m->stages));
}

PyDoc_STRVAR(methods_doc, "methods() -> list of dictionaries, one for each method of the C core.");
static PyObject *core_methods(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    static const char *const families[] = {"explicit_rk", "composition"};
    static const char *const needs[] = {"any", "separable"}; /* of a system, by family */
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < pi_n_methods; i++) {
        const PiMethod *m = pi_methods[i];
        const char *requires = m->quadratic_kinetic ? "quadratic_kinetic" : needs[m->family];
        PyObject *item = Py_BuildValue(
            "{ss ss ss ss ss ss ss ss si si si sO sO sN sN}", "name", m->name, "title", m->title,
            "formula", m->formula, "reference", m->reference, "aliases", m->aliases, "written",
            m->written, "family", families[m->family], "requires", requires, "order", m->order,
            "stages", m->stages, "evaluations", m->evaluations, "symplectic",
            m->symplectic ? Py_True : Py_False, "symmetric", m->symmetric ? Py_True : Py_False,
            "coefficients", coefficients(m), "handle",
            PyCapsule_New((void *)m, METHOD_CAPSULE, NULL));
        if (append(list, item)) Py_CLEAR(list);
    }
    return list;
}

PyDoc_STRVAR(info_doc,
             "info() -> dictionary: version, compiler, instruction_set, instruction_sets.");
static PyObject *core_info(PyObject *module, PyObject *none) {
    (void)none;
    PyObject *sets = PyList_New(0);
    for (int i = 0; sets && pi_isa(i); i++)
        if (pi_isa_supported(i) && append(sets, PyUnicode_FromString(pi_isa(i)->name)))
            Py_CLEAR(sets);
    return Py_BuildValue("{ss ss ss sN}", "version", PYINTEGRATE_VERSION, "compiler", COMPILER,
                         "instruction_set", pi_isa(state_of(module)->isa)->name, "instruction_sets",
                         sets);
}

int system_number(const char *name) {
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, name)) return i;
    PyErr_Format(PyExc_ValueError, "no system %s in the core", name);
    return -1;
}
const PiKernels *kernels_of(PyObject *module, int system, int bits) {
    const PiIsa *isa = pi_isa(state_of(module)->isa);
    if (bits == 64) return &isa->f64->systems[system];
    if (bits == 32) return &isa->f32->systems[system];
    PyErr_Format(PyExc_ValueError, "bits is %d, expected 32 or 64", bits);
    return NULL;
}

/* ---- questions ------------------------------------------------------------------------------- */
PyDoc_STRVAR(
    evaluate_doc,
    "evaluate(system, bits, question, lanes, t, y, params, out)\n\n"
    "question: 0 right-hand side, 1 acceleration, 2 energy, 3 invariants, 4 jacobian. t: array;\n"
    "y, params: tuples of arrays; each of 1 item or `lanes`. out: rows of `lanes`, written.");
static PyObject *core_evaluate(PyObject *module, PyObject *args) {
    const char *name;
    int bits, question;
    long long lanes;
    PyObject *t, *y, *params, *out, *result = NULL;
    if (!PyArg_ParseTuple(args, "siiLOOOO:evaluate", &name, &bits, &question, &lanes, &t, &y,
                          &params, &out))
        return NULL;
    const int number = system_number(name);
    if (number < 0) return NULL;
    const PiSystem *system = pi_systems[number];
    const PiKernels *kernels = kernels_of(module, number, bits);
    if (!kernels) return NULL;
    const int answers[] = {system->dim, system->dof, 1, system->n_invariants,
                           system->dim * system->dim};
    if (question < 0 || question > 4 || lanes < 0 || lanes > (int64_t)1 << 48)
        return PyErr_Format(PyExc_ValueError, "question %d, lanes %lld: out of range", question,
                            lanes);
    Views views = {0};
    PiSample sample = {.lanes = lanes, .out_stride = lanes};
    if (!views_row(&views, t, "t", lanes, bits / 8, &sample.t) &&
        !views_rows(&views, y, "y", system->dim, lanes, bits / 8, sample.y) &&
        !views_rows(&views, params, "params", system->n_params, lanes, bits / 8, sample.params) &&
        (sample.out = views_array(&views, out, "out", answers[question] * lanes, bits / 8, 1))) {
        Py_BEGIN_ALLOW_THREADS
        const uint32_t mode = pi_enter_float_mode();
        kernels->evaluate(&sample, (PiQuestion)question);
        pi_leave_float_mode(mode);
        Py_END_ALLOW_THREADS
        result = Py_NewRef(Py_None);
    }
    views_release(&views);
    return result;
}

/* ---- methods of one's own -------------------------------------------------------------------- */
static void free_method(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, METHOD_CAPSULE));
}

PyDoc_STRVAR(make_method_doc, "make_method(family, stages, evaluations, rows) -> handle\n\n"
                              "family \"explicit_rk\": rows are c, b and then those of A;\n"
                              "\"composition\": kicks and drifts.");
static PyObject *core_make_method(PyObject *module, PyObject *args) {
    (void)module;
    const char *family;
    int stages, evaluations;
    PyObject *rows;
    if (!PyArg_ParseTuple(args, "siiO!:make_method", &family, &stages, &evaluations, &PyTuple_Type,
                          &rows))
        return NULL;
    const int composition = !strcmp(family, "composition");
    const int most = composition ? PI_MAX_SUBSTEPS : PI_MAX_STAGES,
              needed = composition ? 2 : 2 + stages;
    if (stages < 1 || stages > most || PyTuple_Size(rows) != needed || evaluations < 0 ||
        evaluations > stages)
        return PyErr_Format(PyExc_ValueError,
                            "%d stages and %zd rows: at most %d stages, and %d rows", stages,
                            PyTuple_Size(rows), most, needed);
    PiMethod *m = PyMem_Malloc(sizeof *m);
    if (!m) return PyErr_NoMemory();
    *m = (PiMethod){.name = "",
                    .family = composition ? PI_COMPOSITION : PI_EXPLICIT_RK,
                    .stages = stages,
                    .evaluations = evaluations};
    for (int i = 0; i < needed; i++) {
        double *row = composition ? (i == 0 ? m->kick : m->drift)
                      : i == 0    ? m->c
                      : i == 1    ? m->b
                                  : m->a[i - 2];
        if (read_numbers(PyTuple_GetItem(rows, i), family, stages, row)) {
            PyMem_Free(m);
            return NULL;
        }
    }
    PyObject *capsule = PyCapsule_New(m, METHOD_CAPSULE, free_method);
    if (!capsule) PyMem_Free(m);
    return capsule;
}

/* ---- the module ------------------------------------------------------------------------------ */
/* The best instruction set of this machine, or the one that PYINTEGRATE_ISA names. */
static int choose_isa(void) {
    const char *wanted = getenv("PYINTEGRATE_ISA");
    int best = -1;
    for (int i = 0; pi_isa(i); i++) {
        if (!pi_isa_supported(i)) continue;
        if (!wanted || !*wanted) best = i;
        else if (!strcmp(wanted, pi_isa(i)->name)) return i;
    }
    if (best < 0) {
        PyErr_Format(
            PyExc_ImportError,
            "PYINTEGRATE_ISA=%s: expected baseline, avx2 or avx512, where the machine has it",
            wanted ? wanted : "");
    }
    return best;
}

static int module_exec(PyObject *module) {
    State *state = state_of(module);
    state->isa = choose_isa();
    if (state->isa < 0) return -1;
    state->run_type = PyType_FromModuleAndSpec(module, &run_spec, NULL);
    return state->run_type ? PyModule_AddObjectRef(module, "Run", state->run_type) : -1;
}
static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    Py_VISIT(state_of(module)->run_type);
    return 0;
}
static int module_clear(PyObject *module) {
    Py_CLEAR(state_of(module)->run_type);
    return 0;
}

static PyMethodDef functions[] = {
    {"systems", core_systems, METH_NOARGS, systems_doc},
    {"methods", core_methods, METH_NOARGS, methods_doc},
    {"info", core_info, METH_NOARGS, info_doc},
    {"evaluate", core_evaluate, METH_VARARGS, evaluate_doc},
    {"make_method", core_make_method, METH_VARARGS, make_method_doc},
    {"operations", core_operations, METH_NOARGS, operations_doc},
    {"make_program", core_make_program, METH_VARARGS, make_program_doc},
    {"evaluate_program", core_evaluate_program, METH_VARARGS, evaluate_program_doc},
    {"start", core_start, METH_VARARGS, start_doc},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pyintegrate._core",
    .m_doc = "The C core of pyintegrate.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
