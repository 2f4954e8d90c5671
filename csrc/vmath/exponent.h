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
    const vnatural u = (vnatural)x + (ONE_BITS - SQRT_HALF_BITS);
    *k = (vreal)(u >> MANTISSA_BITS | (vnatural)vset(UNIT)) - (UNIT + EXPONENT_BIAS);  /* | is + */
    return (vreal)((u & (((natural)1 << MANTISSA_BITS) - 1)) + SQRT_HALF_BITS) - 1;
}

/* The same for subnormal x too. */
INLINE vreal split_exponent_of_any(vreal x, vreal *k) {
    const vint small = x < REAL_MIN_NORMAL;
    const vreal f = split_exponent(vselect(small, x * (2 * UNIT), x), k);
    *k = *k - vonly(small, vset(MANTISSA_BITS + 1));
    return f;
}
