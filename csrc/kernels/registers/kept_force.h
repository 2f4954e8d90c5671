/* Is the last force of a composition's step kept as the first of the next? If a method begins
 * and ends with a kick, and the force does not depend on the velocity; a free one is not kept.
 * A force that is kept includes its scales (PiSystem.scale): keeping it saves more. */
#pragma once
#include "../../pyintegrate.h"

static inline __attribute__((always_inline)) int keeps_force(const PiMethod *m,
                                                             const PiSystem *system) {
    return !system->velocity_dependent && !system->cheap && m->kick[0] != 0 &&
           m->drift[m->stages - 1] == 0;
}
