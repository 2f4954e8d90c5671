/* Parts of steps of some lanes, side by side in registers of their own. */
#pragma once
#include "../run/run.h"

/* From a moment of the step to step n, `passed` after its beginning, by h. Past its components a
 * state holds the rounding errors that a compensated run carries. */
typedef struct {
    int64_t n;
    double passed, h;
    const double *from; /* run->state_rows of them */
    int whole;          /* the whole step, with those rounding errors, which are unknown within one;
                           alone: its number is the tile's, and its times are those of a run */
    double *to;         /* the same; may be `from` */
} PiPart;

/* Up to `room` lanes, the memory of one thread: pi_parts_bytes(). */
typedef struct {
    const PiRun *run;
    const PiTile *tile; /* that made the steps */
    int64_t room, count;
    int64_t *lane;
    PiRow *params;
    char *in, *out, *t, *h, *own_params;
} PiParts;
int64_t pi_parts_bytes(const PiRun *run, int64_t room);
PiParts pi_parts_make(const PiRun *run, const PiTile *tile, int64_t room, void *memory);
/* Sets `count` lanes of the batch, and their parameters. */
void pi_parts_take(PiParts *parts, const int64_t *lane, int64_t count);
/* A part of a step of each. 0, or -1. */
int pi_parts_advance(const PiParts *parts, const PiPart *part);

static inline double pi_real_at(const PiRun *run, const void *data, int64_t i) {
    return run->real_bytes == 8 ? ((const double *)data)[i] : ((const float *)data)[i];
}
static inline void pi_set_real(const PiRun *run, void *data, int64_t i, double value) {
    if (run->real_bytes == 8) ((double *)data)[i] = value;
    else ((float *)data)[i] = (float)value;
}
/* Rounds to the run's precision. */
static inline double pi_rounded(const PiRun *run, double value) {
    return run->real_bytes == 8 ? value : (double)(float)value;
}
