/* Declarations shared by the files of the extension module. */
#pragma once
#include <stdatomic.h>
#include "../run/families.h"
#include "../run/run.h"
#include "arrays.h"

/* Whose fields are read (fields.c), as bits; types of the module in this order. */
typedef enum { START = 1, STEPPER = 2, ADAPTIVE = 4 } Entry;
enum { TYPES = 3 };
typedef struct {
    PyObject *type[TYPES];
    int isa;             /* the instruction set in use */
    const char *missing; /* a better one of this machine that was not built: warned of once */
} State;
static inline State *state_of(PyObject *module) { return (State *)PyModule_GetState(module); }

/* Appends the item, or puts it under a name, and gives it away; where that fails, or the item is
 * NULL, the list or dictionary becomes NULL, with an exception. */
void pi_append(PyObject **list, PyObject *item);
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

/* ---- runs: fields.c, crew.c ------------------------------------------------------------------ */
/* How each type of a run begins; its PiRun, or PiAdaptiveRun, follows. */
typedef struct {
    PyObject_HEAD _Atomic unsigned long holder; /* the thread at work, or that alters it, or 0 */
    int altering;                               /* it may call altering functions */
    Views views;                                /* of its arrays */
    PyObject *kept;                             /* alive: the keywords, with system and methods */
} CoreObject;
/* Frees it, at the end of the deallocation of its type. */
void pi_free_object(CoreObject *object);
/* One thread at a time, and none from within its own step; holder = 0 lets the next one in. 0, or
 * -1 with an exception; 1: the thread, which alters, has it already. */
int pi_claim(CoreObject *object);
void pi_let_go(CoreObject *object, int claimed);

/* ---- functions of the module ----------------------------------------------------------------- */
/* Those of catalogues.c, methods.c and programs.c; the others follow. */
extern PyMethodDef pi_catalogue_functions[], pi_method_functions[], pi_program_functions[];
/* watching.c */
PyObject *pi_core_reductions(PyObject *module, PyObject *none);
/* callbacks.c, sized_systems.c */
PyObject *pi_core_make_callback(PyObject *module, PyObject *args);
PyObject *pi_core_make_system(PyObject *module, PyObject *args);
/* crew.c */
/* A thread that has released the interpreter lock, and what it calls now and then (None:
 * nothing). It takes the lock by its own state: if the interpreter has ended meanwhile, it
 * ends too. */
typedef struct {
    PyThreadState *state;
    PyObject *progress;
} Caller;
int pi_poll_python(void *caller, int64_t done); /* signals, and progress(done): a PiPoll */
/* What threads do together, until nothing is left or the run is cancelled. */
typedef struct {
    void (*work)(void *self, PiPoll *poll, void *context);
    void *self;
    _Atomic int *out_of_memory;
} Task;
/* The method work(progress=None, helpers=0) of a run that so many threads may share. */
PyObject *pi_work_on(CoreObject *object, PyObject *args, int64_t workers, Task task);
PyObject *pi_core_shielded(PyObject *module, PyObject *args);
PyObject *pi_core_to_nearest(PyObject *module, PyObject *args, PyObject *keywords);
/* run_type.c, stepper_type.c, adaptive_run_type.c */
extern PyType_Spec pi_run_spec, pi_stepper_spec, pi_adaptive_run_spec;
typedef PyObject *Starting(PyObject *module, PyObject *args, PyObject *keywords);
Starting pi_core_start, pi_core_stepper, pi_core_start_adaptive;
