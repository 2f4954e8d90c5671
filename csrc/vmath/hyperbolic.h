/* Hyperbolic sine, cosine, tangent. |x| = n ln 2 + r + t,  S = sinh r, C = cosh r, and with
 * A = (1 - 4^-n)/2, B = (1 + 4^-n)/2:   sinh |x| = 2^n (A C + B S),  cosh x = 2^n (B C + A S). */
#pragma once
#include "exp_log.h"

/* sinh r = r + r z S(z), cosh r = 1 + z C(z),  z = r^2,  |r| <= ln(2)/2.
 * Largest errors: 0.003 and 0.0001 (float 0.3 and 0.002) times 2^-53 (2^-24). */
COEFFICIENTS(SINH_S,
    (0x1.5555555555559p-3, 0x1.111111110f624p-7, 0x1.a01a01b01cbc3p-13,
    0x1.71ddf7cc55655p-19, 0x1.af5f9faa12eb5p-26),
    (0x1.5554bp-3f, 0x1.122794p-7f))
COEFFICIENTS(COSH_C,
    (0.5, 0x1.5555555555558p-5, 0x1.6c16c16c14ffap-10,
    0x1.a01a01ad80f5bp-16, 0x1.27e4cc0950439p-22, 0x1.1f8bee70f74b8p-29),
    (0.5f, 0x1.5554e6p-5f, 0x1.6d4f0ep-10f))
#if PI_REAL_BITS == 64
#define TANH_ONE 20                     /* tanh x rounds to 1 above */
#define HYPERBOLIC_INF 712
#else
#define TANH_ONE 10
#define HYPERBOLIC_INF 91
#endif

typedef struct { vreal high, low; } HighLow;

/* a + b r + (a c + b s) + t, |a| >= |b r| or a = 0, as a sum of two. */
INLINE HighLow hyperbolic_sum(vreal a, vreal b, vreal r, vreal s, vreal c, vreal t) {
    const vreal p = vfma(b, r, a), q = vfma(b, r, a - p) + vfma(a, c, vfma(b, s, t)), high = p + q;
    return (HighLow){high, (p - high) + q};
}

/* x >= 0, below HYPERBOLIC_INF: 2^-n sinh x, 2^-n cosh x, and n. */
INLINE void hyperbolic(vreal x, vreal *n, HighLow *sinh_x, HighLow *cosh_x) {
    vreal r, t;
    without_ln2(x, n, &r, &t);
    const vreal z = r * r;
    const vreal s = vfma(r * z, vpolynomial(z, SINH_S, TERMS(SINH_S)), t);    /* sinh(r + t) - r */
    const vreal c = vfma(z, vpolynomial(z, COSH_C, TERMS(COSH_C)), t * r);    /* cosh(r + t) - 1 */
    const vreal m = vmin(*n, vset(30));                             /* 4^-30 is nothing beside 1 */
    const vreal half = 0.5 * vpower_of_two((vnatural)vfma(vset(-2), m, vset(ROUND)));
    /* Where A and B would lose some of 4^-n, it is added at the end, times e^-r = 1 - r, about. */
    const vint fits = *n <= vset((MANTISSA_BITS - 1) / 2);
    const vreal part = vonly(fits, half), rest = (half - part) * (1 - r);
    const vreal a = 0.5 - part, b = 0.5 + part;
    *sinh_x = hyperbolic_sum(a, b, r, s, c, -rest);
    *cosh_x = hyperbolic_sum(b, a, r, s, c, rest);
}

/* 2^n y, n up to where it overflows. */
INLINE vreal hyperbolic_scale(vreal y, vreal n) {
    return 8 * y * vpower_of_two((vnatural)(n + (ROUND - 3)));
}

INLINE vreal vsinh(vreal x) {
    vreal n;
    HighLow s, c;
    hyperbolic(vmin(vabs(x), vset(HYPERBOLIC_INF)), &n, &s, &c);
    return vcopysign(hyperbolic_scale(s.high, n), x);
}

INLINE vreal vcosh(vreal x) {
    vreal n;
    HighLow s, c;
    hyperbolic(vmin(vabs(x), vset(HYPERBOLIC_INF)), &n, &s, &c);
    return hyperbolic_scale(c.high, n);
}

/* The quotient q of the leading parts, and its residue over the denominator. */
INLINE vreal vtanh(vreal x) {
    vreal n;
    HighLow s, c;
    hyperbolic(vmin(vabs(x), vset(TANH_ONE)), &n, &s, &c);
    const vreal over = 1 / c.high, q = s.high * over;
    const vreal residue = vfma(-q, c.high, s.high) + vfma(-q, c.low, s.low);
    return vcopysign(vfma(residue, over, q), x);
}
