/* What module.c and run_type.c share. */
#pragma once
#include "arrays.h"
#include "run.h"

#define METHOD_CAPSULE  "pyintegrate.method"
#define PROGRAM_CAPSULE "pyintegrate.program"

typedef struct {
    PyObject *run_type;
    int isa; /* the instruction set in use */
} State;
static inline State *state_of(PyObject *module) { return (State *)PyModule_GetState(module); }

/* The number of a system, or -1 with an exception; its kernels, or NULL with an exception. */
int system_number(const char *name);
const PiKernels *kernels_of(PyObject *module, int system, int bits);

extern PyType_Spec run_spec;
extern const char start_doc[];
PyObject *core_start(PyObject *module, PyObject *args);

/* force_type.c */
extern const char operations_doc[], make_program_doc[], evaluate_program_doc[];
PyObject *core_operations(PyObject *module, PyObject *none);
PyObject *core_make_program(PyObject *module, PyObject *args);
PyObject *core_evaluate_program(PyObject *module, PyObject *args);
