/* The named arguments of start(), stepper() and start_adaptive(): a line each in the table of
 * fields.c. */
#pragma once
#include "module.h"

/* Those that are objects; borrowed, NULL if they are absent or None. */
typedef struct Given {
    PyObject *system, *method, *methods, *starter, *t0, *dt, *params, *drive_strides;
    PyObject *initial, *state_a, *state_b, *state, *record, *saved, *save_steps, *stream, *times;
    PyObject *watches, *events, *renormalise, *observation, *within;
    PyObject *failed, *mark, *made, *onward, *goes_on, *earlier;
    PyObject *rtol, *atol, *t_end, *first_step, *max_step, *t, *h, *accepted, *rejected, *status;
} Given;

/* An object of the type of this entry from the keywords of a call: numbers go into its run, objects
 * to `make`, which returns 0, or -1 with an exception. A new reference, or NULL with an exception.
 */
typedef int Maker(PyObject *module, CoreObject *self, const Given *given);
PyObject *pi_make_object(PyObject *module, Entry entry, Maker *make, PyObject *args,
                         PyObject *keywords);
/* The sizes of rows and reals of a run whose method is chosen, its times and parameters. 0, or -1
 * with an exception. */
int pi_read_own_rows(PiRun *run, const Given *given, Views *views);
/* Where the status of each lane goes, and when it failed. 0, or -1 with an exception. */
int pi_read_failures(PiRun *run, const Given *given, Views *views);
/* The indices of components of a system, or all if none are given; in new memory. Their number, or
 * -1 with an exception. */
int pi_read_components(PyObject *saved, int dim, Views *views, int **to);
