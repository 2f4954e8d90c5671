/* States at requested times, between the steps: nothing else is stored.
 *
 * Each is a part of the step that passes the time, made again from the state before it: a step of
 * the method with that length, of its order, by its starter if it remembers earlier states; at the
 * end of the step it is the state there. NaN if that part fails. With noise it lies on the chord
 * from y0 to y1, y0 + s (y1 - y0), in double precision.
 *
 * A step in which events stop a lane or make it jump consists of several pieces, which the events
 * pass on one after the other (pi_between_piece): no part goes across a jump. From the step at
 * which a lane is frozen, its times have the state that it keeps. */
#pragma once
#include "../run/run.h"

typedef struct {
    PiRow t0, h;      /* in double precision */
    PiRecord *record; /* the destination: state k of the lanes is its save k */
    const double *t;  /* t[k t_stride + lane t_lane], increasing along the steps */
    int64_t t_stride, t_lane, count;
    int64_t *next; /* for each lane the index of its next time, and the step that contains it: */
    double *due;   /* infinite if there is none */
    void *before;  /* rows of run->stride: the last states seen */
} PiBetween;

/* The memory that one thread needs. */
int64_t pi_between_scratch_bytes(const void *between, const PiRun *run);
/* Writes a lane's states at all its times within a piece of the step to step n: between fractions
 * `from` and `to` of the step, where the states are y0 and y1, with components `apart` numbers
 * apart. 0, or -1 if the kernel fails. */
int pi_between_piece(PiBetween *between, const PiRun *run, const PiTile *tile, int64_t lane,
                     int64_t n, double from, double to, const double *y0, const double *y1,
                     int64_t apart, void *scratch);
/* The observer, for each step. */
PiObserver pi_between_observer(PiBetween *between);
