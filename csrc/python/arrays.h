/* Python objects with the buffer protocol <-> checked views (arrays.c). */
#pragma once
#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED /* a free-threaded Python has no stable ABI (PEP 703) */
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <structmember.h>
#include "../tiles.h"

/* What is held during a call or a run: buffers and memory. An object that is kept is a buffer
 * without data. */
typedef struct {
    Py_buffer buffer; /* obj == NULL: of the number */
    void *memory;
    double number; /* or a float there */
} View;
typedef struct {
    int count, room;
    View **view; /* each in a block of VIEWS, as buffers must not move */
} Views;

/* A ValueError, formatted like those of Python, unless there is an exception; -1. */
int pi_refused(const char *format, ...);
/* The memory of a C-contiguous array of at least `items` items of `item` bytes; NULL with an
 * exception, as where the object is NULL with one. */
void *pi_views_array(Views *views, PyObject *object, const char *name, int64_t items, int item,
                     int writable);
/* A writable array of `axes` axes, with any strides of whole items; NULL with an exception. */
const Py_buffer *pi_views_strided(Views *views, PyObject *object, const char *name, int axes,
                                  int item);
/* A row: one value for all lanes (a number or an array of one), or at least `lanes` of them.
 * Returns 0, or -1 with an exception.
 */
int pi_views_row(Views *views, PyObject *object, const char *name, int64_t lanes, int item,
                 PiRow *row);
/* The same for each array of a tuple of n. */
int pi_views_rows(Views *views, PyObject *tuple, const char *name, int n, int64_t lanes, int item,
                  PiRow *rows);
/* How many items the last array has. */
int64_t pi_views_items(const Views *views, int item);
/* Zeros, at least one item, as long as the views; NULL with an exception. */
void *pi_views_zeros(Views *views, int64_t count, size_t size);
/* The same: so many bytes, aligned to a cache line. */
void *pi_views_aligned(Views *views, int64_t bytes);
/* Keeps an object alive as long as the views, which take over its reference: it is returned as
 * borrowed. NULL with an exception, also if the object is NULL. */
PyObject *pi_views_keep(Views *views, PyObject *object);
void pi_views_release(Views *views);
/* A tuple of n numbers; 0, or -1 with an exception. */
int pi_read_numbers(PyObject *sequence, const char *name, int n, double *out);
