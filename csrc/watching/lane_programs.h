/* Programs of byte code, run for lanes at their own steps and times (lane_programs.c). */
#pragma once
#include "watch.h"

/* A program whose state y is that of watch.h; all in double precision. */
typedef struct {
    ResolvedSystem program, system; /* system: for the energy */
    ResolvedSystem rounded; /* the program with results off by what rounding does; or no system */
    int asks, n_sums;       /* PI_WATCH_...; rows of y that are sums, the last */
    PiRow *params;          /* of the program; the system's are the first */
    double *sums;           /* n_sums per trajectory; NULL: none */
    /* If all results are linear in the components, and else depend on parameters alone: the factors
     * of the components, for each result; or NULL. */
    double *linear;
    /* The same of what conditions compare, if all other results are conditions; or NULL. */
    double *borders;
    double *degrees; /* of each result as a polynomial in the components, or infinite; or NULL */
    uint64_t reads;  /* the components on which results depend, as bits */
} PiLaneProgram;
/* The rows of a program, `lanes` doubles each, and the trajectories whose parameters they hold. */
typedef struct {
    const PiLaneProgram *of;
    int64_t lanes, *holds;
    double *y, *p, *own_p, *t, *scratch, *answer;
} ProgramRows;
/* Places the rows of a program in a memory, for so many lanes. */
void pi_place_program(PiMemory *memory, const PiLaneProgram *of, ProgramRows *rows, int64_t lanes);
/* Loads the parameters of each lane's trajectory, id[i]; -1: it has none. 0, or -1. */
int pi_load_parameters(ProgramRows *rows, const int64_t *id);
/* Runs the program on the components, times and sums in the rows; results in `answer`. 0, or -1. */
int pi_answer_lanes(ProgramRows *rows);
/* The same of the program that is off by rounding, if there is one. */
int pi_answer_rounded(ProgramRows *rows);
static inline double *program_sums(const ProgramRows *r) {
    return r->y + (r->of->program.system->dim - r->of->n_sums) * r->lanes;
}
