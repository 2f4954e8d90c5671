/* Events: where a quantity of a lane changes its sign, located by repeating a part of the step.
 *
 * An event may be kept, counted, stop the lane at its state, or change the state by a rule (a
 * jump), after which the rest of the step continues to the grid. A watch (watch.h) evaluates all
 * lanes after each step; those in which an event may occur are processed step by step, each by
 * itself, so that nothing depends on its neighbours. Work that can be done for many lanes side by
 * side is done before that (ahead.h).
 *
 * With g the quantity and n a step: g_n < 0 <= g_{n+1} is rising, g_n > 0 >= g_{n+1} falling; a
 * zero at the start is no event. The state of an event is on the side before the crossing.
 *
 * Two zeros in one step leave no change of sign. If the parabola through g_{n-1}, g_n and g_{n+1}
 * has an extremum near zero between n and n + 1, the extremum is searched for, and if it
 * lies beyond zero, the two zeros beside it.
 *
 * Three zeros in one step look like one. The zero that is located is divided out, and the parabola
 * through the quotient at both ends and at one place between shows whether two more are likely. If
 * the quantity there has the wrong sign, the step is counted: it does not resolve the quantity. */
#pragma once
#include "between.h"
#include "watch.h"

typedef struct {
    int direction;       /* -1, 0 or 1 */
    int located;         /* 0: at the first step or jump after which a condition holds */
    int64_t stop;        /* the event at which a lane stops; 0: never */
    int64_t keep;        /* the number to keep */
    int then;            /* first row of the new state in the result of `react`; -1: no rule */
    int value, n_values; /* first row of the values to keep, and their number */
    /* Kept event k of lane l: t[k stride + l], y[(k dim + d) stride + l], likewise the values. */
    double *t, *y, *values;
} PiEvent;
/* Which of those that are kept comes after so many events; -1: none. Others may write to counts. */
static inline int64_t pi_kept_before(const PiEvent *event, double count) {
    return count >= 0 && count < (double)event->keep ? (int64_t)count : -1;
}

typedef struct {
    PiWatch watch;        /* its program computes the quantities; event j is its reduction j */
    ResolvedSystem react; /* system NULL: not needed */
    PiEvent *event;
    int count;
    int64_t most; /* in a step; more are PI_ZENO */
    /* Rows of run->stride, like the sums of a watch: the number of events so far, for each event;
     * then how many of them had two more zeros in their step. */
    double *counts[2];
    double *stopped_at;
    int8_t *stopped_by; /* of each lane */
    PiBetween *between; /* gets each piece of a step; or NULL */
} PiEvents;
PiObserver pi_events_observer(PiEvents *events);
