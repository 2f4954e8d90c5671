/* The extension module: catalogues as dictionaries, questions to systems. */
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

/* As many as have a name, of an array. */
static PyObject *quantities(const PiQuantity *q, int n) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n && q[i].name; i++)
        if (append(list, Py_BuildValue("(ssds)", q[i].name, q[i].unit, q[i].value, q[i].meaning)))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe_system(const PiSystem *s) {
    static const char *const structures[] = {"first_order", "second_order", "separable",
                                             "rigid_body"};
    return Py_BuildValue(
        "{ss ss ss ss ss si si sO sO sN sN sN}", "name", s->name, "title", s->title, "equation",
        s->equation, "reference", s->reference, "structure", structures[s->structure], "dim",
        s->dim, "dof", s->dof, "velocity_dependent", s->velocity_dependent ? Py_True : Py_False,
        "time_dependent", s->time_dependent ? Py_True : Py_False, "state",
        quantities(s->state, PI_MAX_STATE), "params", quantities(s->params, PI_MAX_PARAMS),
        "invariants", quantities(s->invariants, PI_MAX_INVARIANTS));
}
PyDoc_STRVAR(systems_doc, "systems() -> list of dictionaries, one for each system of the C core.");
static PyObject *core_systems(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < pi_n_systems; i++)
        if (append(list, describe_system(pi_systems[i]))) Py_CLEAR(list);
    return list;
}
PyDoc_STRVAR(
    sized_systems_doc,
    "sized_systems() -> list of dictionaries, one for each system of any size: what it is\n"
    "without parts, its state and parameters named once.");
static PyObject *core_sized_systems(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < pi_n_sized_systems; i++)
        if (append(list, describe_system(&pi_sized_systems[i]->one))) Py_CLEAR(list);
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
    if (m->family == PI_MULTISTEP)
        return Py_BuildValue("{sN sN sN sN}", "alpha", numbers(m->alpha, m->stages + 1), "beta",
                             numbers(m->beta, m->stages + 1), "predictor",
                             numbers(m->predictor, m->stages), "velocity",
                             numbers(m->velocity, m->stages + 1));
    if (m->family == PI_RIGID_MOTION)
        return Py_BuildValue("{sN}", "substeps", numbers(m->b, m->stages));
    PyObject *rows = PyList_New(0);
    for (int s = 0; rows && s < m->stages; s++)
        if (append(rows, numbers(m->a[s], m->stages))) Py_CLEAR(rows);
    if (m->family == PI_NYSTROM)
        return Py_BuildValue("{sN sN sN sN}", "A", rows, "b", numbers(m->b, m->stages), "c",
                             numbers(m->c, m->stages), "velocity", numbers(m->velocity, m->stages));
    return Py_BuildValue("{sN sN sN}", "A", rows, "b", numbers(m->b, m->stages), "c",
                         numbers(m->c, m->stages));
}

PyDoc_STRVAR(methods_doc, "methods() -> list of dictionaries, one for each method of the C core.");
static PyObject *core_methods(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    static const char *const needs[] = {"any", "separable", "second_order",
                                        "any", "any",       "rigid_body"};
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < pi_n_methods; i++) {
        const PiMethod *m = pi_methods[i];
        const char *requires = m->quadratic_kinetic ? "quadratic_kinetic"
                               : m->derivative == 2 ? "second_order"
                                                    : needs[m->family];
        PyObject *item = Py_BuildValue(
            "{ss ss ss ss ss ss ss ss si si si si sO sO sO sN sN}", "name", m->name, "title",
            m->title, "formula", m->formula, "reference", m->reference, "aliases", m->aliases,
            "written", m->written, "family", family_names[m->family], "requires", requires, "order",
            m->order, "stages", m->stages, "evaluations", m->evaluations, "derivative",
            m->derivative, "backward", m->backward ? Py_True : Py_False, "symplectic",
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

/* A system by its name: what it is, and how it moves on the instruction set in use. */
int find_system(PyObject *module, PyObject *object, int bits, Moved *moved) {
    const PiIsa *isa = pi_isa(state_of(module)->isa);
    if (bits != 64 && bits != 32) {
        PyErr_Format(PyExc_ValueError, "bits is %d, expected 32 or 64", bits);
        return -1;
    }
    *moved = (Moved){.set = bits == 64 ? isa->f64 : isa->f32};
    if (PyCapsule_IsValid(object, SIZED_CAPSULE)) return find_sized_system(object, moved);
    if (PyCapsule_CheckExact(object)) return find_own_system(object, moved);
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    if (!name) return -1;
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, name)) {
            moved->system = pi_systems[i];
            moved->kernels = &moved->set->systems[i];
            moved->force = moved->kernels->force;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "no system %s in the core", name);
    return -1;
}

/* ---- questions ------------------------------------------------------------------------------- */
PyDoc_STRVAR(
    evaluate_doc,
    "evaluate(system, bits, question, lanes, t, y, params, out)\n\n"
    "question: 0 right-hand side, 1 acceleration, 2 energy, 3 invariants, 4 jacobian. t: array;\n"
    "y, params: tuples of arrays; each of 1 item or `lanes`. out: rows of `lanes`, written.");
static PyObject *core_evaluate(PyObject *module, PyObject *args) {
    int bits, question;
    long long lanes;
    PyObject *system, *t, *y, *params, *out, *result = NULL;
    if (!PyArg_ParseTuple(args, "OiiLOOOO:evaluate", &system, &bits, &question, &lanes, &t, &y,
                          &params, &out))
        return NULL;
    Moved moved;
    if (find_system(module, system, bits, &moved)) return NULL;
    const PiSystem *s = moved.system;
    const int64_t answers[] = {s->dim, s->dof, 1, s->n_invariants, (int64_t)s->dim * s->dim};
    if (question < 0 || question > 4 || lanes < 0 || lanes > (int64_t)1 << 48)
        return PyErr_Format(PyExc_ValueError, "question %d, lanes %lld: out of range", question,
                            lanes);
    if (check_question(&moved, (PiQuestion)question)) return NULL;
    if (answers[question] == 0) lanes = 0; /* nothing bounds them, and there is nothing to do */
    Views views = {0};
    PiSample sample = {.system = s, .force = moved.force, .context = moved.context, .lanes = lanes};
    PiRow *rows = PyMem_Calloc(s->dim + s->n_params + 1, sizeof *rows);
    char *workspace =
        PyMem_Malloc(pi_sample_rows(s, answers[question]) * 8 * moved.set->vector_bytes + 64);
    sample.y = rows;
    sample.params = rows ? rows + s->dim : NULL;
    sample.workspace = workspace ? workspace + (64 - (uintptr_t)workspace % 64) : NULL;
    if (!rows || !workspace) PyErr_NoMemory();
    else if (!views_row(&views, t, "t", lanes, bits / 8, &sample.t) &&
             !views_rows(&views, y, "y", s->dim, lanes, bits / 8, rows) &&
             !views_rows(&views, params, "params", s->n_params, lanes, bits / 8, rows + s->dim) &&
             (sample.out =
                  views_array(&views, out, "out", answers[question] * lanes, bits / 8, 1))) {
        int stopped;
        Py_BEGIN_ALLOW_THREADS
        const uint32_t mode = pi_enter_float_mode();
        stopped = moved.set->evaluate(&sample, (PiQuestion)question);
        pi_leave_float_mode(mode);
        Py_END_ALLOW_THREADS
        result = stopped ? NULL : Py_NewRef(Py_None);
    }
    PyMem_Free(rows);
    PyMem_Free(workspace);
    views_release(&views);
    return result;
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
    /* Signals and callbacks would reach the main interpreter. */
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return PyErr_SetString(PyExc_ImportError, "pyintegrate cannot run in a sub-interpreter"),
               -1;
    state->isa = choose_isa();
    if (state->isa < 0) return -1;
    state->run_type = PyType_FromModuleAndSpec(module, &run_spec, NULL);
    state->stepper_type = PyType_FromModuleAndSpec(module, &stepper_spec, NULL);
    if (!state->run_type || !state->stepper_type) return -1;
    return PyModule_AddObjectRef(module, "Run", state->run_type) ||
                   PyModule_AddObjectRef(module, "Stepper", state->stepper_type)
               ? -1
               : 0;
}
static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    Py_VISIT(state_of(module)->run_type);
    Py_VISIT(state_of(module)->stepper_type);
    return 0;
}
static int module_clear(PyObject *module) {
    Py_CLEAR(state_of(module)->run_type);
    Py_CLEAR(state_of(module)->stepper_type);
    return 0;
}

static PyMethodDef functions[] = {
    {"systems", core_systems, METH_NOARGS, systems_doc},
    {"sized_systems", core_sized_systems, METH_NOARGS, sized_systems_doc},
    {"rigid_phases", core_rigid_phases, METH_O, rigid_phases_doc},
    {"make_system", core_make_system, METH_VARARGS, make_system_doc},
    {"methods", core_methods, METH_NOARGS, methods_doc},
    {"info", core_info, METH_NOARGS, info_doc},
    {"evaluate", core_evaluate, METH_VARARGS, evaluate_doc},
    {"make_method", core_make_method, METH_VARARGS, make_method_doc},
    {"operations", core_operations, METH_NOARGS, operations_doc},
    {"make_program", core_make_program, METH_VARARGS, make_program_doc},
    {"make_compiled", core_make_compiled, METH_VARARGS, make_compiled_doc},
    {"make_callback", core_make_callback, METH_VARARGS, make_callback_doc},
    {"history_rows", core_history_rows, METH_VARARGS, history_rows_doc},
    {"start", core_start, METH_VARARGS, start_doc},
    {"stepper", core_stepper, METH_VARARGS, stepper_doc},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec},
#ifdef Py_GIL_DISABLED
                                          {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                          {0, NULL}};
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
