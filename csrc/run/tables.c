/* A method's numbers in the form for its kernels: sparse rows, and groups of implicit stages. */
#include "families.h"

/* ---- explicit Runge-Kutta and Nystrom: sparse rows ------------------------------------------- */
/* The weights of the Nystrom form of an explicit Runge-Kutta method (registers/explicit_rk.h):
 * (a a)_sj for the stages s, and (b a)_j in the row past the last stage. */
static double nystrom_weight(const PiMethod *m, int s, int j) {
    double sum = 0;
    EACH_FROM(i, j + 1, m->evaluations)
        sum += (s < m->evaluations ? m->a[s][i] : m->b[i]) * m->a[i][j];
    return sum;
}
static int append(PiTable *table, int n, int index, double weight) {
    if (weight == 0) return n;
    table->index[n] = index;
    table->weight[n] = weight;
    return n + 1;
}

void pi_sparse_rows(const PiMethod *m, const PiSystem *system, PiTable *table) {
    const int nystrom = pi_sees_positions_only(system);
    const int stages = m->evaluations, own = m->family == PI_NYSTROM;
    int n = 0;
    table->nystrom = nystrom || own;
    EACH_BELOW(s, stages + 1) {
        table->start[s] = n;
        EACH_BELOW(j, s)
            n = append(table, n, j,
                       nystrom && !own ? nystrom_weight(m, s, j)
                       : s < stages    ? m->a[s][j]
                                       : m->b[j]);
    }
    table->start[stages + 1] = n;
    if (table->nystrom)
        EACH_BELOW(j, stages) n = append(table, n, j, own ? m->velocity[j] : m->b[j]);
    table->start[stages + 2] = n;
}

/* ---- implicit Runge-Kutta: groups of stages -------------------------------------------------- */
/* Gauss-Jordan elimination with partial pivoting of an n x n block, n <= PI_MAX_STAGES. */
static void invert(const PiMethod *m, int from, int n, PiTable *table) {
    double both[PI_MAX_STAGES][2 * PI_MAX_STAGES] = {{0}}; /* the block, and its inverse */
    EACH_BELOW(i, n) {
        memcpy(both[i], &m->a[from + i][from], n * sizeof(double));
        both[i][n + i] = 1;
    }
    EACH_BELOW(k, n) {
        int top = k;
        EACH_FROM(i, k + 1, n)
            if (fabs(both[i][k]) > fabs(both[top][k])) top = i;
        EACH_BELOW(j, 2 * n) {
            const double upper = both[k][j];
            both[k][j] = both[top][j], both[top][j] = upper;
        }
        const double pivot = both[k][k];
        EACH_BELOW(j, 2 * n) both[k][j] /= pivot;
        EACH_BELOW(i, n) {
            const double factor = both[i][k];
            for (int j = 0; i != k && j < 2 * n; j++)
                both[i][j] = fma(-factor, both[k][j], both[i][j]);
        }
    }
    EACH_BELOW(i, n) memcpy(&table->inverse[from + i][from], both[i] + n, n * sizeof(double));
}
/* Each group ends as soon as no stage in it needs a later one. */
void pi_stage_groups(const PiMethod *m, const PiSystem *system, PiTable *table) {
    int from = 0, needed = 0;
    EACH_BELOW(s, m->stages) {
        EACH_FROM(j, s, m->stages)
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
    if (pi_families[method->family].make_table)
        pi_families[method->family].make_table(method, system, table);
}
