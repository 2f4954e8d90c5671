/* Named arguments: those of the types of runs, and of the dictionaries in them. */
#pragma once
#include "module.h"

/* What reading needs: the arguments; and of the run the module, the system, the number of its
 * components, the lanes of its rows, and where arrays are held. */
typedef struct {
    const char *of; /* the type, in messages */
    PyObject *given;
    Py_ssize_t at, left; /* the next argument; how many have not been asked for */
    uint64_t found;      /* which have, as bits */
    PyObject *module, *system;
    PiRun *run; /* of fixed steps, or NULL */
    int dim;
    int64_t stride;
    Views *views;
    int params; /* the first view of the parameters */
} Fields;
/* The arguments in a dictionary that is one of these. */
Fields pi_within(const Fields *fields, PyObject *dictionary);
/* An argument, borrowed; NULL if it is absent or None, or if one that is needed is absent, with an
 * exception. Each is asked for once, quickest in the order in which they are given. */
PyObject *pi_given(Fields *fields, const char *name);
PyObject *pi_needed(Fields *fields, const char *name);
/* Read an integer into so many bytes, or a number that is not negative; what is absent and not
 * needed stays as it is. 0, or -1 with an exception. */
int pi_integer(Fields *fields, const char *name, int needed, int64_t least, int64_t most, void *to,
               size_t bytes);
int pi_double(Fields *fields, const char *name, int needed, double *to);
/* Arrays and rows that are needed, as in arrays.h. */
void *pi_array(Fields *fields, const char *name, int64_t items, int item, int writable);
int pi_row(Fields *fields, const char *name, int64_t lanes, int item, PiRow *to);
int pi_rows(Fields *fields, const char *name, int n, int64_t lanes, int item, PiRow *to);
/* Read an integer into the member of its name: one that is needed; one that may be absent. */
#define NUMBER(one, field, least, most)                                                            \
    pi_integer(f, #field, 1, least, most, &(one)->field, sizeof(one)->field)
#define OPTION(one, field, least, most)                                                            \
    pi_integer(f, #field, 0, least, most, &(one)->field, sizeof(one)->field)

/* The last step: -1 with an exception if there is an argument that was not asked for. */
int pi_all_known(const Fields *fields);

/* What Run and Stepper have in common, before the method is known: the system, lanes, times and
 * parameters of a run. 0, or not 0 with an exception. */
int pi_read_batch(Fields *fields, PiRun *run, ResolvedSystem *resolved);
/* Where the status of each lane goes, and when it failed. 0, or not 0 with an exception. */
int pi_read_failures(Fields *fields);
/* The indices of components of the system, or all if none are given; in new memory. Their number,
 * or -1 with an exception. */
int pi_read_components(Fields *fields, int **to);
