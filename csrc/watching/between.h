/* States at requested times, between the steps: nothing else is stored.
 *
 * Over a step from y0 at t0 to y1 at t1 = t0 + H, with D = y1 - y0, rates f0 and f1, and s from 0
 * to 1, the Hermite cubic:
 *
 *   y = y0 + s (D + (1 - s) ((2 s - 1) D + (1 - s) H f0 - s H f1))
 *
 * or, with noise, the chord: both H f are D; in double precision, in the order of operations of
 * solution/interpolation.py, and so with the same bits; at s = 1 it is y1 itself. Hairer, Norsett,
 * Wanner (1993), Solving Ordinary Differential Equations I, II.6.
 *
 * A step in which events stop a lane or make it jump consists of several pieces, which the events
 * pass on one after the other (pi_between_piece): none goes across a jump. From the step at which a
 * lane is frozen, its times have the state that it keeps. */
#pragma once
#include "../run/run.h"

typedef struct {
    ResolvedSystem system; /* in double precision */
    PiRow t0, h, *params;  /* likewise */
    PiRecord *record;      /* the destination: state k of the lanes is its save k */
    const double *t;       /* t[k t_stride + lane t_lane], increasing along the steps */
    int64_t t_stride, t_lane, count;
    int64_t *next; /* for each lane the index of its next time, and the step that contains it: */
    double *due;   /* infinite if there is none */
    void *before;  /* rows of run->stride: the last states seen */
} PiBetween;

/* The memory that one thread needs to interpolate. */
int64_t pi_between_scratch_bytes(const void *between, const PiRun *run);
/* Writes a lane's states at all times up to a moment of the step to step n: that part of it lies
 * between fractions `from` and `to` of the step, and goes from state y0 to y1, whose components are
 * `apart` numbers apart. 0, or -1. */
int pi_between_piece(PiBetween *between, const PiRun *run, int64_t lane, int64_t n, double from,
                     double to, const double *y0, const double *y1, int64_t apart, void *scratch);
/* The observer, for each step. */
PiObserver pi_between_observer(PiBetween *between);
