/* The rows of data that belong to a trajectory in a run to a tolerance, and those of the workspace.
 * No registers here: plain C for the kernel and for the code that allocates memory for it. */
#pragma once
#include "../../tiles.h"
#include "../rows/workspace.h"

/* The data of each trajectory: one row each, except the last ones. */
enum {
    OWN_T,
    OWN_T_LOW,  /* rounding error of time */
    OWN_NEXT,   /* the step to try next, with its sign */
    OWN_ERROR,  /* log2 of error / tolerance at the last accepted step */
    OWN_TREND,  /* log2 of the ratio of the last two steps */
    OWN_GROWTH, /* log2 of the most that the next step may grow */
    OWN_STATE,
    OWN_LOW,      /* rounding errors of the state */
    OWN_JACOBIAN, /* for Radau's method: whether a Jacobian is kept, and the last step */
    OWN_BEFORE,
    OWN_CHECK,   /* stiffness.h: attempts before the next test, positive ones in a row, attempts at
                  * the start; or calm steps in a row, since when, and since when it is stiff */
    OWN_RETURNS, /* branches.h: crossings of a border of the force in a row that led back to it, */
    OWN_LONGEST_TRIED, /* and the longest step tried lately */
    OWN_TO_BORDER,     /* how far the next border is, if that is known */
    OWN_END,           /* the parts before it are kept for a continuation; */
    OWN_CHANGED,       /* a mask: has it changed a step? */
    OWN_LONGEST,       /* the longest step allowed */
    OWN_DUE,           /* the next time to save at; beyond the end if there is none */
    OWN_TAKEN,         /* integers: steps accepted, and rejected */
    OWN_REJECTED,
    OWN_RTOL,
    OWN_ATOL,
    OWN_PARAMS,
    OWN_PARTS
};
_Static_assert(OWN_T == 0 && OWN_NEXT == 2 && OWN_STATE == 6,
               "TIME, STEP and STATE of pyintegrate/adaptive/adaptive_run.py");
/* Where each begins; at[OWN_PARTS] is their number. */
static inline void own_rows(const PiSolve *s, int64_t at[OWN_PARTS + 1]) {
    at[0] = 0;
    EACH_BELOW(i, OWN_PARTS) {
        int64_t rows = 1;
        if (i == OWN_JACOBIAN || i == OWN_BEFORE) rows = s->pair.radau;
        else if (i == OWN_CHECK) rows = s->decay > 0 ? 3 : 0;
        else if (i >= OWN_RETURNS && i < OWN_END) rows = s->pair.branches;
        else if (i == OWN_RTOL) rows = s->n_rtol;
        else if (i == OWN_ATOL) rows = s->n_atol;
        else if (i == OWN_STATE || i == OWN_LOW) rows = s->system->dim;
        else if (i == OWN_PARAMS) rows = pi_parameter_rows(s->system);
        at[i + 1] = at[i] + rows;
    }
}
/* Of lanes whose stiffness is tested: their rows when it was due, and which wait. */
static inline int64_t stiffness_rows(const PiSolve *s) {
    int64_t at[OWN_PARTS + 1];
    own_rows(s, at);
    return s->decay > 0 && !s->pair.radau ? at[OWN_PARTS] + 1 : 0;
}
/* Components of each slope: accelerations only, if the force does not depend on velocities. */
static inline int slope_rows(const PiSolve *s) {
    return s->pair.nystrom ? s->system->dof : s->system->dim;
}
/* What a continuation sets out from: the rows of the trajectory before its end; the first slope, if
 * that is the last of the step before; of Radau's method the last increments and the Jacobian. */
static inline int64_t rows_beyond(const PiSolve *s) {
    const int64_t dim = s->system->dim;
    return s->pair.fsal ? slope_rows(s) : s->pair.radau ? 3 * dim + dim * dim : 0;
}
static inline int64_t rows_onward(const PiSolve *s) {
    int64_t at[OWN_PARTS + 1];
    own_rows(s, at);
    return at[OWN_END] + rows_beyond(s);
}
/* Rows for stages that are solved for. */
static inline int64_t newton_workspace(const PiSolve *s) {
    const int64_t dim = s->system->dim, group = s->implicit ? s->table.largest_group : 0;
    int64_t rows[RADAU_PARTS];
    if (s->pair.radau) return radau_parts(dim, s->system->tangents, rows);
    if (s->implicit && s->implicit->family == PI_ROSENBROCK) return rosenbrock_rows(dim);
    return group ? 2 * group * dim + newton_rows(s->system, group) : 0;
}
/* Two such sets, of the active and of the waiting trajectories, with h, t, two numbers of 64 bits,
 * a mask, a time and bytes each; slopes, and two more; stage, state, rounding errors, an
 * intermediate state, slopes of waiting trajectories, three sums; a time, two lengths, ten
 * masks and a place. */
enum { EACH_SET = 9, SINGLE_ROWS = 14 };
/* The polynomials of the steps (dense.h): their degree, slopes past those of the stages, and rows
 * of coefficients and of states within the steps of implicit pairs. */
enum { CHORD_DEGREE = 3 };
static inline int dense_degree(const PiSolve *s) {
    return s->implicit ? CHORD_DEGREE : s->pair.degree;
}
static inline int64_t dense_slopes(const PiSolve *s) {
    return s->pair.degree ? !s->pair.fsal + s->pair.extra : 0;
}
static inline int64_t dense_rows(const PiSolve *s) {
    const int64_t states = dense_degree(s) + (s->implicit ? 2 : 0);
    return s->record || s->asked ? states * s->system->dim : 0;
}
/* The numbers of a kept step: its length h, the time that it took, the rounding errors of time and
 * of the state at its start; the first slope, if that is the last of the step before, or the
 * increments of Radau's method. */
static inline int within_rows(const PiSolve *s) {
    const int dim = s->system->dim;
    return 3 + dim + (s->pair.fsal ? slope_rows(s) : s->pair.radau ? 3 * dim : 0);
}
/* Of a force of several branches, on which it is at each place of a step, and at three more. */
static inline int64_t sides_rows(const PiSolve *s) {
    return s->pair.branches ? (s->pair.places + 3) * s->system->n_invariants : 0;
}
static inline int64_t pi_solve_rows(const PiSolve *s) {
    int64_t at[OWN_PARTS + 1];
    own_rows(s, at);
    const int64_t dim = s->system->dim;
    return newton_workspace(s) + dense_rows(s) + stiffness_rows(s) +
           2 * (at[OWN_PARTS] + EACH_SET + s->system->scratch) +
           (s->pair.stages + dense_slopes(s) + 2) * slope_rows(s) + 8 * dim + sides_rows(s) +
           SINGLE_ROWS;
}
/* The rows of a step, with some twenty of one number for each lane: times, steps, masks; a kernel
 * in registers has its slopes elsewhere. */
static inline int64_t pi_solve_hot_rows(const PiSolve *s) {
    const int64_t slopes = s->trial ? 2 : s->pair.stages + 1;
    return newton_workspace(s) + slopes * slope_rows(s) + 7 * s->system->dim + s->system->n_params +
           s->system->n_derived + s->system->scratch + 20;
}
