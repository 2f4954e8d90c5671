/* The Python type of a run: worked on by threads, read by outcome(). */
#include "../run/layout.h"
#include "objects.h"

typedef struct {
    CoreObject base;
    PiRun run;
    PiRecord record;
} Run;

static void end_run(CoreObject *object) { pi_run_free(&((Run *)object)->run); }

/* Which parameters change with each step; their rows must last to the end. There may be tens of
 * thousands: the list is on the heap. */
static int read_drive(Fields *f, PiRun *run, PyObject *strides) {
    const int n = run->system->n_params;
    double *items = pi_views_zeros(f->views, n, sizeof *items);
    int64_t *own = pi_views_zeros(f->views, n, sizeof *own);
    if (!items || !own || pi_read_numbers(strides, "drive_strides", n, items)) return -1;
    View *const *params = f->views->view + f->params;
    EACH_BELOW(i, n) {
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

/* The destination of the saves, and the components to save. With times it is that of the states at
 * these, for which watching.c checks the room. */
static int read_record(Fields *f, PiRun *run, PiRecord *record, PyObject *to, PyObject *times) {
    int64_t saves = 1 + ceil_div(run->n_steps, run->save_every);
    record->every = run->save_every;
    if (times) saves = 0;
    PyObject *steps = pi_given(f, "save_steps");
    if (steps) {
        record->steps = pi_views_array(f->views, steps, "save_steps", 0, 8, 0);
        if (!record->steps) return -1;
        record->listed = saves = pi_views_items(f->views, 8);
    }
    const int64_t bytes = run->real_bytes;
    const int n = record->n_saved = pi_read_components(f, &record->saved);
    if (n < 0 || OPTION(record, stream, 0, 1)) return -1;
    const Py_buffer *view = pi_views_strided(f->views, to, "record", 3, run->real_bytes);
    if (!view) return -1;
    if (view->shape[0] < saves || view->shape[1] != n || view->shape[2] < run->lanes)
        return pi_refused(
            "record has the shape (%zd, %zd, %zd), expected (saves, components, lanes) = "
            "(%lld, %d, %lld)",
            view->shape[0], view->shape[1], view->shape[2], (long long)saves, n,
            (long long)run->lanes);
    record->data = view->buf;
    record->saves = view->shape[0];
    record->save_stride = view->strides[0] / bytes;
    record->component_stride = view->strides[1] / bytes;
    record->lane_stride = view->strides[2] / bytes;
    record->room = view->shape[2];
    const uintptr_t places = (uintptr_t)view->buf | view->strides[0] | view->strides[1];
    record->stream &= places % 64 == 0;
    return times ? 0 : pi_run_observe(run, pi_record_observer(record));
}

/* The rows of states; one that is missing is made. */
static int read_rows(Fields *f, PiRun *run, PyObject *initial, PyObject *a, PyObject *b) {
    Views *v = f->views;
    const int bytes = run->real_bytes;
    const int64_t all = pi_product(run->state_rows, run->stride);
    if (!(run->initial = pi_views_array(v, initial, "initial", run->state_rows, bytes, 0)))
        return -1;
    const int64_t items = pi_views_items(v, bytes);
    run->state[0] = a ? pi_views_array(v, a, "state_a", all, bytes, 1)
                      : pi_views_aligned(v, pi_product(all, bytes));
    run->state[1] = b ? pi_views_array(v, b, "state_b", all, bytes, 1) : run->state[0];
    if (!run->state[0] || !run->state[1]) return -1;
    run->same = items < all;
    if (!run->same || items == run->state_rows) return 0;
    return pi_refused("initial has %lld items, expected %lld or %d", (long long)items,
                      (long long)all, run->state_rows);
}

/* First what is always there, then the options: once all that was given is found, the search for
 * others ends at once. */
static int make_run(CoreObject *object, Fields *f) {
    Run *r = (Run *)object;
    PiRun *run = &r->run;
    ResolvedSystem resolved;
    run->workers = 1;
    if (pi_read_batch(f, run, &resolved) || NUMBER(run, n_steps, 0, 0x1p54) ||
        NUMBER(run, save_every, 1, 0x1p54) || pi_read_failures(f))
        return -1;
    PyObject *method = pi_needed(f, "method"), *initial = method ? pi_needed(f, "initial") : NULL;
    PyObject *state_a = pi_given(f, "state_a"), *record = pi_given(f, "record");
    PyObject *times = pi_given(f, "times"), *strides = pi_given(f, "drive_strides");
    if (!initial || OPTION(run, first, 0, 0x1p54) || OPTION(run, workers, 1, 0x1p31 - 1) ||
        OPTION(run, has_history, 0, 1) || OPTION(run, use_row_kernels, 0, 1) ||
        OPTION(run, compensated, 0, 1) ||
        pi_choose_method(run, &resolved, method, pi_given(f, "starter")) ||
        read_rows(f, run, initial, state_a, pi_given(f, "state_b")) ||
        (strides && read_drive(f, run, strides)) ||
        (record && read_record(f, run, &r->record, record, times)) ||
        pi_read_watching(f, times, &r->record, &object->watches))
        return -1;
    object->task = (Task){pi_run_work, run, &run->out_of_memory, run->workers};
    if (pi_run_prepare(run) || pi_run_freeze(run)) return PyErr_NoMemory(), -1;
    return 0;
}

static PyObject *run_outcome(PyObject *self, PyObject *none) {
    Run *r = (Run *)self;
    if (pi_claim(&r->base)) return NULL;
    const PiRun *run = &r->run;
    const void *state = pi_run_state(run);
    const int where = !state ? -1 : state == run->initial ? 0 : state == run->state[0] ? 1 : 2;
    const int64_t completed = pi_run_completed(run), failures = pi_run_count_failures(run);
    const int64_t blocks = run->n_tiles ? run->done / run->n_tiles - 1 : run->n_blocks;
    pi_finish_images(&r->base.watches, blocks);
    PyObject *cells = pi_cells_of(&r->base.watches);
    r->base.holder = 0;
    return Py_BuildValue("(LiLLN)", (long long)completed, where, (long long)failures,
                         (long long)blocks, cells);
}

static PyMethodDef run_methods[] = {
    {"work", pi_object_work, METH_VARARGS,
     "work(progress=None, helpers=0): works until nothing is left, with `helpers` further\n"
     "threads, or as many as are available; progress(steps) is called now and then."},
    {"outcome", run_outcome, METH_NOARGS,
     "outcome() -> (steps that every trajectory completed, where the state after them is:\n"
     "0 initial, 1 state_a, 2 state_b, -1 overwritten; the number of failed trajectories;\n"
     "blocks of time completed, -1 if not all watches have seen the initial state; of each\n"
     "statistic across the batch (step, group, cell, count) as bytes)."},
    {NULL, NULL, 0, NULL},
};
const ObjectType pi_run_type = {
    "pyintegrate._core.Run",
    "Run(**fields)\n\n"
    "system, method: name or handle, handle; starter: the method for the first steps of a\n"
    "multistep method, None for the default one. bits: 64 or 32. lanes: trajectories. first:\n"
    "index of the step before the first; n_steps; save_every: steps from one save to the next.\n"
    "bound: of the components, may be infinite. workers: threads that will share the run.\n"
    "t0, dt, params: rows, each of one value or one for each lane; params is a tuple.\n"
    "drive_strides: for driven parameters, the items from each row to that of the next step\n"
    "(1: one value serves all lanes), 0 for the others.\n"
    "initial, state_a, state_b: rows for the components and for the history of the method\n"
    "(history_rows); initial may have one item per row, which serves all lanes. has_history:\n"
    "whether initial includes the history of the method.\n"
    "record: (saves, components, lanes) with any strides; lanes past those of the batch, up to\n"
    "whole cache lines, may be written; saved: the indices of the components; save_steps: the\n"
    "indices of the saved steps, multiples of save_every; stream: write past the caches.\n"
    "use_row_kernels: those for any force, even if others are compiled.\n"
    "status, failed: of each lane as bytes 0, or why it is frozen, and as 64-bit integers the\n"
    "first step that it has not completed; written, and read if a run is continued.\n"
    "watches: a tuple of dictionaries: program, every, begin, asks, sums, params, t0, dt,\n"
    "reduced, densities, across, origin, factor, sums_a, sums_b (csrc/watching/watch.h).\n"
    "events: a dictionary: detect (a watch), react,\n"
    "most, counts_a, counts_b, stopped_at, stopped_by, events (csrc/watching/events.h).\n"
    "times: a dictionary: t, count, each (whether t has a row of times for each), t0, dt, at\n"
    "which states go to the record, instead of steps (csrc/watching/between.h).\n"
    "renormalise: a dictionary: every, vectors, dim, orthogonal, indicators, places, sums\n"
    "(csrc/watching/renormalise.h).\n"
    "compensated: carry the rounding errors of additions to the state, in rows at the end of\n"
    "the state.\n"
    "May be left out: starter, first, workers, drive_strides, has_history, state_a (the core has\n"
    "its own, unseen), state_b (it is state_a), saved (all components), record with save_steps\n"
    "and stream, use_row_kernels, watches, events, times, renormalise, compensated, status,\n"
    "failed.",
    sizeof(Run),
    make_run,
    end_run,
    run_methods,
    NULL};
