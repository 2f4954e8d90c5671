/* What happens along the way to a tolerance: watches, which add up over accepted steps, and events,
 * where a quantity of a lane changes its sign. Lanes are at steps and times of their own, so that
 * programs of byte code are asked of all at once (PiLook), and what they keep lies trajectory by
 * trajectory: one that takes another's place brings its own.
 *
 * Events are located by parts of the step, which the kernel makes for all lanes together: each lane
 * asks for one (PiSteps), is shown its state, and asks again: Chandrupatla's method, turned inside
 * out. A jump ends the step, as what comes after it is not judged; a watch sees both its sides. */
#pragma once
#include "../watching/events.h"
#include "solve.h"

/* A program whose state y is that of watch.h; all in double precision. */
typedef struct {
    ResolvedSystem program, system; /* system: what the energy is asked of */
    int asks, n_sums;               /* PI_WATCH_...; rows of y that are sums, the last */
    PiRow *params;                  /* of the program; the system's are the first */
    double *sums;                   /* n_sums of each trajectory; NULL: none are kept */
} PiLook;
typedef struct PiPassing {
    PiLook *watch;
    int n_watches;
    PiLook look, react; /* of events: their quantities; what follows (no program: nothing) */
    PiEvent *event;
    int count;
    int64_t most;                /* events in a step, and jumps in a row that lead nowhere */
    int64_t stride;              /* trajectories in rows of what is kept */
    double *counts, *stopped_at; /* counts: a row for each event */
    int8_t *stopped_by;
    double *known; /* pi_passing_known() numbers of each trajectory */
    int8_t *seen;  /* of each trajectory: has its first state been seen? */
} PiPassing;
static inline int64_t pi_passing_known(int64_t events) { return 2 * events + 4; }

/* A thread at work: memory for so many lanes; NULL without it. */
typedef struct PiPassage PiPassage;
PiPassage *pi_passage_new(const PiPassing *passing, const PiJourney *journey);
/* Its end; what was found in steps that do not count is forgotten. */
void pi_passage_free(PiPassage *passage);
/* As those of a PiSolver, which has room for states before jumps. */
int pi_passage_begin(PiPassage *passage, const PiSteps *steps);
int pi_passage_look(PiPassage *passage, const PiSteps *steps);
int pi_passage_accept(PiPassage *passage, const PiSteps *steps, PiSolver *solver);
