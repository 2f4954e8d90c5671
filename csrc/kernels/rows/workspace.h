/* The rows of workspace of Newton's method, of Rosenbrock methods and of Radau IIA, which
 * run/families.c and kernels/tolerance/rows.h count before a run begins. No registers here: plain C
 * for both users. */
#pragma once
#include "../../pyintegrate.h"

/* Newton's method (newton.h) for `stages` stages of `unknowns` components each, for a system of
 * `dim`: this is the only list of its rows; returns their sum. */
enum { NEWTON_PARTS = 16 };
static inline int64_t newton_parts(int64_t dim, int64_t unknowns, int64_t stages, int tangents,
                                   int64_t rows[NEWTON_PARTS]) {
    const int64_t size = stages * unknowns, motion = size / (1 + tangents),
                  room = tangents ? motion : 0;
    const int64_t all[NEWTON_PARTS] = {
        stages * dim,       /* slopes: f at each stage */
        size,               /* residual, of one register, then its correction */
        dim,                /* state */
        stages * dim * dim, /* Jacobian at each stage */
        motion * motion,    /* matrix, of one register */
        size,               /* the last correction made */
        1,                  /* size of the correction before */
        1,                  /* largest component of the residual before */
        1,                  /* what remains of the last correction, a part of it */
        1,                  /* the sign of the determinant at the start */
        1,                  /* how often the residual has grown */
        1,                  /* a mask: which are done */
        dim,                /* slopes at shifted states, for differences */
        1,                  /* the shifted component */
        room,               /* a solution, of one register, and the pivots of its matrix */
        room,
    };
    int64_t sum = 0;
    EACH_BELOW(i, NEWTON_PARTS) sum += rows[i] = all[i];
    return sum;
}
static inline int64_t newton_rows(const PiSystem *system, int64_t stages) {
    int64_t rows[NEWTON_PARTS];
    return newton_parts(system->dim, system->dim, stages, system->tangents, rows);
}

/* A step of a Rosenbrock method: the factors of a matrix with its pivots; two slopes, a stage,
 * differences, units. */
static inline int64_t rosenbrock_rows(int64_t dim) { return dim * dim + 6 * dim + 1; }

/* A step of Radau IIA to a tolerance, for a system of `dim`: its rows, in the order in which
 * kernels/tolerance/radau.h names and explains them; returns their sum. */
enum { RADAU_PARTS = 28 };
static inline int64_t radau_parts(int64_t dim, int tangents, int64_t rows[RADAU_PARTS]) {
    const int64_t square = dim * dim, stages = 3 * dim, motion = dim / (1 + tangents),
                  alone = motion * motion, pair = 4 * alone > square ? 4 * alone : square;
    const int64_t all[RADAU_PARTS] = {
        stages,                                     /* before */
        square, square,     alone,  pair,           /* J, parts_J, alone, pair: for J too */
        stages, stages,     stages, stages, stages, /* z, w, parts_z, slopes, residual */
        motion, 2 * motion,                         /* pivot, pair_pivot */
        dim,    dim,        dim,    dim,    dim,    /* slope, state, error, scale, shifted */
        1,                                          /* here */
        1,      1,          1,      1,      1,      /* made_h, last, enough, exact, tried */
        1,      1,          1,      1,      1,      /* going, lost, slow, needed, again */
    };
    int64_t sum = 0;
    EACH_BELOW(i, RADAU_PARTS) sum += rows[i] = all[i];
    return sum;
}
