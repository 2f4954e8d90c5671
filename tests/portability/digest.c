/* A hash of the end states of each method on every system: see digest.h. */
#include "digest.h"
#include <stdlib.h>
#include <string.h>
#include "../../csrc/aligned.h"

enum { LANES = 19, STEPS = 12, PADDED = 64, MOST_PARAMS = 64 };

static uint64_t hash(uint64_t h, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return h;
}

static void put(void *rows, int bytes, int64_t at, double value) {
    if (bytes == 8) ((double *)rows)[at] = value;
    else ((float *)rows)[at] = (float)value;
}

/* A system of the catalogue, or one of any size: n_body of three, a rigid body with two springs. */
typedef struct {
    const PiSystem *system;
    const PiKernels *kernels;
    PiForce *force;
    const void *context;
} Case;

static Case sized(const PiKernelSet *set, int number, PiSized *made) {
    *made = pi_sized(number, pi_sized_systems[number]->one.structure == PI_RIGID_BODY ? 2 : 3);
    return (Case){&made->system, NULL, set->sized[number], made};
}
static double start(const Case *c, int d) {
    if (c->kernels) return c->system->state[d].value;
    return 0.1 + 0.17 * (d * 7 % 11);
}
static double parameter(const Case *c, int i) {
    if (c->kernels) return c->system->params[i].value * 1.01;
    if (c->system->structure != PI_RIGID_BODY || i < 14 || i > 22) return 0.9 - 0.02 * i / (1 + i);
    return (i - 14) % 4 ? 0.05 : 1.0 / (1 + (i - 14) / 4); /* the inverse inertia, 3 x 3 */
}

/* The end states and failures of a run, added to a hash; 0 if the method does not apply to the
 * system, -1 without memory. */
static int integrate(const PiKernelSet *set, const Case *c, const PiMethod *m, int bytes,
                     int by_rows, int compensated, uint64_t *h) {
    const PiSystem *system = c->system;
    const int second = system->structure == PI_SECOND_ORDER;
    if ((m->family == PI_RIGID_MOTION) != (system->structure == PI_RIGID_BODY)) return 0;
    const int planets = m->family == PI_WISDOM_HOLMAN;
    if (planets > system->planets) return 0;
    if (!c->kernels && (!by_rows || m->family == PI_IMPLICIT_RK)) return 0; /* 18 components */
    if (compensated && !pi_compensates(m)) return 0;
    if (system->n_params > MOST_PARAMS) return 0;
    if ((m->family == PI_COMPOSITION && system->dof == 0) ||
        ((m->family == PI_NYSTROM || m->derivative == 2) &&
         (!second || system->velocity_dependent)))
        return 0;
    PiRun run = {.system = system,
                 .method = m,
                 .starter = pi_starter(m),
                 .complete = set->complete,
                 .starter_until = pi_first_steps(m),
                 .state_rows = system->dim + pi_history_rows(m, system, compensated),
                 .compensated = compensated,
                 .real_bytes = bytes,
                 .vector_bytes = set->vector_bytes,
                 .lanes = LANES,
                 .stride = PADDED,
                 .n_steps = STEPS,
                 .save_every = STEPS,
                 .bound = 1e300 * 1e300,
                 .workers = 1};
    if (!by_rows) {
        run.kernel = c->kernels->specialised[m->specialised];
        if (!run.kernel) run.kernel = c->kernels->family[m->family];
    }
    if (!run.kernel) {
        run.kernel = set->rows;
        run.force = c->force;
        run.context = c->context;
    }
    const int64_t size = (int64_t)run.state_rows * PADDED * 8, all = 3 * size;
    char *memory = pi_aligned(all), times[2][8];
    if (!memory) return -1;
    memset(memory, 0, all);
    run.initial = memory;
    run.state[0] = memory + size;
    run.state[1] = memory + 2 * size;
    for (int d = 0; d < system->dim; d++)
        for (int i = 0; i < PADDED; i++) {
            const int lane = i < LANES ? i : LANES - 1;
            const double value = start(c, d);
            put(run.initial, bytes, (int64_t)d * PADDED + i, value + 0.01 * lane * (1 + value));
        }
    put(times[0], bytes, 0, 0.25);
    put(times[1], bytes, 0, 0.01);
    run.t0 = (PiRow){times[0], 0};
    run.h = (PiRow){times[1], 0};
    int8_t status[LANES] = {0};
    int64_t at[LANES];
    run.status = status;
    run.failed = at;
    double values[MOST_PARAMS];
    PiRow params[MOST_PARAMS];
    for (int i = 0; i < system->n_params; i++) {
        /* Planets without softening, the last parameter. */
        put(&values[i], bytes, 0, planets && i == system->n_params - 1 ? 0 : parameter(c, i));
        params[i] = (PiRow){&values[i], 0};
    }
    run.params = params;
    if (pi_run_prepare(&run)) return pi_run_free(&run), pi_free_aligned(memory), -1;
    pi_run_work(&run, NULL, NULL);
    const int fine = !run.out_of_memory;
    const void *state = pi_run_state(&run);
    for (int d = 0; fine && d < run.state_rows; d++)
        *h = hash(*h, (const char *)state + (size_t)d * PADDED * bytes, (size_t)LANES * bytes);
    const int64_t failed = pi_run_count_failures(&run);
    *h = hash(*h, &failed, sizeof failed);
    pi_run_free(&run);
    pi_free_aligned(memory);
    return fine ? 1 : -1;
}

uint64_t pi_method_bits(const PiIsa *isa, int method, int *runs) {
    const int n_systems = pi_n_systems + pi_n_sized_systems;
    const uint32_t mode = pi_enter_float_mode();
    uint64_t h = PI_BITS_OF_NONE;
    PiSized *made = malloc(sizeof *made);
    *runs = made ? 0 : -1;
    for (int s = 0; s < n_systems && *runs >= 0; s++)
        for (int k = 0; k < 6 && *runs >= 0; k++) {
            /* In registers, on rows, and carrying its rounding. */
            const PiKernelSet *set = k % 2 ? isa->f32 : isa->f64;
            const PiKernels *kernels = s < pi_n_systems ? pi_kernels(set, s) : NULL;
            const Case c = s < pi_n_systems ? (Case){pi_systems[s], kernels, kernels->force, NULL}
                                            : sized(set, s - pi_n_systems, made);
            const int done = integrate(set, &c, pi_methods[method], set->real_bits / 8, k / 2 > 0,
                                       k / 2 > 1, &h);
            *runs = done < 0 ? -1 : *runs + done;
        }
    free(made);
    pi_leave_float_mode(mode);
    return h;
}

uint64_t pi_add_bits(uint64_t all, uint64_t bits) { return hash(all, &bits, sizeof bits); }
