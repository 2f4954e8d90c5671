/* A batch that goes to a tolerance: shared by any number of threads, each of which takes some
 * trajectories at a time. */
#pragma once
#include <stdatomic.h>
#include "../run/run.h"
#include "../tiles.h"

/* The accepted steps that a thread has kept. An entry has the index of a trajectory (64 bits) and
 * pi_kept_numbers() reals: a time, the saved components there, the numbers of the step from there.
 * Those of a trajectory are in the order of its steps. */
typedef struct PiKept {
    char *data;
    int64_t bytes, room;
    struct PiKept *next; /* those of another thread */
} PiKept;

typedef struct {
    PiSolve solve;
    PiSolveKernel *kernel;
    const PiMethod *method;
    int vector_bytes, real_bytes;
    int64_t workers;
    int interpreted;                         /* is the force byte code? */
    int keep;                                /* every accepted step? */
    int each;                                /* a row of times for every trajectory? */
    const struct PiObservation *observation; /* watches and events; NULL: none */
    _Atomic int64_t next, done;
    _Atomic int cancelled, out_of_memory, stopped;
    _Atomic(PiKept *) kept;
} PiAdaptiveRun;

/* Sets the pair and the kernel. NULL, or why the method cannot be used. */
const char *pi_adaptive_choose(PiAdaptiveRun *run, const ResolvedSystem *resolved,
                               const PiMethod *method);
/* Sets how many registers are processed together; after all else is set. */
void pi_adaptive_prepare(PiAdaptiveRun *run);
/* Works on a PiAdaptiveRun until no trajectory is left or it is cancelled; any number of threads at
 * once. */
void pi_adaptive_work(void *run, PiPoll *poll, void *context);
/* Writes the kept steps to an array (entries, numbers, lanes), unless it is NULL. counts gets how
 * many each trajectory has; nobody else may write to it meanwhile. Returns the most that one has.
 */
int64_t pi_adaptive_gather(const PiAdaptiveRun *run, int64_t *counts, void *record);
/* How many numbers of a step are kept to make it again. */
int pi_numbers_of_step(const PiSolve *solve);
/* How many reals of a trajectory a continuation sets out from (kernels/tolerance/rows.h). */
int64_t pi_rows_onward(const PiSolve *solve);
static inline int pi_kept_numbers(const PiSolve *solve) {
    return 1 + solve->n_saved + solve->n_within;
}
void pi_adaptive_free(PiAdaptiveRun *run);

/* pair.c: the numbers of a method with an error estimate in the form for the kernel. */
void pi_make_pair(const PiMethod *method, const PiSystem *system, PiPair *pair);
/* Adds to an explicit pair the numbers for states within its steps. */
void pi_make_dense(const PiMethod *method, PiPair *pair);
