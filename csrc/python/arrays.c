/* Arrays from Python: contiguous, of the right size and alignment, held while C uses them. The
 * Python layer has converted them already; a mistake there must raise here, not crash. */
#include "arrays.h"
#include <string.h>

/* Room for one more buffer, which must not move; NULL with an exception. */
static Py_buffer *one_more(Views *views) {
    if (views->count == views->room) {
        const int room = 2 * views->room + 16;
        Py_buffer **more = PyMem_Realloc(views->view, room * sizeof *more);
        if (!more) return (Py_buffer *)PyErr_NoMemory();
        views->view = more;
        views->room = room;
    }
    Py_buffer *view = PyMem_Calloc(1, sizeof *view);
    return view ? view : (Py_buffer *)PyErr_NoMemory();
}

/* A buffer of numbers of `item` bytes, or of bytes; NULL with an exception. */
static const Py_buffer *view_of(Views *views, PyObject *object, const char *name, int item,
                                int flags) {
    Py_buffer *view = one_more(views);
    if (!view) return NULL;
    if (PyObject_GetBuffer(object, view, flags | PyBUF_FORMAT)) {
        PyMem_Free(view);
        return NULL;
    }
    views->view[views->count++] = view;
    if (view->format && strchr(view->format, 'O'))
        return (Py_buffer *)PyErr_Format(PyExc_TypeError, "%s holds objects, expected numbers",
                                         name);
    if (view->itemsize != item && view->itemsize != 1)
        return (Py_buffer *)PyErr_Format(PyExc_TypeError, "%s has items of %zd bytes, expected %d",
                                         name, view->itemsize, item);
    if ((uintptr_t)view->buf % (size_t)item)
        return (Py_buffer *)PyErr_Format(PyExc_ValueError, "%s is not aligned", name);
    return view;
}

void *views_array(Views *views, PyObject *object, const char *name, int64_t items, int item,
                  int writable) {
    const Py_buffer *view =
        view_of(views, object, name, item, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0));
    if (!view) return NULL;
    if (items < 0 || view->len / item < items)
        return PyErr_Format(PyExc_ValueError, "%s has %zd bytes, expected %lld items of %d", name,
                            view->len, (long long)items, item);
    return view->buf;
}

const Py_buffer *views_strided(Views *views, PyObject *object, const char *name, int axes,
                               int item) {
    const Py_buffer *view = view_of(views, object, name, item, PyBUF_STRIDES | PyBUF_WRITABLE);
    if (!view) return NULL;
    int whole = view->ndim == axes && view->itemsize == item;
    for (int i = 0; whole && i < axes; i++) whole = view->strides[i] % item == 0;
    if (whole) return view;
    PyErr_Format(PyExc_ValueError, "%s is no array of %d axes of whole items", name, axes);
    return NULL;
}

/* A Python number as a row of one value. */
static int number_row(Views *views, PyObject *object, int item, PiRow *row) {
    const double number = PyFloat_AsDouble(object);
    Py_buffer *view = one_more(views);
    if (!view) return -1;
    view->buf = PyMem_Malloc(sizeof number);
    if (!view->buf) {
        PyMem_Free(view);
        PyErr_NoMemory();
        return -1;
    }
    if (item == 8) *(double *)view->buf = number;
    else *(float *)view->buf = (float)number;
    views->view[views->count++] = view;
    *row = (PiRow){view->buf, 0};
    return 0;
}

int views_row(Views *views, PyObject *object, const char *name, int64_t lanes, int item,
              PiRow *row) {
    if (PyFloat_Check(object)) return number_row(views, object, item, row);
    row->data = views_array(views, object, name, 1, item, 0);
    if (!row->data) return -1;
    const int64_t items = views->view[views->count - 1]->len / item;
    row->step = items > 1;
    if (row->step && items < lanes) {
        PyErr_Format(PyExc_ValueError, "%s has %lld items, expected 1 or %lld", name,
                     (long long)items, (long long)lanes);
        return -1;
    }
    return 0;
}

int views_rows(Views *views, PyObject *tuple, const char *name, int n, int64_t lanes, int item,
               PiRow *rows) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != n) {
        PyErr_Format(PyExc_ValueError, "%s: expected a tuple of %d arrays", name, n);
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (views_row(views, PyTuple_GetItem(tuple, i), name, lanes, item, &rows[i])) return -1;
    return 0;
}

void views_release(Views *views) {
    while (views->count > 0) {
        Py_buffer *view = views->view[--views->count];
        if (!view->obj) PyMem_Free(view->buf); /* a number of ours */
        PyBuffer_Release(view);
        PyMem_Free(view);
    }
    PyMem_Free(views->view);
    *views = (Views){0};
}

int read_numbers(PyObject *sequence, const char *name, int n, double *out) {
    if (!PyTuple_Check(sequence) || PyTuple_Size(sequence) != n) {
        PyErr_Format(PyExc_ValueError, "%s: expected a tuple of %d numbers", name, n);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        out[i] = PyFloat_AsDouble(PyTuple_GetItem(sequence, i));
        if (out[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}
