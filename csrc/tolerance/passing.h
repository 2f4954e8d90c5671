/* Watches and events during a run to a tolerance: watches are sums over accepted steps, events are
 * sign changes of a quantity of a lane. Lanes have their own steps and times, so that
 * programs of byte code run for all lanes together (PiLook), and their data are stored by
 * trajectory: one that takes another's lane brings its own.
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
} PiLook;
typedef struct PiPassing {
    PiLook *watch;
    int n_watches;
    PiLook look, react; /* of events: their quantities; their consequences (no program: none) */
    PiEvent *event;
    int count;
    int64_t most;                /* events in a step, and consecutive jumps without progress */
    int64_t stride;              /* trajectories per row of kept events */
    double *counts, *stopped_at; /* counts: as in events.h */
    int8_t *stopped_by;
    double *known; /* pi_passing_known() numbers per trajectory */
    int8_t *seen;  /* for each trajectory: has its first state been seen? */
} PiPassing;
static inline int64_t pi_passing_known(int64_t events) { return 2 * events + 5; }

/* A thread's memory for so many lanes; NULL without memory. */
typedef struct PiPassage PiPassage;
PiPassage *pi_passage_new(const PiPassing *passing, const PiJourney *journey);
/* Frees it; findings in steps that were not accepted are discarded. */
void pi_passage_free(PiPassage *passage);
/* Callbacks of a PiSolver, which has room for states before jumps. */
int pi_passage_begin(PiPassage *passage, const PiSteps *steps);
int pi_passage_look(PiPassage *passage, const PiSteps *steps);
int pi_passage_accept(PiPassage *passage, const PiSteps *steps, PiSolver *solver);
