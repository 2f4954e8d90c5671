/* Threads besides the caller's. Python handles signals between any two of its instructions, also
 * while it starts a thread or waits for one: work that must not be left half done is done here. */
#include "objects.h"
#ifndef PYTHREAD_INVALID_THREAD_ID /* not in the stable ABI, and the same since Python 3.7 */
#define PYTHREAD_INVALID_THREAD_ID ((unsigned long)-1)
#endif

/* threading.stack_size() may be less than a kernel needs. 0, or -1 if there is no thread. */
static int start_thread(void (*function)(void *), void *argument) {
    enum { ENOUGH = 1 << 20 };
    const size_t wanted = PyThread_get_stacksize();
    if (wanted && wanted < ENOUGH) PyThread_set_stacksize(ENOUGH);
    const unsigned long thread = PyThread_start_new_thread(function, argument);
    PyThread_set_stacksize(wanted);
    return thread == PYTHREAD_INVALID_THREAD_ID ? -1 : 0;
}

typedef struct {
    Task task;
    PyThread_type_lock over;          /* held until the last has finished */
    _Atomic int64_t at_work, holders; /* threads; users of this memory */
    PyObject *error;                  /* the first, written with the interpreter lock */
} Crew;

static PyObject *take_error(void) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (!type) return NULL;
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) PyException_SetTraceback(error, traceback);
    Py_XDECREF(traceback);
    Py_DECREF(type);
    return error;
}
static void raise_error(PyObject *error) { /* steals the reference */
    Py_INCREF((PyObject *)Py_TYPE(error));
    PyErr_Restore((PyObject *)Py_TYPE(error), error, PyException_GetTraceback(error));
}

static void let_go(Crew *crew) {
    if (atomic_fetch_sub(&crew->holders, 1) > 1) return;
    PyThread_free_lock(crew->over);
    free(crew);
}
static void out(Crew *crew) {
    if (atomic_fetch_sub(&crew->at_work, 1) == 1) PyThread_release_lock(crew->over);
    let_go(crew);
}
static void help(void *argument) {
    Crew *crew = argument;
    const PyGILState_STATE gil = PyGILState_Ensure();
    Py_BEGIN_ALLOW_THREADS
    crew->task.work(crew->task.self, NULL, NULL);
    Py_END_ALLOW_THREADS
    PyObject *error = take_error();
    if (error && !crew->error) crew->error = error;
    else Py_XDECREF(error);
    PyGILState_Release(gil);
    out(crew);
}

/* Every 50 ms: signals, and the progress callback if there is one. */
int pi_poll_python(void *context, int64_t done) {
    Caller *caller = context;
    PyEval_RestoreThread(caller->state);
    int stop = PyErr_CheckSignals();
    if (!stop && caller->progress != Py_None) {
        PyObject *result = PyObject_CallFunction(caller->progress, "L", (long long)done);
        stop = result == NULL;
        Py_XDECREF(result);
    }
    caller->state = PyEval_SaveThread();
    return stop;
}

/* Works in the calling thread, which polls, and in helpers, as far as threads are available, until
 * all have ended. 0, or -1 with an exception. */
static int work_together(Task task, PyObject *progress, int64_t helpers) {
    Crew *crew = calloc(1, sizeof *crew);
    PyThread_type_lock over = crew && helpers ? PyThread_allocate_lock() : NULL;
    if (!crew) return PyErr_NoMemory(), -1;
    *crew = (Crew){.task = task, .over = over};
    if (over) PyThread_acquire_lock(over, WAIT_LOCK);
    crew->at_work = crew->holders = 1;
    for (int64_t i = 0; over && i < helpers; i++) {
        crew->at_work++;
        crew->holders++;
        if (!start_thread(help, crew)) continue;
        crew->at_work--; /* no more threads available: fewer do the same */
        crew->holders--;
        break;
    }
    Caller caller = {PyEval_SaveThread(), progress};
    task.work(task.self, pi_poll_python, &caller);
    if (atomic_fetch_sub(&crew->at_work, 1) > 1) PyThread_acquire_lock(over, WAIT_LOCK);
    PyEval_RestoreThread(caller.state);
    PyObject *error = crew->error;
    crew->error = NULL;
    let_go(crew);
    if (PyErr_Occurred()) Py_XDECREF(error);
    else if (error) raise_error(error);
    else if (*task.out_of_memory) PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the objects of runs --------------------------------------------------------------------- */
int pi_claim(CoreObject *object) {
    const unsigned long me = PyThread_get_thread_ident();
    unsigned long nobody = 0;
    if (atomic_compare_exchange_strong(&object->holder, &nobody, me)) return 0;
    if (nobody == me && object->altering) return 1;
    PyErr_SetString(PyExc_RuntimeError, "another thread is at work on this run or Stepper, or a "
                                        "force that it calls: one thing at a time");
    return -1;
}
void pi_let_go(CoreObject *object, int claimed) {
    if (claimed == 0) object->holder = 0;
}

PyObject *pi_object_work(PyObject *self, PyObject *args) {
    CoreObject *object = (CoreObject *)self;
    PyObject *progress = Py_None;
    long long helpers = 0;
    if (!PyArg_ParseTuple(args, "|OL:work", &progress, &helpers)) return NULL;
    if (helpers < 0 || helpers >= object->task.workers)
        return PyErr_Format(PyExc_ValueError, "helpers is %lld, expected 0 to %lld", helpers,
                            (long long)object->task.workers - 1);
    if (pi_claim(object)) return NULL;
    const int error = work_together(object->task, progress, helpers);
    object->holder = 0;
    return error ? NULL : Py_NewRef(Py_None);
}

/* ---- an end that no signal disturbs ---------------------------------------------------------- */
typedef struct {
    PyObject *function, *argument, *error; /* error: what the function has raised */
    PyThread_type_lock over;
} Errand;
static void call(Errand *errand) {
    PyObject *result = PyObject_CallFunctionObjArgs(errand->function, errand->argument, NULL);
    errand->error = result ? NULL : take_error();
    Py_XDECREF(result);
}
static void run_errand(void *argument) {
    Errand *errand = argument;
    const PyGILState_STATE gil = PyGILState_Ensure();
    call(errand);
    /* With the interpreter lock, so that nobody frees this meanwhile. */
    PyThread_release_lock(errand->over);
    PyGILState_Release(gil);
}
static int is_interrupt(PyObject *error) {
    return PyErr_GivenExceptionMatches(error, PyExc_KeyboardInterrupt);
}
/* function(argument) in a separate thread, which receives no signals. Its exception is returned.
 * If no thread is available it is called here, repeatedly until no signal interrupts it. */
static PyObject *call_undisturbed(PyObject *function, PyObject *argument) {
    Errand errand = {function, argument, NULL, PyThread_allocate_lock()};
    if (errand.over) {
        PyThread_acquire_lock(errand.over, WAIT_LOCK);
        if (!start_thread(run_errand, &errand)) {
            Py_BEGIN_ALLOW_THREADS
            PyThread_acquire_lock(errand.over, WAIT_LOCK);
            Py_END_ALLOW_THREADS
            PyThread_free_lock(errand.over);
            return errand.error;
        }
        PyThread_free_lock(errand.over);
    }
    EACH_BELOW(tries, 1000) {
        Py_CLEAR(errand.error);
        call(&errand);
        if (!errand.error || !is_interrupt(errand.error)) break;
    }
    return errand.error;
}

PyObject *pi_core_shielded(PyObject *module, PyObject *args) {
    PyObject *work, *finish;
    if (!PyArg_ParseTuple(args, "OO:shielded", &work, &finish)) return NULL;
    PyObject *result = PyObject_CallNoArgs(work);
    if (result) return result;
    PyObject *error = take_error();
    for (PyObject *next = error; next;) {
        PyObject *worse = call_undisturbed(finish, next);
        if (worse) {
            PyException_SetContext(worse, error); /* steals the reference */
            raise_error(worse);
            return NULL;
        }
        next = NULL;
        while (PyErr_CheckSignals()) {
            PyObject *late = take_error();
            if (next || is_interrupt(error) || !is_interrupt(late)) {
                Py_DECREF(late);
                continue;
            }
            PyException_SetContext(late, error);
            next = error = late;
        }
    }
    raise_error(error);
    return NULL;
}

PyObject *pi_core_to_nearest(PyObject *module, PyObject *args, PyObject *keywords) {
    if (PyTuple_Size(args) < 1)
        return PyErr_Format(PyExc_TypeError, "to_nearest() needs a function");
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    if (!rest) return NULL;
    const uint32_t mode = pi_enter_float_mode();
    PyObject *result = PyObject_Call(PyTuple_GetItem(args, 0), rest, keywords);
    pi_leave_float_mode(mode);
    Py_DECREF(rest);
    return result;
}
