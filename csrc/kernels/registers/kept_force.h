/* Is the last force of a composition's step kept as the first of the next? Where a method begins
 * and ends with a kick, and the force does not see the velocity; one that costs nothing is not.
 * A force that is kept has its scales (PiSystem.scale): it is worth more than they are. */
#pragma once
#include "../../pyintegrate.h"

static inline __attribute__((always_inline)) int keeps_force(const PiMethod *m,
                                                             const PiSystem *system) {
    return !system->velocity_dependent && !system->cheap && m->kick[0] != 0 &&
           m->drift[m->stages - 1] == 0;
}
