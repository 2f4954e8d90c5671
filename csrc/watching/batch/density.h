/* A density: how often the quantities of all lanes, at all steps, lie in each bin of one image.
 * The counts are integers, so the order of lanes, tiles or threads does not matter.
 *
 * After an interrupt only the blocks count that all tiles have completed: the counts of a block are
 * kept apart, and are added to the image when the next block begins. They are a list of bins; when
 * the list is full, they go to an image of the block, so that merging costs no more than
 * counting. */
#pragma once
#include <stdatomic.h>
#include "../../run/run.h"

enum {
    PI_MERGED,
    PI_NOTED, /* two: of even and odd blocks */
    PI_DENSITY_STATE = 3,
    PI_DENSITY_ROOM = 1 << 16
};
typedef struct {
    int axes, quantity[2]; /* 1 or 2; which quantities of the watch */
    int64_t bins[2];
    const double *edges[2]; /* increasing, bins + 1 of them; the last bin has its last edge */
} PiBins;
typedef struct {
    PiBins of;
    int64_t *image;          /* item i of the first axis and j of the second at i bins[1] + j */
    int64_t *pending, *list; /* two each, one after the other: of all bins; of `room` items */
    int64_t room;
    _Atomic int64_t
        *state; /* the last block in the image, initially -1; the lengths of the lists */
} PiDensity;

/* The bin of a value, -1 for none; the last one has its last edge. */
int64_t pi_bin_of(const double *edges, int64_t bins, double q);
/* The place of one value, or two, in an image; -1 for none. */
int64_t pi_place_in(const PiBins *bins, double first, double second);
/* Counts the values of lanes: `at` gives the indices in the rows of quantities. */
void pi_density_add(const PiDensity *density, int64_t block, const double *quantities,
                    int64_t lanes, const int *at, int64_t count);
/* A tile begins a block, or the run is read, and all have completed the one before. */
void pi_density_open(const PiDensity *density, int64_t block);
