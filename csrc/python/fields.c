/* The fields of start(), stepper() and start_adaptive(), read by one loop. A new option of a run is
 * one line here and one field of PiRun, or of Given if it is an object. */
#include "fields.h"
#include "../tolerance/solve.h"

typedef enum { INTEGER, REAL, FLAG, OBJECT } Kind;
typedef struct {
    const char *name;
    Kind kind;
    size_t offset;       /* in the run: PiRun or PiAdaptiveRun; of an OBJECT in Given */
    int known, needed;   /* by which functions: START, STEPPER, ADAPTIVE; whether these need it */
    int64_t least, most; /* of an INTEGER */
} Field;                 /* what is absent is 0 or NULL */
enum { BY_HAND = START | STEPPER, AT_ONCE = START | ADAPTIVE, ALL = BY_HAND | ADAPTIVE };

#define NUMBER(field)       offsetof(PiRun, field)
#define OWN(field)          offsetof(PiAdaptiveRun, field)
#define NEEDS(field, known) {#field, OBJECT, offsetof(Given, field), known, 1, 0, 0}
#define TAKES(field, known) {#field, OBJECT, offsetof(Given, field), known, 0, 0, 0}
static const Field fields[] = {
    NEEDS(system, ALL),
    NEEDS(method, AT_ONCE),
    {"bits", INTEGER, NUMBER(bits), BY_HAND, 1, 32, 64},
    {"lanes", INTEGER, NUMBER(lanes), BY_HAND, 1, 0, 0x1p48},
    {"n_steps", INTEGER, NUMBER(n_steps), START, 1, 0, 0x1p54},
    {"save_every", INTEGER, NUMBER(save_every), START, 1, 1, 0x1p54},
    {"bound", REAL, NUMBER(bound), BY_HAND, 1, 0, 0},
    NEEDS(t0, ALL),
    NEEDS(dt, BY_HAND),
    NEEDS(params, ALL),
    NEEDS(initial, AT_ONCE),
    TAKES(state_a, START),
    TAKES(record, AT_ONCE),
    TAKES(saved, AT_ONCE),
    TAKES(state_b, START),
    NEEDS(methods, STEPPER),
    NEEDS(state, STEPPER | ADAPTIVE),
    TAKES(starter, BY_HAND),
    TAKES(status, BY_HAND),
    TAKES(failed, BY_HAND),
    {"first", INTEGER, NUMBER(first), START, 0, 0, 0x1p54},
    {"workers", INTEGER, NUMBER(workers), START, 0, 1, 0x1p31 - 1},
    {"has_history", FLAG, NUMBER(has_history), START, 0, 0, 1},
    {"use_row_kernels", FLAG, NUMBER(use_row_kernels), START, 0, 0, 1},
    {"compensated", FLAG, NUMBER(compensated), BY_HAND, 0, 0, 1},
    TAKES(drive_strides, START),
    TAKES(save_steps, START),
    TAKES(stream, START),
    TAKES(watches, BY_HAND),
    TAKES(events, BY_HAND),
    TAKES(times, AT_ONCE),
    TAKES(renormalise, START),
    {"bits", INTEGER, OWN(bits), ADAPTIVE, 1, 32, 64},
    {"lanes", INTEGER, OWN(solve.lanes), ADAPTIVE, 1, 0, 0x1p48},
    {"workers", INTEGER, OWN(workers), ADAPTIVE, 0, 1, 0x1p20},
    NEEDS(rtol, ADAPTIVE),
    NEEDS(atol, ADAPTIVE),
    NEEDS(t_end, ADAPTIVE),
    NEEDS(first_step, ADAPTIVE),
    NEEDS(max_step, ADAPTIVE),
    {"max_steps", INTEGER, OWN(solve.max_steps), ADAPTIVE, 1, 0, 0x1p62},
    {"bound", REAL, OWN(solve.bound), ADAPTIVE, 1, 0, 0},
    NEEDS(t, ADAPTIVE),
    NEEDS(h, ADAPTIVE),
    NEEDS(accepted, ADAPTIVE),
    NEEDS(rejected, ADAPTIVE),
    NEEDS(status, ADAPTIVE),
    {"each", FLAG, OWN(each), ADAPTIVE, 0, 0, 1},
    {"keep", FLAG, OWN(keep), ADAPTIVE, 0, 0, 1},
    TAKES(observation, ADAPTIVE),
    TAKES(within, ADAPTIVE),
    TAKES(mark, ADAPTIVE),
    TAKES(made, ADAPTIVE),
    TAKES(onward, ADAPTIVE),
    TAKES(goes_on, ADAPTIVE),
    TAKES(earlier, ADAPTIVE),
    {"decay", REAL, OWN(solve.decay), ADAPTIVE, 0, 0, 0},
};

enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(FIELDS <= 64, "a bit of a number for each");

static int read_integer(const Field *field, PyObject *value, int64_t *to) {
    PyObject *index = PyNumber_Index(value);
    if (!index)
        return PyErr_Format(PyExc_TypeError, "%s must be an integer, got %R", field->name, value),
               -1;
    int overflow;
    *to = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (!overflow && *to >= field->least && *to <= field->most) return 0;
    return pi_refused("%s is %R: out of range, expected %lld to %lld", field->name, value,
                      (long long)field->least, (long long)field->most);
}
static int read_real(const Field *field, PyObject *value, double *to) {
    *to = PyFloat_AsDouble(value);
    if (*to == -1 && PyErr_Occurred())
        return PyErr_Format(PyExc_TypeError, "%s must be a number, got %R", field->name, value), -1;
    if (*to >= 0) return 0;
    return pi_refused("%s is %R: out of range, expected 0 to infinity", field->name, value);
}
static int read_field(const Field *field, PyObject *value, void *run, Given *given) {
    char *to = (char *)(field->kind == OBJECT ? (void *)given : run) + field->offset;
    switch (field->kind) {
    case INTEGER: return read_integer(field, value, (int64_t *)to);
    case REAL: return read_real(field, value, (double *)to);
    case FLAG: *(int *)to = PyObject_IsTrue(value); return *(int *)to < 0 ? -1 : 0;
    case OBJECT: *(PyObject **)to = value == Py_None && !field->needed ? NULL : value;
    }
    return 0;
}
/* keywords: a dictionary of this call alone, or NULL. 0, or -1 with an exception. */
static int read_call(Entry entry, const char *caller, PyObject *keywords, void *run, Given *given) {
    uint64_t found = 0;
    PyObject *name, *value;
    int i = 0; /* callers name the fields in the order of the table */
    for (Py_ssize_t at = 0; keywords && PyDict_Next(keywords, &at, &name, &value);) {
        int left = PyUnicode_Check(name) ? FIELDS : 0;
        for (; left; left--, i = (i + 1) % FIELDS)
            if (fields[i].known & entry && !PyUnicode_CompareWithASCIIString(name, fields[i].name))
                break;
        if (!left) return PyErr_Format(PyExc_TypeError, "%s has no field %R", caller, name), -1;
        found |= (uint64_t)1 << i;
        if (read_field(&fields[i], value, run, given)) return -1;
    }
    for (i = 0; i < FIELDS; i++)
        if (fields[i].needed && fields[i].known & entry && !(found >> i & 1))
            return PyErr_Format(PyExc_TypeError, "%s needs the field %s", caller, fields[i].name),
                   -1;
    return 0;
}

PyObject *pi_make_object(PyObject *module, Entry entry, Maker *make, PyObject *args,
                         PyObject *keywords) {
    static const char *const callers[] = {"start()", "stepper()", "start_adaptive()"};
    const int type = entry / 2; /* 0, 1, 2 */
    const char *const caller = callers[type];
    if (PyTuple_Size(args))
        return PyErr_Format(PyExc_TypeError, "%s takes keyword arguments only", caller);
    PyObject *self = PyType_GenericAlloc((PyTypeObject *)state_of(module)->type[type], 0);
    CoreObject *object = (CoreObject *)self;
    Given given = {0};
    const uint32_t mode = pi_enter_float_mode();
    if (self) {
        object->kept = Py_XNewRef(keywords);
        if (read_call(entry, caller, keywords, object + 1, &given) || make(module, object, &given))
            Py_CLEAR(self);
    }
    pi_leave_float_mode(mode);
    return self;
}

int pi_read_own_rows(PiRun *run, const Given *given, Views *views) {
    const int n = run->system->n_params, bytes = run->real_bytes = run->bits / 8;
    run->stride = pi_rounded_up(run->lanes, 512 / run->bits);
    if (run->bits == 32) run->bound = (float)run->bound;
    run->params = pi_views_zeros(views, n, sizeof *run->params);
    return !run->params || pi_views_row(views, given->t0, "t0", run->stride, bytes, &run->t0) ||
                   pi_views_row(views, given->dt, "dt", run->stride, bytes, &run->h) ||
                   pi_views_rows(views, given->params, "params", n, run->stride, bytes, run->params)
               ? -1
               : 0;
}

int pi_read_failures(PiRun *run, const Given *given, Views *views) {
    run->status = given->status ? pi_views_array(views, given->status, "status", run->lanes, 1, 1)
                                : pi_views_zeros(views, run->lanes, 1);
    if (!run->status) return -1;
    run->failed = given->failed ? pi_views_array(views, given->failed, "failed", run->lanes, 8, 1)
                                : pi_views_zeros(views, run->lanes, 8);
    return run->failed ? 0 : -1;
}

int pi_read_components(PyObject *saved, int dim, Views *views, int **to) {
    const Py_ssize_t n = !saved ? dim : PyTuple_Check(saved) ? PyTuple_Size(saved) : -1;
    if (n < 0) return PyErr_SetString(PyExc_TypeError, "saved: expected a tuple of components"), -1;
    int *item = *to = pi_views_zeros(views, n, sizeof *item);
    if (!item) return -1;
    for (int64_t i = 0; i < n; i++) {
        const long long c = saved ? PyLong_AsLongLong(PyTuple_GetItem(saved, i)) : i;
        if (c == -1 && PyErr_Occurred()) return -1;
        if (c < 0 || c >= dim) return pi_refused("there is no component %lld", c);
        item[i] = c;
    }
    return n;
}
