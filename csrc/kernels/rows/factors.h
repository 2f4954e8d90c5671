/* M = P L U for each lane, kept for any number of right-hand sides: Gaussian elimination with
 * partial pivoting, with separate pivots for each lane. A pivot of zero gives results that are not
 * numbers. */
#pragma once
#include "chunk.h"

static void swap_lane(vreal *a, vreal *b, int64_t lane) {
    const real upper = (*a)[lane];
    (*a)[lane] = (*b)[lane];
    (*b)[lane] = upper;
}
/* How well an entry serves as a pivot, in units of its row. The motion does not depend on its
 * tangents, whose equations, in other units, may have the larger entries: they come after its own.
 */
INLINE vreal fitness(vreal entry, const vreal *unit, const vreal *own) {
    const vreal size = unit ? vabs(entry) * *unit : vabs(entry);
    if (!own) return size;
    const vreal some = vselect(size == 0, vset(-REAL_MAX), size);
    return vany(*own == 0) ? vselect(*own == 0, -1 / size, some) : some;
}
/* In place: n x n rows of M; pivot: n rows, the pivot row of each column. Then U is
 * above the diagonal, its inverse pivots on it, and the negative factors of L below. A row whose
 * factor is zero stays as it is, in each lane by its own.
 * own: of each component, 0 if it is a tangent's; n or n / 2 rows, or NULL.
 * unit: by which rows are multiplied as pivots are chosen, as many, or NULL. */
INLINE void factor_rows(Chunk *c, int n, vreal *M, vint *pivot, const vreal *own,
                        const vreal *unit) {
    const int64_t R = c->R;
#define ENTRY(i, k) M[((i) * n + (k)) * R + u]
#define ROW(i)      (((i) < c->dim ? (i) : (i) - c->dim) * R + u)
#define FITNESS(i)  fitness(ENTRY(i, k), unit ? unit + ROW(i) : NULL, own ? own + ROW(i) : NULL)
    EACH_BELOW(k, n)
        EACH_REGISTER(u, c) {
            if (stops(c)) return;
            vint top = vset_int(k);
            vreal most = FITNESS(k);
            EACH_FROM(i, k + 1, n) {
                const vreal size = FITNESS(i);
                TAKE(top, size > most, vset_int(i));
                most = vlarger(size, most);
            }
            pivot[k * R + u] = top;
            EACH_BELOW(lane, VLEN)
                for (int j = k; j < n && top[lane] != k; j++)
                    swap_lane(&ENTRY(k, j), &ENTRY(top[lane], j), lane);
            const vreal inverse = 1 / ENTRY(k, k);
            EACH_FROM(i, k + 1, n) {
                const vreal factor = -ENTRY(i, k) * inverse;
                ENTRY(i, k) = factor;
                const vint changes = factor != 0; /* Jacobians are sparse */
                if (!vany(changes)) continue;
                EACH_FROM(j, k + 1, n)
                    ENTRY(i, j) =
                        vselect(changes, vfma(factor, ENTRY(k, j), ENTRY(i, j)), ENTRY(i, j));
            }
            ENTRY(k, k) = inverse;
        }
}
/* Solves M x = r in place, n rows of r. Of a chunk that has stopped there may be no pivots. */
static void substitute_rows(const Chunk *c, int n, const vreal *M, const vint *pivot, vreal *r) {
    const int64_t R = c->R;
    if (c->stopped) return;
    EACH_REGISTER(u, c) {
        EACH_BELOW(k, n) {
            EACH_BELOW(lane, VLEN) {
                const int64_t top = pivot[k * R + u][lane];
                if (top != k) swap_lane(&r[k * R + u], &r[top * R + u], lane);
            }
            for (int i = k + 1; i < n; i++) /* int: stiff solves 1.15 times as fast */
                r[i * R + u] = vfma(ENTRY(i, k), r[k * R + u], r[i * R + u]);
        }
        for (int k = n - 1; k >= 0; k--) {
            vreal sum = r[k * R + u];
            EACH_FROM(j, k + 1, n) sum = vfma(-ENTRY(k, j), r[j * R + u], sum);
            r[k * R + u] = sum * ENTRY(k, k);
        }
    }
#undef FITNESS
#undef ROW
#undef ENTRY
}
