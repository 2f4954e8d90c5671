/* The watches of a run, from Python (watching.c). */
#pragma once
#include "../bytecode/bytecode.h"
#include "../tolerance/observation.h"
#include "../watching/fixed_steps.h"
#include "../watching/renormalise.h"
#include "module.h"

typedef struct {
    PiWatch *watch;
    int count;
    PiFixedEvents *events; /* or NULL */
    PiBetween *between;    /* or NULL */
    PiRenormalise renormalise;
    PiObservation *observation; /* of a run to a tolerance, or NULL */
    PyObject *programs;         /* a list that keeps them alive */
} Watches;
/* A tuple of dictionaries becomes observers of the run. 0, or -1 with an exception. */
int pi_read_watches(PyObject *module, PiRun *run, PyObject *system, PyObject *list, Views *views,
                    Watches *to);
/* The same of a dictionary of events. */
int pi_read_events(PyObject *module, PiRun *run, PyObject *system, PyObject *fields, Views *views,
                   Watches *to);
/* The same of the times at which states are asked for; record: where they go. */
int pi_read_times(PyObject *module, PiRun *run, PyObject *system, PyObject *fields,
                  PiRecord *record, Views *views, Watches *to);
/* The same of a dictionary: what is renormalised between steps. */
int pi_read_renormalise(PiRun *run, PyObject *fields, Views *views, Watches *to);
/* All of a run to a tolerance, from a dictionary. */
int pi_read_observation(PyObject *module, PiAdaptiveRun *run, PyObject *system, PyObject *fields,
                        Views *views, Watches *to);
/* What is counted in cells, after the run: see watching.c. */
PyObject *pi_cells_of(const Watches *watches);
void pi_free_watches(Watches *watches);
