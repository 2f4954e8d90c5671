/* The weights of the Nystrom form of an explicit Runge-Kutta method (explicit_rk.h): (a a)_sj for
 * the stages s, and (b a)_j in the row past the last stage. Double in every precision. */
#pragma once
#include "../../pyintegrate.h"

static inline __attribute__((always_inline)) double nystrom_weight(const PiMethod *m, int s,
                                                                   int j) {
    double sum = 0;
#pragma GCC unroll 64
    for (int i = j + 1; i < m->evaluations; i++)
        sum += (s < m->evaluations ? m->a[s][i] : m->b[i]) * m->a[i][j];
    return sum;
}
