/* Events of fixed steps. A watch (watch.h) evaluates all lanes after each step, and marks the steps
 * in which an event may occur: g_n < 0 <= g_{n+1} is rising, g_n > 0 >= g_{n+1} falling; and if the
 * parabola through g_{n-1}, g_n and g_{n+1} has an extremum near zero between n and n + 1, it may
 * be crossed twice. These steps are segments for the engine (events.h), those of many lanes side by
 * side, each lane's in their order. After a jump the rest of the step, and of the shown steps, is
 * made again from the new state. */
#pragma once
#include "between.h"
#include "events.h"

typedef struct {
    PiWatch watch; /* event j is its reduction j */
    PiEvents events;
    double *counts[2];  /* after even and odd blocks, like the sums of a watch */
    PiBetween *between; /* gets each piece of a step; or NULL */
    int64_t lanes;      /* the most that are processed together */
    int64_t watch_bytes;
} PiFixedEvents;
PiObserver pi_events_observer(PiFixedEvents *events);
