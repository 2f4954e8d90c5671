/* Compositions of kicks and drifts on rows; registers/composition.h does the same operations in the
 * same order in registers, and defines the arguments of a kick and when a force is kept. */
#pragma once
#include "../registers/kept_force.h"
#include "chunk.h"

/* force: dof rows, which hold the force of the step before if `kept` is set. */
static void composition_rows_step(Chunk *c, const PiMethod *m, int64_t n, vreal *force, int kept) {
    vreal *const free = c->free, *velocity = take_rows(c, c->dof);
    vreal *x = c->y, *v = c->y + c->dof * c->R;
    double drifted = 0;
    for (int64_t s = 0; s < m->stages; s++) {
        const int ended = fabs(drifted - 1) < 1e-14;
        times(c, n + ended, ended ? 0 : drifted);
        if (m->kick[s] != 0) {
            if (s > 0 || !kept) ask(c, PI_ACCELERATION, c->t, x, v, force);
            add_scaled_rows(c, c->dof, c->dof, m->kick[s], force, increments(c, c->dof));
            settle(c, c->dof, c->dof);
        }
        if (m->drift[s] != 0) {
            add_scaled_rows(c, 0, c->dof, m->drift[s], velocities(c, v, velocity),
                            increments(c, 0));
            settle(c, 0, c->dof);
            drifted += m->drift[s];
        }
    }
    c->free = free;
}
