/* Reductions of a quantity over the steps: what watches keep most. All the states at hand, for one
 * register of lanes after the other, so that what is kept stays in registers. A lane that has
 * failed or stopped stands still, and is not looked at from that step on. */
#pragma once
#include "../../simd.h"
#include "../../tiles.h"

enum { LINE_BLOCK = 16 };

INLINE vreal quantity_of(const PiReduceRows *r, int64_t u, int64_t k, vreal origin, vreal factor) {
    return (((const vreal *)r->quantity)[k * r->next + u] - origin) * factor;
}
INLINE vint stands_still(const PiReduceRows *r, int64_t u, int64_t k) {
    return vset((real)(r->step + k * r->every)) >= ((const vreal *)r->ends)[u];
}
/* high + low += term: the rounding of the sum is exact (Knuth), that of `low` is lost. */
INLINE void add_exactly(vreal *high, vreal *low, vreal term) {
    const vreal t = *high + term, z = t - *high;
    *low += (*high - (t - z)) + (term - z);
    *high = t;
}
/* Rows: the first value that no other is beyond, the number of its step. A NaN stays. */
INLINE vreal magnitude(PiReduction kind, vreal q) {
    return kind == PI_LARGEST_MAGNITUDE ? vabs(q) : q;
}
INLINE void reduce_each_extreme(PiReduction kind, const PiReduceRows *r, int64_t u, vreal origin,
                                vreal factor, vreal *s) {
    for (int64_t k = 0; k < r->count; k++) {
        const vreal q = magnitude(kind, quantity_of(r, u, k, origin, factor));
        const vint within = kind == PI_SMALLEST ? q >= s[0] : q <= s[0];
        const vint first = vset_int(r->index + k ? 0 : -1);
        vint news = first | (~within & (s[0] == s[0]));
        if (r->ends) news &= ~stands_still(r, u, k);
        s[0] = vselect(news, q, s[0]);
        s[1] = vselect(news, vset((real)(r->step + k * r->every)), s[1]);
    }
}
/* The extreme of all; and where that is a new one, the first step that has it. */
INLINE void reduce_extreme(PiReduction kind, const PiReduceRows *r, int64_t u, vreal origin,
                           vreal factor, vreal *s) {
    vreal best = s[0], any = s[0] * 0; /* NaN after a NaN */
    for (int64_t k = 0; k < r->count; k++) {
        const vreal q = magnitude(kind, quantity_of(r, u, k, origin, factor));
        best = kind == PI_SMALLEST ? -vlarger(-q, -best) : vlarger(q, best);
        any += q;
    }
    if (r->ends || r->index == 0 || vany(any != any)) {
        reduce_each_extreme(kind, r, u, origin, factor, s);
        return;
    }
    const vint news = best != s[0];
    if (!vany(news)) return;
    for (int64_t k = r->count - 1; k >= 0; k--) {
        const vreal q = magnitude(kind, quantity_of(r, u, k, origin, factor));
        const vint here = news & (q == best);
        s[0] = vselect(here, q, s[0]);
        s[1] = vselect(here, vset((real)(r->step + k * r->every)), s[1]);
    }
}
/* Rows: high and low part of a sum. */
INLINE void reduce_sum(PiReduction kind, const PiReduceRows *r, int64_t u, vreal origin,
                       vreal factor, vreal *s) {
    for (int64_t k = 0; k < r->count; k++) {
        const vreal q = quantity_of(r, u, k, origin, factor);
        const vreal before[2] = {s[0], s[1]};
        add_exactly(&s[0], &s[1], kind == PI_SUM ? q : q * q);
        if (!r->ends) continue;
        const vint still = stands_still(r, u, k);
        EACH(i, 0, 2) s[i] = vselect(still, before[i], s[i]);
    }
}
/* Rows: the first value; of the distances d from it the sums of d, of index d and of d^2, in two
 * parts each; and what the steps since the last multiple of 16 add to them: a = sum of d, b the sum
 * of what a was after each, so that n a - b is the sum of index d after n steps; sum of d^2. The
 * border is a multiple of 16 whatever is shown at once: no bit depends on that. */
INLINE void reduce_line(const PiReduceRows *r, int64_t u, vreal origin, vreal factor, vreal *s) {
    for (int64_t k = 0; k < r->count; k++) {
        const int64_t index = r->index + k;
        const vreal q = quantity_of(r, u, k, origin, factor);
        const vint still = r->ends ? stands_still(r, u, k) : vset_int(0);
        if (index == 0) s[0] = vselect(still, s[0], q);
        const vreal d = q - s[0];
        const vreal a = s[7] + d, b = s[8] + a, c = vfma(d, d, s[9]);
        if (r->ends) {
            s[7] = vselect(still, s[7], a);
            s[8] = vselect(still, s[8], b);
            s[9] = vselect(still, s[9], c);
        } else s[7] = a, s[8] = b, s[9] = c;
        if (index % LINE_BLOCK) continue;
        const vreal term[3] = {s[7], vfma(vset((real)(index + 1)), s[7], -s[8]), s[9]};
        EACH(i, 0, 3) {
            vreal high = s[1 + 2 * i], low = s[2 + 2 * i];
            add_exactly(&high, &low, term[i]);
            s[1 + 2 * i] = vselect(still, s[1 + 2 * i], high);
            s[2 + 2 * i] = vselect(still, s[2 + 2 * i], low);
            s[7 + i] = vselect(still, s[7 + i], vset(0));
        }
    }
}
/* Rows: the value g_n after the last step, g_{n-1} (NaN where there is none), and two numbers to
 * whose binary digits each step adds one: has g passed zero; does the parabola through g_{n-1}, g_n
 * and g_{n+1} say that it may have done so twice (may_dip in watching/passage.c)? */
INLINE void reduce_passes(PiReduction kind, const PiReduceRows *r, int64_t u, vreal origin,
                          vreal factor, vreal *s) {
    const vreal zero = vset(0), one = vset(1);
    for (int64_t k = 0; k < r->count; k++) {
        const vreal new = quantity_of(r, u, k, origin, factor), old = s[0], last = s[1];
        const vint rises = (old < zero) & (new >= zero), falls = (old > zero) & (new <= zero);
        const vint passes = kind == PI_RISES ? rises : kind == PI_FALLS ? falls : rises | falls;
        const vreal fall = new - last, bend = new - 2 * old + last;
        const vint dips = (old * new > zero) & (fall * old < zero) &
                          ((2 * bend + fall) * old > zero) &
                          (bend * (6 * old - 2 * new) <= fall * fall);
        const vreal after[4] = {new, vselect(new == old, last, old),
                                s[2] + s[2] + vselect(passes, one, zero),
                                s[3] + s[3] + vselect(dips, one, zero)};
        const vint still = r->ends ? stands_still(r, u, k) : vset_int(0);
        EACH(i, 0, 2) s[i] = vselect(still, s[i], after[i]);
        EACH(i, 2, 4) s[i] = vselect(still, s[i] + s[i], after[i]);
    }
}
INLINE void reduce_rows(PiReduction kind, int rows, const PiReduceRows *r) {
    for (int64_t u = 0; u < r->registers; u++) {
        const vreal origin = r->origin ? ((const vreal *)r->origin)[u] : vset(0);
        const vreal factor = r->origin ? ((const vreal *)r->factor)[u] : vset(1);
        real *const sums = (real *)r->sums + u * VLEN;
        vreal s[10];
        EACH(i, 0, rows) s[i] = vload(sums + i * r->stride);
        if (kind <= PI_LARGEST_MAGNITUDE) reduce_extreme(kind, r, u, origin, factor, s);
        else if (kind == PI_LINE) reduce_line(r, u, origin, factor, s);
        else if (kind >= PI_RISES) reduce_passes(kind, r, u, origin, factor, s);
        else reduce_sum(kind, r, u, origin, factor, s);
        EACH(i, 0, rows) vstore(sums + i * r->stride, s[i]);
    }
}
static __attribute__((unused)) void reduce(PiReduction kind, const PiReduceRows *r) {
    switch (kind) {
    case PI_LARGEST: reduce_rows(PI_LARGEST, 2, r); break;
    case PI_SMALLEST: reduce_rows(PI_SMALLEST, 2, r); break;
    case PI_LARGEST_MAGNITUDE: reduce_rows(PI_LARGEST_MAGNITUDE, 2, r); break;
    case PI_SUM: reduce_rows(PI_SUM, 2, r); break;
    case PI_SUM_OF_SQUARES: reduce_rows(PI_SUM_OF_SQUARES, 2, r); break;
    case PI_LINE: reduce_rows(PI_LINE, 10, r); break;
    case PI_RISES: reduce_rows(PI_RISES, 4, r); break;
    case PI_FALLS: reduce_rows(PI_FALLS, 4, r); break;
    case PI_PASSES: reduce_rows(PI_PASSES, 4, r); break;
    }
}
