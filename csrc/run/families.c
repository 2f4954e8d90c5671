/* The families: everything that is known of each, besides its kernels. */
#include "families.h"
#include "../kernels/rows/workspace.h"

#define REQUIREMENT(id, words, ...)                                                                \
    static const PiRequirement id = {.name = #id,                                                  \
                                     .needs = words,                                               \
                                     .refusal = "the method needs " words,                         \
                                     .structures = __VA_ARGS__}
REQUIREMENT(any, "",
            1 << PI_FIRST_ORDER | 1 << PI_SECOND_ORDER | 1 << PI_SEPARABLE | 1 << PI_RIGID_BODY);
REQUIREMENT(second_order, "x'' = a(t, x, v)", 1 << PI_SECOND_ORDER);
REQUIREMENT(separable, "positions and velocities", 1 << PI_SECOND_ORDER | 1 << PI_SEPARABLE);
/* A composition that loses its order if T is not quadratic. */
REQUIREMENT(quadratic_kinetic, "a kinetic energy quadratic in the velocities",
            1 << PI_SECOND_ORDER);
REQUIREMENT(rigid_body, "position and orientation", 1 << PI_RIGID_BODY);
REQUIREMENT(n_body, "bodies that attract one another", 1 << PI_SECOND_ORDER, .planets = 1);
const PiRequirement *const pi_requirements[] = {
    &any, &second_order, &separable, &quadratic_kinetic, &rigid_body, &n_body, NULL};

/* ---- workspace: the rows that one step needs ------------------------------------------------- */
/* Rows for the scales of the rates. */
static int64_t scale_rows(const PiSystem *system) {
    return system->dim < PI_MAX_STATE ? system->dim : PI_MAX_STATE;
}
#define WORKSPACE(family, ...)                                                                     \
    static int64_t family##_workspace(const PiMethod *m, const PiSystem *system) {                 \
        return __VA_ARGS__;                                                                        \
    }
/* The slopes, a state, and h^2. */
WORKSPACE(explicit, (m->stages + 1) * system->dim + 1 + scale_rows(system))
/* The force and the velocity. */
WORKSPACE(composition, system->dim + scale_rows(system))
/* One register of systems: x, v, both in Jacobi coordinates, forces; parameters; shares, centres.
 */
WORKSPACE(planets, 5 * system->dof + pi_parameter_rows(system) + 2 * system->dof / 3)
/* h k of each stage; base and increment of each in the largest group. */
static int64_t implicit_workspace(const PiMethod *m, const PiSystem *system) {
    PiTable table;
    pi_make_table(m, system, &table);
    const int64_t group = table.largest_group;
    return (m->stages + 2 * group) * system->dim + newton_rows(system, group);
}
/* The stages. */
WORKSPACE(rosenbrock, m->stages * system->dim + rosenbrock_rows(system->dim))
/* The current force, the next state, a predicted state, and its force; in summed form three
 * parts of a difference, and the rounding error of the starter. */
WORKSPACE(multistep, 8 * system->dim + newton_rows(system, 1))
/* The next state, the numbers of a step; and in double precision, two rows each: the trajectories,
 * the numbers of a pair of substeps, and their sums. */
WORKSPACE(noise, system->dim + 2 + 18 * system->noises)

/* With a corrector the state that moves, beside the one that is shown; from the first step on. */
static void planets_remembered(const PiMethod *m, int *states, int *forces) {
    *states = m->corrector[0] != 0;
}
static int64_t planets_first_steps(const PiMethod *m) { return m->corrector[0] != 0; }

/* ---- the table ------------------------------------------------------------------------------- */
#define LIST(field, ...) {.name = #field, .offset = offsetof(PiMethod, field), __VA_ARGS__}
#define MATRIX(label)    {.name = label, .offset = offsetof(PiMethod, a), .row = PI_MAX_STAGES}

const PiFamilyDescriptor pi_families[PI_FAMILIES] = {
    [PI_EXPLICIT_RK] = {.name = "explicit_rk",
                        .requirement = &any,
                        .numbers = {MATRIX("A"), LIST(b), LIST(c)},
                        .most_stages = PI_MAX_STAGES,
                        .compensates = 1,
                        .make_table = pi_sparse_rows,
                        .workspace_rows = explicit_workspace},
    [PI_COMPOSITION] = {.name = "composition",
                        .requirement = &separable,
                        .numbers = {LIST(kick), LIST(drift)},
                        .most_stages = PI_MAX_SUBSTEPS,
                        .compensates = 1,
                        .workspace_rows = composition_workspace},
    [PI_NYSTROM] = {.name = "nystrom",
                    .requirement = &second_order,
                    .numbers = {MATRIX("A"), LIST(b), LIST(c), LIST(velocity)},
                    .most_stages = PI_MAX_STAGES,
                    .compensates = 1,
                    .make_table = pi_sparse_rows,
                    .workspace_rows = explicit_workspace},
    [PI_MULTISTEP] = {.name = "multistep",
                      .requirement = &any,
                      .numbers = {LIST(alpha, .more = 1), LIST(beta, .more = 1),
                                  LIST(predictor, .optional = 1),
                                  LIST(velocity, .more = 1, .optional = 1)},
                      .most_stages = PI_MAX_STAGES,
                      .most_derivative = 2,
                      .free_evaluations = 1,
                      .jacobian = 1,
                      .compensates = 1,
                      .workspace_rows = multistep_workspace,
                      .remembered = pi_multistep_remembered,
                      .first_steps = pi_multistep_first_steps,
                      .starter = pi_multistep_starter},
    [PI_IMPLICIT_RK] = {.name = "implicit_rk",
                        .requirement = &any,
                        .numbers = {MATRIX("A"), LIST(b), LIST(c)},
                        .most_stages = PI_MAX_STAGES,
                        .jacobian = 1,
                        .compensates = 1,
                        .make_table = pi_stage_groups,
                        .workspace_rows = implicit_workspace},
    [PI_ROSENBROCK] = {.name = "rosenbrock",
                       .requirement = &any,
                       .numbers = {MATRIX("A"), LIST(b), LIST(c), LIST(d),
                                   LIST(inverse, .row = PI_MAX_LINEAR, .away = 1)},
                       .jacobian = 1,
                       .compensates = 1,
                       .workspace_rows = rosenbrock_workspace},
    [PI_NOISE] = {.name = "noise",
                  .requirement = &any,
                  .most_stages = 1,
                  .free_evaluations = 1,
                  .workspace_rows = noise_workspace},
    [PI_WISDOM_HOLMAN] = {.name = "wisdom_holman",
                          .requirement = &n_body,
                          .numbers = {LIST(kick), LIST(drift),
                                      LIST(corrector, .more = PI_CORRECTIONS - 2, .optional = 1)},
                          .workspace_rows = planets_workspace,
                          .remembered = planets_remembered,
                          .first_steps = planets_first_steps},
    [PI_RIGID_MOTION] = {.name = "rigid_body",
                         .requirement = &rigid_body,
                         .numbers = {{.name = "substeps", .offset = offsetof(PiMethod, b)}}},
};

const PiRequirement *pi_requirement(const PiMethod *m) {
    return m->quadratic_kinetic ? &quadratic_kinetic
           : m->derivative == 2 ? &second_order
                                : pi_families[m->family].requirement;
}

/* ---- numbers --------------------------------------------------------------------------------- */
double *pi_list(PiMethod *m, const PiNumbers *numbers) {
    void *field = (char *)m + numbers->offset;
    return numbers->away ? *(double **)field : field;
}
static int rows_of(const PiMethod *m, const PiNumbers *numbers) {
    return numbers->row ? m->stages : 1;
}
int pi_method_rows(const PiMethod *m) {
    if ((int)m->family < 0 || m->family >= PI_FAMILIES) return -1;
    const PiFamilyDescriptor *family = &pi_families[m->family];
    if (m->stages < 1 || m->stages > family->most_stages) return -1;
    if (m->evaluations < 0 || (!family->free_evaluations && m->evaluations > m->stages)) return -1;
    if (m->derivative < !!family->most_derivative || m->derivative > family->most_derivative)
        return -1;
    int rows = 0;
    for (const PiNumbers *n = family->numbers; n->name; n++) rows += rows_of(m, n);
    return rows;
}
double *pi_method_row(PiMethod *m, int i, int *n, int *optional) {
    const PiNumbers *numbers = pi_families[m->family].numbers;
    for (int rows; i >= (rows = rows_of(m, numbers)); numbers++) i -= rows;
    *n = m->stages + numbers->more;
    *optional = numbers->optional;
    return pi_list(m, numbers) + i * numbers->row;
}

/* ---- the rows that row kernels need in total ---------------------------------------------------
 */
static int64_t family_rows(const PiMethod *m, const PiSystem *system) {
    const PiFamilyDescriptor *family = &pi_families[m->family];
    return family->workspace_rows ? family->workspace_rows(m, system) : 0;
}
/* The state and its history, parameters; t0, h, t and the lanes' status codes; the force's own; the
 * step's. */
int64_t pi_workspace_rows(const PiMethod *method, const PiMethod *starter, const PiSystem *system,
                          int state_rows) {
    return state_rows + pi_parameter_rows(system) + 4 + system->scratch +
           family_rows(method, system) + (starter ? family_rows(starter, system) : 0);
}
int64_t pi_sample_rows(const PiSystem *system, int64_t answers) {
    return system->dim + pi_parameter_rows(system) + 1 + system->scratch + answers;
}
