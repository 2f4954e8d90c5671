/* The extension module: its functions, the instruction set in use, questions to systems. */
#include "../run/pace.h"
#include "objects.h"

#ifdef __clang__
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "GCC " __VERSION__
#endif
#ifndef PYINTEGRATE_VERSION
#define PYINTEGRATE_VERSION "0"
#endif

static PyObject *core_info(PyObject *module, PyObject *none) {
    PyObject *sets = PyList_New(0), *built = PyList_New(0);
    for (int i = 0; sets && built && pi_isa(i); i++) {
        if (pi_isa(i)->f64) pi_append(&built, PyUnicode_FromString(pi_isa(i)->name));
        if (pi_isa_supported(i)) pi_append(&sets, PyUnicode_FromString(pi_isa(i)->name));
    }
    return Py_BuildValue("{ss si ss ss sN sN}", "version", PYINTEGRATE_VERSION, "arithmetic",
                         PI_ARITHMETIC, "compiler", COMPILER, "instruction_set",
                         pi_isa(state_of(module)->isa)->name, "instruction_sets", sets, "built",
                         built);
}

/* ---- questions ------------------------------------------------------------------------------- */
static int64_t nothing(const void *none) { return 0; }
static PyObject *core_evaluate(PyObject *module, PyObject *args) {
    int bits, question;
    long long lanes;
    PyObject *system, *t, *y, *params, *out, *result = NULL;
    if (!PyArg_ParseTuple(args, "OiiLOOOO:evaluate", &system, &bits, &question, &lanes, &t, &y,
                          &params, &out))
        return NULL;
    ResolvedSystem resolved;
    if (pi_find_system(module, system, bits, &resolved)) return NULL;
    const PiSystem *s = resolved.system;
    if (question < 0 || question > PI_JACOBIAN || lanes < 0 || lanes > 0x1p48)
        return PyErr_Format(PyExc_ValueError, "question %d, lanes %lld: out of range", question,
                            lanes);
    if (resolved.unanswered >> question & 1)
        return PyErr_Format(PyExc_ValueError, "the system has no answer to question %d, %s",
                            question, pi_question_names[question]);
    const int64_t answers = pi_answer_rows(s, question);
    if (answers == 0) lanes = 0; /* there are no rows to bound them, and nothing to do */
    const uint32_t mode = pi_enter_float_mode();
    Views views = {0};
    PiSample sample = {
        .system = s, .force = resolved.force, .context = resolved.context, .lanes = lanes};
    Caller caller = {NULL, Py_None};
    _Atomic int cancelled = 0;
    Pace pace = make_pace(NULL, nothing, &cancelled, pi_poll_python, &caller);
    sample.pause = &pace.pause;
    const int64_t register_bytes = 8 * resolved.set->vector_bytes;
    PiRow *rows = pi_views_zeros(&views, s->dim + s->n_params, sizeof *rows);
    sample.workspace =
        pi_views_aligned(&views, pi_product(pi_sample_rows(s, answers), register_bytes));
    sample.y = rows;
    sample.params = rows ? rows + s->dim : NULL;
    if (rows && sample.workspace && !pi_views_row(&views, t, "t", lanes, bits / 8, &sample.t) &&
        !pi_views_rows(&views, y, "y", s->dim, lanes, bits / 8, rows) &&
        !pi_views_rows(&views, params, "params", s->n_params, lanes, bits / 8, rows + s->dim) &&
        (sample.out =
             pi_views_array(&views, out, "out", pi_product(answers, lanes), bits / 8, 1))) {
        caller.state = PyEval_SaveThread();
        const int stopped = resolved.set->evaluate(&sample, question);
        PyEval_RestoreThread(caller.state);
        result = stopped ? NULL : Py_NewRef(Py_None);
    }
    pi_views_release(&views);
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

static const ObjectType *const types[TYPES] = {&pi_run_type, &pi_stepper_type,
                                               &pi_adaptive_run_type};
static PyObject *make_object(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *module = PyType_GetModule(type);
    int number = 0;
    while (state_of(module)->type[number] != (PyObject *)type) number++;
    const ObjectType *own = types[number];
    const char *name = strrchr(own->name, '.') + 1;
    if (PyTuple_Size(args))
        return PyErr_Format(PyExc_TypeError, "%s takes keyword arguments only", name);
    PyObject *self = PyType_GenericAlloc(type, 0);
    CoreObject *object = (CoreObject *)self;
    if (!self) return NULL;
    const uint32_t mode = pi_enter_float_mode();
    const Fields none = {.of = name, .module = module, .views = &object->views};
    Fields given = pi_within(&none, keywords ? keywords : Py_None);
    object->type = own;
    if (own->make(object, &given) || pi_all_known(&given)) Py_CLEAR(self);
    pi_leave_float_mode(mode);
    return self;
}
static void free_object(PyObject *self) {
    CoreObject *object = (CoreObject *)self;
    PyTypeObject *type = Py_TYPE(self);
    object->type->end(object);
    pi_free_watches(&object->watches);
    pi_views_release(&object->views);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}
static PyObject *make_type(PyObject *module, const ObjectType *type) {
    PyType_Slot slots[] = {{Py_tp_new, make_object},
                           {Py_tp_dealloc, free_object},
                           {Py_tp_doc, (void *)type->doc},
                           {Py_tp_methods, type->methods},
                           {type->members ? Py_tp_members : 0, type->members},
                           {0, NULL}};
    PyType_Spec spec = {type->name, type->bytes, 0, Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromModuleAndSpec(module, &spec, NULL);
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
    EACH_BELOW(i, TYPES) {
        state->type[i] = make_type(module, types[i]);
        if (!state->type[i] || PyModule_AddType(module, (PyTypeObject *)state->type[i])) return -1;
    }
    return pi_add_catalogues(module) || PyModule_AddFunctions(module, pi_method_functions) ||
                   PyModule_AddFunctions(module, pi_program_functions)
               ? -1
               : 0;
}
static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    EACH_BELOW(i, TYPES) Py_VISIT(state_of(module)->type[i]);
    return 0;
}
static int module_clear(PyObject *module) {
    EACH_BELOW(i, TYPES) Py_CLEAR(state_of(module)->type[i]);
    return 0;
}

#define WITH_NAMES(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef functions[] = {
    {"method", pi_core_method, METH_O,
     "method(name or handle) -> dictionary: properties and coefficients of a method, its handle."},
    {"scales", pi_core_scales, METH_O,
     "scales(system) -> for each of the first components 1 + the index of the parameter, given or\n"
     "derived, that kernels move from its rate into their weights; 0: none."},
    {"make_system", pi_core_make_system, METH_VARARGS,
     "make_system(name, parts) -> handle, which stands for its name"},
    {"info", core_info, METH_NOARGS,
     "info() -> dictionary: version, arithmetic, compiler, instruction_set,\n"
     "instruction_sets (of this machine, as far as they were built), built."},
    {"evaluate", core_evaluate, METH_VARARGS,
     "evaluate(system, bits, question, lanes, t, y, params, out)\n\n"
     "question: its number in `questions`, up to the jacobian. t: array; y, params: tuples of\n"
     "arrays; each of 1 item or `lanes`. out: rows of `lanes`, written."},
    {"make_callback", pi_core_make_callback, METH_VARARGS,
     "make_callback(function, kind, dim, dof, n_params, lanes_a_call, owner=None,\n"
     "              velocity_dependent=1, tangents=0) -> handle\n\n"
     "kind 0: a Python function(question, lanes, t, y, v, p, out) of memory views; 1 and 2: the\n"
     "capsule or address of a compiled right-hand side, for one trajectory or for many.\n"
     "lanes_a_call: lanes wanted at once. owner: kept alive. velocity_dependent: whether the\n"
     "acceleration uses v. tangents: PiSystem."},
    {"shielded", pi_core_shielded, METH_VARARGS,
     "shielded(work, finish)\n\n"
     "The result of work(). If it raises, finish(error) is called in a thread without signals,\n"
     "and its error raised; interrupts until then count as one. finish may be called twice."},
    {"to_nearest", WITH_NAMES(pi_core_to_nearest), METH_VARARGS | METH_KEYWORDS,
     "to_nearest(function, *args, **keywords)\n\n"
     "The result of the function; it computes with rounding to nearest and with subnormal\n"
     "numbers, whatever the mode of the thread."},
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
