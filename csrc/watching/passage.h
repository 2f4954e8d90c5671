/* One lane within a step: moments of the step, made by parts of it, and where
 * events cross zero. */
#pragma once
#include <string.h>
#include "events.h"
#include "search.h"

/* A moment within a step: a state, its quantities, and how far the step has come, in time. Past its
 * components the state holds the rounding errors of a compensated run: zero where a lane is taken
 * up, since only components are shown, then those of its steps since. */
typedef struct {
    double *y, *g;
    double passed;
} Moment;
typedef struct Ahead Ahead;
typedef struct {
    PiEvents *e;
    PiRun *run;
    const PiTile *tile;
    const PiSeen *seen;
    int64_t at, lane; /* index in the tile, in the batch */
    int64_t n;        /* the current step goes to step n */
    double h;         /* of the run's precision */
    int ready;        /* is the memory below set for this lane? */
    PiParts parts;
    PiWatchLanes look, react;
    Moment before, after, best, trial, dip;
    double *answer;
    double *last;       /* quantities one step before, NaN after a jump; the first; the counts */
    PiSearch search;    /* by which locate() found `best` */
    const Ahead *ahead; /* found ahead in this step, n_ahead of them */
    int64_t n_ahead;
    void *between; /* scratch */
} Lane;

static inline int dim(const Lane *l) { return l->run->system->dim; }
static inline int rows(const Lane *l) { return l->run->state_rows; }
/* The numbers for which a moment has room. */
int64_t moment_bytes(const PiEvents *e, const PiRun *run);
Moment moment_at(const PiRun *run, double *memory);
void copy_moment(const Lane *lane, const Moment *from, Moment *to);
/* The time of a moment of the step to step n, computed as for solutions. */
double time_within(const PiEvents *e, int64_t lane, int64_t n, double h, double passed);
static inline double time_of(const Lane *l, double passed) {
    return time_within(l->e, l->lane, l->n, l->h, passed);
}
/* Fills in the quantities of a moment. 0, or -1. */
int quantities_at(Lane *lane, Moment *moment);
/* The result of the program for consequences, in lane->answer. 0, or -1. */
int reaction_at(Lane *lane, const Moment *moment);
/* A step of length h from a moment, or the whole step from its beginning. 0, or -1. */
int make_step(Lane *lane, const Moment *from, double h, Moment *to);
/* The status of a state made within the step. */
PiStatus status_of(const Lane *lane, const Moment *moment);
/* Does the parabola through three steps indicate that g may cross zero and return in the last? */
int may_dip(double last, double old, double new);
/* Does an event's quantity cross zero, in the event's direction? */
int crosses(const PiEvent *event, double before, double after);
/* Where event j crosses zero next: from *lo to *hi, the whole step, or its part before or after a
 * dip; -1 on failure. done: the result for the event before. */
enum { NOWHERE, WHOLE, FIRST, SECOND };
int crossing_of(Lane *lane, int j, int done, int dips, const Moment **lo, const Moment **hi);
/* The last moment before event j, in lane->best. 0, or -1. */
int locate(Lane *lane, int j, const Moment *lo, const Moment *hi);
/* After that: does it cross zero twice more between lo and hi (before `best`, if the event ends the
 * step)? 1, 0, or -1. Overwrites lane->dip. */
int passes_thrice(Lane *lane, int j, int ends);
