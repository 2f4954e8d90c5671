/* The trajectories that are advanced together, each lane one of them, and their workspace. */
#pragma once
#include "radau.h"
#include "rows.h"

/* A chunk of active trajectories, or of waiting ones. */
typedef struct Lanes {
    Chunk c; /* t0: times; h: the attempted steps */
    PiSolver *solver;
    const PiSolve *solve;
    const PiPair *pair; /* of solve */
    int64_t at[OWN_PARTS + 1];
    vreal *own; /* rows of each trajectory, and where each part is: */
    union {
        vreal *of[OWN_PARTS]; /* in the order of rows.h, or by name */
        struct {
            vreal *t, *t_low, *next, *error, *trend, *growth, *state, *rounding;
            vint *jacobian;
            vreal *before;
            vint *check, *returns;
            vreal *longest_tried, *to_border, *t_end;
            vint *changed;
            vreal *longest, *next_due;
            vint *taken, *rejected;
            vreal *rtol, *atol, *params;
        };
    };
    struct Lanes *apart; /* a register of lanes whose stiffness is tested, as they were then */
    vint *wait;          /* which wait for that, their number, and who they are */
    int64_t n_wait, waiting[VLEN];
    int64_t *id, *due;           /* for each lane its trajectory, -1 for none; its next save */
    real w[PI_MAX_PAIR_WEIGHTS]; /* weights of the pair, in this precision, and */
    const vreal *slope[PI_MAX_PAIR_WEIGHTS]; /* the slopes that they multiply */
    int n;                                   /* components of a slope */
    vreal *k, *after;     /* slopes; the one at the end of an accepted step (fsal) */
    vreal *ys, *yn, *low; /* stage; state after the step, and its rounding error */
    vreal *sums;          /* of the slopes: for the step and its errors */
    vreal *unused;        /* for unused slopes */
    vreal *between;       /* state within the step */
    vreal *tn, *tn_low;   /* time after the step */
    vint *active, *last, *accepted, *passed, *leaves, *code, *idle;
    vreal *border;          /* where the first border within a step is, as a part of it */
    vreal *sides;           /* of the borders of the force, at each place and at three more */
    vint *crossed, *visits; /* lanes that are not on one branch at all places, or between them */
    Radau radau;
    /* Within a step (dense.h): the step, the coefficients of its polynomial, the lanes that have
     * one; of implicit pairs states at two parts of it, and the weights of states in coefficients.
     */
    int degree;
    vreal *whole, *poly, *node_states;
    vreal *tried; /* h: c->h becomes that of parts of the step, after the first */
    int shortened;
    vint *dense;
    uint64_t left; /* components without coefficients, for which nothing has asked yet */
    double node_at[2];
    real node_weight[2][3], over[PI_MAX_DEGREE + 1]; /* n over m */
    int8_t *end; /* for each lane: the end of its step (PiStepEnd) */
} Lanes;

_Static_assert(offsetof(Lanes, params) - offsetof(Lanes, of) == OWN_PARAMS * sizeof(vreal *),
               "a name for each");
#define NO_ERROR_YET REAL(1000.0) /* of a trajectory without a step */
/* After `own`, or the number of registers, has changed. */
static void place_own(Lanes *l) {
    EACH_BELOW(i, OWN_PARTS) l->of[i] = l->own + l->at[i] * l->c.R;
}
/* rtol or atol, a part of n rows, of entry i, which belongs to register u. */
INLINE vreal limit_of(const Lanes *l, int part, int n, int64_t i, int64_t u) {
    return l->of[part][n > 1 ? i : u];
}
