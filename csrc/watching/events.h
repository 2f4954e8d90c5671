/* Events: where a quantity of a lane changes its sign, located by making a part of the step again.
 *
 * An event may be kept, counted, stop the lane at its state, or let a rule change the state (a
 * jump), from which the rest of the step goes on to the grid. A watch (watch.h) looks at all lanes
 * after each step; those in which something may happen are gone through step by step, each by
 * itself, so that nothing depends on its neighbours. What can be found of many lanes side by side
 * is found before that (ahead.h).
 *
 * With g the quantity, n a step: g_n < 0 <= g_{n+1} is rising, g_n > 0 >= g_{n+1} falling; a zero
 * at the start is no event. The state of an event is on the side that is not yet crossed.
 *
 * Two zeros in one step leave no change of sign. The parabola through g_{n-1}, g_n and g_{n+1}
 * tells of an extreme near zero between n and n + 1. There the extreme is looked for, and where it
 * lies beyond zero, the two zeros beside it. */
#pragma once
#include "between.h"
#include "watch.h"

typedef struct {
    int direction;       /* -1, 0 or 1 */
    int located;         /* 0: at the first step or jump after which a condition holds */
    int64_t stop;        /* at which event a lane stops; 0: never */
    int64_t keep;        /* how many are kept */
    int then;            /* first row of the new state in the answer of `react`; -1: no rule */
    int value, n_values; /* first row of the values that are kept there, and how many */
    /* Kept event k of lane l: t[k stride + l], y[(k dim + d) stride + l], likewise the values. */
    double *t, *y, *values;
} PiEvent;

typedef struct {
    PiWatch watch;        /* its program answers with the quantities; event j is its reduction j */
    ResolvedSystem react; /* system NULL: nobody asks it */
    PiEvent *event;
    int count;
    int64_t most;      /* in a step; more are PI_ZENO */
    double *counts[2]; /* rows of run->stride: how many events so far; as the sums of a watch */
    double *stopped_at;
    int8_t *stopped_by; /* of each lane */
    PiBetween *between; /* is shown each piece of a step; or NULL */
} PiEvents;
PiObserver pi_events_observer(PiEvents *events);
