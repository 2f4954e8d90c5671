/* Declarations shared by the files of the extension module. */
#pragma once
#include <stdatomic.h>
#include "../run/families.h"
#include "../run/run.h"
#include "arrays.h"

enum { TYPES = 3 }; /* of objects */
typedef struct {
    PyObject *type[TYPES];
    int isa;             /* the instruction set in use */
    const char *missing; /* a better one of this machine that was not built: warned of once */
} State;
static inline State *state_of(PyObject *module) { return PyModule_GetState(module); }

/* Appends the item, or puts it under a name, and gives it away; where that fails, or the item is
 * NULL, the list or dictionary becomes NULL, with an exception. */
void pi_append(PyObject **list, PyObject *item);
/* A list of the items of the numbers i = 0, 1, ... while a condition on i holds, or below n; or
 * NULL, with an exception. */
#define LISTED_WHILE(holds, item)                                                                  \
    ({                                                                                             \
        PyObject *list = PyList_New(0);                                                            \
        for (int i = 0; list && (holds); i++) pi_append(&list, item);                              \
        list;                                                                                      \
    })
#define LISTED(n, item) LISTED_WHILE(i < (n), item)
void pi_put(PyObject **dictionary, const char *name, PyObject *item);

/* ---- systems: resolve.c ---------------------------------------------------------------------- */
/* A capsule of this name holds a struct that begins with a SystemHandle, for any kind of
 * system: programs.c, callbacks.c and sized_systems.c each have their own. */
#define SYSTEM_CAPSULE "pyintegrate.system"
typedef struct {
    /* Fills in all but `set`, the kernels of the instruction set and precision. 0, or -1 with an
     * exception. */
    int (*resolve)(const void *self, ResolvedSystem *to);
    void (*free)(const void *self); /* what it owns besides, or NULL */
    PyObject *kept[2];              /* alive as long as it is */
} SystemHandle;
/* A capsule with a copy of this struct, and what it owns; NULL with an exception, and that is
 * freed.
 */
PyObject *pi_system_capsule(const void *handle, size_t bytes);
/* The system that a name or a capsule stands for. 0, or -1 with an exception. */
int pi_find_system(PyObject *module, PyObject *object, int64_t bits, ResolvedSystem *to);

/* ---- methods --------------------------------------------------------------------------------- */
#define METHOD_CAPSULE "pyintegrate.method"
/* Sets the method of a run, its starter (NULL: the default one) and the kernel. 0, or -1 with an
 * exception. */
int pi_choose_method(PiRun *run, const ResolvedSystem *resolved, PyObject *method,
                     PyObject *starter);
PyObject *pi_core_scales(PyObject *module, PyObject *system);

/* ---- functions of the module ----------------------------------------------------------------- */
/* Those of methods.c and programs.c; the others follow. */
extern PyMethodDef pi_method_functions[], pi_program_functions[];
/* catalogues.c */
int pi_add_catalogues(PyObject *module); /* 0, or -1 with an exception */
PyObject *pi_core_method(PyObject *module, PyObject *name);
/* callbacks.c, sized_systems.c */
PyObject *pi_core_make_callback(PyObject *module, PyObject *args);
PyObject *pi_core_make_system(PyObject *module, PyObject *args);
/* crew.c */
PyObject *pi_core_shielded(PyObject *module, PyObject *args);
PyObject *pi_core_to_nearest(PyObject *module, PyObject *args, PyObject *keywords);
