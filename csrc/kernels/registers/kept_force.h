/* Whether the last force of a composition's step is kept as the first of the next: the method must
 * begin and end with a kick, and the force must not depend on the velocity. One that costs nothing
 * (PiSystem.cheap) is not kept. A kept force includes its scales (PiSystem.scale), which
 * then are not in the weights: keeping it saves more. */
#pragma once
#include "../../pyintegrate.h"

static inline __attribute__((always_inline)) int keeps_force(const PiMethod *m,
                                                             const PiSystem *system) {
    return !system->velocity_dependent && !system->cheap && m->kick[0] != 0 &&
           m->drift[m->stages - 1] == 0;
}
