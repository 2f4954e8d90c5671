/* Compositions of kicks and drifts on rows; registers/composition.h does the same operations in the
 * same order in registers, and says which state and time a kick uses. */
#pragma once
#include "../registers/kept_force.h"
#include "chunk.h"

/* Half of the state, from the component `first` on, moves by weight h k. */
static void move(Chunk *c, int first, double weight, const vreal *k) {
    vreal *y = increments(c, first);
    moved_rows(c, first, c->dof, y, c->h, weight, k, y);
    settle(c, first, c->dof);
}
/* force: dof rows, which hold the force of the step before if `kept` is set. */
static void composition_rows_step(Chunk *c, const PiMethod *m, int64_t n, vreal *force, int kept) {
    vreal *velocity = take_rows(c, c->dof);
    vreal *x = c->y, *v = c->y + c->dof * c->R;
    double drifted = 0;
    EACH_BELOW(s, m->stages) {
        const int ended = fabs(drifted - 1) < 1e-14;
        times(c, n + ended, ended ? 0 : drifted);
        if (m->kick[s] != 0) {
            if (s > 0 || !kept) ask(c, PI_ACCELERATION, c->t, x, v, force);
            move(c, c->dof, m->kick[s], force);
        }
        if (m->drift[s] != 0) {
            move(c, 0, m->drift[s], velocities(c, v, velocity));
            drifted += m->drift[s];
        }
    }
}
