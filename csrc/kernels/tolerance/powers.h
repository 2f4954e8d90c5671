/* Logarithm and power of two, to four digits: enough for step control. Their bits are
 * the same on every instruction set, so the steps are too. */
#pragma once
#include "../../vmath/bits.h"

/* log2 |x|, off by at most 2.4e-4. Below the smallest normal number -EXPONENT_BIAS, and more than
 * EXPONENT_BIAS where x is infinite or NaN.
 * x = 2^e (1.5 + m): log2(1.5 + m) by a polynomial, |m| <= 1/2. */
INLINE vreal vlog2_rough(vreal x) {
    const natural mantissa = ((natural)1 << MANTISSA_BITS) - 1;
    const vnatural bits = (vnatural)vabs(x);
    const vint e = (vint)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
    const vreal m = (vreal)((bits & mantissa) | ((natural)EXPONENT_BIAS << MANTISSA_BITS)) - 1.5;
    vreal p = vfma(m, vset(-0.080010877), vset(0.15544586));
    p = vfma(m, p, vset(-0.3197491));
    p = vfma(m, p, vset(0.96096325));
    return ((vreal)((vint)vset(ROUND) + e) - ROUND) + vfma(m, p, vset(0.5849505));
}

/* 2^x, a normal number: relative error 4e-5.   x = k + f: a polynomial, |f| <= 1/2. */
INLINE vreal vexp2_rough(vreal x) {
    const vreal k = x + ROUND, f = x - (k - ROUND);
    vreal p = vfma(f, vset(0.00961813), vset(0.05550411));
    p = vfma(f, p, vset(0.24022651));
    p = vfma(f, p, vset(0.69314718));
    return vscale(vfma(f, p, vone), (vnatural)k);
}
