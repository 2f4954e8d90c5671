/* Watching: sums over the steps of a run, kept for each lane, so that no state need be stored.
 *
 * A program of byte code (bytecode/bytecode.h) takes the state after a step and the sums so far to
 * the sums with this step; whatever it adds up, this file only brings it its arguments. It computes
 * in double precision also where the run does not. Its state `y` has these rows:
 *
 *   the components | the number of the step | the system's energy, its invariants | the sums
 *
 * as far as it asks for them, and its answer to PI_INVARIANTS is the new sums, then quantities. A
 * PiReduction is kept of these, of components and of the energy without byte code, all the states
 * that are shown at once; its sums follow the program's. Two copies
 * of the sums, for the last complete block of time and for the one under way: an interrupt leaves
 * the first. */
#pragma once
#include "../run/run.h"
#include "density.h"

enum { PI_WATCH_ENERGY = 1, PI_WATCH_INVARIANTS = 2, PI_WATCH_TIME = 4, PI_WATCH_STEP = 8 };
enum { PI_WATCH_ALL = 15, PI_WATCH_SYSTEM = PI_WATCH_ENERGY | PI_WATCH_INVARIANTS };
enum { PI_MAX_REDUCED = 128 };
/* What a reduction is of: an answer of the program; a component; the system's energy; its energy
 * less `origin`, times `factor`. */
typedef enum { PI_OF_PROGRAM, PI_OF_STATE, PI_OF_ENERGY, PI_OF_CHANGE } PiSource;
enum { PI_SOURCES = PI_OF_CHANGE + 1 };
typedef struct {
    int kind, source, number; /* PiReduction, PiSource; which answer, which component */
    int first;                /* its first row of all the sums */
} PiReduced;
typedef struct {
    ResolvedSystem program, system; /* in double precision; system: what the energy is asked of */
    int asks;                       /* PI_WATCH_..., of the program */
    int runs;                       /* is the program run after each step? */
    int components, n_sums;         /* how many rows of y are components, and sums */
    int n_quantities, n_reduced, n_rows; /* past the sums in the answer; sums in all, as rows */
    PiReduced reduced[PI_MAX_REDUCED];
    int64_t every;        /* steps, counted from the run's own step 0 */
    int64_t begin;        /* the first step of all: a resumed run has seen its own */
    PiRow t0, h, *params; /* those of the program; the system's are the first */
    PiRow origin, factor; /* of the energy: its value at the start, a power of two */
    PiDensity *density;   /* n_densities of them, of the quantities */
    int n_densities;
    double *sums[2]; /* rows of run->stride: after even and odd blocks */
} PiWatch;
/* Shows the program all the states that were seen; 0, or -1. */
int pi_watch_see(PiWatch *watch, const PiRun *run, const PiSeen *seen);
/* A tile begins a block: the sums of the block before, and nothing in the scratch. */
void pi_watch_open(const PiWatch *watch, const PiRun *run, int64_t tile, int64_t block,
                   void *scratch);
/* The answer of the watch's program, or of another with the same y, to component values `y` at time
 * t of step n. */
typedef struct {
    int64_t n;
    double t;
    const double *y;
    double *answer;
} PiWatchMoment;
/* Some lanes, up to `room`, side by side: their parameters, prepared by pi_watch_lanes. */
typedef struct {
    const PiWatch *watch;
    const ResolvedSystem *program;
    int64_t room, count;
    double *memory; /* pi_watch_lanes_bytes() */
} PiWatchLanes;
int64_t pi_watch_lanes_bytes(const PiWatch *watch, const ResolvedSystem *program, int64_t room);
int pi_watch_lanes(PiWatchLanes *lanes, const int64_t *lane, int64_t count);
/* A moment of each of them. 0, or -1. */
int pi_watch_ask(const PiWatchLanes *lanes, const PiWatchMoment *moment);
/* The time of a step of a lane, t0 + n h with two roundings as the times of a solution have. */
double pi_watch_time(const PiWatch *watch, int64_t lane, int64_t n);
int64_t pi_watch_scratch_bytes(const PiWatch *watch, const PiRun *run);
/* The observer of a watch, which has `sums[0]` filled in. */
PiObserver pi_watch_observer(PiWatch *watch, const PiRun *run);

/* ---- watch.c, lanes.c --------------------------------------------------------------------------
 */
/* Lanes that a watch looks at together.
 * What is kept in the scratch, and the rows of a chunk: two states of the program, as it reads the
 * sums of one and writes those of the other; parameters, time, scratch; and of the states at hand
 * the components, where they are not read where they lie, energies and answers. */
typedef struct {
    const PiWatch *w;
    int64_t lane, lanes; /* the first, and how many: whole registers; no lanes: nothing is here */
    const int64_t *at;   /* their places after the first, n_at of them; NULL: one after the other */
    int64_t n_at;
    double *y[2], *p, *own_p, *t, *scratch;
    double *origin, *factor, *ends, *copied, *energy, *answers, *sums;
    uint64_t uniform; /* parameters with one value for all lanes, as bits */
    int states;       /* that are looked at together */
    int has_energy, asks_time;
    PiEnergies *energies; /* of several states at once; NULL: one by one */
    int changes;          /* are these less `origin`, times `factor`? Nobody wants themselves */
} WatchChunk;
enum { CHUNK_BYTES = (sizeof(WatchChunk) + 63) / 64 * 64 };

static inline int64_t pi_watch_width(const PiWatch *w) {
    return w->program.set->vector_bytes / (int64_t)sizeof(double);
}
/* Reals, whole registers of them. */
static inline int64_t pi_in_registers(const ResolvedSystem *s, int64_t reals) {
    return reals * (int64_t)sizeof(double) >> __builtin_ctz((unsigned)s->set->vector_bytes);
}
/* What a program, or the system, answers of the lanes of a chunk. */
static inline int pi_chunk_ask(const ResolvedSystem *system, PiQuestion question, WatchChunk *c,
                               double *y, double *p, double *out) {
    PiRows rows = {.registers = pi_in_registers(system, c->lanes),
                   .t = c->t,
                   .y = y,
                   .v = y + (int64_t)system->system->dof * c->lanes,
                   .p = p,
                   .out = out,
                   .scratch = c->scratch,
                   .uniform = c->uniform};
    return system->force(system->context, question, &rows);
}
