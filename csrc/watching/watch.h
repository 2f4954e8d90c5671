/* Watching: sums over the steps of a run, kept for each lane, so that no states need be stored.
 *
 * A program of byte code (bytecode/bytecode.h) maps the state after a step and the sums so far to
 * the sums including this step; it defines the sums, and this file only supplies its arguments. It
 * computes in double precision even if the run does not. Its state `y` has these rows:
 *
 *   the components | the index of the step | the system's energy, its invariants | the sums
 *
 * as far as it needs them, and its result for PI_INVARIANTS is the new sums, then quantities. A
 * PiReduction of a quantity, a component or the energy needs no byte code and takes all shown
 * states at once; its sums follow those of the program. There are two copies of the sums, for the
 * last complete block of time and for the current one: an interrupt leaves the first. */
#pragma once
#include "../aligned.h"
#include "../run/run.h"
#include "batch/across.h"
#include "batch/density.h"

#define EACH_LANE(i, of) EACH_BELOW(i, (of)->lanes)
enum { PI_WATCH_ENERGY = 1, PI_WATCH_INVARIANTS = 2, PI_WATCH_TIME = 4, PI_WATCH_STEP = 8 };
enum { PI_WATCH_ALL = 15, PI_WATCH_SYSTEM = PI_WATCH_ENERGY | PI_WATCH_INVARIANTS };
enum { PI_MAX_REDUCED = 128 };
typedef struct {
    ResolvedSystem program, system;      /* in double precision; system: for the energy */
    int asks;                            /* PI_WATCH_..., of the program */
    int runs;                            /* is the program run after each step? */
    int components, n_sums;              /* numbers of rows of y that are components, and sums */
    int n_quantities, n_reduced, n_rows; /* results past the sums; reductions; rows of all sums */
    PiReduced reduced[PI_MAX_REDUCED];
    int64_t every;        /* steps, counted from the run's step 0 */
    int64_t begin;        /* the first step that counts: a resumed run counted those before */
    PiRow t0, h, *params; /* params: of the program; the system's are the first */
    PiRow origin, factor; /* of the energy: its value at the start, a power of two */
    PiDensity *density;   /* n_densities of them, of the quantities */
    int n_densities;
    PiAcross *across; /* n_across of them, of the quantities */
    int n_across;
    double *sums[2]; /* rows of run->stride: after even and odd blocks */
} PiWatch;
/* Includes all states of `seen` in the sums; 0, or -1 if a program fails or memory is short. */
int pi_watch_see(void *watch, const PiRun *run, const PiSeen *seen);
/* A tile begins a block: copies the sums of the block before, and marks the scratch as empty. */
void pi_watch_open(void *watch, const PiRun *run, int64_t tile, int64_t block, void *scratch);
/* The time of a step of a lane, t0 + n h with two roundings like the times of a solution. */
double pi_watch_time(const PiWatch *watch, int64_t lane, int64_t n);
int64_t pi_watch_scratch_bytes(const void *watch, const PiRun *run);
/* The observer of a watch, whose sums[0] hold the initial sums. */
PiObserver pi_watch_observer(PiWatch *watch, const PiRun *run);

/* ---- watch.c, chunk.c --------------------------------------------------------------------------
 */
/* A chunk: lanes that a watch evaluates together. It begins the scratch memory, and its rows
 * follow: two states of the program, since it reads the sums of one and writes those of the other;
 * parameters, time, scratch; and for the current states the components, unless they are read in
 * place, energies and results. */
typedef struct {
    const PiWatch *w;
    int64_t lane, lanes; /* the first, and their number, in whole registers; 0: empty */
    const int64_t *at;   /* their offsets from the first, n_at of them; NULL: contiguous */
    int64_t n_at;
    double *y[2], *p, *own_p, *t, *scratch;
    double *origin, *factor, *ends, *copied, *energy, *answers, *call, *sums;
    uint64_t uniform; /* parameters with one value for all lanes, as bits */
    int alike;        /* do all these bits say so, and are `origin` and `factor` alike too? */
    int states;       /* that are evaluated together */
    int64_t several;  /* of them in one call of the program, which has rows of its own; or 0 */
    int has_energy, asks_time;
    PiEnergies *energies; /* of several states at once; NULL: one by one */
    int changes;          /* are they minus `origin`, times `factor`, rather than themselves? */
    PiReduceRows reduced; /* that kernels make, into sums after the chunk */
} WatchChunk;

/* How many registers so many reals fill. */
static inline int64_t pi_in_registers(const ResolvedSystem *s, int64_t reals) {
    return reals * sizeof(double) >> __builtin_ctz(s->set->vector_bytes);
}
/* Does an answer depend on the time, if a program asks (PI_WATCH_...) for this, and the system for
 * energies or invariants? Byte code may always. */
static inline int pi_asks_time(int asks, int asks_system, const ResolvedSystem *system) {
    const int depends = system->system->time_dependent || system->force == system->set->program;
    return asks & PI_WATCH_TIME || (asks_system && depends);
}
/* Rows of scratch memory that serve either. */
static inline int64_t pi_scratch_of_both(const ResolvedSystem *a, const ResolvedSystem *b) {
    return a->system->scratch > b->system->scratch ? a->system->scratch : b->system->scratch;
}
/* Asks a program, or the system, for the lanes of a chunk: `out` gets the answer; 0, or not 0 if
 * it fails. */
static inline int pi_chunk_ask(const ResolvedSystem *system, PiQuestion question, WatchChunk *c,
                               double *y, double *p, double *out) {
    PiRows rows = {.registers = pi_in_registers(system, c->lanes),
                   .t = c->t,
                   .y = y,
                   .v = y + system->system->dof * c->lanes,
                   .p = p,
                   .out = out,
                   .scratch = c->scratch,
                   .uniform = c->uniform};
    return system->force(system->context, question, &rows);
}
/* Begins a chunk, in memory of pi_chunk_bytes() of so many lanes or more, with itself at its begin:
 * `lanes` lanes from `lane` on, or n_at of them at `at`; loads their parameters. 0, or -1 if a
 * program fails. */
int pi_chunk_open(WatchChunk *chunk, const PiWatch *watch, const int64_t *at, int64_t n_at,
                  int64_t lane, int64_t lanes);
int64_t pi_chunk_bytes(const PiWatch *watch, int64_t lanes);
/* Fills a row of the chunk: with its lanes of a row of the batch; with the times of step n. */
void pi_chunk_pick(const WatchChunk *chunk, double *to, const double *from);
void pi_chunk_time(const WatchChunk *chunk, double n, double *t);
/* Fills a row of doubles: from one of a run in its precision; with one value. */
void pi_copy_row(double *to, const void *from, int64_t lanes, int real_bytes);
void pi_fill_row(double *to, double value, int64_t lanes);
/* The first row of sums in the state of the program. */
static inline int pi_first_sum(const PiWatch *w) { return w->program.system->dim - w->n_sums; }
