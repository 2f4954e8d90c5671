/* The fields of start() and stepper(), read by one loop. A new option of a run is one line
 * here and one field of PiRun. */
#include "fields.h"
#include <math.h>

typedef enum { INTEGER, REAL, FLAG, OBJECT } Kind;
typedef struct {
    const char *name;
    Kind kind;
    size_t offset;     /* in PiRun; of an OBJECT in RunObjects */
    int needed, known; /* by which functions: START, STEPPER; 0 or NULL if it is absent */
    double least, most;
} Field;
enum { BOTH = START | STEPPER };

#define NUMBER(field) offsetof(PiRun, field)
#define THING(field)  offsetof(RunObjects, field)
static const Field fields[] = {
    {"system", OBJECT, THING(system), BOTH, BOTH, 0, 0},
    {"method", OBJECT, THING(method), START, START, 0, 0},
    {"methods", OBJECT, THING(methods), STEPPER, STEPPER, 0, 0},
    {"starter", OBJECT, THING(starter), 0, BOTH, 0, 0},
    {"bits", INTEGER, NUMBER(bits), BOTH, BOTH, 32, 64},
    {"lanes", INTEGER, NUMBER(lanes), BOTH, BOTH, 0, 0x1p48},
    {"first", INTEGER, NUMBER(first), 0, START, 0, 0x1p54},
    {"n_steps", INTEGER, NUMBER(n_steps), START, START, 0, 0x1p54},
    {"save_every", INTEGER, NUMBER(save_every), START, START, 1, 0x1p54},
    {"workers", INTEGER, NUMBER(workers), START, START, 1, 0x1p31 - 1},
    {"bound", REAL, NUMBER(bound), BOTH, BOTH, 0, HUGE_VAL},
    {"has_history", FLAG, NUMBER(has_history), 0, START, 0, 1},
    {"use_row_kernels", FLAG, NUMBER(use_row_kernels), 0, START, 0, 1},
    {"compensated", FLAG, NUMBER(compensated), 0, BOTH, 0, 1},
    {"t0", OBJECT, THING(t0), BOTH, BOTH, 0, 0},
    {"dt", OBJECT, THING(dt), BOTH, BOTH, 0, 0},
    {"params", OBJECT, THING(params), BOTH, BOTH, 0, 0},
    {"drive_strides", OBJECT, THING(drive_strides), 0, START, 0, 0},
    {"initial", OBJECT, THING(initial), START, START, 0, 0},
    {"state_a", OBJECT, THING(state_a), START, START, 0, 0},
    {"state_b", OBJECT, THING(state_b), START, START, 0, 0},
    {"state", OBJECT, THING(state), STEPPER, STEPPER, 0, 0},
    {"record", OBJECT, THING(record), 0, START, 0, 0},
    {"saved", OBJECT, THING(saved), 0, START, 0, 0},
    {"save_steps", OBJECT, THING(save_steps), 0, START, 0, 0},
    {"watches", OBJECT, THING(watches), 0, BOTH, 0, 0},
    {"events", OBJECT, THING(events), 0, BOTH, 0, 0},
    {"times", OBJECT, THING(times), 0, START, 0, 0},
    {"renormalise", OBJECT, THING(renormalise), 0, START, 0, 0},
    {"stream", OBJECT, THING(stream), 0, START, 0, 0},
};

enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(sizeof fields / sizeof *fields <= MOST_FIELDS,
               "the state of the module has a name for each field");

int name_fields(State *state) {
    for (int i = 0; i < FIELDS; i++) {
        state->field_names[i] = PyUnicode_InternFromString(fields[i].name);
        if (!state->field_names[i]) return -1;
    }
    return 0;
}

static int out_of_range(const Field *field, PyObject *value) {
    if (field->kind == INTEGER) {
        PyErr_Format(PyExc_ValueError, "%s is %R: out of range, expected %lld to %lld", field->name,
                     value, (long long)field->least, (long long)field->most);
        return -1;
    }
    PyObject *least = PyFloat_FromDouble(field->least), *most = PyFloat_FromDouble(field->most);
    if (least && most)
        PyErr_Format(PyExc_ValueError, "%s is %R: out of range, expected %S to %S", field->name,
                     value, least, most);
    Py_XDECREF(least);
    Py_XDECREF(most);
    return -1;
}
static int read_integer(const Field *field, PyObject *value, int64_t *to) {
    PyObject *index = PyNumber_Index(value);
    if (!index)
        return PyErr_Format(PyExc_TypeError, "%s must be an integer, got %R", field->name, value),
               -1;
    int overflow;
    *to = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    const int outside = *to < (int64_t)field->least || *to > (int64_t)field->most;
    return overflow || outside ? out_of_range(field, value) : 0;
}
static int read_real(const Field *field, PyObject *value, double *to) {
    *to = PyFloat_AsDouble(value);
    if (*to == -1 && PyErr_Occurred())
        return PyErr_Format(PyExc_TypeError, "%s must be a number, got %R", field->name, value), -1;
    return *to >= field->least && *to <= field->most ? 0 : out_of_range(field, value);
}
static int read_field(const Field *field, PyObject *value, PiRun *run, RunObjects *objects) {
    char *to = (char *)(field->kind == OBJECT ? (void *)objects : (void *)run) + field->offset;
    switch (field->kind) {
    case INTEGER: return read_integer(field, value, (int64_t *)to);
    case REAL: return read_real(field, value, (double *)to);
    case FLAG: *(int *)to = PyObject_IsTrue(value); return *(int *)to < 0 ? -1 : 0;
    case OBJECT: *(PyObject **)to = value == Py_None && !field->needed ? NULL : value;
    }
    return 0;
}

/* Names that no field of this function has. */
static int refuse_unknown(PyObject *given, Entry entry, const char *caller) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(given, &at, &key, &value);) {
        int known = 0;
        for (int i = 0; !known && PyUnicode_Check(key) && i < FIELDS; i++)
            known = fields[i].known & entry &&
                    PyUnicode_CompareWithASCIIString(key, fields[i].name) == 0;
        if (!known) {
            PyErr_Format(PyExc_TypeError, "%s has no field %R", caller, key);
            return -1;
        }
    }
    return 0;
}

PyObject *own_fields(PyObject *args, PyObject *keywords, const char *caller) {
    const Py_ssize_t n = PyTuple_Size(args), named = keywords ? PyDict_Size(keywords) : 0;
    PyObject *only = n == 1 && !named ? PyTuple_GetItem(args, 0) : NULL;
    if (only && PyDict_Check(only)) return PyDict_Copy(only);
    if (n == 0) return keywords ? Py_NewRef(keywords) : PyDict_New();
    return PyErr_Format(PyExc_TypeError, "%s takes a dictionary, or keyword arguments only",
                        caller);
}

int read_fields(PyObject *module, PyObject *given, Entry entry, PiRun *run, RunObjects *objects) {
    PyObject *const *names = state_of(module)->field_names;
    const char *caller = entry == START ? "start()" : "stepper()";
    Py_ssize_t found = 0;
    *objects = (RunObjects){0};
    for (int i = 0; i < FIELDS; i++) {
        const Field *field = &fields[i];
        if (!(field->known & entry)) continue;
        PyObject *value = PyDict_GetItemWithError(given, names[i]);
        if (!value && PyErr_Occurred()) return -1;
        if (!value && field->needed & entry) {
            PyErr_Format(PyExc_TypeError, "%s needs the field %s", caller, field->name);
            return -1;
        }
        if (value && read_field(field, value, run, objects)) return -1;
        found += value != NULL;
    }
    if (run->bits == 32) run->bound = (float)run->bound;
    return found < PyDict_Size(given) ? refuse_unknown(given, entry, caller) : 0;
}
