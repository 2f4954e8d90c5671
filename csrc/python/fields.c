/* Reads named arguments, from dictionaries that nobody else can change. A new option of a run is
 * one line here, or where its run is made, and one field of PiRun. */
#include "fields.h"

Fields pi_within(const Fields *f, PyObject *dictionary) {
    Fields within = *f;
    const int known = PyDict_Check(dictionary);
    within.given = known ? pi_views_keep(f->views, PyDict_Copy(dictionary)) : NULL;
    within.at = within.found = 0;
    within.left = within.given ? PyDict_Size(within.given) : 0;
    return within;
}
static PyObject *find(Fields *f, const char *name, int needed) {
    PyObject *key, *value;
    /* One round more than there are arguments, since one only meets the end. */
    for (Py_ssize_t n = f->left ? PyDict_Size(f->given) : -1; n >= 0; n--) {
        if (!PyDict_Next(f->given, &f->at, &key, &value)) f->at = 0;
        else if (PyUnicode_Check(key) && !PyUnicode_CompareWithASCIIString(key, name)) {
            f->left--;
            f->found |= (uint64_t)1 << (f->at - 1) % 64;
            return value;
        }
    }
    if (needed && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s needs the field %s", f->of, name);
    return NULL;
}
PyObject *pi_needed(Fields *f, const char *name) { return find(f, name, 1); }
PyObject *pi_given(Fields *f, const char *name) {
    PyObject *value = find(f, name, 0);
    return value == Py_None ? NULL : value;
}
int pi_all_known(const Fields *f) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; f->left && PyDict_Next(f->given, &at, &key, &value);)
        if (value != Py_None && !(f->found >> (at - 1) % 64 & 1))
            return PyErr_Format(PyExc_TypeError, "%s has no field %R", f->of, key), -1;
    return 0;
}

int pi_integer(Fields *f, const char *name, int needed, int64_t least, int64_t most, void *to,
               size_t bytes) {
    PyObject *value = find(f, name, needed);
    if (!value) return -needed;
    PyObject *index = PyNumber_Index(value);
    if (!index)
        return PyErr_Format(PyExc_TypeError, "%s must be an integer, got %R", name, value), -1;
    int overflow;
    const int64_t number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || number < least || number > most)
        return pi_refused("%s is %R: out of range, expected %lld to %lld", name, value,
                          (long long)least, (long long)most);
    if (bytes == sizeof number) *(int64_t *)to = number;
    else *(int *)to = number;
    return 0;
}
int pi_double(Fields *f, const char *name, int needed, double *to) {
    PyObject *value = find(f, name, needed);
    if (!value) return -needed;
    *to = PyFloat_AsDouble(value);
    if (*to == -1 && PyErr_Occurred())
        return PyErr_Format(PyExc_TypeError, "%s must be a number, got %R", name, value), -1;
    if (*to >= 0) return 0;
    return pi_refused("%s is %R: out of range, expected 0 to infinity", name, value);
}
void *pi_array(Fields *f, const char *name, int64_t items, int item, int writable) {
    return pi_views_array(f->views, pi_needed(f, name), name, items, item, writable);
}
int pi_row(Fields *f, const char *name, int64_t lanes, int item, PiRow *to) {
    return pi_views_row(f->views, pi_needed(f, name), name, lanes, item, to);
}
int pi_rows(Fields *f, const char *name, int n, int64_t lanes, int item, PiRow *to) {
    return pi_views_rows(f->views, pi_needed(f, name), name, n, lanes, item, to);
}

int pi_read_batch(Fields *f, PiRun *run, ResolvedSystem *resolved) {
    int bits;
    f->run = run;
    f->system = pi_needed(f, "system");
    if (!f->system || pi_integer(f, "bits", 1, 32, 64, &bits, sizeof bits) ||
        NUMBER(run, lanes, 0, 0x1p48) || pi_double(f, "bound", 1, &run->bound) ||
        pi_find_system(f->module, f->system, bits, resolved))
        return -1;
    const int n = resolved->system->n_params, bytes = run->real_bytes = bits / 8;
    f->dim = resolved->system->dim;
    f->stride = run->stride = pi_rounded_up(run->lanes, 64 / bytes);
    if (bits == 32) run->bound = (float)run->bound;
    run->params = pi_views_zeros(f->views, n, sizeof *run->params);
    if (!run->params || pi_row(f, "t0", run->stride, bytes, &run->t0) ||
        pi_row(f, "dt", run->stride, bytes, &run->h))
        return -1;
    f->params = f->views->count;
    return pi_rows(f, "params", n, run->stride, bytes, run->params);
}
/* Those of a run that is continued, or new ones. */
static void *of_lanes(Fields *f, const char *name, int bytes) {
    PyObject *given = pi_given(f, name);
    return given ? pi_views_array(f->views, given, name, f->run->lanes, bytes, 1)
                 : pi_views_zeros(f->views, f->run->lanes, bytes);
}
int pi_read_failures(Fields *f) {
    return !(f->run->status = of_lanes(f, "status", 1)) ||
           !(f->run->failed = of_lanes(f, "failed", 8));
}

int pi_read_components(Fields *f, int **to) {
    PyObject *saved = pi_given(f, "saved");
    const Py_ssize_t n = !saved ? f->dim : PyTuple_Check(saved) ? PyTuple_Size(saved) : -1;
    if (n < 0) return PyErr_SetString(PyExc_TypeError, "saved: expected a tuple of components"), -1;
    int *item = *to = pi_views_zeros(f->views, n, sizeof *item);
    if (!item) return -1;
    EACH_BELOW(i, n) {
        const long long c = saved ? PyLong_AsLongLong(PyTuple_GetItem(saved, i)) : i;
        if (c == -1 && PyErr_Occurred()) return -1;
        if (c < 0 || c >= f->dim) return pi_refused("there is no component %lld", c);
        item[i] = c;
    }
    return n;
}
