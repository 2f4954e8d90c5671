/* Inverse hyperbolic functions, from log1p. */
#pragma once
#include "expm1_log1p.h"

/* log 2a where a near formula overflows. */
INLINE vreal unless_far(vint is_near, vreal near, vreal a) {
    return __builtin_expect(vany(~is_near), 0) ? vselect(is_near, near, vlog(a) + LN2_HIGH) : near;
}

/* asinh |x| = log1p(|x| + x^2/(1 + sqrt(1 + x^2))) */
INLINE vreal vasinh(vreal x) {
    const vreal a = vabs(x), z = a * a, near = vlog1p(a + z / (1 + vsqrt(1 + z)));
    return vcopysign(unless_far(z <= REAL_MAX, near, a), x);
}

/* acosh x = log1p(s + sqrt(s (s + 2))),  s = x - 1, NaN if it is negative. */
INLINE vreal vacosh(vreal x) {
    const vreal s = x - 1, z = s * (s + 2);
    return unless_far((s >= 0) & (z <= REAL_MAX), vlog1p(s + vsqrt(z)), s);
}

/* atanh |x| = log1p(2 |x|/(1 - |x|))/2 */
INLINE vreal vatanh(vreal x) {
    const vreal a = vabs(x);
    return vcopysign(vlog1p(2 * a / (1 - a)) * 0.5, x);
}
