/* The layout of the rows of a run, and the part of failures.c that its loop calls. */
#pragma once
#include <math.h>
#include <string.h>
#include "run.h"

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* Trajectories in a tile. */
static inline int64_t lanes_in(const PiRun *run, int64_t tile) {
    return smaller(run->tile_lanes, run->lanes - tile * run->tile_lanes);
}
static inline char *row_at(const PiRun *run, const void *rows, int64_t stride, int64_t d,
                           int64_t lane) {
    return (char *)rows + (d * stride + lane) * run->real_bytes;
}

/* ---- failures.c ------------------------------------------------------------------------------ */
/* PI_OK, or why the state of a lane is not valid. */
PiStatus state_status(const PiRun *run, const void *rows, int64_t stride, int64_t lane);
/* Freezes a lane of a tile. Only the thread that works on the tile comes here. 0, or -1. */
int fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step);
/* Finds the lanes of a tile that have failed, after its kernel has seen one. 0, or -1. */
int find_failures(PiRun *run, int64_t number, const PiTile *tile);
