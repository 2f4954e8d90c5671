/* Observation of a run to a tolerance, its watches and events: watches are sums over accepted
 * steps, events are sign changes of a quantity of a lane. Lanes have their own steps and times, so
 * that programs of byte code run for all lanes together (PiLaneProgram), and their data are stored
 * by trajectory: one that takes another's lane brings its own.
 *
 * Events are located by parts of the step, which the kernel makes for all lanes together: each lane
 * requests one (PiSteps), receives its state, and requests the next: Chandrupatla's method as a
 * state machine. A jump ends the step, since the error estimate does not cover the time after it; a
 * watch sees both its sides. */
#pragma once
#include "../watching/events.h"
#include "solve.h"

/* A program whose state y is that of watch.h; all in double precision. */
typedef struct {
    ResolvedSystem program, system; /* system: for the energy */
    int asks, n_sums;               /* PI_WATCH_...; rows of y that are sums, the last */
    PiRow *params;                  /* of the program; the system's are the first */
    double *sums;                   /* n_sums per trajectory; NULL: none */
} PiLaneProgram;
typedef struct PiObservation {
    PiLaneProgram *watch;
    int n_watches;
    PiLaneProgram detect,
        react; /* of events: their quantities; their consequences (no program: none) */
    PiEvent *event;
    int count;
    int64_t most;                /* events in a step, and consecutive jumps without progress */
    int64_t stride;              /* trajectories per row of kept events */
    double *counts, *stopped_at; /* counts: as in events.h */
    int8_t *stopped_by;
    double *known; /* pi_known_numbers() numbers per trajectory */
    int8_t *seen;  /* for each trajectory: has its first state been seen? */
} PiObservation;
static inline int64_t pi_known_numbers(int64_t events) { return 2 * events + 4; }

/* A thread's memory for so many lanes; NULL without memory. */
typedef struct PiStepObserver PiStepObserver;
PiStepObserver *pi_step_observer_new(const PiObservation *observation, const PiAdaptiveRun *run);
/* Frees it; findings in steps that were not accepted are discarded. */
void pi_step_observer_free(PiStepObserver *observer);
/* Callbacks of a PiSolver, which has room for states before jumps. */
int pi_step_observer_begin(PiStepObserver *observer, const PiSteps *steps);
int pi_step_observer_locate(PiStepObserver *observer, const PiSteps *steps);
int pi_step_observer_accept(PiStepObserver *observer, const PiSteps *steps, PiSolver *solver);
