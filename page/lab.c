/* The core for the page: the files of csrc without Python and threads, one trajectory at a time, in
 * double precision. Called from JavaScript (page/engine.js), and by tests/laboratory/ as a native
 * library. */
#include <stdlib.h>
#include <string.h>
#include "../csrc/run/run.h"

extern const PiKernelSet pi_baseline_f64;
#define EXPORT __attribute__((visibility("default"), used))

/* The place of a name in the catalogue, or -1. */
EXPORT int lab_method(const char *name) {
    for (int i = 0; i < pi_n_methods; i++)
        if (!strcmp(pi_methods[i]->name, name)) return i;
    return -1;
}
/* Those of any size come last. */
EXPORT int lab_system(const char *name) {
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, name)) return i;
    for (int i = 0; i < pi_n_sized_systems; i++)
        if (!strcmp(pi_sized_systems[i]->one.name, name)) return pi_n_systems + i;
    return -1;
}

/* The system of a number; `sized` is the memory for one of any size, which has parts. */
static ResolvedSystem resolved(int number, int parts, PiSized *sized) {
    ResolvedSystem made = {.set = &pi_baseline_f64};
    if (number < pi_n_systems) {
        made.system = pi_systems[number];
        made.kernels = pi_kernels(&pi_baseline_f64, number);
        made.force = made.kernels->force;
    } else {
        *sized = pi_sized(number - pi_n_systems, parts);
        made.system = &sized->system;
        made.force = pi_baseline_f64.sized[sized->number];
        made.context = sized;
    }
    return made;
}

/* n_steps steps from time 0; every `every`-th state to out, (n_steps / every + 1, dim), and its
 * last. params: a number for each parameter, elements of arrays one by one. The first step not
 * completed; -1 where fine; -2 without memory; -3 for a method that does not fit the system. */
EXPORT int lab_run(int system_number, int parts, int method_number, const double *params,
                   const double *initial, double dt, int n_steps, int every, double *out) {
    PiSized sized;
    const ResolvedSystem found = resolved(system_number, parts, &sized);
    const PiSystem *system = found.system;
    const int padded = 64 / sizeof(double);
    double t0 = 0;
    PiRun run = {.bits = 64,
                 .real_bytes = 8,
                 .lanes = 1,
                 .stride = padded,
                 .n_steps = n_steps,
                 .save_every = every,
                 .workers = 1,
                 .bound = 1e300 * 1e300,
                 .t0 = {&t0, 0},
                 .h = {&dt, 0}};
    const char *refusal = pi_run_choose(&run, &found, pi_methods[method_number], NULL);
    if (refusal || (pi_methods[method_number]->derivative == 2 && system->velocity_dependent))
        return -3;
    PiRow *rows = calloc(system->n_params + 1, sizeof *rows);
    int *saved = calloc(system->dim, sizeof *saved);
    const size_t size = (size_t)run.state_rows * padded * sizeof(double);
    char *memory = aligned_alloc(64, 3 * size);
    int failed = -2;
    if (rows && saved && memory) {
        memset(memory, 0, 3 * size);
        run.initial = memory;
        run.state[0] = memory + size;
        run.state[1] = memory + 2 * size;
        for (int d = 0; d < system->dim; d++) {
            saved[d] = d;
            for (int i = 0; i < padded; i++) ((double *)run.initial)[d * padded + i] = initial[d];
        }
        for (int i = 0; i < system->n_params; i++) rows[i] = (PiRow){(void *)&params[i], 0};
        run.params = rows;
        PiRecord record = {.data = out,
                           .every = every,
                           .save_stride = system->dim,
                           .component_stride = 1,
                           .lane_stride = system->dim,
                           .room = 1,
                           .n_saved = system->dim,
                           .saved = saved};
        if (!pi_run_observe(&run, pi_record_observer(&record)) && !pi_run_prepare(&run)) {
            pi_run_work(&run, NULL, NULL);
            int64_t index, step = -1;
            int8_t status;
            failed = run.out_of_memory                                       ? -2
                     : pi_run_read_failures(&run, 1, &index, &status, &step) ? (int)step
                                                                             : -1;
            pi_run_free(&run);
        }
    }
    free(rows);
    free(saved);
    free(memory);
    return failed;
}

/* Answers to a question (csrc/tiles.h) at `lanes` states: y is (dim, lanes), out (answers, lanes).
 * The number of answers; 0 where there are none; -2 without memory. */
EXPORT int lab_ask(int system_number, int parts, int question, const double *params, int lanes,
                   const double *t, const double *y, double *out) {
    PiSized sized;
    const ResolvedSystem found = resolved(system_number, parts, &sized);
    const PiSystem *system = found.system;
    const int64_t answers = pi_answer_rows(system, (PiQuestion)question);
    PiSample sample = {.system = system,
                       .force = found.force,
                       .context = found.context,
                       .lanes = lanes,
                       .t = {(void *)t, 1},
                       .out = out};
    PiRow *rows = calloc(system->dim + system->n_params + 1, sizeof *rows);
    const size_t bytes = 8 * pi_baseline_f64.vector_bytes * pi_sample_rows(system, answers);
    sample.workspace = aligned_alloc(64, (bytes + 127) / 64 * 64);
    const int ready = rows && sample.workspace;
    if (ready) {
        for (int d = 0; d < system->dim; d++) rows[d] = (PiRow){(void *)(y + d * lanes), 1};
        for (int i = 0; i < system->n_params; i++)
            rows[system->dim + i] = (PiRow){(void *)&params[i], 0};
        sample.y = rows;
        sample.params = rows + system->dim;
        pi_baseline_f64.evaluate(&sample, (PiQuestion)question);
    }
    free(rows);
    free(sample.workspace);
    return ready ? (int)answers : -2;
}

/* Fowler, Noll, Vo 1a, going on from a hash. */
EXPORT uint64_t lab_hash(uint64_t hash, const unsigned char *bytes, int n) {
    for (int i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

#ifdef __wasm__ /* one rounding mode, nothing to keep */
uint32_t pi_enter_float_mode(void) { return 0; }
void pi_leave_float_mode(uint32_t mode) { (void)mode; }
void pi_keep_float_mode(void) {}
#endif
