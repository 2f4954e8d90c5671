/* M = P L U for each lane, kept for any number of right-hand sides: Gaussian elimination with
 * partial pivoting, with separate pivots for each lane. A pivot of zero gives results that are not
 * numbers. */
#pragma once
#include "chunk.h"

/* The components of a motion without its tangents; where those of the motion (q = 0) or of tangent
 * q lie in the state, which has all of them in each half. */
INLINE int motion_of(const Chunk *c) {
    const int tangents = c->tile->system->tangents;
    return tangents ? c->dim / (1 + tangents) : c->dim;
}
INLINE int place(const Chunk *c, int i, int q) {
    const int tangents = c->tile->system->tangents, half = c->dof ? c->dof : c->dim;
    if (!tangents) return i;
    const int one = half / (1 + tangents);
    return i / one * half + q * one + i % one;
}

static void swap_lane(vreal *a, vreal *b, int64_t lane) {
    const real upper = (*a)[lane];
    (*a)[lane] = (*b)[lane];
    (*b)[lane] = upper;
}
/* In place: n x n rows of M; pivot: n rows, the pivot row of each column. Then U is
 * above the diagonal, its inverse pivots on it, and the negative factors of L below. A row whose
 * factor is zero stays as it is, in each lane by its own.
 * unit: by which rows are multiplied as pivots are chosen, those of a motion, or NULL. */
INLINE void factor_rows(Chunk *c, int n, vreal *M, vint *pivot, const vreal *unit) {
    const int64_t R = c->R;
    const int motion = motion_of(c);
#define ENTRY(i, k) M[((i) * n + (k)) * R + u]
#define FITNESS(i)                                                                                 \
    (unit ? vabs(ENTRY(i, k)) * unit[((i) < motion ? (i) : (i) - motion) * R + u]                  \
          : vabs(ENTRY(i, k)))
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
#undef ENTRY
}

/* A motion's slopes do not depend on its tangents, and each tangent's depend on it by the motion's
 * own Jacobian: of M x = r for all of them the block of the motion is factored, x of the motion
 * found, what it adds to the right-hand sides of the tangents, and then theirs, with the same
 * factors.
 *
 * Vectors q = from ... to - 1, 0 being the motion, of `parts` states r. room: a vector of each. */
static void solve_rows(const Chunk *c, int parts, int from, int to, const vreal *M,
                       const vint *pivot, const vreal *unit, vreal *room, vreal *r) {
    const int64_t R = c->R;
    const int n = motion_of(c), size = parts * n, alone = n == c->dim;
    vreal *x = alone ? r : room;
#define ROW(i)   r[((i) / n * c->dim + place(c, (i) % n, q)) * R + u]
#define IN_UNITS (unit ? unit[i % n * R + u] : vone)
    EACH_FROM(q, from, to) {
        if (!alone || unit)
            EACH_BELOW(i, size)
                EACH_REGISTER(u, c) x[i * R + u] = ROW(i) * IN_UNITS;
        substitute_rows(c, size, M, pivot, x);
        if (!alone || unit)
            EACH_BELOW(i, size)
                EACH_REGISTER(u, c) ROW(i) = x[i * R + u] / IN_UNITS;
    }
#undef IN_UNITS
#undef ROW
}
/* Of (... - h J) x = r, in each part: h J x of the motion is added to r of the tangents. */
static void add_to_tangents(const Chunk *c, int parts, const vreal *J, vreal *r) {
    const int64_t R = c->R;
    const int n = motion_of(c);
    EACH_FROM(q, 1, 1 + c->tile->system->tangents)
        EACH_BELOW(i, parts * n)
            EACH_BELOW(e, n) {
                const int to = place(c, i % n, q), from = place(c, e, 0), part = i / n * c->dim;
                EACH_REGISTER(u, c)
                    r[(part + to) * R + u] = vfma(c->h[u] * J[(to * c->dim + from) * R + u],
                                                  r[(part + from) * R + u], r[(part + to) * R + u]);
            }
}
/* Both, as by Rosenbrock methods and Radau IIA. */
static void solve_all_rows(const Chunk *c, int parts, const vreal *M, const vint *pivot,
                           const vreal *unit, const vreal *J, vreal *room, vreal *r) {
    solve_rows(c, parts, 0, 1, M, pivot, unit, room, r);
    add_to_tangents(c, parts, J, r);
    solve_rows(c, parts, 1, 1 + c->tile->system->tangents, M, pivot, unit, room, r);
}
