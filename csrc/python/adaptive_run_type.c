/* The Python type of a batch that goes to a tolerance. */
#include <string.h>
#include "../tolerance/solve.h"
#include "fields.h"
#include "watching.h"

typedef struct {
    CoreObject base;
    PiAdaptiveRun run;
    Watches watches;
} AdaptiveRun;
_Static_assert(offsetof(AdaptiveRun, run) == sizeof(CoreObject), "fields.c writes to the run");

static void adaptive_run_dealloc(PyObject *self) {
    AdaptiveRun *r = (AdaptiveRun *)self;
    pi_adaptive_free(&r->run);
    pi_free_watches(&r->watches);
    pi_free_object(&r->base);
}

static int tolerance_rows(AdaptiveRun *r, PyObject *tuple, const char *name, int dim, PiRow *rows) {
    const Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (n != 1 && n != dim) return pi_refused("%s: expected a tuple of 1 or %d rows", name, dim);
    if (pi_views_rows(&r->base.views, tuple, name, n, r->run.solve.lanes, r->run.real_bytes, rows))
        return -1;
    return n;
}
static int read_due_times(AdaptiveRun *r, const Given *a) {
    PiSolve *s = &r->run.solve;
    const int item = r->run.real_bytes;
    const Py_buffer *record = pi_views_strided(&r->base.views, a->record, "record", 3, item);
    if (!record) return -1;
    if (record->shape[1] != s->n_saved || record->shape[2] < s->lanes)
        return pi_refused("record: expected the shape (n, %d, %lld)", s->n_saved,
                          (long long)s->lanes);
    s->n_times = record->shape[0];
    s->times_next = r->run.each ? s->lanes : 1;
    s->times_lane = r->run.each;
    s->times = pi_views_array(&r->base.views, a->times, "times",
                              pi_product(s->n_times, s->times_next), item, 0);
    s->record = record->buf;
    s->record_next = record->strides[0] / item;
    s->record_component = record->strides[1] / item;
    s->record_lane = record->strides[2] / item;
    return s->times ? 0 : -1;
}
/* Numbers of kept steps; a tuple may have more of them, for another method. */
static int read_within(AdaptiveRun *r, PyObject *tuple) {
    PiSolve *s = &r->run.solve;
    const int n = PyTuple_Check(tuple) ? (int)PyTuple_Size(tuple) : 0,
              least = pi_numbers_of_step(s);
    if (n < least || n > 1 << 20 || !s->record || r->run.keep || r->run.observation)
        return pi_refused("within: expected a tuple of %d rows or more, with record and times",
                          least);
    PiRow *rows = pi_views_zeros(&r->base.views, n, sizeof *rows);
    s->within = rows;
    return !rows ? -1
                 : pi_views_rows(&r->base.views, tuple, "within", n, s->lanes, r->run.real_bytes,
                                 rows);
}
/* Reals of each trajectory, one after the other; *n: how many it has. */
static void *read_onward(AdaptiveRun *r, PyObject *object, const char *name, int writable,
                         int64_t *n) {
    const PiSolve *s = &r->run.solve;
    Views *v = &r->base.views;
    void *data = pi_views_array(v, object, name, pi_product(s->lanes, pi_rows_onward(s)),
                                r->run.real_bytes, writable);
    if (data && s->lanes) *n = pi_views_items(v, r->run.real_bytes) / s->lanes;
    return data;
}
/* The marks that this run leaves, where a continuation sets out, and those where it sets out. */
static int read_marks(AdaptiveRun *r, const Given *a) {
    PiSolve *s = &r->run.solve;
    Views *v = &r->base.views;
    if (a->mark && (!(s->onward = read_onward(r, a->onward, "onward", 1, &s->n_onward)) ||
                    !(s->made = pi_views_array(v, a->made, "made", 2 * s->lanes, 8, 1)) ||
                    !(s->mark = pi_views_array(v, a->mark, "mark", s->lanes, 1, 1))))
        return -1;
    return a->earlier && (!(s->earlier = read_onward(r, a->earlier, "earlier", 0, &s->n_earlier)) ||
                          !(s->goes_on = pi_views_array(v, a->goes_on, "goes_on", s->lanes, 1, 1)))
               ? -1
               : 0;
}
/* Objects go to the members of their names: rows, and arrays that are written. */
#define ROW(field) pi_views_row(v, a->field, #field, s->lanes, item, &s->field)
#define RESULT(field, items, bytes)                                                                \
    (!(s->field = pi_views_array(v, a->field, #field, items, bytes, 1)))
static int make_run(PyObject *module, CoreObject *object, const Given *a) {
    AdaptiveRun *r = (AdaptiveRun *)object;
    PiSolve *s = &r->run.solve;
    ResolvedSystem resolved;
    if (pi_find_system(module, a->system, r->run.bits, &resolved)) return -1;
    const PiMethod *m = PyCapsule_GetPointer(a->method, METHOD_CAPSULE);
    if (!m) return -1;
    if (!r->run.workers) r->run.workers = 1;
    const char *refusal = pi_adaptive_choose(&r->run, &resolved, m);
    if (refusal) return pi_refused("%s", refusal);
    int *saved;
    const int dim = s->system->dim, n_params = s->system->n_params, item = r->run.real_bytes;
    Views *v = &r->base.views;
    PiRow *rows = pi_views_zeros(v, pi_product(3, dim) + n_params, sizeof *rows);
    if (!rows) return -1;
    PiRow *rtol = rows + dim, *atol = rtol + dim, *params = atol + dim;
    s->initial = rows;
    s->rtol = rtol;
    s->atol = atol;
    s->params = params;
    if (pi_views_rows(v, a->initial, "initial", dim, s->lanes, item, rows) ||
        (s->n_rtol = tolerance_rows(r, a->rtol, "rtol", dim, rtol)) < 0 ||
        (s->n_atol = tolerance_rows(r, a->atol, "atol", dim, atol)) < 0 ||
        pi_views_rows(v, a->params, "params", n_params, s->lanes, item, params) || ROW(t0) ||
        ROW(t_end) || ROW(first_step) || ROW(max_step) ||
        RESULT(state, pi_product(dim, s->lanes), item) || RESULT(t, s->lanes, item) ||
        RESULT(h, s->lanes, item) || RESULT(accepted, s->lanes, 8) ||
        RESULT(rejected, s->lanes, 8) || RESULT(status, s->lanes, 1) ||
        (s->n_saved = pi_read_components(a->saved, dim, v, &saved)) < 0)
        return -1;
    s->saved = saved;
    if (read_marks(r, a) || (a->record && read_due_times(r, a))) return -1;
    if (a->observation && pi_read_observation(module, &r->run, a, v, &r->watches)) return -1;
    if (a->within && read_within(r, a->within)) return -1;
    pi_adaptive_prepare(&r->run);
    return 0;
}

PyObject *pi_core_start_adaptive(PyObject *module, PyObject *args, PyObject *keywords) {
    return pi_make_object(module, ADAPTIVE, make_run, args, keywords);
}

static PyObject *adaptive_run_work(PyObject *self, PyObject *args) {
    AdaptiveRun *r = (AdaptiveRun *)self;
    return pi_work_on(&r->base, args, r->run.workers,
                      (Task){pi_adaptive_work, &r->run, &r->run.out_of_memory});
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
    {"work", adaptive_run_work, METH_VARARGS,
     "work(progress=None, helpers=0): until every trajectory has arrived, with `helpers`\n"
     "further threads; progress(trajectories) is called now and then."},
    {"gather", adaptive_run_gather, METH_VARARGS,
     "gather(counts, record=None) -> (the most steps kept of one trajectory, numbers of each).\n"
     "counts: 64-bit, (lanes,): how many each has; record (n, numbers, lanes), of all of them:\n"
     "the time, the saved components, the numbers of the step from there."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot adaptive_run_slots[] = {
    {Py_tp_dealloc, adaptive_run_dealloc},
    {Py_tp_methods, adaptive_run_methods},
    {Py_tp_doc, (void *)"A batch integrated to a tolerance; made by start_adaptive()."},
    {0, NULL}};
PyType_Spec pi_adaptive_run_spec = {"pyintegrate._core.AdaptiveRun", sizeof(AdaptiveRun), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    adaptive_run_slots};
