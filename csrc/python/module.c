/* The extension module: its functions, the instruction set in use, questions to systems. */
#include <stdlib.h>
#include <string.h>
#include "../run/pace.h"
#include "module.h"

#ifdef __clang__
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "GCC " __VERSION__
#endif
#ifndef PYINTEGRATE_VERSION
#define PYINTEGRATE_VERSION "0"
#endif

PyDoc_STRVAR(info_doc, "info() -> dictionary: version, arithmetic, compiler, instruction_set,\n"
                       "instruction_sets (of this machine, as far as they were built), built.");
static PyObject *core_info(PyObject *module, PyObject *none) {
    (void)none;
    PyObject *sets = PyList_New(0), *built = PyList_New(0);
    for (int i = 0; sets && built && pi_isa(i); i++)
        if ((pi_isa(i)->f64 && pi_append(built, PyUnicode_FromString(pi_isa(i)->name))) ||
            (pi_isa_supported(i) && pi_append(sets, PyUnicode_FromString(pi_isa(i)->name))))
            Py_CLEAR(sets);
    return Py_BuildValue("{ss si ss ss sN sN}", "version", PYINTEGRATE_VERSION, "arithmetic",
                         PI_ARITHMETIC, "compiler", COMPILER, "instruction_set",
                         pi_isa(state_of(module)->isa)->name, "instruction_sets", sets, "built",
                         built);
}

/* ---- questions ------------------------------------------------------------------------------- */
/* Signals, every 50 ms of a long computation. */
typedef struct {
    PiPause pause; /* first: the part that forces see */
    double looked;
    Caller caller;
} Watch;
static int look_for_signals(PiPause *pause) {
    enum { PAUSES = 8 }; /* per reading of the clock: some microseconds at least */
    Watch *watch = (Watch *)pause;
    pause->left = PAUSES - 1;
    if (now() - watch->looked < POLL_SECONDS) return 0;
    const int stop = pi_poll_python(&watch->caller, 0);
    pi_keep_float_mode();
    watch->looked = now();
    return stop;
}
PyDoc_STRVAR(
    evaluate_doc,
    "evaluate(system, bits, question, lanes, t, y, params, out)\n\n"
    "question: its number in questions(), up to the jacobian. t: array; y, params: tuples of\n"
    "arrays; each of 1 item or `lanes`. out: rows of `lanes`, written.");
static PyObject *evaluate(PyObject *module, PyObject *args) {
    int bits, question;
    long long lanes;
    PyObject *system, *t, *y, *params, *out, *result = NULL;
    if (!PyArg_ParseTuple(args, "OiiLOOOO:evaluate", &system, &bits, &question, &lanes, &t, &y,
                          &params, &out))
        return NULL;
    ResolvedSystem resolved;
    if (pi_find_system(module, system, bits, &resolved)) return NULL;
    const PiSystem *s = resolved.system;
    if (question < 0 || question > PI_JACOBIAN || lanes < 0 || lanes > (int64_t)1 << 48)
        return PyErr_Format(PyExc_ValueError, "question %d, lanes %lld: out of range", question,
                            lanes);
    if (resolved.unanswered >> question & 1)
        return PyErr_Format(PyExc_ValueError, "the system has no answer to question %d, %s",
                            question, pi_question_names[question]);
    const int64_t answers = pi_answer_rows(s, (PiQuestion)question);
    if (answers == 0) lanes = 0; /* there are no rows to bound them, and nothing to do */
    Views views = {0};
    PiSample sample = {
        .system = s, .force = resolved.force, .context = resolved.context, .lanes = lanes};
    Watch watch = {{0, look_for_signals}, now(), {NULL, Py_None}};
    sample.pause = &watch.pause;
    const int64_t register_bytes = 8 * resolved.set->vector_bytes;
    PiRow *rows = PyMem_Calloc(s->dim + s->n_params + 1, sizeof *rows);
    char *workspace =
        PyMem_Malloc(pi_sum(pi_product(pi_sample_rows(s, answers), register_bytes), 64));
    sample.y = rows;
    sample.params = rows ? rows + s->dim : NULL;
    sample.workspace = workspace ? workspace + (64 - (uintptr_t)workspace % 64) : NULL;
    if (!rows || !workspace) PyErr_NoMemory();
    else if (!pi_views_row(&views, t, "t", lanes, bits / 8, &sample.t) &&
             !pi_views_rows(&views, y, "y", s->dim, lanes, bits / 8, rows) &&
             !pi_views_rows(&views, params, "params", s->n_params, lanes, bits / 8,
                            rows + s->dim) &&
             (sample.out =
                  pi_views_array(&views, out, "out", pi_product(answers, lanes), bits / 8, 1))) {
        watch.caller.state = PyEval_SaveThread();
        const int stopped = resolved.set->evaluate(&sample, (PiQuestion)question);
        PyEval_RestoreThread(watch.caller.state);
        result = stopped ? NULL : Py_NewRef(Py_None);
    }
    PyMem_Free(rows);
    PyMem_Free(workspace);
    pi_views_release(&views);
    return result;
}
static PyObject *core_evaluate(PyObject *module, PyObject *args) {
    const uint32_t mode = pi_enter_float_mode();
    PyObject *result = evaluate(module, args);
    pi_leave_float_mode(mode);
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
            "PYINTEGRATE_ISA=%s: expected baseline, avx2 or avx512, where the machine has it "
            "and it was built (PYINTEGRATE_ISA_BUILD=all builds every one)",
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
    const char *wanted = getenv("PYINTEGRATE_ISA");
    state->missing = wanted && *wanted ? NULL : pi_isa_missing();
    state->run_type = PyType_FromModuleAndSpec(module, &pi_run_spec, NULL);
    state->stepper_type = PyType_FromModuleAndSpec(module, &pi_stepper_spec, NULL);
    state->adaptive_run_type = PyType_FromModuleAndSpec(module, &pi_adaptive_run_spec, NULL);
    if (!state->run_type || !state->stepper_type || !state->adaptive_run_type ||
        pi_name_fields(state))
        return -1;
    return PyModule_AddFunctions(module, pi_catalogue_functions) ||
                   PyModule_AddFunctions(module, pi_method_functions) ||
                   PyModule_AddFunctions(module, pi_program_functions) ||
                   PyModule_AddObjectRef(module, "Run", state->run_type) ||
                   PyModule_AddObjectRef(module, "Stepper", state->stepper_type) ||
                   PyModule_AddObjectRef(module, "AdaptiveRun", state->adaptive_run_type)
               ? -1
               : 0;
}
static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    Py_VISIT(state_of(module)->run_type);
    Py_VISIT(state_of(module)->stepper_type);
    Py_VISIT(state_of(module)->adaptive_run_type);
    return 0;
}
static int module_clear(PyObject *module) {
    for (int i = 0; i < MOST_FIELDS; i++) Py_CLEAR(state_of(module)->field_names[i]);
    Py_CLEAR(state_of(module)->run_type);
    Py_CLEAR(state_of(module)->stepper_type);
    Py_CLEAR(state_of(module)->adaptive_run_type);
    return 0;
}

#define WITH_NAMES(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef functions[] = {
    {"reductions", pi_core_reductions, METH_NOARGS, pi_reductions_doc},
    {"scales", pi_core_scales, METH_O, pi_scales_doc},
    {"make_system", pi_core_make_system, METH_VARARGS, pi_make_system_doc},
    {"info", core_info, METH_NOARGS, info_doc},
    {"evaluate", core_evaluate, METH_VARARGS, evaluate_doc},
    {"make_callback", pi_core_make_callback, METH_VARARGS, pi_make_callback_doc},
    {"start", WITH_NAMES(pi_core_start), METH_FASTCALL | METH_KEYWORDS, pi_start_doc},
    {"stepper", WITH_NAMES(pi_core_stepper), METH_FASTCALL | METH_KEYWORDS, pi_stepper_doc},
    {"start_adaptive", WITH_NAMES(pi_core_start_adaptive), METH_FASTCALL | METH_KEYWORDS,
     pi_start_adaptive_doc},
    {"shielded", pi_core_shielded, METH_VARARGS, pi_shielded_doc},
    {"to_nearest", WITH_NAMES(pi_core_to_nearest), METH_VARARGS | METH_KEYWORDS, pi_to_nearest_doc},
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
