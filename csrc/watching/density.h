/* A density: how often the quantities of all lanes, at all steps, lie in each bin of one image.
 * Whole numbers are added, so that no order of lanes, tiles or threads changes anything.
 *
 * After an interrupt only the blocks count that all tiles have completed: what a block adds is
 * noted apart, and goes to the image when the next block begins. A note is a place in a list; what
 * has no room there is counted in an image of the block, so that to merge costs no more than to
 * count. */
#pragma once
#include <stdatomic.h>
#include "../run/run.h"

enum { PI_MERGED, PI_NOTED /* two: of even and odd blocks */, PI_DENSITY_STATE = 3 };
typedef struct {
    int axes, quantity[2]; /* 1 or 2; which quantities of the watch */
    int64_t bins[2];
    const double *edges[2];  /* increasing, bins + 1 of them; the last bin has its last edge */
    int64_t *image;          /* item i of the first axis and j of the second at i bins[1] + j */
    int64_t *pending, *list; /* two each, one after the other: of all bins; of `room` places */
    int64_t room;
    _Atomic int64_t *state; /* the last block in the image, at first -1; how many notes there are */
} PiDensity;

/* The values of lanes that count: `at` says which of the rows of quantities. */
void pi_density_add(const PiDensity *density, int64_t block, const double *quantities,
                    int64_t lanes, const int *at, int64_t count);
/* A tile begins a block, and all have completed the one before. */
void pi_density_open(const PiDensity *density, int64_t block);
