/* The watches of a run, from Python (watching.c). */
#pragma once
#include "../bytecode/bytecode.h"
#include "../watching/between.h"
#include "../watching/events.h"
#include "../watching/renormalise.h"
#include "module.h"

typedef struct {
    PiWatch *watch;
    int count;
    PiEvents *events;   /* or NULL */
    PiBetween *between; /* or NULL */
    PiRenormalise renormalise;
    int64_t *places;    /* its rows */
    PyObject *programs; /* a list that keeps them alive */
} Watches;
/* A tuple of dictionaries becomes observers of the run. 0, or -1 with an exception. */
int read_watches(PyObject *module, PiRun *run, PyObject *system, PyObject *list, Views *views,
                 Watches *to);
/* The same of a dictionary of events. */
int read_events(PyObject *module, PiRun *run, PyObject *system, PyObject *fields, Views *views,
                Watches *to);
/* The same of the times at which states are asked for; record: where they go. */
int read_times(PyObject *module, PiRun *run, PyObject *system, PyObject *fields, PiRecord *record,
               Views *views, Watches *to);
/* The same of a dictionary: what is renormalised between steps. */
int read_renormalise(PiRun *run, PyObject *fields, Views *views, Watches *to);
/* One event of dictionaries: of states of `dim` components, in rows of `stride`; `answers` numbers
 * may follow from it. */
int read_event(PyObject *fields, int dim, int64_t stride, int64_t answers, Views *views,
               PiEvent *event);
/* A field of a watch; NULL with an exception. */
PyObject *watch_field(PyObject *fields, const char *name);
/* What is counted in cells, after the run: see watching.c. */
PyObject *cells_of(const Watches *watches);
void free_watches(Watches *watches);
