/* The watches of a run, from Python (watching.c). */
#pragma once
#include "../bytecode/bytecode.h"
#include "../tolerance/observation.h"
#include "../watching/fixed_steps.h"
#include "../watching/renormalise.h"
#include "fields.h"

typedef struct {
    PiWatch *watch;
    int count;
    PiFixedEvents *events; /* or NULL */
    PiBetween *between;    /* or NULL */
    PiRenormalise renormalise;
    PiObservation *observation; /* of a run to a tolerance, or NULL */
} Watches;
/* Reads watches, events and renormalise, and times, if they are given; these become observers of
 * the run. record: where the states at times go. 0, or not 0 with an exception. */
int pi_read_watching(Fields *fields, PyObject *times, PiRecord *record, Watches *to);
/* Reads the watches and events of a run to a tolerance. 0, or -1 with an exception. */
int pi_read_observation(const Fields *fields, PyObject *observation, PiAdaptiveRun *run,
                        Watches *to);
/* The images of densities have the counts of all blocks up to this one. */
void pi_finish_images(const Watches *watches, int64_t blocks);
/* What is counted in cells, after the run: see watching.c. */
PyObject *pi_cells_of(const Watches *watches);
void pi_free_watches(Watches *watches);
