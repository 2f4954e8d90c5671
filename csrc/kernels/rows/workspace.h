/* The rows of workspace of Newton's method, of Rosenbrock methods and of Radau IIA, which
 * run/families.c and kernels/tolerance/rows.h count before a run begins. No registers here: plain C
 * for both users. */
#pragma once
#include "../../pyintegrate.h"

/* Newton's method (newton.h) for `stages` stages of `unknowns` components each, for a system of
 * `dim`: this is the only list of its rows. */
enum {
    NEWTON_SLOPES,   /* f at each stage */
    NEWTON_RESIDUAL, /* of one register, then its correction */
    NEWTON_STATE,
    NEWTON_JACOBIAN, /* at each stage */
    NEWTON_MATRIX,   /* of one register */
    NEWTON_STEP,     /* the last correction made */
    NEWTON_LAST,     /* size of the correction before */
    NEWTON_BEFORE,   /* largest component of the residual before */
    NEWTON_FRACTION, /* of the last correction that remains */
    NEWTON_FIRST,    /* the sign of the determinant at the start */
    NEWTON_GROWN,    /* how often the residual has grown */
    NEWTON_DONE,     /* mask */
    NEWTON_SHIFTED,  /* slopes at shifted states, for differences */
    NEWTON_HERE,     /* the shifted component */
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
    EACH_FROM(i, NEWTON_LAST, NEWTON_DONE + 1) rows[i] = 1;
    rows[NEWTON_HERE] = 1;
    rows[NEWTON_SHIFTED] = dim;
}
static inline int64_t newton_rows(int64_t dim, int64_t stages) {
    int64_t rows[NEWTON_PARTS], sum = 0;
    newton_parts(dim, dim, stages, rows);
    EACH_BELOW(i, NEWTON_PARTS) sum += rows[i];
    return sum;
}

/* A step of a Rosenbrock method: the factors of a matrix with its pivots; two slopes, a stage,
 * differences. */
static inline int64_t rosenbrock_rows(int64_t dim) { return dim * dim + 5 * dim + 1; }

/* A step of Radau IIA to a tolerance (kernels/tolerance/radau.h), for a system of `dim`. */
enum {
    RADAU_BEFORE, /* increments of the last step; then the Jacobian: see rows_onward */
    RADAU_JACOBIAN,
    RADAU_PARTS_JACOBIAN, /* for shorter steps */
    RADAU_REAL,           /* factors of gamma - h J, and of the pair alpha -+ i beta - h J */
    RADAU_PAIR,
    RADAU_Z, /* increments of the stages, and the same as W = T^-1 Z */
    RADAU_W,
    RADAU_PARTS_Z,  /* of shorter steps */
    RADAU_SLOPES,   /* of the stages */
    RADAU_RESIDUAL, /* and then the correction */
    RADAU_PIVOT,
    RADAU_PAIR_PIVOT,
    RADAU_SLOPE, /* at the state, which is that of the stage, and the estimate */
    RADAU_STATE,
    RADAU_ERROR,
    RADAU_SCALE,   /* 1 / tolerance */
    RADAU_SHIFTED, /* for differences */
    RADAU_HERE,
    RADAU_H,      /* of the factors */
    RADAU_LAST,   /* the size of the correction before */
    RADAU_ENOUGH, /* required size of a correction; and mask for rounding */
    RADAU_EXACT,
    RADAU_TRIED,  /* the step */
    RADAU_GOING,  /* masks: of Newton's method; */
    RADAU_LOST,   /* where it did not converge; */
    RADAU_SLOW,   /* where it did so slowly; */
    RADAU_NEEDED, /* where the Jacobian must be computed; */
    RADAU_AGAIN,  /* where the estimate must be filtered twice */
    RADAU_PARTS
};
static inline int64_t radau_parts(int64_t dim, int64_t rows[RADAU_PARTS]) {
    int64_t sum = 0;
    EACH_BELOW(i, RADAU_PARTS) {
        rows[i] = i == RADAU_PAIR         ? 4 * dim * dim
                  : i == RADAU_BEFORE     ? 3 * dim
                  : i <= RADAU_REAL       ? dim * dim
                  : i <= RADAU_RESIDUAL   ? 3 * dim
                  : i == RADAU_PAIR_PIVOT ? 2 * dim
                  : i <= RADAU_SHIFTED    ? dim
                                          : 1;
        sum += rows[i];
    }
    return sum;
}
