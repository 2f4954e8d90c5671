/* A hash of the end states of every method on every system, in both precisions, by the C core
 * alone: the lines are the same on every architecture and instruction set (make portability).
 *     portability [number of the instruction set] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../csrc/run.h"

enum { LANES = 19, STEPS = 12, PADDED = 64 };

/* Fowler, Noll, Vo 1a. */
static uint64_t hash(uint64_t h, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return h;
}

static void put(void *rows, int bytes, int64_t at, double value) {
    if (bytes == 8) ((double *)rows)[at] = value;
    else ((float *)rows)[at] = (float)value;
}

/* The end states and failures of a run, added to a hash; 0 if the method is not for the system. */
static int integrate(const PiKernelSet *set, int number, const PiMethod *m, int bytes, int by_rows,
                     uint64_t *h) {
    const PiSystem *system = pi_systems[number];
    const int second = system->structure == PI_SECOND_ORDER;
    if ((m->family == PI_COMPOSITION && system->dof == 0) ||
        ((m->family == PI_NYSTROM || m->derivative == 2) &&
         (!second || system->velocity_dependent)))
        return 0;
    PiRun run = {.system = system,
                 .method = m,
                 .starter = pi_starter(m),
                 .begun = pi_first_steps(m),
                 .rows = system->dim + pi_history_rows(m, system),
                 .real_bytes = bytes,
                 .vector_bytes = set->vector_bytes,
                 .lanes = LANES,
                 .stride = PADDED,
                 .n_steps = STEPS,
                 .save = STEPS,
                 .bound = 1e300 * 1e300,
                 .workers = 1};
    const PiKernels *kernels = &set->systems[number];
    if (!by_rows)
        run.kernel =
            m->specialised ? kernels->specialised[m->specialised] : kernels->family[m->family];
    if (!run.kernel) {
        run.kernel = set->rows[m->family];
        run.force = kernels->force;
    }
    const size_t size = (size_t)run.rows * PADDED * 8;
    char *memory = aligned_alloc(64, 3 * size), times[2][8];
    memset(memory, 0, 3 * size);
    run.initial = memory;
    run.state[0] = memory + size;
    run.state[1] = memory + 2 * size;
    for (int d = 0; d < system->dim; d++)
        for (int i = 0; i < PADDED; i++) {
            const int lane = i < LANES ? i : LANES - 1;
            const double value = system->state[d].value;
            put(run.initial, bytes, (int64_t)d * PADDED + i, value + 0.01 * lane * (1 + value));
        }
    put(times[0], bytes, 0, 0.25);
    put(times[1], bytes, 0, 0.01);
    run.t0 = (PiRow){times[0], 0};
    run.h = (PiRow){times[1], 0};
    double values[64];
    PiRow params[64];
    for (int i = 0; i < system->n_params; i++) {
        put(&values[i], bytes, 0, system->params[i].value * 1.01);
        params[i] = (PiRow){&values[i], 0};
    }
    run.params = params;
    if (pi_run_prepare(&run)) abort();
    pi_run_work(&run, NULL, NULL);
    const void *state = pi_run_state(&run);
    for (int d = 0; d < run.rows; d++)
        *h = hash(*h, (const char *)state + (size_t)d * PADDED * bytes, (size_t)LANES * bytes);
    const int64_t failed = pi_run_count_failures(&run);
    *h = hash(*h, &failed, sizeof failed);
    pi_run_free(&run);
    free(memory);
    return 1;
}

int main(int n, char **arguments) {
    const int isa = n > 1 ? atoi(arguments[1]) : 0;
    if (!pi_isa(isa) || !pi_isa_supported(isa)) return 2;
    uint64_t all = 14695981039346656037u;
    for (int i = 0; i < pi_n_methods; i++) {
        uint64_t h = 14695981039346656037u;
        int runs = 0;
        for (int s = 0; s < pi_n_systems; s++)
            for (int by_rows = 0; by_rows < 2; by_rows++) {
                runs += integrate(pi_isa(isa)->f64, s, pi_methods[i], 8, by_rows, &h);
                runs += integrate(pi_isa(isa)->f32, s, pi_methods[i], 4, by_rows, &h);
            }
        printf("%-32s %4d runs  %016llx\n", pi_methods[i]->name, runs, (unsigned long long)h);
        all = hash(all, &h, sizeof h);
    }
    printf("%d methods, %d systems: %016llx\n", pi_n_methods, pi_n_systems,
           (unsigned long long)all);
    return 0;
}
