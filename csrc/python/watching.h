/* The watches of a run, from Python (watching.c). */
#pragma once
#include "../bytecode/bytecode.h"
#include "../run/watch.h"
#include "module.h"

typedef struct {
    PiWatch *watch;
    int count;
    PyObject *programs; /* a list that keeps them alive */
} Watches;
/* A tuple of dictionaries becomes observers of the run. 0, or -1 with an exception. */
int read_watches(PyObject *module, PiRun *run, PyObject *system, PyObject *list, Views *views,
                 Watches *to);
void free_watches(Watches *watches);
