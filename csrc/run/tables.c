/* What kernels need to know of a method on a system: tables, memory of the past, workspace. */
#include <math.h>
#include <string.h>
#include "../kernels/registers/nystrom_weight.h"
#include "../pyintegrate.h"

/* ---- methods from outside -------------------------------------------------------------------- */
/* Rows before those of the matrix. */
static int lists_of(const PiMethod *m) {
    return m->family == PI_MULTISTEP ? 4 : m->family == PI_NYSTROM ? 3 : 2;
}
int pi_method_rows(const PiMethod *m) {
    if ((int)m->family < 0 || m->family >= PI_RIGID_MOTION) return -1;
    const int multistep = m->family == PI_MULTISTEP, composition = m->family == PI_COMPOSITION;
    if (m->stages < 1 || m->stages > (composition ? PI_MAX_SUBSTEPS : PI_MAX_STAGES)) return -1;
    if (m->evaluations < 0 || (!multistep && m->evaluations > m->stages)) return -1;
    if (multistep ? m->derivative < 1 || m->derivative > 2 : m->derivative != 0) return -1;
    return lists_of(m) + (multistep || composition ? 0 : m->stages);
}
double *pi_method_row(PiMethod *m, int i, int *n, int *optional) {
    double *const lists[][4] = {[PI_EXPLICIT_RK] = {m->c, m->b},
                                [PI_COMPOSITION] = {m->kick, m->drift},
                                [PI_NYSTROM] = {m->c, m->b, m->velocity},
                                [PI_MULTISTEP] = {m->alpha, m->beta, m->predictor, m->velocity},
                                [PI_IMPLICIT_RK] = {m->c, m->b}};
    const int multistep = m->family == PI_MULTISTEP;
    *n = m->stages + (multistep && i != 2);
    *optional = multistep && i >= 2;
    return i < lists_of(m) ? lists[m->family][i] : m->a[i - lists_of(m)];
}

/* ---- explicit Runge-Kutta and Nystrom: sparse rows ------------------------------------------- */
static int append(PiTable *table, int n, int index, double weight) {
    if (weight == 0) return n;
    table->index[n] = index;
    table->weight[n] = weight;
    return n + 1;
}

static void make_rows(const PiMethod *m, int nystrom, PiTable *table) {
    const int stages = m->evaluations, own = m->family == PI_NYSTROM;
    int n = 0;
    table->nystrom = nystrom || own;
    for (int s = 0; s <= stages; s++) {
        table->start[s] = n;
        for (int j = 0; j < s; j++)
            n = append(table, n, j,
                       nystrom && !own ? nystrom_weight(m, s, j)
                       : s < stages    ? m->a[s][j]
                                       : m->b[j]);
    }
    table->start[stages + 1] = n;
    for (int j = 0; table->nystrom && j < stages; j++)
        n = append(table, n, j, own ? m->velocity[j] : m->b[j]);
    table->start[stages + 2] = n;
}

/* ---- implicit Runge-Kutta: groups of stages -------------------------------------------------- */
/* Gauss-Jordan elimination with partial pivoting of an n x n block, n <= PI_MAX_STAGES. */
static void invert(const PiMethod *m, int from, int n, PiTable *table) {
    double left[PI_MAX_STAGES][PI_MAX_STAGES], right[PI_MAX_STAGES][PI_MAX_STAGES] = {{0}};
    for (int i = 0; i < n; i++) {
        memcpy(left[i], &m->a[from + i][from], n * sizeof(double));
        right[i][i] = 1;
    }
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(left[i][k]) > fabs(left[top][k])) top = i;
        for (int j = 0; j < n; j++) {
            const double l = left[k][j], r = right[k][j];
            left[k][j] = left[top][j], left[top][j] = l;
            right[k][j] = right[top][j], right[top][j] = r;
        }
        const double pivot = left[k][k];
        for (int j = 0; j < n; j++) left[k][j] /= pivot, right[k][j] /= pivot;
        for (int i = 0; i < n; i++) {
            const double factor = left[i][k];
            for (int j = 0; i != k && j < n; j++) {
                left[i][j] = fma(-factor, left[k][j], left[i][j]);
                right[i][j] = fma(-factor, right[k][j], right[i][j]);
            }
        }
    }
    for (int i = 0; i < n; i++)
        memcpy(&table->inverse[from + i][from], right[i], n * sizeof(double));
}
/* Each group ends as soon as no stage in it needs a later one. */
static void make_groups(const PiMethod *m, PiTable *table) {
    int from = 0, needed = 0;
    for (int s = 0; s < m->stages; s++) {
        for (int j = s; j < m->stages; j++)
            if (m->a[s][j] != 0 && j > needed) needed = j;
        if (needed > s) continue;
        const int size = s + 1 - from;
        table->group_end[table->n_groups++] = s + 1;
        if (size > table->largest_group) table->largest_group = size;
        if (size > 1 || m->a[s][s] != 0) invert(m, from, size, table);
        from = needed = s + 1;
    }
}

void pi_make_table(const PiMethod *method, const PiSystem *system, PiTable *table) {
    *table = (PiTable){.stages = method->evaluations};
    memcpy(table->c, method->c, sizeof table->c);
    if (method->family == PI_EXPLICIT_RK || method->family == PI_NYSTROM)
        make_rows(method, system->structure == PI_SECOND_ORDER && !system->velocity_dependent,
                  table);
    if (method->family == PI_IMPLICIT_RK) make_groups(method, table);
}

/* ---- multistep: what is remembered ----------------------------------------------------------- */
void pi_remembered(const PiMethod *m, int *states, int *forces) {
    *states = *forces = 0;
    for (int j = 1; m->family == PI_MULTISTEP && j < m->stages; j++) { /* y_{n-j}, f_{n-j} */
        const int i = m->stages - 1 - j;
        if (m->alpha[i] != 0) *states = j;
        if (m->beta[i] != 0 || m->predictor[i] != 0 || m->velocity[i] != 0) *forces = j;
    }
}
int pi_history_rows(const PiMethod *m, const PiSystem *system) {
    int states, forces;
    pi_remembered(m, &states, &forces);
    return (states + forces) * (m->derivative == 2 ? system->dof : system->dim);
}
/* Velocities that are differences of positions need no start but the position before. */
static int by_differences(const PiMethod *m) {
    for (int j = 0; j <= m->stages; j++)
        if (m->velocity[j] != 0) return 0;
    return m->derivative == 2;
}
const PiMethod *pi_starter(const PiMethod *m) {
    if (m->family != PI_MULTISTEP || by_differences(m)) return NULL;
    const int implicit = m->beta[m->stages] != 0 && m->predictor[m->stages - 1] == 0;
    /* An error of h^6 is one of h^5 in the velocity that two positions imply. */
    return pi_method_named(implicit                       ? "radau_iia5"
                           : m->order + m->derivative > 7 ? "verner87"
                                                          : "dormand_prince54");
}
int64_t pi_first_steps(const PiMethod *m) {
    if (m->family != PI_MULTISTEP) return 0;
    return by_differences(m) ? 1 : m->stages - 1;
}

/* ---- workspace of the row kernels ------------------------------------------------------------ */
int64_t pi_parameter_rows(const PiSystem *system) {
    const int rows = system->n_params + system->n_derived;
    return rows > PI_MAX_PARAMS ? rows : PI_MAX_PARAMS;
}
static int64_t newton_rows(int64_t dim, int64_t stages) {
    const int64_t size = stages * dim;
    return 2 * size + dim + dim * dim + size * size + 2 + dim + 1 + 1;
}
static int64_t family_rows(const PiMethod *m, const PiSystem *system) {
    const int64_t dim = system->dim, stages = m->stages;
    switch (m->family) {
    case PI_EXPLICIT_RK:
    case PI_NYSTROM: return (stages + 1) * dim + 6; /* and weights of rk4 */
    case PI_COMPOSITION: return 2 * dim;
    case PI_IMPLICIT_RK: {
        PiTable table;
        pi_make_table(m, system, &table);
        const int group = table.largest_group;
        return (stages + 2 * group) * dim + newton_rows(dim, group);
    }
    case PI_MULTISTEP: return 4 * dim + newton_rows(dim, 1);
    default: return 0;
    }
}
int64_t pi_workspace_rows(const PiMethod *method, const PiMethod *starter, const PiSystem *system) {
    return system->dim + pi_history_rows(method, system) + pi_parameter_rows(system) + 4 +
           system->scratch + family_rows(method, system) +
           (starter ? family_rows(starter, system) : 0);
}
int64_t pi_sample_rows(const PiSystem *system, int64_t answers) {
    return system->dim + pi_parameter_rows(system) + 1 + system->scratch + answers;
}
