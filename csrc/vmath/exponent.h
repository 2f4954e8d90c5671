/* x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt 2. */
#pragma once
#include "bits.h"

#define ONE_BITS ((natural)EXPONENT_BIAS << MANTISSA_BITS)
#if PI_REAL_BITS == 64
#define SQRT_HALF_BITS 0x3fe6a09e667f3bcd
#else
#define SQRT_HALF_BITS 0x3f3504f3
#endif

/* x positive and normal; the answer is f, exactly. */
INLINE vreal split_exponent(vreal x, vreal *k) {
    const real unit = REAL(1.0) * ((natural)1 << MANTISSA_BITS);   /* unit + e = unit | e */
    const vnatural u = (vnatural)x + (ONE_BITS - SQRT_HALF_BITS);
    *k = (vreal)(u >> MANTISSA_BITS | (vnatural)vset(unit)) - vset(unit + EXPONENT_BIAS);
    return (vreal)((u & (((natural)1 << MANTISSA_BITS) - 1)) + SQRT_HALF_BITS) - vset(1);
}

/* The same for subnormal x too. */
INLINE vreal split_exponent_of_any(vreal x, vreal *k) {
    const vint small = x < vset(REAL_MIN_NORMAL);
    const real lift = REAL(2.0) * ((natural)1 << MANTISSA_BITS);
    const vreal f = split_exponent(vselect(small, x * vset(lift), x), k);
    *k = *k - vonly(small, vset(MANTISSA_BITS + 1));
    return f;
}
