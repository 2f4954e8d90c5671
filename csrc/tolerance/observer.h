/* A thread's observer: what its two parts share, the events (step_events.c) and the rest
 * (observation.c). */
#pragma once
#include <string.h>
#include "../watching/passage.h"
#include "observation.h"

/* An event that occurs at a part of the step; the slope of its quantity there, over that part. */
typedef struct {
    double part, slope;
    int event;
} Occurrence;
enum { MOST_PENDING = 64, MOST_CORRECTIONS = 8 };
/* Of a lane in its step: the events of its piece that have not occurred, the next last; whether the
 * place of that is found, or a state there is requested; the event that has ended the step; how
 * many there were. */
typedef struct {
    Occurrence pending[MOST_PENDING];
    int count, ready, asks, corrections, stopped_by;
    double last_part, last_g; /* the correction before */
    double zero;              /* how large the quantity may be at a zero that has jumped */
    int64_t events;
} Occurring;

struct PiStepObserver {
    const PiObservation *of;
    const PiSolve *solve;
    int dim, real_bytes, locating;
    int64_t lanes;
    ProgramRows *watch, detect, react;
    Pieces quantities, timed; /* of the events, of the watches */
    Occurring *occurring;
    int8_t *need;  /* of the quantities of events */
    double *h;     /* the steps as first shown, and */
    double *part;  /* how much of each was made */
    double *after; /* its state, in double precision */
    double *state; /* of the lanes' events; before their jumps: */
    double *landing;
    double *begun, *ended; /* linear quantities at the beginning and the end of the steps */
    double *g;             /* quantities at the event that ended the step */
    double *zero; /* how large they are while they are still at a zero that has jumped; or 0 */
    int8_t
        *tied;   /* -1: an event of this piece occurred; 1: it occurs where another ends the step */
    int64_t *id; /* of the current trajectories */
    int *added;  /* to the counts of each lane in this step */
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
/* n numbers of a row, in double precision. */
static inline void widen(const PiStepObserver *p, const void *row, int64_t n, double *to) {
    if (p->real_bytes == 8) memcpy(to, row, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++) to[i] = (double)((const float *)row)[i];
}
/* The data of a trajectory: quantities at the last state; of each how it begins the next step; then
 * the times of the start and of the last jump, and the number of consecutive jumps without
 * progress. */
static inline double *known(const PiStepObserver *p, int64_t id) {
    return p->of->known + id * pi_known_numbers(p->of->count);
}
static inline double *past(const PiStepObserver *p, int64_t id) {
    return known(p, id) + 2 * p->of->count;
}
enum { START, LAST_JUMP, LOST_JUMPS };
/* How a quantity begins a step; below 0: it has just jumped at its zero, and is there while it is
 * no larger than that. */
enum { BEGINS_ANYHOW, BEGINS_WITH_EVENT };

/* How far the coefficients of a quantity must decay for a trajectory: a twentieth of rtol. */
double resolution_of(const PiStepObserver *observer, int64_t id);
/* The time at a part of a lane's step. */
double time_within_step(const PiStepObserver *observer, const PiSteps *steps, int64_t lane,
                        double part);

/* ---- step_events.c --------------------------------------------------------------------------- */
int locate_events(PiStepObserver *observer, const PiSteps *steps);
/* The quantities of the first states; those of accepted steps. */
int begin_events(PiStepObserver *observer, const PiSteps *steps, const int8_t *first);
int settle_events(PiStepObserver *observer, const PiSteps *steps);
