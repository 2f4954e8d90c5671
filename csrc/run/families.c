/* The families: everything that is known of each, besides its kernels. */
#include "families.h"
#include "../kernels/rows/workspace.h"

#define STRUCTURE(s) (1u << (s))
static const PiRequirement any = {
    .name = "any",
    .needs = "",
    .structures = STRUCTURE(PI_FIRST_ORDER) | STRUCTURE(PI_SECOND_ORDER) | STRUCTURE(PI_SEPARABLE) |
                  STRUCTURE(PI_RIGID_BODY),
};
static const PiRequirement second_order = {
    .name = "second_order",
    .needs = "x'' = a(t, x, v)",
    .structures = STRUCTURE(PI_SECOND_ORDER),
    .refusal = "the method needs x'' = a(t, x, v)",
};
static const PiRequirement separable = {
    .name = "separable",
    .needs = "positions and velocities",
    .structures = STRUCTURE(PI_SECOND_ORDER) | STRUCTURE(PI_SEPARABLE),
    .refusal = "the method needs positions and velocities",
};
/* A composition that loses its order if T is not quadratic. */
static const PiRequirement quadratic = {
    .name = "quadratic_kinetic",
    .needs = "a kinetic energy quadratic in the velocities",
    .structures = STRUCTURE(PI_SECOND_ORDER),
    .refusal = "the method needs a kinetic energy quadratic in the velocities",
};
static const PiRequirement rigid_body = {
    .name = "rigid_body",
    .needs = "position and orientation",
    .structures = STRUCTURE(PI_RIGID_BODY),
    .refusal = "the method needs a rigid body",
};
static const PiRequirement planets = {
    .name = "n_body",
    .needs = "bodies that attract one another",
    .structures = STRUCTURE(PI_SECOND_ORDER),
    .planets = 1,
    .refusal = "the method needs bodies that attract one another",
};
const PiRequirement *const pi_requirements[] = {&any,        &second_order, &separable, &quadratic,
                                                &rigid_body, &planets,      NULL};

/* ---- workspace: the rows that one step needs ------------------------------------------------- */
/* Rows for the scales of the rates. */
static int64_t scale_rows(const PiSystem *system) {
    return system->dim < PI_MAX_STATE ? system->dim : PI_MAX_STATE;
}
/* The slopes, a state, and at most six weights of rk4. */
static int64_t explicit_workspace(const PiMethod *m, const PiSystem *system) {
    return (m->stages + 1) * (int64_t)system->dim + 6 + scale_rows(system);
}
/* The force and the velocity. */
static int64_t composition_workspace(const PiMethod *m, const PiSystem *system) {
    return 2 * (int64_t)system->dim + scale_rows(system);
}
/* One register of systems: x, v, both in Jacobi coordinates, forces; parameters; shares, centres.
 */
static int64_t planets_workspace(const PiMethod *m, const PiSystem *system) {
    return 5 * (int64_t)system->dof + pi_parameter_rows(system) + 2 * (int64_t)system->dof / 3;
}
/* h k of each stage; base and increment of each in the largest group. */
static int64_t implicit_workspace(const PiMethod *m, const PiSystem *system) {
    PiTable table;
    pi_make_table(m, system, &table);
    const int64_t group = table.largest_group;
    return (m->stages + 2 * group) * system->dim + newton_rows(system->dim, group);
}
/* The stages. */
static int64_t rosenbrock_workspace(const PiMethod *m, const PiSystem *system) {
    return (int64_t)m->stages * system->dim + rosenbrock_rows(system->dim);
}
/* The current force, the next state, a predicted state, and its force; in summed form three
 * parts of a difference, and the rounding error of the starter. */
static int64_t multistep_workspace(const PiMethod *m, const PiSystem *system) {
    return 8 * (int64_t)system->dim + newton_rows(system->dim, 1);
}
/* The next state, the numbers of a step; and in double precision, two rows each: the trajectories,
 * the numbers of a pair of substeps, and their sums. */
static int64_t noise_workspace(const PiMethod *m, const PiSystem *system) {
    return system->dim + 2 + 18 * (int64_t)system->noises;
}

/* With a corrector the state that moves, beside the one that is shown; from the first step on. */
static void planets_remembered(const PiMethod *m, int *states, int *forces) {
    (void)forces;
    *states = m->corrector[0] != 0;
}
static int64_t planets_first_steps(const PiMethod *m) { return m->corrector[0] != 0; }

/* ---- the table ------------------------------------------------------------------------------- */
#define LIST(field) {.name = #field, .offset = offsetof(PiMethod, field)}
#define MATRIX(label)                                                                              \
    {.name = label, .offset = offsetof(PiMethod, a), .shape = PI_MATRIX, .row = PI_MAX_STAGES}

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
    [PI_MULTISTEP] =
        {.name = "multistep",
         .requirement = &any,
         .numbers = {{.name = "alpha", .offset = offsetof(PiMethod, alpha), .more = 1},
                     {.name = "beta", .offset = offsetof(PiMethod, beta), .more = 1},
                     {.name = "predictor", .offset = offsetof(PiMethod, predictor), .optional = 1},
                     {.name = "velocity",
                      .offset = offsetof(PiMethod, velocity),
                      .more = 1,
                      .optional = 1}},
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
                       .numbers = {MATRIX("A"),
                                   LIST(b),
                                   LIST(c),
                                   LIST(d),
                                   {.name = "inverse",
                                    .offset = offsetof(PiMethod, inverse),
                                    .shape = PI_MATRIX,
                                    .row = PI_MAX_LINEAR,
                                    .away = 1}},
                       .closed = 1,
                       .jacobian = 1,
                       .compensates = 1,
                       .workspace_rows = rosenbrock_workspace},
    [PI_NOISE] = {.name = "noise",
                  .requirement = &any,
                  .most_stages = 1,
                  .free_evaluations = 1,
                  .workspace_rows = noise_workspace},
    [PI_WISDOM_HOLMAN] = {.name = "wisdom_holman",
                          .requirement = &planets,
                          .numbers = {LIST(kick),
                                      LIST(drift),
                                      {.name = "corrector",
                                       .offset = offsetof(PiMethod, corrector),
                                       .more = PI_CORRECTIONS - 2,
                                       .optional = 1}},
                          .closed = 1,
                          .workspace_rows = planets_workspace,
                          .remembered = planets_remembered,
                          .first_steps = planets_first_steps},
    [PI_RIGID_MOTION] = {.name = "rigid_body",
                         .requirement = &rigid_body,
                         .numbers = {{.name = "substeps", .offset = offsetof(PiMethod, b)}},
                         .closed = 1},
};

const PiRequirement *pi_requirement(const PiMethod *m) {
    return m->quadratic_kinetic ? &quadratic
           : m->derivative == 2 ? &second_order
                                : pi_families[m->family].requirement;
}

/* ---- numbers --------------------------------------------------------------------------------- */
int pi_list_length(const PiMethod *m, const PiNumbers *numbers) {
    return m->stages + numbers->more;
}
double *pi_list(PiMethod *m, const PiNumbers *numbers) {
    void *const field = (char *)m + numbers->offset;
    return numbers->away ? *(double **)field : field;
}
double *pi_matrix_row(PiMethod *m, const PiNumbers *numbers, int s) {
    return pi_list(m, numbers) + s * numbers->row;
}
/* The i-th list; NULL past the last. */
static const PiNumbers *list_of(const PiMethod *m, int i) {
    for (const PiNumbers *n = pi_families[m->family].numbers; n->name; n++)
        if (n->shape == PI_LIST && i-- == 0) return n;
    return NULL;
}
int pi_method_rows(const PiMethod *m) {
    if ((int)m->family < 0 || m->family >= PI_FAMILIES) return -1;
    const PiFamilyDescriptor *family = &pi_families[m->family];
    if (family->closed || m->stages < 1 || m->stages > family->most_stages) return -1;
    if (m->evaluations < 0 || (!family->free_evaluations && m->evaluations > m->stages)) return -1;
    if (m->derivative < !!family->most_derivative || m->derivative > family->most_derivative)
        return -1;
    int rows = 0;
    for (const PiNumbers *n = family->numbers; n->name; n++)
        rows += n->shape == PI_MATRIX ? m->stages : 1;
    return rows;
}
double *pi_method_row(PiMethod *m, int i, int *n, int *optional) {
    const PiNumbers *numbers = list_of(m, i);
    *n = numbers ? pi_list_length(m, numbers) : m->stages;
    *optional = numbers && numbers->optional;
    if (numbers) return pi_list(m, numbers);
    int lists = 0;
    while (list_of(m, lists)) lists++;
    return m->a[i - lists];
}

/* ---- the rows that row kernels need in total ---------------------------------------------------
 */
int64_t pi_parameter_rows(const PiSystem *system) {
    const int rows = system->n_params + system->n_derived;
    return rows > PI_MAX_PARAMS ? rows : PI_MAX_PARAMS;
}
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
