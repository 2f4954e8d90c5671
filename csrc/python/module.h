/* Declarations shared by the files of the extension module. */
#pragma once
#include "../run/families.h"
#include "../run/run.h"
#include "arrays.h"

enum { MOST_FIELDS = 40 };
typedef struct {
    PyObject *run_type, *stepper_type, *adaptive_run_type;
    PyObject *field_names[MOST_FIELDS]; /* of fields.c, interned like those of a caller */
    int isa;                            /* the instruction set in use */
    const char *missing; /* a better one of this machine that was not built: warned of once */
} State;
static inline State *state_of(PyObject *module) { return (State *)PyModule_GetState(module); }

/* Appends and gives away the item; 0, or -1 with an exception. */
int append(PyObject *list, PyObject *item);

/* ---- systems: resolve.c ---------------------------------------------------------------------- */
/* A capsule of this name holds a struct that begins with a SystemHandle, for any kind of
 * system: programs.c, callbacks.c and sized_systems.c each have their own. */
#define SYSTEM_CAPSULE "pyintegrate.system"
typedef struct {
    /* Fills in all but `set`, the kernels of the instruction set and precision. 0, or -1 with an
     * exception. */
    int (*resolve)(const void *self, ResolvedSystem *to);
} SystemHandle;
/* The system that a name or a capsule stands for. 0, or -1 with an exception. */
int find_system(PyObject *module, PyObject *object, int64_t bits, ResolvedSystem *to);

/* ---- methods --------------------------------------------------------------------------------- */
#define METHOD_CAPSULE "pyintegrate.method"
/* Sets the method of a run, its starter (NULL: the default one) and the kernel. 0, or -1 with an
 * exception. */
int choose_method(PiRun *run, const ResolvedSystem *resolved, PyObject *method, PyObject *starter);
extern const char scales_doc[];
PyObject *core_scales(PyObject *module, PyObject *system);

/* The names of all fields as objects of Python (fields.c). 0, or -1 with an exception. */
int name_fields(State *state);

/* ---- functions of the module ----------------------------------------------------------------- */
/* catalogues.c */
extern const char systems_doc[], sized_systems_doc[], methods_doc[], questions_doc[], limits_doc[];
extern const char method_names_doc[], method_doc[], families_doc[], requirements_doc[];
PyObject *core_systems(PyObject *module, PyObject *none);
PyObject *core_sized_systems(PyObject *module, PyObject *none);
PyObject *core_methods(PyObject *module, PyObject *none);
PyObject *core_method_names(PyObject *module, PyObject *none);
PyObject *core_method(PyObject *module, PyObject *name);
PyObject *core_families(PyObject *module, PyObject *none);
PyObject *core_requirements(PyObject *module, PyObject *none);
PyObject *core_questions(PyObject *module, PyObject *none);
PyObject *core_limits(PyObject *module, PyObject *none);
/* watching.c */
extern const char reductions_doc[];
PyObject *core_reductions(PyObject *module, PyObject *none);
/* programs.c, callbacks.c, sized_systems.c */
extern const char operations_doc[], make_program_doc[], make_compiled_doc[], make_callback_doc[],
    make_system_doc[];
PyObject *core_operations(PyObject *module, PyObject *none);
PyObject *core_make_program(PyObject *module, PyObject *args);
PyObject *core_make_compiled(PyObject *module, PyObject *args);
PyObject *core_make_callback(PyObject *module, PyObject *args);
PyObject *core_make_system(PyObject *module, PyObject *args);
/* methods.c */
extern const char make_method_doc[], starter_doc[], rigid_phases_doc[], history_rows_doc[],
    method_bits_doc[], noise_doc[];
PyObject *core_noise(PyObject *module, PyObject *args);
PyObject *core_make_method(PyObject *module, PyObject *args);
PyObject *core_starter(PyObject *module, PyObject *method);
PyObject *core_rigid_phases(PyObject *module, PyObject *method);
PyObject *core_history_rows(PyObject *module, PyObject *args);
PyObject *core_method_bits(PyObject *module, PyObject *number);
/* crew.c */
/* A thread that has released the interpreter lock, and what it calls now and then (None:
 * nothing). It takes the lock by its own state: if the interpreter has ended meanwhile, it
 * ends too. */
typedef struct {
    PyThreadState *state;
    PyObject *progress;
} Caller;
int poll_python(void *caller, int64_t done); /* signals, and progress(done): a PiPoll */
/* The calling thread, which polls, and helpers, as far as threads are available, work until
 * nothing is left or the run is cancelled; then all have ended. 0, or -1 with an exception. */
typedef struct {
    void (*work)(void *self, PiPoll *poll, void *context);
    void *self;
    _Atomic int *out_of_memory;
} Task;
int work_together(Task task, PyObject *progress, int64_t helpers);
extern const char shielded_doc[], to_nearest_doc[];
PyObject *core_shielded(PyObject *module, PyObject *args);
PyObject *core_to_nearest(PyObject *module, PyObject *args, PyObject *keywords);
/* run_type.c, stepper_type.c, adaptive_run_type.c */
extern PyType_Spec run_spec, stepper_spec, adaptive_run_spec;
extern const char start_doc[], stepper_doc[], start_adaptive_doc[];
PyObject *core_start_adaptive(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_start(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_stepper(PyObject *module, PyObject *args, PyObject *keywords);
