/* Watches and events of a run to a tolerance, from Python (passing.c). */
#pragma once
#include "../tolerance/passing.h"
#include "watching.h"

typedef struct {
    PiPassing passing;
    PyObject *programs; /* a list that keeps them alive */
} Passing;
/* From a dictionary; the journey refers to it. NULL with an exception. */
Passing *read_passing(PyObject *module, PiJourney *journey, PyObject *system, PyObject *fields,
                      Views *views);
void free_passing(Passing *passing); /* NULL: nothing */
