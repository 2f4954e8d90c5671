/* The objects of runs: what their types have in common. */
#pragma once
#include "watching.h"

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
    int64_t workers; /* threads, at most */
} Task;

/* How each object begins; its PiRun, or PiAdaptiveRun, follows. */
typedef struct {
    PyObject_HEAD _Atomic unsigned long holder; /* the thread at work, or that alters it, or 0 */
    int altering;                               /* it may call altering functions */
    const struct ObjectType *type;
    Views views; /* of its arguments, with system and methods */
    Watches watches;
    Task task; /* of one that threads share */
} CoreObject;
/* A type, called with named arguments. */
typedef struct ObjectType {
    const char *name, *doc;
    int bytes;
    int (*make)(CoreObject *self, Fields *fields); /* 0, or not 0 with an exception */
    void (*end)(CoreObject *self);                 /* frees what it has besides */
    PyMethodDef *methods;
    PyMemberDef *members;
} ObjectType;
extern const ObjectType pi_run_type, pi_stepper_type, pi_adaptive_run_type;

/* Claims the object: for one thread at a time, and never from within its own step; holder = 0 lets
 * the next one in. 0; 1: this thread alters it, and has it already; -1 with an exception. */
int pi_claim(CoreObject *object);
void pi_let_go(CoreObject *object, int claimed);
/* The method work(progress=None, helpers=0) of an object with a task. */
PyObject *pi_object_work(PyObject *self, PyObject *args);
