/* Implicit Runge-Kutta: fully implicit, diagonally implicit or with explicit stages, by the groups
 * of the table. Stages are solved for increments z, and h k = A_G^-1 z: the force is never
 * evaluated at an approximate solution, whose error a stiff force would amplify. Hairer, Wanner
 * (1996), Solving Ordinary Differential Equations II, IV.6 and IV.8. */
#pragma once
#include "newton.h"

/* h k of every stage. */
static void implicit_stages(Chunk *c, const PiMethod *m, const PiTable *table, int64_t n,
                            vreal *hk) {
    const int64_t R = c->R;
    const int dim = c->dim;
    vreal *free = c->free, *base = take_rows(c, table->largest_group * dim),
          *z = take_rows(c, table->largest_group * dim);
    for (int g = 0, from = 0; g < table->n_groups; from = table->group_end[g++]) {
        const int to = table->group_end[g];
        EACH_FROM(s, from, to) {
            vreal *base_s = base + (s - from) * dim * R;
            copy_rows(c, dim, c->y, base_s);
            EACH_BELOW(j, from)
                if (m->a[s][j] != 0) add_rows(c, dim, m->a[s][j], 0, hk + j * dim * R, base_s);
        }
        if (to == from + 1 && m->a[from][from] == 0) {
            rhs_rows(c, times(c, n, m->c[from]), base, hk + from * dim * R);
            EACH_FROM(i, from * dim * R, to * dim * R) hk[i] *= c->h[i % R];
            continue;
        }
        newton(c, n, to - from, 1, m->c + from, &m->a[from][from], base, z);
        EACH_FROM(s, from, to)
            EACH_ENTRY(i, dim, c) {
                vreal sum = z[i] * (real)table->inverse[s][from];
                EACH_FROM(j, from + 1, to)
                    sum = vfma(vset(table->inverse[s][j]), z[(j - from) * dim * R + i], sum);
                hk[s * dim * R + i] = sum;
            }
    }
    c->free = free;
}
static void implicit_rk_rows_step(Chunk *c, const PiMethod *m, const PiTable *table, int64_t n) {
    const int64_t R = c->R;
    const int dim = c->dim;
    vreal *hk = take_rows(c, m->stages * dim);
    implicit_stages(c, m, table, n, hk);
    EACH_BELOW(s, m->stages)
        if (m->b[s] != 0) add_rows(c, dim, m->b[s], 0, hk + s * dim * R, increments(c, 0));
    settle(c, 0, dim);
}
