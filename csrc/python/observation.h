/* Watches and events of a run to a tolerance, from Python (observation.c). */
#pragma once
#include "../tolerance/observation.h"
#include "watching.h"

typedef struct {
    PiObservation observation;
    PyObject *programs; /* a list that keeps them alive */
} Observation;
/* From a dictionary; the run refers to it. NULL with an exception. */
Observation *read_observation(PyObject *module, PiAdaptiveRun *run, PyObject *system,
                              PyObject *fields, Views *views);
void free_observation(Observation *observation); /* NULL: nothing */
