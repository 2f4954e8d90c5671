/* The rows of the state past its components: the history of a multistep method, and the rounding
 * errors that a compensated run carries; the starter of a multistep method. */
#include "families.h"

void pi_multistep_remembered(const PiMethod *m, int *states, int *forces) {
    EACH_FROM(j, 1, m->stages) { /* y_{n-j}, f_{n-j} */
        const int i = m->stages - 1 - j;
        if (m->alpha[i] != 0) *states = j;
        if (m->beta[i] != 0 || m->predictor[i] != 0 || m->velocity[i] != 0) *forces = j;
    }
}
/* Velocities that are differences of positions need only the previous position as a start. */
static int by_differences(const PiMethod *m) {
    EACH_BELOW(j, m->stages + 1)
        if (m->velocity[j] != 0) return 0;
    return m->derivative == 2;
}
int64_t pi_multistep_first_steps(const PiMethod *m) {
    return by_differences(m) ? 1 : m->stages - 1;
}

/* An error of h^6 becomes one of h^5 in the velocity that two positions imply. */
const PiMethod *pi_multistep_starter(const PiMethod *m) {
    if (by_differences(m)) return NULL;
    return pi_method_named(pi_multistep_is_implicit(m)    ? "radau_iia5"
                           : m->order + m->derivative > 7 ? "verner87"
                                                          : "dormand_prince54");
}

/* ---- for any family -------------------------------------------------------------------------- */
void pi_remembered(const PiMethod *m, int *states, int *forces) {
    *states = *forces = 0;
    if (pi_families[m->family].remembered) pi_families[m->family].remembered(m, states, forces);
}
int pi_in_summed_form(const PiMethod *m, int compensated) {
    return pi_families[m->family].remembered && (m->derivative == 2 || compensated);
}
int pi_history_rows(const PiMethod *m, const PiSystem *system, int compensated) {
    int states, forces;
    pi_remembered(m, &states, &forces);
    if (pi_in_summed_form(m, compensated)) states *= 2; /* and the remainder of each difference */
    return (states + forces) * (m->derivative == 2 ? system->dof : system->dim) +
           (compensated ? system->dim : 0);
}
int pi_compensates(const PiMethod *m) { return pi_families[m->family].compensates; }
const PiMethod *pi_starter(const PiMethod *m) {
    return pi_families[m->family].starter ? pi_families[m->family].starter(m) : NULL;
}
int64_t pi_first_steps(const PiMethod *m) {
    return pi_families[m->family].first_steps ? pi_families[m->family].first_steps(m) : 0;
}
