/* Reductions of a quantity over the steps, one register a lane group: what watches keep most. The
 * first step that is looked at has index 0, the next one 1; frozen lanes keep what they have. */
#pragma once
#include "../../simd.h"
#include "../../tiles.h"

INLINE vreal unless(const vint *frozen, int64_t u, vreal old, vreal news) {
    return frozen ? vselect(frozen[u], old, news) : news;
}
/* high + low += term: the rounding of the sum is exact (Knuth), that of `low` is lost. */
INLINE void add_exactly(vreal *high, vreal *low, vreal term) {
    const vreal t = *high + term, z = t - *high;
    *low += (*high - (t - z)) + (term - z);
    *high = t;
}
/* The first value that no other is beyond, and the number of its step; a NaN stays. */
INLINE void reduce_extreme(PiReduction kind, const PiReduceRows *r, int64_t u, vreal *sums) {
    const int64_t R = r->registers;
    const vreal given = ((const vreal *)r->quantity)[u], best = sums[u], at = sums[R + u];
    const vreal q = kind == PI_LARGEST_MAGNITUDE ? vabs(given) : given;
    const vint within = kind == PI_SMALLEST ? q >= best : q <= best;
    const vint news = r->index == 0 ? vset_int(-1) : ~within & (best == best);
    const vint *frozen = (const vint *)r->frozen;
    sums[u] = unless(frozen, u, best, vselect(news, q, best));
    sums[R + u] = unless(frozen, u, at, vselect(news, vset((real)r->step), at));
}
/* Rows: high and low part of a sum. */
INLINE void reduce_sum(const PiReduceRows *r, int64_t u, int row, vreal term, vreal *sums) {
    vreal *const to = sums + row * r->registers;
    vreal high = to[u], low = to[r->registers + u];
    add_exactly(&high, &low, term);
    to[u] = unless(r->frozen, u, to[u], high);
    to[r->registers + u] = unless(r->frozen, u, to[r->registers + u], low);
}
/* Rows: the first value; sums of d, of index d, of d^2, d being the distance from the first. */
INLINE void reduce_line(const PiReduceRows *r, int64_t u, vreal *sums) {
    const vreal q = ((const vreal *)r->quantity)[u];
    if (r->index == 0) sums[u] = unless(r->frozen, u, sums[u], q);
    const vreal d = q - sums[u];
    reduce_sum(r, u, 1, d, sums);
    reduce_sum(r, u, 3, vset((real)r->index) * d, sums);
    reduce_sum(r, u, 5, d * d, sums);
}
static __attribute__((unused)) void reduce(PiReduction kind, const PiReduceRows *r) {
    vreal *const sums = (vreal *)r->sums;
    const vreal *const q = (const vreal *)r->quantity;
    switch (kind) {
    case PI_LARGEST:
        for (int64_t u = 0; u < r->registers; u++) reduce_extreme(PI_LARGEST, r, u, sums);
        break;
    case PI_SMALLEST:
        for (int64_t u = 0; u < r->registers; u++) reduce_extreme(PI_SMALLEST, r, u, sums);
        break;
    case PI_LARGEST_MAGNITUDE:
        for (int64_t u = 0; u < r->registers; u++) reduce_extreme(PI_LARGEST_MAGNITUDE, r, u, sums);
        break;
    case PI_SUM:
        for (int64_t u = 0; u < r->registers; u++) reduce_sum(r, u, 0, q[u], sums);
        break;
    case PI_SUM_OF_SQUARES:
        for (int64_t u = 0; u < r->registers; u++) reduce_sum(r, u, 0, q[u] * q[u], sums);
        break;
    case PI_LINE:
        for (int64_t u = 0; u < r->registers; u++) reduce_line(r, u, sums);
        break;
    }
}
