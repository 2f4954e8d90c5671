/* Threads on one run, as python/crew.c lets them, under ThreadSanitizer: ./race [seconds] [seed]
 *
 * One polls, others help; one round in three is cancelled by a thread that does not work, or by
 * the poll. Lanes fail at once and later, in all tiles. What all have completed must have the bits
 * of one thread's run of as many steps, saves and failures included. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../csrc/run/families.h"
#include "../../csrc/run/run.h"

extern const PiKernelSet pi_fuzz_f64; /* fuzz/kernels_f64.c */

enum { LANES = 200, STRIDE = 200, DIM = 3, MOST_ROWS = 24, STEPS = 300, EVERY = 20 };
enum { SAVES = 1 + (STEPS + EVERY - 1) / EVERY, HELPERS = 3, NAMES = 5 };
static const char *const methods[NAMES] = {"rk4", "dormand_prince54", "adams_bashforth4", "gauss4",
                                           "bdf2"};

/* A run with all that it points to. */
typedef struct {
    PiRun run;
    PiRecord record;
    double *memory, *states[3], times[2], params[3], kept[SAVES * DIM * LANES];
    PiRow rows[3];
    int saved[DIM], polls, enough;
    int64_t failed[LANES];
    int8_t status[LANES];
} World;

static uint64_t seed = 1;
static int below(int n) { /* SplitMix64 */
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}
static void *some(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) abort();
    return memset(memory, 0, (bytes + 63) / 64 * 64);
}

static World *make(const char *name, int workers, int rows, int one_state, int record,
                   int64_t n_steps) {
    World *w = some(sizeof *w);
    const PiSystem *system = NULL;
    const PiKernels *kernels = NULL;
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, "lorenz")) system = pi_systems[i];
    for (int i = 0; i < pi_fuzz_f64.parts[0]->n; i++)
        if (!strcmp(pi_kernels(&pi_fuzz_f64, i)->system, "lorenz"))
            kernels = pi_kernels(&pi_fuzz_f64, i);
    w->run = (PiRun){.real_bytes = 8,
                     .lanes = LANES,
                     .stride = STRIDE,
                     .n_steps = n_steps,
                     .save_every = EVERY,
                     .bound = 60,
                     .workers = workers,
                     .use_row_kernels = rows,
                     .t0 = {&w->times[0], 0},
                     .h = {&w->times[1], 0},
                     .params = w->rows};
    const ResolvedSystem resolved = {
        .system = system, .kernels = kernels, .set = &pi_fuzz_f64, .force = kernels->force};
    if (pi_run_choose(&w->run, &resolved, pi_method_named(name), NULL) ||
        w->run.state_rows > MOST_ROWS)
        abort();
    w->memory = some(3 * MOST_ROWS * STRIDE * sizeof(double));
    for (int i = 0; i < 3; i++) w->states[i] = w->memory + i * MOST_ROWS * STRIDE;
    for (int64_t i = 0; i < STRIDE; i++) {
        const double x = 1 + (double)(i < LANES ? i : LANES - 1) / LANES;
        w->states[0][i] = i % 97 == 5 ? 0.0 / 0.0 : i % 101 == 7 ? 55 : x;
        w->states[0][STRIDE + i] = -x;
        w->states[0][2 * STRIDE + i] = 20 * x;
    }
    w->run.status = w->status;
    w->run.failed = w->failed;
    w->run.initial = w->states[0];
    w->run.state[0] = w->states[1];
    w->run.state[1] = w->states[one_state ? 1 : 2];
    w->times[1] = 1e-3;
    const double params[3] = {10, 28, 8 / 3.};
    for (int i = 0; i < 3; i++) w->params[i] = params[i], w->rows[i] = (PiRow){&w->params[i], 0};
    for (int i = 0; i < DIM; i++) w->saved[i] = i;
    w->record = (PiRecord){.data = w->kept,
                           .every = EVERY,
                           .save_stride = DIM * LANES,
                           .component_stride = LANES,
                           .lane_stride = 1,
                           .room = LANES,
                           .n_saved = DIM,
                           .saved = w->saved};
    if (record && pi_run_observe(&w->run, pi_record_observer(&w->record))) abort();
    if (pi_run_prepare(&w->run)) abort();
    return w;
}
static void end(World *w) {
    pi_run_free(&w->run);
    free(w->memory);
    free(w);
}

static int poll(void *context, int64_t steps) {
    World *w = context;
    return steps < 0 || ++w->polls > w->enough;
}
static void *help(void *world) {
    pi_run_work(&((World *)world)->run, NULL, NULL);
    return NULL;
}
static void *cancel(void *world) {
    ((World *)world)->run.cancelled = 1;
    return NULL;
}

/* The same bits, as far as both have come. */
static int same(World *w, World *whole, int record) {
    const int64_t done = pi_run_completed(&w->run);
    const double *here = pi_run_state(&w->run), *there = pi_run_state(&whole->run);
    if (here)
        for (int d = 0; d < DIM; d++)
            if (memcmp(here + d * STRIDE, there + d * STRIDE, LANES * sizeof *here)) return 0;
    for (int64_t s = 0; record && s * EVERY <= done; s++)
        if (memcmp(w->kept + s * DIM * LANES, whole->kept + s * DIM * LANES,
                   DIM * LANES * sizeof *here))
            return 0;
    const int64_t n = pi_run_count_failures(&w->run);
    if (done == w->run.n_steps && n != pi_run_count_failures(&whole->run)) return 0;
    return 1;
}

int main(int n_arguments, char **arguments) {
    const time_t begun = time(NULL), seconds = n_arguments > 1 ? atoi(arguments[1]) : 60;
    if (n_arguments > 2) seed = strtoull(arguments[2], NULL, 10);
    int64_t completed = 0, stopped = 0;
    for (int round = 0; round == 0 || time(NULL) - begun < seconds; round++) {
        const char *name = methods[below(NAMES)];
        const int rows = below(2), record = below(2), one_state = record && below(2),
                  stop = below(3);
        World *w = make(name, HELPERS + 1, rows, one_state, record, STEPS);
        w->enough = stop == 1 ? below(3) : 1 << 30;
        pthread_t threads[HELPERS + 1];
        for (int i = 0; i < HELPERS; i++)
            if (pthread_create(&threads[i], NULL, help, w)) abort();
        if (stop == 2 && pthread_create(&threads[HELPERS], NULL, cancel, w)) abort();
        pi_run_work(&w->run, poll, w);
        for (int i = 0; i < HELPERS + (stop == 2); i++) pthread_join(threads[i], NULL);
        const int64_t done = pi_run_completed(&w->run);
        if (done == STEPS) completed++;
        else stopped++;
        World *whole = make(name, 1, rows, 0, record, done);
        pi_run_work(&whole->run, NULL, NULL);
        if (!same(w, whole, record) || (!w->run.cancelled && done < STEPS)) {
            printf("race: round %d of %s: other bits after %lld steps\n", round, name,
                   (long long)done);
            return 1;
        }
        end(w);
        end(whole);
    }
    printf("attack by races: %lld cases: %lld completed, %lld stopped\n",
           (long long)(completed + stopped), (long long)completed, (long long)stopped);
    return 0;
}
