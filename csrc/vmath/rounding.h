/* Rounding to integers, and the sign. Exact; NaN and inf stay what they are. */
#pragma once
#include "bits.h"

/* |a| + 2^52 - 2^52 rounds to even; from 2^52 on all reals are integers. */
INLINE vreal vrint(vreal a) {
    const vreal unit = vset(REAL(1.0) * ((natural)1 << MANTISSA_BITS)), size = vabs(a);
    return vselect(size < unit, vcopysign((size + unit) - unit, a), a);
}
INLINE vreal vfloor(vreal a) {
    const vreal r = vrint(a);
    return vselect(r > a, r - vset(1), r);
}
/* -1, 0 or 1 (numpy.sign). */
INLINE vreal vsign(vreal a) {
    const vreal size = vselect(a == vset(0), vset(0), vcopysign(vset(1), a));
    return vselect(a == a, size, a);
}
