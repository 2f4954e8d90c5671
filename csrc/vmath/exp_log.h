/* Exponential and natural logarithm to one ulp for every argument, subnormal in and out.
 * exp: 0 and inf beyond the range. log: -inf at +-0, NaN below. NaN stays NaN. */
#pragma once
#include "exponent.h"
#include "polynomial.h"

#if PI_REAL_BITS == 64
#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fefa39efp-1           /* ln 2 = HIGH + LOW */
#define LN2_LOW 0x1.abc9e3b39803fp-56
#define LN2_SHORT 0x1.62e42fefa38p-1            /* ln 2 = SHORT + REST; 42 bits, n SHORT is exact */
#define LN2_REST 0x1.ef35793c7673p-45
#define EXP_RANGE 708                           /* e^x is normal for |x| <= EXP_RANGE */
#define EXP_ZERO (-746)                         /* 0 below, inf above */
#define EXP_INF 710
#else
#define LOG2_E 0x1.715476p+0f
#define LN2_HIGH 0x1.62e43p-1f
#define LN2_LOW (-0x1.05c61p-29f)
#define LN2_SHORT 0x1.62e4p-1f                  /* 15 bits */
#define LN2_REST 0x1.7f7d1cp-20f
#define EXP_RANGE 87
#define EXP_ZERO (-104)
#define EXP_INF 89
#endif

/* e^r = 1 + r W(r),  |r| <= ln(2)/2.   Largest error: 0.04 (float 0.06) times 2^-53 (2^-24). */
COEFFICIENTS(EXP_W,
    (1, 0x1.000000000000ap-1, 0x1.555555555550dp-3, 0x1.55555555507c7p-5,
    0x1.11111111245p-7, 0x1.6c16c1842dc82p-10, 0x1.a01a013876c73p-13, 0x1.a0199a2cbbeb8p-16,
    0x1.71df0c4a72945p-19, 0x1.28ad42185fee6p-22, 0x1.ad9fd9e4e880ap-26),
    (1, 0x1.fffffcp-2f, 0x1.555494p-3f, 0x1.5558bep-5f, 0x1.123856p-7f,
    0x1.6a3d24p-10f))

/* x = n ln 2 + r + t: n + ROUND.   r = (x - n HIGH) - n LOW, the bracket exact. */
INLINE vreal without_ln2(vreal x, vreal *n, vreal *r, vreal *t) {
    const vreal rounded = vfma(x, vset(LOG2_E), vset(ROUND));
    *n = rounded - ROUND;
    const vreal r0 = vfma(*n, vset(-LN2_HIGH), x);
    *r = vfma(*n, vset(-LN2_LOW), r0);
    *t = vfma(*n, vset(-LN2_LOW), r0 - *r);
    return rounded;
}
/* e^r, and n + ROUND. */
INLINE vreal exp_fraction(vreal x, vreal *rounded) {
    vreal n, r, t;
    *rounded = without_ln2(x, &n, &r, &t);
    const vreal p = vpolynomial_even_odd(r, EXP_W + 2, TERMS(EXP_W) - 2);
    return vfma(vfma(vfma(p, r, vset(EXP_W[1])), r, vone), r, vone);
}
/* 2^n y where 2^n leaves the normal range: 2^n = 2^m 2^(n - m), m = n/2 rounded. */
INLINE vreal scaled_twice(vreal y, vreal n) {
    const vreal m = vfma(n, vset(0.5), vset(ROUND)), rest = n - (m - ROUND);
    return y * vpower_of_two((vnatural)m) * vpower_of_two((vnatural)(rest + ROUND));
}

RARE vreal exp_beyond(vreal x) {
    vreal a = x, rounded;
    TAKE(a, a < EXP_ZERO, vset(EXP_ZERO));
    TAKE(a, a > EXP_INF, vset(EXP_INF));
    const vreal p = exp_fraction(a, &rounded);
    return vselect(a == a, scaled_twice(p, rounded - ROUND), a);
}

INLINE vreal vexp(vreal x) {
    vreal rounded;
    const vreal p = exp_fraction(x, &rounded);
    if (__builtin_expect(vany_negative(vroom(x, EXP_RANGE)), 0)) return exp_beyond(x);
    return vscale(p, (vnatural)rounded);
}

/* log(1 + f) = f + f^2 V(f),  sqrt(1/2) <= 1 + f < sqrt 2.
 * Largest error: 0.1 (float 0.1) times 2^-53 (2^-24). */
COEFFICIENTS(LOG_V,
    (-0.5, 0x1.5555555555533p-2, -0x1.fffffffffef1ap-3,
    0x1.999999999f792p-3, -0x1.555555566ae9bp-3, 0x1.24924922a2d1fp-3, -0x1.ffffff2c2ac29p-4,
    0x1.c71c71e087279p-4, -0x1.9999c2624b8cep-4, 0x1.745d3f1077b18p-4, -0x1.5550ef54d5688p-4,
    0x1.3b0b8941c625ep-4, -0x1.24d73fb482934p-4, 0x1.11cd0dfa6c21cp-4, -0x1.fba34fa36d768p-5,
    0x1.d059274e56586p-5, -0x1.d1121540b82a1p-5, 0x1.0a613e1149c95p-4, -0x1.ea3a474d403e4p-5,
    0x1.ace2534b3c9cep-6),
    (-0.5f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a01cp-3f,
    -0x1.54728cp-3f, 0x1.22d93ep-3f, -0x1.0d8242p-3f, 0x1.055ddcp-3f, -0x1.38c6dap-4f))
/* log(1 + f) + k ln 2 + t: k SHORT + f = a + b exactly (Dekker), then the small terms. */
INLINE vreal log_sum(vreal k, vreal f, vreal t) {
    const vreal v = vfma(vpolynomial_even_odd(f, LOG_V + 1, TERMS(LOG_V) - 1), f, vset(LOG_V[0]));
    const vreal c = k * LN2_SHORT, a = c + f, b = (c - a) + f;
    return a + (b + vfma(f * f, v, vfma(k, vset(LN2_REST), t)));
}

RARE vreal log_beyond(vreal x) {
    vreal k, f = split_exponent_of_any(x, &k), y = log_sum(k, f, vzero);
    TAKE(y, (x > REAL_MAX) | (x != x), x);
    TAKE(y, x == 0, vset(-INFINITY));
    return vselect(x < 0, vset(NAN), y);
}

INLINE vreal vlog(vreal x) {
    vreal k;
    const vreal f = split_exponent(x, &k), y = log_sum(k, f, vzero);
    const vint normal = (x >= REAL_MIN_NORMAL) & (x <= REAL_MAX);
    return __builtin_expect(vany(~normal), 0) ? log_beyond(x) : y;
}
