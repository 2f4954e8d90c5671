/* The Python type for stepping by hand: a run that advances its rows in place, a few steps a call.
 */
#include "objects.h"

enum { STEP, KICK, DRIFT, PHASES };
/* The interpreter lock is released for about ten microseconds of work and more. */
static const double WORTH_RELEASING = 20000;

typedef struct {
    CoreObject base;
    PiRun run[PHASES]; /* of the whole step, and of its two halves if it has them */
    int n_phases;
    long long n;            /* steps done */
    double work;            /* of a step */
    char *scratch, *before; /* before: the state before a block, allocated when needed */
} Stepper;

static void end_stepper(CoreObject *object) {
    Stepper *s = (Stepper *)object;
    EACH_BELOW(i, PHASES) {
        if (i > 0) s->run[i].failures = NULL; /* shared */
        pi_run_free(&s->run[i]);
    }
}

static int read_rows(Fields *f, PiRun *run) {
    void *state =
        pi_array(f, "state", pi_product(run->state_rows, run->stride), run->real_bytes, 1);
    if (!state) return -1;
    if ((uintptr_t)state % 64) return pi_refused("state must be aligned to 64 bytes");
    run->initial = run->state[0] = run->state[1] = state;
    return pi_read_failures(f);
}

/* One of the phases; all work on the same rows, in the same tiles, and share the failures of the
 * first and the copy of the state before a block. The rows are checked as soon as the method gives
 * their number, before anything of their size is allocated. */
static int make_phase(Stepper *s, Fields *f, const ResolvedSystem *resolved, int phase,
                      PyObject *method) {
    PiRun *run = &s->run[phase];
    if (phase != STEP) {
        *run = s->run[STEP];
        run->table = NULL; /* its own */
        run->n_observers = 0;
    }
    if (pi_choose_method(run, resolved, method, phase == STEP ? pi_given(f, "starter") : NULL))
        return -1;
    if (run->state_rows != s->run[STEP].state_rows)
        return pi_refused("a kick or a drift must remember as much as the step");
    if (phase == STEP && (read_rows(f, run) || pi_read_watching(f, NULL, NULL, &s->base.watches)))
        return -1;
    /* They see every step, since the index of a step is unknown before it is made. */
    EACH_BELOW(i, run->n_observers) run->observers[i].every = 1;
    const int error = pi_run_prepare(run);
    if (phase != STEP) {
        free(run->failures);
        run->failures = s->run[STEP].failures;
    }
    s->n_phases = phase + 1;
    if (error) PyErr_NoMemory();
    return error;
}

static int make_stepper(CoreObject *object, Fields *f) {
    Stepper *s = (Stepper *)object;
    PiRun *run = &s->run[STEP];
    ResolvedSystem resolved;
    if (pi_read_batch(f, run, &resolved) || OPTION(run, compensated, 0, 1)) return -1;
    PyObject *methods = pi_needed(f, "methods");
    if (!methods) return -1;
    const Py_ssize_t n = PyTuple_Check(methods) ? PyTuple_Size(methods) : 0;
    if (run->lanes < 1 || (n != 1 && n != PHASES))
        return pi_refused(
            "%lld lanes, %zd methods: out of range, expected 1 lane at least and a tuple of "
            "1 or %d methods",
            (long long)run->lanes, n, PHASES);
    run->workers = run->save_every = 1;
    int64_t most = 0;
    EACH_BELOW(i, n) {
        if (make_phase(s, f, &resolved, i, PyTuple_GetItem(methods, i))) return -1;
        const int64_t bytes = pi_run_scratch_bytes(&s->run[i]);
        if (bytes > most) most = bytes;
    }
    s->scratch = pi_views_aligned(f->views, most);
    if (!s->scratch) return -1;
    if (pi_run_freeze_padding(run) || pi_run_begin(run, s->scratch)) return PyErr_NoMemory(), -1;
    s->work = (double)run->lanes * run->state_rows * (run->method->evaluations + 1);
    return 0;
}

static int look_at(Stepper *s, int observer, int64_t n) {
    const uint32_t mode = pi_enter_float_mode();
    const int error = pi_run_show(&s->run[STEP], n, observer, s->scratch);
    pi_leave_float_mode(mode);
    return error;
}

enum { MOST_STEPS = 54 }; /* a Stepper counts to 2 to this power */

/* n steps of a phase: how many were completed. 0, or -1: with an exception, or without memory. */
static int make_steps(Stepper *s, PiRun *run, int64_t n, int64_t *completed) {
    if (n > ((int64_t)1 << MOST_STEPS) - s->n) {
        PyErr_Format(PyExc_ValueError, "%lld steps after step %lld: a Stepper counts to 2**%d",
                     (long long)n, s->n, MOST_STEPS);
        return -1;
    }
    /* The state may have been changed since: a crossing belongs to the step alone. */
    if (s->base.watches.events && look_at(s, s->base.watches.count, s->n)) return -1;
    void *before = NULL;
    if (pi_run_may_undo(run, n)) {
        const int64_t bytes = pi_product(pi_product(run->state_rows, run->stride), run->real_bytes);
        if (!s->before) s->before = pi_views_zeros(&s->base.views, bytes, 1);
        if (!s->before) return -1;
        before = s->before;
    }
    if (s->work * n <= WORTH_RELEASING)
        return pi_run_step(run, s->n, n, s->scratch, before, NULL, NULL, completed);
    Caller caller = {PyEval_SaveThread(), Py_None};
    const int error =
        pi_run_step(run, s->n, n, s->scratch, before, pi_poll_python, &caller, completed);
    PyEval_RestoreThread(caller.state);
    return error;
}
static int advance(Stepper *s, int phase, int64_t n) {
    if (!s->scratch || phase >= s->n_phases)
        return pi_refused("the method has no kick and drift of its own: 'semi_implicit_euler' has,"
                          " and those for a rigid body");
    if (phase != STEP && s->run[STEP].n_observers)
        return pi_refused("watches and events see whole steps: step() makes them,"
                          " and kick() and drift() are for a Stepper without");
    const int held = pi_claim(&s->base);
    if (held < 0) return -1;
    int64_t completed = 0;
    const int error = make_steps(s, &s->run[phase], n, &completed);
    if (error && !PyErr_Occurred()) PyErr_NoMemory();
    if (phase != KICK) s->n += completed;
    pi_let_go(&s->base, held);
    return error;
}

static PyObject *stepper_step(PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                              PyObject *names) {
    long long n = 1;
    const Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    if (n_args + n_names > 1 ||
        (n_names && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "n")))
        return PyErr_Format(PyExc_TypeError, "step() takes the number of steps n only");
    if (n_args + n_names == 1) {
        PyObject *index = PyBool_Check(args[0]) ? NULL : PyNumber_Index(args[0]);
        if (!index)
            return PyErr_Format(PyExc_TypeError,
                                "n must be an integer, how many steps of dt, got %R", args[0]);
        n = PyLong_AsLongLong(index);
        Py_DECREF(index);
        if (n < 0 || n > 0x1p53) {
            PyErr_Clear();
            return PyErr_Format(PyExc_ValueError, "n must be from 0 to 2**53, got %R", args[0]);
        }
    }
    if (n > 0 && advance((Stepper *)self, STEP, n)) return NULL;
    Py_RETURN_NONE;
}
static PyObject *stepper_kick(PyObject *self, PyObject *none) {
    return advance((Stepper *)self, KICK, 1) ? NULL : Py_NewRef(Py_None);
}
static PyObject *stepper_drift(PyObject *self, PyObject *none) {
    return advance((Stepper *)self, DRIFT, 1) ? NULL : Py_NewRef(Py_None);
}

/* Claims a Stepper for what is told of step n. */
static int claim_at(Stepper *s, long long n) {
    if (n < 0 || n > (int64_t)1 << MOST_STEPS)
        return pi_refused("n is %lld, expected 0 to 2**%d", n, MOST_STEPS);
    return pi_claim(&s->base);
}
static PyObject *stepper_begin(PyObject *self, PyObject *args) {
    Stepper *s = (Stepper *)self;
    long long n;
    int has_history;
    if (!PyArg_ParseTuple(args, "Lp:begin", &n, &has_history)) return NULL;
    const int held = claim_at(s, n);
    if (held < 0) return NULL;
    s->n = n;
    s->run[STEP].starter_until = has_history ? 0 : pi_first_steps(s->run[STEP].method);
    const int error = pi_run_freeze(&s->run[STEP]);
    pi_let_go(&s->base, held);
    return error ? PyErr_NoMemory() : Py_NewRef(Py_None);
}
static PyObject *stepper_look(PyObject *self, PyObject *number) {
    Stepper *s = (Stepper *)self;
    const long long n = PyLong_AsLongLong(number);
    if (PyErr_Occurred()) return NULL;
    const int held = claim_at(s, n);
    if (held < 0) return NULL;
    const int error = look_at(s, 0, n);
    pi_let_go(&s->base, held);
    if (error && !PyErr_Occurred()) PyErr_NoMemory();
    return error ? NULL : Py_NewRef(Py_None);
}
static PyObject *stepper_alter(PyObject *self, PyObject *function) {
    Stepper *s = (Stepper *)self;
    const int held = pi_claim(&s->base);
    if (held < 0) return NULL;
    const int before = s->base.altering;
    s->base.altering = 1;
    PyObject *result = PyObject_CallNoArgs(function);
    s->base.altering = before;
    pi_let_go(&s->base, held);
    return result;
}

static PyMethodDef stepper_methods[] = {
    {"step", (PyCFunction)(void (*)(void))stepper_step, METH_FASTCALL | METH_KEYWORDS,
     "step($self, n=1)\n--\n\nAdvance n steps, in place."},
    {"kick", stepper_kick, METH_NOARGS,
     "kick($self, /)\n--\n\nThe first half of a step: v += h a(t, x, v)."},
    {"drift", stepper_drift, METH_NOARGS,
     "drift($self, /)\n--\n\nThe second half: x += h v, and n += 1."},
    {"begin", stepper_begin, METH_VARARGS,
     "begin(n, has_history): the index of the step of the state, and whether it includes the\n"
     "history of a multistep method; those are frozen whose status says so."},
    {"look", stepper_look, METH_O,
     "look(n): shows the state to the watches and events, as the first, at step n."},
    {"alter", stepper_alter, METH_O,
     "alter(function): the result of function(); no other thread steps meanwhile, and "
     "begin is for use in it."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef stepper_members[] = {
    {"n", T_LONGLONG, offsetof(Stepper, n), READONLY, "Steps done."}, {NULL, 0, 0, 0, NULL}};
const ObjectType pi_stepper_type = {
    "pyintegrate._core.Stepper",
    "Stepper(**fields)\n\n"
    "system, methods: a tuple of the method of the step, or of the step, its kick and its drift;\n"
    "starter (optional); bits, lanes, bound, t0, dt, params as for Run; state:\n"
    "rows that are advanced in place; watches and events as for Run, whose sums_a and\n"
    "counts_a are right after each call.",
    sizeof(Stepper),
    make_stepper,
    end_stepper,
    stepper_methods,
    stepper_members};
