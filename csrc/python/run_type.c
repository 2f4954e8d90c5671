/* The Python type of a run: made by start(), worked on by threads, read by outcome(). */
#include "../aligned.h"
#include "../run/layout.h"
#include "fields.h"
#include "watching.h"

typedef struct {
    CoreObject base;
    PiRun run;
    PiRecord record;
    Watches watches;
    void *own_state; /* if none is given */
} Run;
_Static_assert(offsetof(Run, run) == sizeof(CoreObject), "fields.c writes to the run");

static void run_dealloc(PyObject *self) {
    Run *r = (Run *)self;
    pi_run_free(&r->run);
    pi_free_aligned(r->own_state);
    pi_free_watches(&r->watches);
    pi_free_object(&r->base);
}

/* Which parameters change with each step; their rows must last to the end. There may be tens of
 * thousands: the list is on the heap. */
static int read_drive(Run *r, PyObject *strides) {
    PiRun *run = &r->run;
    const int n = run->system->n_params;
    double *items = pi_views_zeros(&r->base.views, n, sizeof *items);
    int64_t *own = pi_views_zeros(&r->base.views, n, sizeof *own);
    if (!items || !own || pi_read_numbers(strides, "drive_strides", n, items)) return -1;
    View *const *params = pi_views_find(&r->base.views, "params");
    for (int64_t i = 0; i < n; i++) {
        if (items[i] == 0) continue;
        const int64_t each = items[i] == 1 ? 1 : run->stride;
        if (items[i] != each ||
            params[i]->buffer.len / run->real_bytes < pi_product(run->n_steps, each))
            return pi_refused("a driven parameter has too few items");
        own[i] = each;
        if (each == 1) run->params[i].stride = 0;
    }
    run->drive_strides = own;
    return 0;
}

/* The destination of the saves, and the components to save. */
static int read_record(Run *r, const Given *o, int stream) {
    PiRun *run = &r->run;
    PiRecord *record = &r->record;
    int64_t saves = 1 + ceil_div(run->n_steps, run->save_every);
    record->every = run->save_every;
    if (o->times) saves = 0; /* watching.c checks the room for times */
    if (o->save_steps) {
        record->steps = pi_views_array(&r->base.views, o->save_steps, "save_steps", 0, 8, 0);
        if (!record->steps) return -1;
        record->listed = saves = pi_views_items(&r->base.views, 8);
    }
    const int64_t bytes = run->real_bytes;
    const int n = pi_read_components(o->saved, run->system->dim, &r->base.views, &record->saved);
    if (n < 0) return -1;
    record->n_saved = n;
    const Py_buffer *view =
        pi_views_strided(&r->base.views, o->record, "record", 3, run->real_bytes);
    if (!view) return -1;
    if (view->shape[0] < saves || view->shape[1] != n || view->shape[2] < run->lanes)
        return pi_refused(
            "record has the shape (%zd, %zd, %zd), expected (saves, components, lanes) = "
            "(%lld, %d, %lld)",
            view->shape[0], view->shape[1], view->shape[2], (long long)saves, n,
            (long long)run->lanes);
    record->data = view->buf;
    record->save_stride = view->strides[0] / bytes;
    record->component_stride = view->strides[1] / bytes;
    record->lane_stride = view->strides[2] / bytes;
    record->room = view->shape[2];
    const uintptr_t places = (uintptr_t)view->buf | view->strides[0] | view->strides[1];
    record->stream = stream && places % 64 == 0;
    return o->times ? 0 : pi_run_observe(run, pi_record_observer(record));
}

/* The rows of states; one that is missing is made. */
static int read_rows(Run *r, const Given *o) {
    PiRun *run = &r->run;
    Views *v = &r->base.views;
    const int bytes = run->real_bytes;
    const int64_t stride = run->stride, all = pi_product(run->state_rows, stride);
    if (!(run->initial = pi_views_array(v, o->initial, "initial", run->state_rows, bytes, 0)))
        return -1;
    const int64_t items = pi_views_items(v, bytes);
    if ((o->state_a &&
         !(run->state[0] = pi_views_array(v, o->state_a, "state_a", all, bytes, 1))) ||
        (o->state_b && !(run->state[1] = pi_views_array(v, o->state_b, "state_b", all, bytes, 1))))
        return -1;
    if (!o->state_a) run->state[0] = r->own_state = pi_aligned(pi_product(all, bytes));
    if (!run->state[0]) return PyErr_NoMemory(), -1;
    if (!o->state_b) run->state[1] = run->state[0];
    run->same = items < all;
    if (!run->same || items == run->state_rows) return 0;
    return pi_refused("initial has %lld items, expected %lld or %d", (long long)items,
                      (long long)all, run->state_rows);
}

static int make_run(PyObject *module, CoreObject *object, const Given *o) {
    Run *r = (Run *)object;
    PiRun *run = &r->run;
    ResolvedSystem resolved;
    if (pi_find_system(module, o->system, run->bits, &resolved)) return -1;
    if (pi_choose_method(run, &resolved, o->method, o->starter) ||
        pi_read_own_rows(run, o, &r->base.views))
        return -1;
    if (!run->workers) run->workers = 1;
    const int stream = o->stream ? PyObject_IsTrue(o->stream) : 0;
    if (stream < 0 || read_rows(r, o) || pi_read_failures(run, o, &r->base.views)) return -1;
    if (o->drive_strides && read_drive(r, o->drive_strides)) return -1;
    if (o->record && read_record(r, o, stream)) return -1;
    if (pi_read_watching(module, run, o, &r->record, &r->base.views, &r->watches)) return -1;
    if (pi_run_prepare(run) || pi_run_freeze(run)) return PyErr_NoMemory(), -1;
    return 0;
}

PyObject *pi_core_start(PyObject *module, PyObject *args, PyObject *keywords) {
    return pi_make_object(module, START, make_run, args, keywords);
}

static PyObject *run_work(PyObject *self, PyObject *args) {
    Run *r = (Run *)self;
    return pi_work_on(&r->base, args, r->run.workers,
                      (Task){pi_run_work, &r->run, &r->run.out_of_memory});
}

static PyObject *run_outcome(PyObject *self, PyObject *none) {
    Run *r = (Run *)self;
    if (pi_claim(&r->base)) return NULL;
    const PiRun *run = &r->run;
    const void *state = pi_run_state(run);
    const int where = !state ? -1 : state == run->initial ? 0 : state == run->state[0] ? 1 : 2;
    const int64_t completed = pi_run_completed(run), failures = pi_run_count_failures(run);
    const int64_t blocks = run->n_tiles ? run->done / run->n_tiles - 1 : run->n_blocks;
    pi_finish_images(&r->watches, blocks);
    r->base.holder = 0;
    return Py_BuildValue("(LiLL)", (long long)completed, where, (long long)failures,
                         (long long)blocks);
}

static PyObject *run_cells(PyObject *self, PyObject *none) {
    Run *r = (Run *)self;
    if (pi_claim(&r->base)) return NULL;
    PyObject *cells = pi_cells_of(&r->watches);
    r->base.holder = 0;
    return cells;
}

static PyMethodDef run_methods[] = {
    {"cells", run_cells, METH_NOARGS,
     "cells() -> of each statistic across the batch (step, group, cell, count) as bytes."},
    {"work", run_work, METH_VARARGS,
     "work(progress=None, helpers=0): works until nothing is left, with `helpers` further\n"
     "threads, or as many as are available; progress(steps) is called now and then."},
    {"outcome", run_outcome, METH_NOARGS,
     "outcome() -> (steps that every trajectory completed, where the state after them is:\n"
     "0 initial, 1 state_a, 2 state_b, -1 overwritten; the number of failed trajectories;\n"
     "blocks of time completed, -1 if not all watches have seen the initial state)."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot run_slots[] = {{Py_tp_dealloc, run_dealloc},
                                  {Py_tp_methods, run_methods},
                                  {Py_tp_doc, (void *)"A run of a batch; made by start()."},
                                  {0, NULL}};
PyType_Spec pi_run_spec = {"pyintegrate._core.Run", sizeof(Run), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};
