/* e^x - 1 and log(1 + x), also where they are small. Zeros keep their sign. */
#pragma once
#include "exp_log.h"

#if PI_REAL_BITS == 64
#define EXPM1_MINUS_ONE (-40)           /* e^x - 1 rounds to -1 below */
#else
#define EXPM1_MINUS_ONE (-20)
#endif

/* x = n ln 2 + r + t,  e^x - 1 = 2^n (1 - 2^-n + r + r^2 V(r) + t e^r),  V from exp. */
INLINE vreal vexpm1(vreal x) {
    const vreal a = vmin(vmax(x, vset(EXPM1_MINUS_ONE)), vset(EXP_INF));
    vreal n, r, t;
    const vreal rounded = without_ln2(a, &n, &r, &t);
    const vreal p = vpolynomial_even_odd(r, EXP_W + 1, TERMS(EXP_W) - 1);
    const vreal small = vfma(r * r, p, vfma(t, r, t));
    const vreal m = vmin(n, vset(100));                             /* 1 - 2^-100 is 1 */
    const vreal k = 1 - vpower_of_two((vnatural)(ROUND - m));
    const vreal high = k + r, low = (k - high) + r;
    const vreal y = high + (low + small);
    const vreal scaled = (y + y) * vpower_of_two((vnatural)(rounded - 1));
    return vcopysign(vselect(x == INFINITY, x, scaled), x);
}

/* u = 1 + x rounded, c what it lost; u = 2^k (1 + f): log(1 + x) = k ln 2 + log(1 + f) + c/u, and
 * 2^k c/u = c/(1 + f) = c (1 - f + f^2) nearly. f = x for k = 0. */
INLINE vreal log1p_sum(vreal x) {
    const vreal u = x + 1;
    const vreal c = vselect(x > 1, 1 - (u - x), x - (u - 1));
    vreal k, f = split_exponent(u, &k);
    const vint near = k == 0;
    TAKE(f, near, x);
    const vreal m = vmin(k, vset(100));                             /* c/u is nothing above */
    const vreal scaled = vonly(~near, c * vpower_of_two((vnatural)(ROUND - m)));
    return log_sum(k, f, vfma(f, f, 1 - f) * scaled);
}
RARE vreal log1p_beyond(vreal x, vreal y) {
    y = vselect((x > -1) & (x <= REAL_MAX), y, x);                  /* inf and NaN */
    TAKE(y, x == -1, vset(-INFINITY));
    return vselect(x < -1, vset(NAN), y);
}
INLINE vreal vlog1p(vreal x) {
    const vreal y = vcopysign(log1p_sum(x), x);
    return __builtin_expect(vany(~((x > -1) & (x <= REAL_MAX))), 0) ? log1p_beyond(x, y) : y;
}
