/* Statistics across the batch: what the quantities of all lanes come to at each counted step, in
 * accumulators that merge exactly, so that the order of lanes, tiles or threads does not matter. A
 * row of them belongs to a step and a group of lanes. A row that not every lane has reached, after
 * an interrupt, does not count.
 *
 * A sum is a whole number of units of 2^-1074, that of products of units of 2^-2148, in limbs of 32
 * bits, each kept in 64: limb i counts 2^(32 i) units, so that nothing is rounded, overflows or is
 * lost in a batch of less than 2^31 lanes, up to the largest double and its square. Cells are
 * counted sparsely, by the first 8 bits of the mantissa: 256 an octave. */
#pragma once
#include <stdatomic.h>
#include "../../run/run.h"

typedef enum {
    PI_EXACT_SUM,
    PI_EXACT_PRODUCT,
    PI_EXTREMES,
    PI_CELLS,
    PI_BINS,
    PI_VALUES,
    PI_ACROSS_KINDS
} PiAcrossKind;
enum { PI_SUM_LIMBS = 68, PI_PRODUCT_LIMBS = 136, PI_TALLY = 4, PI_PAGE = 32 };
enum { PI_TOGETHER = 512 }; /* values at once, at most */
typedef struct {
    int kind, quantity[2]; /* which quantities of the watch; of a product two */
    int64_t first, rows, groups;
    const int32_t *label; /* of each lane, below `groups`; NULL: one group */
    double about;         /* of cells */
    const double *edges;  /* of `bins`, as of a density */
    int64_t bins;
    int64_t *tally; /* of a row: values, NaN among them, infinity, minus infinity */
    int64_t *items; /* of a row: limbs, smallest and largest as ordered bits, or bins */
    double *values; /* a row of `stride` lanes for each step */
    int64_t width, stride;
    /* Pages of cells, by open addressing: key + 1 and page of a slot, counts of the pages. */
    int64_t *slots, pages, room;
    uint32_t *counts;
    atomic_flag busy;
} PiAcross;

/* Includes up to PI_TOGETHER values of step `row` of some lanes: places `at` in rows of `apart`
 * quantities, that of index i being lane `lanes[i]` of the batch. 0, or -1 without memory. */
int pi_across_add(PiAcross *across, int64_t row, const double *quantities, int64_t apart,
                  const int *at, const int64_t *lanes, int64_t count);
void pi_across_free(PiAcross *across);
