/* What both fuzzers need: bytes that become numbers, and a short run of a few trajectories. All
 * memory is as large as the core asks for and no larger, so that a sanitizer sees what is beyond.
 */
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../../csrc/run/families.h"
#include "../../../csrc/run/run.h"

extern const PiKernelSet pi_fuzz_f64, pi_fuzz_f32;

enum { LANES = 19, STEPS = 5, STRIDE = 32 }; /* more than one register, and padding */

/* The input, from its beginning; zeros past its end. */
typedef struct {
    const uint8_t *data;
    size_t size;
} Bytes;
static void take(Bytes *in, void *to, size_t n) {
    const size_t there = n < in->size ? n : in->size;
    memset(to, 0, n);
    if (there) memcpy(to, in->data, there);
    in->data += there;
    in->size -= there;
}

static void *aligned_or_die(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes == 0) * 64);
    if (!memory) abort();
    memset(memory, 0xa5, bytes);
    return memory;
}
static void put(void *rows, int bytes, int64_t at, double value) {
    if (bytes == 8) ((double *)rows)[at] = value;
    else ((float *)rows)[at] = (float)value;
}

/* Runs the trajectories; what becomes of them does not matter, failures and all. `rows`: by the
 * kernels for any force. record: keep every second step, the last component first. */
static void run_some(const PiKernelSet *set, const PiSystem *system, const PiKernels *kernels,
                     PiForce *force, const void *context, const PiMethod *m, double h, int record) {
    const int bytes = set->real_bits / 8;
    PiRun run = {.real_bytes = bytes,
                 .lanes = LANES,
                 .stride = STRIDE,
                 .n_steps = STEPS,
                 .save_every = record ? 2 : STEPS,
                 .bound = INFINITY,
                 .compensated = record && pi_compensates(m),
                 .workers = 1};
    const ResolvedSystem resolved = {
        .system = system, .kernels = kernels, .set = set, .force = force, .context = context};
    if (!pi_families[m->family].most_stages || pi_run_choose(&run, &resolved, m, NULL)) return;
    const int64_t state = run.state_rows * STRIDE * bytes, saves = 1 + (STEPS + 1) / 2;
    char *memory[3];
    for (int i = 0; i < 3; i++) memory[i] = aligned_or_die(state);
    int8_t status[LANES] = {0};
    int64_t failed[LANES];
    run.status = status, run.failed = failed;
    run.initial = memory[0], run.state[0] = memory[1], run.state[1] = memory[2];
    for (int64_t i = 0; i < run.state_rows * STRIDE;
         i++) { /* one is not finite; padding as the last */
        const int64_t lane = i % STRIDE < LANES ? i % STRIDE : LANES - 1;
        put(run.initial, bytes, i, lane == 3 ? NAN : 0.1 + 0.05 * (double)(i / STRIDE % 16 - lane));
    }
    int *saved = malloc((system->dim + 1) * sizeof *saved);
    for (int i = 0; i < system->dim; i++) saved[i] = system->dim - 1 - i;
    PiRecord kept = {.data = record ? malloc(saves * system->dim * LANES * bytes) : NULL,
                     .every = 2,
                     .save_stride = system->dim * LANES,
                     .component_stride = LANES,
                     .lane_stride = 1,
                     .room = LANES,
                     .n_saved = system->dim,
                     .saved = saved};
    if (record && pi_run_observe(&run, pi_record_observer(&kept))) abort();
    double times[2];
    put(&times[0], bytes, 0, 0.25);
    put(&times[1], bytes, 0, h);
    run.t0 = (PiRow){&times[0], 0};
    run.h = (PiRow){&times[1], 0};
    /* Every other parameter is the same for all. */
    char *values = aligned_or_die((system->n_params + 1) * STRIDE * bytes);
    run.params = malloc((system->n_params + 1) * sizeof *run.params);
    for (int64_t i = 0; i < system->n_params; i++) {
        for (int64_t k = 0; k < STRIDE; k++)
            put(values, bytes, i * STRIDE + k, 1 + 0.1 * (double)(i % 2 ? k : 0));
        run.params[i] = (PiRow){values + i * STRIDE * bytes, i % 2};
    }
    if (pi_run_prepare(&run)) abort();
    pi_run_work(&run, NULL, NULL);
    if (run.out_of_memory || run.done != run.n_tiles * (run.n_blocks + 1)) abort();
    pi_run_free(&run);
    free(kept.data);
    free(saved);
    free(run.params);
    free(values);
    for (int i = 0; i < 3; i++) free(memory[i]);
}
