/* The rows that row kernels need for all they do. */
#include "families.h"

int64_t pi_parameter_rows(const PiSystem *system) {
    const int rows = system->n_params + system->n_derived;
    return rows > PI_MAX_PARAMS ? rows : PI_MAX_PARAMS;
}
static int64_t family_rows(const PiMethod *m, const PiSystem *system) {
    const PiFamilyDescriptor *family = &pi_families[m->family];
    return family->workspace_rows ? family->workspace_rows(m, system) : 0;
}
/* The state and its history, parameters; t0, h, t and the lanes' codes; the force's own; the
 * steps'. */
int64_t pi_workspace_rows(const PiMethod *method, const PiMethod *starter, const PiSystem *system,
                          int state_rows) {
    return state_rows + pi_parameter_rows(system) + 4 + system->scratch +
           family_rows(method, system) + (starter ? family_rows(starter, system) : 0);
}
int64_t pi_sample_rows(const PiSystem *system, int64_t answers) {
    return system->dim + pi_parameter_rows(system) + 1 + system->scratch + answers;
}
