/* Arrays from Python: contiguous, of the right size and alignment, held while C uses them. The
 * Python layer has already converted them; a mistake there must raise here, not crash. */
#include "arrays.h"

enum { VIEWS = 16 };

int pi_refused(const char *format, ...) {
    va_list words;
    va_start(words, format);
    if (!PyErr_Occurred()) PyErr_FormatV(PyExc_ValueError, format, words);
    va_end(words);
    return -1;
}

/* One more buffer; NULL with an exception. */
static View *one_more(Views *views) {
    if (views->count == views->room) {
        View **more = PyMem_Realloc(views->view, pi_product(views->room + VIEWS, sizeof *more));
        if (!more) return (View *)PyErr_NoMemory();
        views->view = more;
        View *block = PyMem_Malloc(pi_product(VIEWS, sizeof *block));
        if (!block) return (View *)PyErr_NoMemory();
        EACH_BELOW(i, VIEWS) more[views->room++] = block + i;
    }
    View *view = views->view[views->count++];
    view->buffer.obj = view->memory = NULL;
    return view;
}

/* A buffer of numbers of `item` bytes, or of bytes; NULL with an exception. */
static const Py_buffer *view_of(Views *views, PyObject *object, const char *name, int item,
                                int flags) {
    View *kept = object ? one_more(views) : NULL;
    if (!kept) return NULL;
    const Py_buffer *view = &kept->buffer;
    if (PyObject_GetBuffer(object, &kept->buffer, flags | PyBUF_FORMAT)) return NULL;
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

void *pi_views_array(Views *views, PyObject *object, const char *name, int64_t items, int item,
                     int writable) {
    const Py_buffer *view =
        view_of(views, object, name, item, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0));
    if (!view) return NULL;
    if (items < 0 || view->len / item < items)
        return PyErr_Format(PyExc_ValueError, "%s has %zd bytes, expected %lld items of %d", name,
                            view->len, (long long)items, item);
    return view->buf;
}

const Py_buffer *pi_views_strided(Views *views, PyObject *object, const char *name, int axes,
                                  int item) {
    const Py_buffer *view = view_of(views, object, name, item, PyBUF_STRIDES | PyBUF_WRITABLE);
    if (!view) return NULL;
    int whole = view->ndim == axes && view->itemsize == item;
    for (int i = 0; whole && i < axes; i++) whole = view->strides[i] % item == 0;
    if (whole) return view;
    PyErr_Format(PyExc_ValueError, "%s is no array of %d axes of whole items", name, axes);
    return NULL;
}

int64_t pi_views_items(const Views *views, int item) {
    return views->view[views->count - 1]->buffer.len / item;
}
/* A Python number as a row of one value. */
static int number_row(Views *views, PyObject *object, int item, PiRow *row) {
    const double number = PyFloat_AsDouble(object);
    View *view = one_more(views);
    if (!view) return -1;
    pi_set_real(&view->number, 0, item, number);
    view->buffer.buf = &view->number;
    view->buffer.len = item;
    *row = (PiRow){&view->number, 0};
    return 0;
}

int pi_views_row(Views *views, PyObject *object, const char *name, int64_t lanes, int item,
                 PiRow *row) {
    if (object && PyFloat_Check(object)) return number_row(views, object, item, row);
    row->data = pi_views_array(views, object, name, 1, item, 0);
    if (!row->data) return -1;
    const int64_t items = pi_views_items(views, item);
    row->stride = items > 1;
    if (row->stride && items < lanes)
        return pi_refused("%s has %lld items, expected 1 or %lld", name, (long long)items,
                          (long long)lanes);
    return 0;
}

int pi_views_rows(Views *views, PyObject *tuple, const char *name, int n, int64_t lanes, int item,
                  PiRow *rows) {
    if (!tuple || !PyTuple_Check(tuple) || PyTuple_Size(tuple) != n)
        return pi_refused("%s: expected a tuple of %d arrays", name, n);
    EACH_BELOW(i, n)
        if (pi_views_row(views, PyTuple_GetItem(tuple, i), name, lanes, item, &rows[i])) return -1;
    return 0;
}

void *pi_views_zeros(Views *views, int64_t count, size_t size) {
    View *view = one_more(views);
    if (!view) return NULL;
    view->memory = PyMem_Calloc(count + 1, size);
    return view->memory ? view->memory : PyErr_NoMemory();
}
void *pi_views_aligned(Views *views, int64_t bytes) {
    char *memory = pi_views_zeros(views, pi_sum(bytes, 64), 1);
    return memory ? memory + (64 - (uintptr_t)memory % 64) : NULL;
}
PyObject *pi_views_keep(Views *views, PyObject *object) {
    View *view = object ? one_more(views) : NULL;
    if (!view) {
        Py_XDECREF(object);
        return NULL;
    }
    return view->buffer.obj = object;
}
void pi_views_release(Views *views) {
    while (views->count > 0) {
        View *view = views->view[--views->count];
        PyMem_Free(view->memory);
        PyBuffer_Release(&view->buffer);
    }
    for (int i = 0; i < views->room; i += VIEWS) PyMem_Free(views->view[i]);
    PyMem_Free(views->view);
    *views = (Views){0};
}

int pi_read_numbers(PyObject *sequence, const char *name, int n, double *out) {
    if (!PyTuple_Check(sequence) || PyTuple_Size(sequence) != n)
        return pi_refused("%s: expected a tuple of %d numbers", name, n);
    EACH_BELOW(i, n) {
        out[i] = PyFloat_AsDouble(PyTuple_GetItem(sequence, i));
        if (out[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}
