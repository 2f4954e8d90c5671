/* The rows of workspace that Newton's method takes: by these sizes, which run/families.c adds to
 * those of a family's step before a run begins. No registers here: plain C for both. */
#pragma once
#include "../../pyintegrate.h"

/* Newton's method (newton.h) for `stages` stages of `unknowns` components each, of a system of
 * `dim`: all at once, so that this is the one list of what it takes. */
enum {
    NEWTON_SLOPES,   /* f at each stage */
    NEWTON_RESIDUAL, /* of one register, and then its correction */
    NEWTON_STATE,
    NEWTON_JACOBIAN, /* at each stage */
    NEWTON_MATRIX,   /* of one register */
    NEWTON_STEP,     /* the last correction that was made */
    NEWTON_LAST,     /* size of the correction before */
    NEWTON_BEFORE,   /* largest component of the residual before */
    NEWTON_FRACTION, /* of the last correction that is left */
    NEWTON_FIRST,    /* the sign of the determinant at the start */
    NEWTON_GROWN,    /* how often the residual has grown */
    NEWTON_DONE,     /* mask */
    NEWTON_SHIFTED,  /* slopes beside the state, for differences */
    NEWTON_HERE,     /* the component that is shifted */
    NEWTON_PARTS
};
static inline void newton_parts(int64_t dim, int64_t unknowns, int64_t stages,
                                int64_t rows[NEWTON_PARTS]) {
    const int64_t size = stages * unknowns;
    rows[NEWTON_SLOPES] = stages * dim;
    rows[NEWTON_RESIDUAL] = size;
    rows[NEWTON_STATE] = dim;
    rows[NEWTON_JACOBIAN] = stages * dim * dim;
    rows[NEWTON_MATRIX] = size * size;
    rows[NEWTON_STEP] = size;
    for (int i = NEWTON_LAST; i <= NEWTON_DONE; i++) rows[i] = 1;
    rows[NEWTON_HERE] = 1;
    rows[NEWTON_SHIFTED] = dim;
}
static inline int64_t newton_rows(int64_t dim, int64_t stages) {
    int64_t rows[NEWTON_PARTS], sum = 0;
    newton_parts(dim, dim, stages, rows);
    for (int i = 0; i < NEWTON_PARTS; i++) sum += rows[i];
    return sum;
}
