/* How a thread finds out whether to stop: by the clock, between the steps and within them. */
#pragma once
#include <time.h>
#include "run.h"

static const double POLL_SECONDS = 0.05;

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
/* The thread that has a poll looks at the clock, the others at `cancelled`. */
typedef struct {
    PiPause pause; /* first: the part that kernels see */
    const void *run;
    int64_t (*done)(const void *run); /* what the poll is told */
    _Atomic int *cancelled;           /* of the run */
    PiPoll *poll;                     /* or NULL */
    void *context;
    double polled, looked;
    int64_t every; /* pauses per reading of the clock, which costs about 25 ns */
} Pace;
static const double SOON = 1e-4, LATE = 1e-3; /* seconds between readings */
enum { MOST_PAUSES = 64 };

static inline int look_at_clock(PiPause *pause) {
    Pace *p = (Pace *)pause;
    if (p->poll) {
        const double t = now(), passed = t - p->looked;
        if (passed < SOON) p->every = p->every < MOST_PAUSES ? 2 * p->every : MOST_PAUSES;
        else if (passed > LATE) p->every = 1 + p->every / 16;
        p->looked = t;
        if (t - p->polled > POLL_SECONDS) {
            if (p->poll(p->context, p->done(p->run))) *p->cancelled = 1;
            pi_keep_float_mode();
            p->looked = p->polled = now();
        }
    }
    pause->left = p->every - 1;
    return *p->cancelled;
}
static inline Pace make_pace(const void *run, int64_t (*done)(const void *), _Atomic int *cancelled,
                             PiPoll *poll, void *context) {
    const double t = poll ? now() : 0;
    return (Pace){{0, look_at_clock}, run, done, cancelled, poll, context, t, t, 1};
}
