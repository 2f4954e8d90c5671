/* Observers of a run are shown each of their steps once, in order, with the state of that step:
 * beside a record or not, in its memory or the scratch, with lanes that fail or not. Prints the
 * number of runs; aborts otherwise. test_observers.py builds it with the fuzzers' kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../csrc/run/run.h"

extern const PiKernelSet pi_fuzz_f64;
enum { LANES = 157, STRIDE = 160, DIM = 3, MOST_STEPS = 520, MOST_TILES = 64 };

/* What one observer has seen: the next step that each tile must show it. */
typedef struct {
    int64_t every, next[MOST_TILES], shown;
    const double
        *states; /* (step, component, lane) of a run seen at every step; NULL: fill `own` */
    double *own;
    int stop; /* after this many calls; 0: never */
} Watch;

static void expect(int right, const char *what) {
    if (right) return;
    fprintf(stderr, "%s\n", what);
    abort();
}
static int watch(void *self, const PiRun *run, const PiSeen *seen) {
    Watch *w = self;
    expect(seen->lane == seen->tile * run->tile_lanes && seen->tile < MOST_TILES, "the tile");
    for (int64_t i = 0; i < seen->count; i++) {
        const int64_t planned = seen->step + i * seen->every,
                      step = planned < run->n_steps ? planned : run->n_steps;
        expect(step == w->next[seen->tile], "a step is missing, or there twice");
        w->next[seen->tile] =
            step + w->every < run->n_steps || step == run->n_steps ? step + w->every : run->n_steps;
        for (int64_t d = 0; d < DIM; d++)
            for (int64_t l = 0; l < seen->lanes; l++) {
                const double y =
                    ((const double *)seen->rows)[i * seen->next + d * seen->stride + l];
                const int64_t at = (step * DIM + d) * LANES + seen->lane + l;
                if (w->own) w->own[at] = y;
                else expect(!memcmp(&w->states[at], &y, sizeof y), "another state");
            }
        w->shown++;
    }
    return w->stop && w->shown >= w->stop ? -1 : 0;
}

/* Lanes of Lorenz's system; some of them are not finite, or soon will not be. */
static void fill(double *initial, int failing) {
    for (int64_t i = 0; i < DIM * STRIDE; i++) {
        const int64_t lane = i % STRIDE < LANES ? i % STRIDE : LANES - 1;
        initial[i] = 1 + 0.001 * (double)(lane + i / STRIDE);
        if (failing && lane % 31 == 5) initial[i] = lane % 2 ? 40 : 1e4;
        if (failing && lane == 80) initial[i] = NAN;
    }
}

/* Runs with these observers, and a record where every > 0; direct: as kernels can write it. */
static void run_with(Watch *const *watches, int64_t every, int direct, int64_t n_steps,
                     double bound, int failing) {
    static double initial[DIM * STRIDE], a[DIM * STRIDE], b[DIM * STRIDE];
    const PiSystem *system = pi_systems[0];
    int number = 0;
    while (strcmp(pi_kernels(&pi_fuzz_f64, number)->system, "lorenz")) number++;
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, "lorenz")) system = pi_systems[i];
    double t0 = 0, h = 0.004, p[DIM];
    PiRow params[DIM];
    for (int i = 0; i < DIM; i++) p[i] = system->params[i].value, params[i] = (PiRow){&p[i], 0};
    PiRun run = {.real_bytes = 8,
                 .lanes = LANES,
                 .stride = STRIDE,
                 .n_steps = n_steps,
                 .save_every = n_steps ? n_steps : 1,
                 .workers = 4, /* of which one comes: small tiles */
                 .bound = bound,
                 .t0 = {&t0, 0},
                 .h = {&h, 0},
                 .params = params,
                 .initial = initial,
                 .state = {a, b}};
    fill(initial, failing);
    const ResolvedSystem resolved = {.system = system,
                                     .kernels = pi_kernels(&pi_fuzz_f64, number),
                                     .set = &pi_fuzz_f64,
                                     .force = pi_kernels(&pi_fuzz_f64, number)->force};
    expect(!pi_run_choose(&run, &resolved, pi_method_named("rk4"), NULL), "the method");
    int8_t status[LANES] = {0};
    int64_t failed[LANES];
    run.status = status;
    run.failed = failed;
    int saved[DIM] = {0, 1, 2};
    PiRecord record = {.every = every,
                       .save_stride = DIM * STRIDE,
                       .component_stride = direct ? STRIDE : 1,
                       .lane_stride = direct ? 1 : DIM,
                       .room = direct ? STRIDE : LANES,
                       .n_saved = DIM,
                       .saved = saved};
    const int64_t saves = every ? 1 + (n_steps + every - 1) / every : 0;
    record.data = malloc((saves + 1) * DIM * STRIDE * sizeof(double));
    if (every) expect(!pi_run_observe(&run, pi_record_observer(&record)), "room");
    for (int i = 0; watches[i]; i++) {
        memset(watches[i]->next, 0, sizeof watches[i]->next);
        watches[i]->shown = 0;
        const PiObserver o = {.self = watches[i], .every = watches[i]->every, .observe = watch};
        expect(!pi_run_observe(&run, o), "room");
    }
    expect(!pi_run_prepare(&run), "memory");
    expect(run.n_tiles > 2, "more than one tile");
    pi_run_work(&run, NULL, NULL);
    int stopped = 0;
    for (int i = 0; watches[i]; i++) stopped |= watches[i]->stop;
    expect(run.stopped == !!stopped && !run.out_of_memory, "stopped where an observer says so");
    for (int i = 0; watches[i] && !stopped; i++) {
        const int64_t each = n_steps / watches[i]->every + 1 + (n_steps % watches[i]->every != 0);
        expect(watches[i]->shown == run.n_tiles * each, "as many steps as there are");
    }
    for (int64_t s = 0; s < saves && watches[0] && watches[0]->states && !stopped; s++) {
        const int64_t step = s * every < n_steps ? s * every : n_steps;
        for (int64_t d = 0; d < DIM; d++)
            for (int64_t l = 0; l < LANES; l++) {
                const double *kept = (const double *)record.data + s * record.save_stride +
                                     d * record.component_stride + l * record.lane_stride;
                expect(!memcmp(kept, &watches[0]->states[(step * DIM + d) * LANES + l], 8),
                       "the record");
            }
    }
    free(record.data);
    pi_run_free(&run);
}

int main(void) {
    const int64_t steps[] = {0, 1, 2, 31, 97, MOST_STEPS};
    const int64_t pairs[][3] = {{1, 0, 0},  {1, 3, 0},   {3, 2, 4}, {5, 7, 0},
                                {10, 0, 5}, {300, 7, 0}, {0, 6, 4}, {257, 514, 0}};
    double *all = malloc((MOST_STEPS + 1) * DIM * LANES * sizeof *all);
    int runs = 0;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++)
        for (int kind = 0; kind < 4; kind++) {
            const double bound = kind & 1 ? 45 : INFINITY;
            Watch each = {.every = 1, .own = all}, *only[] = {&each, NULL};
            run_with(only, 0, 0, steps[n], bound, kind / 2);
            for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
                for (int direct = 0; direct < 2; direct++, runs++) {
                    Watch w[2] = {{.every = pairs[i][1], .states = all},
                                  {.every = pairs[i][2], .states = all}};
                    Watch *some[3] = {NULL};
                    int count = 0;
                    for (int k = 0; k < 2; k++)
                        if (w[k].every) some[count++] = &w[k];
                    run_with(some, pairs[i][0], direct, steps[n], bound, kind / 2);
                }
        }
    Watch last = {.every = 2, .states = all, .stop = 5}, *only[] = {&last, NULL};
    run_with(only, 3, 1, MOST_STEPS, 45, 1);
    printf("%d runs\n", runs);
    free(all);
    return 0;
}
