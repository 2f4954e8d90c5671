/* What the files of the extension module share. */
#pragma once
#include "arrays.h"
#include "../run/run.h"

#define METHOD_CAPSULE   "pyintegrate.method"
#define PROGRAM_CAPSULE  "pyintegrate.program"
#define SIZED_CAPSULE    "pyintegrate.sized_system"
#define COMPILED_CAPSULE "pyintegrate.compiled"
#define CALLBACK_CAPSULE "pyintegrate.callback"

typedef struct {
    PyObject *run_type, *stepper_type;
    int isa; /* the instruction set in use */
} State;
static inline State *state_of(PyObject *module) { return (State *)PyModule_GetState(module); }

/* A system that moves: its kernels (NULL for one of the user's own), its force, and the kernels
 * for any force. */
typedef struct {
    const PiSystem *system;
    const PiKernels *kernels;
    const PiKernelSet *set;
    PiForce *force;
    const void *context;
} Moved;
/* 0, or -1 with an exception. */
int find_system(PyObject *module, PyObject *object, int bits, Moved *moved);

/* Fills in the method of a run and the kernel for it. starter: a method, or None; rows: use the
 * kernels for any force. 0, or -1 with an exception. */
int choose_method(PiRun *run, const Moved *moved, PyObject *method, PyObject *starter, int rows);

/* programs.c, callbacks.c: the same of a capsule, into what find_system has begun; and whether
 * the system can be asked that: 0, or -1 with an exception. */
int find_own_system(PyObject *capsule, Moved *moved);
int find_callback(PyObject *capsule, Moved *moved);
int check_question(const Moved *moved, PiQuestion question);
extern const char operations_doc[], make_program_doc[], make_compiled_doc[], make_callback_doc[];
PyObject *core_operations(PyObject *module, PyObject *none);
PyObject *core_make_program(PyObject *module, PyObject *args);
PyObject *core_make_compiled(PyObject *module, PyObject *args);
PyObject *core_make_callback(PyObject *module, PyObject *args);
/* sized_systems.c: the same of a system made for so many parts, into what find_system has begun. */
int find_sized_system(PyObject *capsule, Moved *moved);
extern const char make_system_doc[], rigid_phases_doc[];
PyObject *core_rigid_phases(PyObject *module, PyObject *method);
PyObject *core_make_system(PyObject *module, PyObject *args);

extern const char *const family_names[];
extern const char make_method_doc[], history_rows_doc[];
PyObject *core_make_method(PyObject *module, PyObject *args);
PyObject *core_history_rows(PyObject *module, PyObject *args);

extern PyType_Spec run_spec, stepper_spec;
extern const char start_doc[], stepper_doc[];
PyObject *core_start(PyObject *module, PyObject *args);
PyObject *core_stepper(PyObject *module, PyObject *args);
