/* The fields of start() and stepper(), from a dictionary or as keywords: one line each in the table
 * of fields.c. */
#pragma once
#include "module.h"

/* Fields that are objects; borrowed, NULL if they are absent or None. */
typedef struct {
    PyObject *system, *method, *methods, *starter;
    PyObject *t0, *dt, *params, *drive_strides;
    PyObject *initial, *state_a, *state_b, *state;
    PyObject *record, *saved, *save_steps, *stream;
    PyObject *watches, *events, *times, *renormalise;
} RunObjects;

typedef enum { START = 1, STEPPER = 2 } Entry;
/* The dictionary of a call, which no other thread can change: a new reference, or NULL with an
 * exception. */
PyObject *own_fields(PyObject *args, PyObject *keywords, const char *caller);
/* Numbers go into the run, objects into `objects`, borrowed from the dictionary. 0,
 * or -1 with an exception that names the field. */
int read_fields(PyObject *module, PyObject *given, Entry entry, PiRun *run, RunObjects *objects);
