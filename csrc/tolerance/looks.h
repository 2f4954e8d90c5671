/* Programs of byte code, run for lanes at their own steps and times (looks.c). */
#pragma once
#include "passing.h"

/* The rows of a program, `lanes` doubles each, and the trajectories whose parameters they hold. */
typedef struct {
    const PiLook *look;
    int64_t lanes, *holds;
    double *y, *p, *own_p, *t, *scratch, *answer;
} LookRows;
int64_t look_bytes(const PiLook *look, int64_t lanes);
void open_look(LookRows *rows, const PiLook *look, int64_t lanes, char *memory);
/* Reserves part of a memory, from *used on, for the rows of a program; NULL, and no rows, to
 * compute only the size. */
void *place(char *memory, int64_t *used, int64_t bytes);
void place_look(char *memory, int64_t *used, const PiLook *look, LookRows *rows, int64_t lanes);
/* Sets the parameters of the lanes' trajectories, -1 for none; 0, or -1. */
int look_from(LookRows *rows, const int64_t *id);
/* The results for the components, times and sums that have been filled in; 0, or -1. */
int ask_look(LookRows *rows);
static inline double *look_sums(const LookRows *r) {
    return r->y + (r->look->program.system->dim - r->look->n_sums) * r->lanes;
}
