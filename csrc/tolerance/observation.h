/* Observation of a run to a tolerance, its watches and events. Both see what a quantity does within
 * the accepted steps, on the polynomials of its pieces (pieces.h): watches reduce these over time
 * (reductions.h), events are their zeros. Only user-defined reductions, and the first and last
 * values, see the states at the ends of the steps (`watch`). Lanes have their own steps and times,
 * so that programs of byte code run for all lanes together (PiLaneProgram), and their data are
 * stored by trajectory: one that takes another's lane brings its own.
 *
 * An event that stops a trajectory or makes it jump ends its step, since the error estimate does
 * not cover the time after it: at a state that the kernel makes by a part of the step (PiSteps),
 * corrected where the quantity is not yet zero. A watch sees both sides of a jump. */
#pragma once
#include "../watching/events.h"
#include "../watching/reductions.h"
#include "solve.h"

/* What is counted of each trajectory, and a copy as it was where a continuation sets out: rows of
 * so many bytes for each. */
typedef struct {
    int64_t rows, bytes;
    const char *live;
    char *onward;
} PiCounted;
typedef struct PiObservation {
    PiCounted *counted;
    int n_counted;
    PiLaneProgram *watch;
    int n_watches;
    PiEvents events;
    /* Reductions over time of the quantities of one program (no program: none): numbers of each
     * trajectory, and the times from which they count. */
    PiLaneProgram timed;
    PiPieceReduction *reduction;
    int n_reductions, n_numbers, n_after, n_samples;
    PiPieceSamples *samples;
    int8_t *need; /* PiNeed of each quantity */
    double *numbers;
    PiRow *after;
    PiRow sampled, until; /* the times between which samples are taken, across breaks */
    int8_t *seen;         /* for each trajectory: has its first state been seen? */
} PiObservation;

/* The observer of one thread; NULL without memory. */
typedef struct PiStepObserver PiStepObserver;
PiStepObserver *pi_step_observer_new(const PiObservation *observation, const PiAdaptiveRun *run);
/* Frees it; findings in steps that were not accepted are discarded. */
void pi_step_observer_free(PiStepObserver *observer);
/* Callbacks of a PiSolver, whose `keep` also takes the states before jumps. 0, or -1; `locate`: 1
 * if it requests parts of steps. */
int pi_step_observer_begin(PiSolver *solver, const PiSteps *steps);
int pi_step_observer_locate(PiSolver *solver, const PiSteps *steps);
int pi_step_observer_accept(PiSolver *solver, const PiSteps *steps);
void pi_step_observer_mark(PiSolver *solver, int64_t lane);
