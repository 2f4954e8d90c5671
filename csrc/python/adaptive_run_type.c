/* The Python type of a batch that goes to a tolerance. */
#include "../tolerance/solve.h"
#include "objects.h"

typedef struct {
    CoreObject base;
    PiAdaptiveRun run;
} AdaptiveRun;

static void end_run(CoreObject *object) { pi_adaptive_free(&((AdaptiveRun *)object)->run); }

/* How many there are: one for all components, or one for each; or -1. */
static int tolerance_rows(Fields *f, const char *name, const PiAdaptiveRun *run, PiRow *rows) {
    PyObject *tuple = pi_needed(f, name);
    const Py_ssize_t n = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n != 1 && n != f->dim)
        return pi_refused("%s: expected a tuple of 1 or %d rows", name, f->dim);
    return pi_views_rows(f->views, tuple, name, n, run->solve.lanes, run->real_bytes, rows) ? -1
                                                                                            : n;
}
static int read_due_times(Fields *f, PiAdaptiveRun *run, PyObject *to, PyObject *times) {
    PiSolve *s = &run->solve;
    const int item = run->real_bytes;
    const Py_buffer *record = pi_views_strided(f->views, to, "record", 3, item);
    if (!record) return -1;
    if (record->shape[1] != s->n_saved || record->shape[2] < s->lanes)
        return pi_refused("record: expected the shape (n, %d, %lld)", s->n_saved,
                          (long long)s->lanes);
    s->n_times = record->shape[0];
    s->times_next = run->each ? s->lanes : 1;
    s->times_lane = run->each;
    if (!times) return pi_refused("record: it needs times");
    s->times =
        pi_views_array(f->views, times, "times", pi_product(s->n_times, s->times_next), item, 0);
    s->record = record->buf;
    s->record_next = record->strides[0] / item;
    s->record_component = record->strides[1] / item;
    s->record_lane = record->strides[2] / item;
    return s->times ? 0 : -1;
}
/* Numbers of kept steps; a tuple may have more of them, for another method. */
static int read_within(Fields *f, PiAdaptiveRun *run, PyObject *tuple) {
    PiSolve *s = &run->solve;
    const int n = PyTuple_Check(tuple) ? (int)PyTuple_Size(tuple) : 0,
              least = pi_numbers_of_step(s);
    if (n < least || n > 1 << 20 || !s->record || run->keep || run->observation)
        return pi_refused("within: expected a tuple of %d rows or more, with record and times",
                          least);
    PiRow *rows = pi_views_zeros(f->views, n, sizeof *rows);
    s->within = rows;
    return !rows || pi_views_rows(f->views, tuple, "within", n, s->lanes, run->real_bytes, rows);
}
/* Reals of each trajectory, one after the other; *n: how many it has. */
static void *read_onward(Fields *f, const char *name, const PiAdaptiveRun *run, int writable,
                         int64_t *n) {
    const PiSolve *s = &run->solve;
    const int64_t items = pi_product(s->lanes, pi_rows_onward(s));
    void *data = pi_array(f, name, items, run->real_bytes, writable);
    if (data && s->lanes) *n = pi_views_items(f->views, run->real_bytes) / s->lanes;
    return data;
}
/* The marks that this run leaves, where a continuation sets out, and those where it sets out. */
static int read_marks(Fields *f, PiAdaptiveRun *run) {
    PiSolve *s = &run->solve;
    PyObject *mark = pi_given(f, "mark"), *goes_on = pi_given(f, "goes_on");
    return (mark && (!(s->made = pi_array(f, "made", 2 * s->lanes, 8, 1)) ||
                     !(s->onward = read_onward(f, "onward", run, 1, &s->n_onward)) ||
                     !(s->mark = pi_views_array(f->views, mark, "mark", s->lanes, 1, 1)))) ||
           (goes_on &&
            (!(s->earlier = read_onward(f, "earlier", run, 0, &s->n_earlier)) ||
             !(s->goes_on = pi_views_array(f->views, goes_on, "goes_on", s->lanes, 1, 1))));
}
/* To the members of their names: rows, and arrays that are written. */
#define ROW(field)                  pi_row(f, #field, s->lanes, item, &s->field)
#define RESULT(field, items, bytes) (!(s->field = pi_array(f, #field, items, bytes, 1)))
static int make_run(CoreObject *object, Fields *f) {
    PiAdaptiveRun *run = &((AdaptiveRun *)object)->run;
    PiSolve *s = &run->solve;
    ResolvedSystem resolved;
    int bits;
    run->workers = 1;
    PyObject *system = f->system = pi_needed(f, "system"), *capsule = pi_needed(f, "method");
    const PiMethod *m = capsule ? PyCapsule_GetPointer(capsule, METHOD_CAPSULE) : NULL;
    if (!system || !m || pi_integer(f, "bits", 1, 32, 64, &bits, sizeof bits) ||
        NUMBER(s, lanes, 0, 0x1p48) || OPTION(run, workers, 1, 0x1p20) ||
        pi_find_system(f->module, system, bits, &resolved))
        return -1;
    const char *refusal = pi_adaptive_choose(run, &resolved, m);
    if (refusal) return pi_refused("%s", refusal);
    f->stride = s->lanes;
    const int dim = f->dim = s->system->dim, n_params = s->system->n_params, item = run->real_bytes;
    PiRow *rows = pi_views_zeros(f->views, pi_product(3, dim) + n_params, sizeof *rows);
    if (!rows) return -1;
    s->initial = rows;
    s->rtol = s->initial + dim;
    s->atol = s->rtol + dim;
    s->params = s->atol + dim;
    if (pi_rows(f, "initial", dim, s->lanes, item, s->initial) ||
        pi_rows(f, "params", n_params, s->lanes, item, s->params) ||
        (s->n_rtol = tolerance_rows(f, "rtol", run, s->rtol)) < 0 ||
        (s->n_atol = tolerance_rows(f, "atol", run, s->atol)) < 0 || ROW(t0) || ROW(t_end) ||
        ROW(first_step) || ROW(max_step) || NUMBER(s, max_steps, 0, 0x1p62) ||
        pi_double(f, "bound", 1, &s->bound) || RESULT(state, pi_product(dim, s->lanes), item) ||
        RESULT(t, s->lanes, item) || RESULT(h, s->lanes, item) || RESULT(accepted, s->lanes, 8) ||
        RESULT(rejected, s->lanes, 8) || RESULT(status, s->lanes, 1) ||
        (s->n_saved = pi_read_components(f, &s->saved)) < 0)
        return -1;
    PyObject *record = pi_given(f, "record"), *times = pi_given(f, "times");
    if (OPTION(run, each, 0, 1) || OPTION(run, keep, 0, 1) || read_marks(f, run) ||
        (record && read_due_times(f, run, record, times)))
        return -1;
    PyObject *within = pi_given(f, "within"), *observation = pi_given(f, "observation");
    if ((observation && pi_read_observation(f, observation, run, &object->watches)) ||
        pi_double(f, "decay", 0, &s->decay) || (within && read_within(f, run, within)))
        return -1;
    object->task = (Task){pi_adaptive_work, run, &run->out_of_memory, run->workers};
    pi_adaptive_prepare(run);
    return 0;
}

static PyObject *adaptive_run_gather(PyObject *self, PyObject *args) {
    AdaptiveRun *r = (AdaptiveRun *)self;
    const PiSolve *s = &r->run.solve;
    PyObject *objects[2] = {NULL, NULL};
    if (!PyArg_ParseTuple(args, "O|O:gather", &objects[0], &objects[1])) return NULL;
    if (pi_claim(&r->base)) return NULL;
    Views views = {0};
    const int item = r->run.real_bytes, numbers = pi_kept_numbers(s);
    int64_t *counts = pi_views_array(&views, objects[0], "counts", s->lanes, 8, 1);
    /* Counted in our own memory: others may write to the array, which may also be the record. */
    int64_t *own = counts ? pi_views_zeros(&views, s->lanes, sizeof *own) : NULL;
    const int64_t most = own ? pi_adaptive_gather(&r->run, own, NULL) : 0;
    const int64_t entry = pi_product(numbers, s->lanes);
    void *record = own && objects[1] ? pi_views_array(&views, objects[1], "record",
                                                      pi_product(most, entry), item, 1)
                                     : NULL;
    const int done = own && (record || !objects[1]);
    if (record) pi_adaptive_gather(&r->run, own, record);
    if (done) memcpy(counts, own, s->lanes * sizeof *own);
    pi_views_release(&views);
    r->base.holder = 0;
    return done ? Py_BuildValue("(Li)", (long long)most, numbers) : NULL;
}

static PyMethodDef adaptive_run_methods[] = {
    {"work", pi_object_work, METH_VARARGS,
     "work(progress=None, helpers=0): until every trajectory has arrived, with `helpers`\n"
     "further threads; progress(trajectories) is called now and then."},
    {"gather", adaptive_run_gather, METH_VARARGS,
     "gather(counts, record=None) -> (the most steps kept of one trajectory, numbers of each).\n"
     "counts: 64-bit, (lanes,): how many each has; record (n, numbers, lanes), of all of them:\n"
     "the time, the saved components, the numbers of the step from there."},
    {NULL, NULL, 0, NULL},
};
const ObjectType pi_adaptive_run_type = {
    "pyintegrate._core.AdaptiveRun",
    "AdaptiveRun(**fields)\n\n"
    "system, method: name or handle, handle; bits: 64 or 32; lanes: trajectories; workers:\n"
    "threads that will share it. initial, params, rtol, atol: tuples of rows, each of one value\n"
    "or one for each lane; rtol and atol of one row, or one for each component. t0, t_end,\n"
    "first_step (0: to be estimated), max_step: rows. max_steps: attempted; bound: of the\n"
    "components. Results, written: state (dim, lanes), t, h, and as 64-bit integers accepted and\n"
    "rejected; status (bytes): trajectories of status CANCELLED are integrated, others stay.\n"
    "saved: indices of components. record (n, components, lanes) with any strides: states at\n"
    "times, (n,), or with each=True (n, lanes); without it none. keep: whether gather() will be\n"
    "called. within: rows of numbers of kept steps, of which states at times are asked;\n"
    "t0, initial and t_end are then the ends of the steps. observation: watches and\n"
    "events (watching.c). decay: h times the rate of decay from which a trajectory leaves as\n"
    "stiff, with the status 16, or with Radau's method h times the fastest rate up to which\n"
    "it leaves as no longer stiff; 0: never. accepted and rejected are incremented from\n"
    "their given values. mark, made, onward (all or none): where a continuation sets out,\n"
    "written; goes_on, earlier: mark and onward of the run that this one continues (PiSolve).",
    sizeof(AdaptiveRun),
    make_run,
    end_run,
    adaptive_run_methods,
    NULL};
