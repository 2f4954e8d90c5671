/* How a thread finds out whether to stop: by the clock, between the steps and within them. */
#pragma once
#include <time.h>
#include "run.h"

static const double POLL_SECONDS = 0.05;

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/* How a thread finds out whether to stop: the one that may poll by the clock, the others from
 * that one. */
typedef struct {
    PiPause pause; /* first: the part that kernels see */
    PiRun *run;
    PiPoll *poll; /* or NULL */
    void *context;
    double polled, looked;
    int64_t every; /* pauses per reading of the clock, which costs about 25 ns */
} Pace;
static const double SOON = 1e-4, LATE = 1e-3; /* seconds between readings */
enum { MOST_PAUSES = 64 };

static inline int look(PiPause *pause) {
    Pace *p = (Pace *)pause;
    if (p->poll) {
        const double t = now(), passed = t - p->looked;
        if (passed < SOON) p->every = p->every < MOST_PAUSES ? 2 * p->every : MOST_PAUSES;
        else if (passed > LATE) p->every = 1 + p->every / 16;
        p->looked = t;
        if (t - p->polled > POLL_SECONDS) {
            if (p->poll(p->context, pi_run_completed(p->run))) p->run->cancelled = 1;
            pi_keep_float_mode();
            p->looked = p->polled = now();
        }
    }
    pause->left = p->every - 1;
    return p->run->cancelled;
}
static inline Pace make_pace(PiRun *run, PiPoll *poll, void *context) {
    const double t = poll ? now() : 0;
    return (Pace){{0, look}, run, poll, context, t, t, 1};
}
