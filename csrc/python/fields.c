/* The fields of start(), stepper() and start_adaptive(), read by one loop. A new option of a run is
 * one line here and one field of PiRun. */
#include "fields.h"
#include <math.h>
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
_Static_assert(sizeof fields / sizeof *fields <= MOST_FIELDS,
               "the state of the module has a name for each field");

int pi_name_fields(State *state) {
    for (int i = 0; i < FIELDS; i++) {
        state->field_names[i] = PyUnicode_InternFromString(fields[i].name);
        if (!state->field_names[i]) return -1;
    }
    return 0;
}

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
/* Where the fields of a call go. */
typedef struct {
    PyObject *const *names; /* of all fields */
    Entry entry;
    const char *caller;
    void *run;
    Given *given;
    int next;       /* the field after the last: callers name them in the order of the table */
    uint64_t found; /* a bit for each */
} Reading;
static int is_named(const Reading *r, int i, PyObject *name, int exactly) {
    if (!(fields[i].known & r->entry)) return 0;
    return exactly ? r->names[i] == name
                   : PyUnicode_Check(name) &&
                         PyUnicode_CompareWithASCIIString(name, fields[i].name) == 0;
}
static int read_named(Reading *r, PyObject *name, PyObject *value) {
    for (int look = 0; look < 2 * FIELDS; look++) { /* names are interned, but for a few */
        const int i = (r->next + look) % FIELDS;
        if (!is_named(r, i, name, look < FIELDS)) continue;
        r->next = i + 1;
        r->found |= (uint64_t)1 << i;
        return read_field(&fields[i], value, r->run, r->given);
    }
    PyErr_Format(PyExc_TypeError, "%s has no field %R", r->caller, name);
    return -1;
}
/* more: the dictionary, which no other thread can change. 0, or -1 with an exception. */
static int read_call(Reading *r, const Call *call, PyObject *more) {
    const Py_ssize_t named = call->names ? PyTuple_Size(call->names) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (read_named(r, PyTuple_GetItem(call->names, i), call->values[call->n + i])) return -1;
    PyObject *name, *value;
    for (Py_ssize_t at = 0; more && PyDict_Next(more, &at, &name, &value);)
        if (read_named(r, name, value)) return -1;
    for (int i = 0; i < FIELDS; i++) {
        if (!fields[i].needed || !(fields[i].known & r->entry) || r->found >> i & 1) continue;
        PyErr_Format(PyExc_TypeError, "%s needs the field %s", r->caller, fields[i].name);
        return -1;
    }
    return 0;
}

PyObject *pi_make_object(PyObject *module, PyObject *type, Entry entry, Maker *make, Call call) {
    const char *caller = entry == START     ? "start()"
                         : entry == STEPPER ? "stepper()"
                                            : "start_adaptive()";
    PyObject *given_more = call.n ? call.values[0] : Py_None;
    if (call.n > 1 || (given_more != Py_None && !PyDict_Check(given_more)))
        return PyErr_Format(PyExc_TypeError, "%s takes a dictionary and keyword arguments only",
                            caller);
    PyObject *more = given_more == Py_None ? NULL : PyDict_Copy(given_more);
    if (!more && given_more != Py_None) return NULL;
    PyObject *self = PyType_GenericAlloc((PyTypeObject *)type, 0);
    Given given = {0};
    Reading reading = {state_of(module)->field_names, entry, caller, NULL, &given, 0, 0};
    const uint32_t mode = pi_enter_float_mode();
    if (self) {
        reading.run = (CoreObject *)self + 1;
        CoreObject *object = (CoreObject *)self;
        int error = read_call(&reading, &call, more);
        object->kept[0] = Py_XNewRef(given.system);
        object->kept[1] = Py_XNewRef(given.method ? given.method : given.methods);
        object->kept[2] = Py_XNewRef(given.starter);
        if (error || make(module, object, &given)) Py_CLEAR(self);
    }
    pi_leave_float_mode(mode);
    Py_XDECREF(more);
    return self;
}

void pi_size_rows(PiRun *run) {
    const int64_t unit = 512 / run->bits;
    run->stride = (run->lanes + unit - 1) / unit * unit;
    run->real_bytes = (int)run->bits / 8;
    if (run->bits == 32) run->bound = (float)run->bound;
}

int pi_read_components(PyObject *saved, int dim, Views *views, int **to) {
    const Py_ssize_t n = !saved ? dim : PyTuple_Check(saved) ? PyTuple_Size(saved) : -1;
    if (n < 0) return PyErr_SetString(PyExc_TypeError, "saved: expected a tuple of components"), -1;
    int *item = *to = pi_views_zeros(views, n, sizeof *item);
    if (!item) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const long long c = saved ? PyLong_AsLongLong(PyTuple_GetItem(saved, i)) : i;
        if (c == -1 && PyErr_Occurred()) return -1;
        if (c < 0 || c >= dim) return pi_refused("there is no component %lld", c);
        item[i] = (int)c;
    }
    return (int)n;
}
