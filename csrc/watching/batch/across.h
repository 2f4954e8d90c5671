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
enum { PI_SUM_LIMBS = 68, PI_PRODUCT_LIMBS = 136, PI_TALLY = 4 };
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
    /* Cells as a tree in nodes of 128 words, of which `used` are in use: word i belongs to row i,
     * and is the number of its node; two levels further down are counts. 0: none. */
    uint32_t *words;
    int64_t used, room;
    uint32_t *window; /* in which most values of a row lie; NULL: the rows are too many */
    atomic_flag busy;
} PiAcross;

/* Some lanes of one step: `count` places in rows of `apart` quantities, and lanes of the batch.
 * `at` NULL: places 0, 1, ..., lanes from `lane` on. */
typedef struct {
    const double *quantities;
    int64_t apart, count, lane;
    const int *at;
    const int64_t *lanes;
} PiSome;
/* Includes up to PI_TOGETHER values of a step in n statistics. 0, or -1 without memory. */
int pi_across_add(PiAcross *across, int n, int64_t step, const PiSome *some, PiSurveyor *survey);
/* The cells in order: step, group, cell, count of each; returns how many, -1 without memory. NULL:
 * only that. */
int64_t pi_across_cells(PiAcross *across, int64_t *to);
void pi_across_free(PiAcross *across);
