/* Watching: sums over the steps of a run, kept for each lane, so that no state need be stored.
 *
 * A program of byte code (bytecode/bytecode.h) takes the state after a step and the sums so far to
 * the sums with this step; whatever it adds up, this file only brings it its arguments. It computes
 * in double precision also where the run does not. Its state `y` has these rows:
 *
 *   the components | the number of the step | the system's energy, its invariants | the sums
 *
 * as far as it asks for them, and its answer to PI_INVARIANTS is the new sums. Two copies of the
 * sums, for the last complete block of time and for the one under way: an interrupt leaves the
 * first. */
#pragma once
#include "run.h"

enum { PI_WATCH_ENERGY = 1, PI_WATCH_INVARIANTS = 2 };
typedef struct {
    ResolvedSystem program, system; /* in double precision; system: what the energy is asked of */
    int asks;                       /* PI_WATCH_ENERGY | PI_WATCH_INVARIANTS */
    int components, n_sums;         /* how many rows of y are components, and sums */
    int64_t every;                  /* steps, counted from the run's own step 0 */
    int64_t begin;                  /* the first step of all: a resumed run has seen its own */
    PiRow t0, h, *params;           /* those of the program; the system's are the first */
    double *sums[2];                /* rows of run->stride: after even and odd blocks */
} PiWatch;
/* The observer of a watch, which has `sums[0]` filled in. */
PiObserver pi_watch_observer(PiWatch *watch, const PiRun *run);
