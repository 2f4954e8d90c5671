/* Which event of a lane's step is located next (event_order.c), and the memory of a thread that
 * observes steps. */
#pragma once
#include <math.h>
#include "../watching/passage.h"
#include "lane_programs.h"
#include "zero_search.h"

struct PiStepObserver {
    const PiObservation *of;
    int dim, real_bytes, locating;
    PiRun precision; /* other fields of a run are unused */
    int64_t lanes;
    ProgramRows *watch, detect, react;
    Search *search;
    double *g;       /* quantities at the end of the step, of each lane */
    double *found;   /* times within the step of each lane, 2 per event; infinite: none */
    double *more;    /* for each of these a time between two further zeros; NaN: none found */
    int64_t *id;     /* of the current trajectories */
    int *added;      /* to the counts of each lane in this step */
    double *landing; /* states before jumps */
    int8_t *sees[2]; /* which lanes a watch sees */
    char *memory;
};
static inline double get(const PiStepObserver *p, const void *row, int64_t i) {
    return p->real_bytes == 8 ? ((const double *)row)[i] : ((const float *)row)[i];
}
static inline void set(const PiStepObserver *p, void *row, int64_t i, double value) {
    if (p->real_bytes == 8) ((double *)row)[i] = value;
    else ((float *)row)[i] = (float)value;
}

/* The data of a trajectory: quantities, and those one step before; the last step; times of the
 * start and of the last jump, and the number of consecutive jumps without progress. */
static inline double *known(const PiStepObserver *p, int64_t id) {
    return p->of->known + id * pi_known_numbers(p->of->count);
}
static inline double *last_step(const PiStepObserver *p, int64_t id) {
    return known(p, id) + 2 * p->of->count;
}
enum { LAST_STEP, START, LAST_JUMP, LOST_JUMPS };
/* After a jump, in place of a quantity one step before: those of events that have just jumped, and
 * of conditions that begin to hold. */
#define JUST_JUMPED (-INFINITY)
#define JUST_BEGUN  INFINITY
/* Is a part of a step after a jump no longer than the part of the step before to which its place is
 * known? */
int is_short(const PiStepObserver *observer, const Search *search, int64_t id, double part);

/* A condition that begins to hold by the jump at the end of the last step occurs at the
 * beginning of the next. (It has no dips, and does not use its value one step before.) */
int is_begun(const PiStepObserver *observer, int64_t id, int event);
/* The next event of a lane's step that occurs, if any. */
void choose_event(const PiStepObserver *observer, int64_t lane);
/* The next event of the step to locate; then they occur, in order of time. */
void next_search(const PiStepObserver *observer, int64_t lane, int64_t id);
/* After a search: the crossing that it has found, and the one after a dip. */
void end_search(const PiStepObserver *observer, int64_t lane, int64_t id);
