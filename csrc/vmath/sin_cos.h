/* Sine and cosine to one ulp for every argument; sin(-0) = -0, NaN for inf and NaN. */
#pragma once
#include "pi_multiples.h"
#include "polynomial.h"

/* sin r = r + r W(y),  y = Y0 - r^2,  |r| <= pi/2 (and the little by which q pi misses).
 * In powers of y the last steps round less than in powers of r^2. Y0 is a real below 2 for which
 * W(0) and W'(0) are reals to 1/100 of their ulp; the computed W(Y0) is >= 0, so that -0 stays -0.
 * Largest error: 0.004 (float 0.003) times 2^-53 (2^-24). */
#if PI_REAL_BITS == 64
#define SIN_Y0 0x1.ffffffffffe0dp+0
#else
#define SIN_Y0 0x1.fff0e6p+0f
#endif
COEFFICIENTS(SIN_W,
    (-0x1.34c7f360a489dp-2, 0x1.15c42c359bf36p-3, 0x1.d851e005e1acbp-8,
    0x1.73eaa6816cdbfp-13, 0x1.518235aa5ab64p-19, 0x1.8e5df93f97ed2p-26, 0x1.4a47ac01f8b8bp-33,
    0x1.95c384c0d675cp-41, 0x1.87a297fdd23dep-49),
    (-0x1.34bfc2p-2f, 0x1.15c5eap-3f, 0x1.d853fp-8f, 0x1.73ec0ap-13f,
    0x1.515e1ap-19f, 0x1.9b16dep-26f))

/* (W - W(0)) / y */
INLINE vreal sin_slope(vreal y) {
    const vreal p = vpolynomial_even_odd(y, SIN_W + 2, TERMS(SIN_W) - 2);
    return vfma(p, y, vset(SIN_W[1]));
}

/* Any x: x = q pi + r + t.  s = r + r W is rounded, its error e is known from an FMA, and
 * sin x = +-(s - e + t cos r), for which cos r = 1 - 0.42 r^2 is good enough. With q = 0 this
 * changes nothing: the bits of the short way of vsin. Where |r| > sqrt 2, half of r moves from the
 * first term to W, which is then smaller and its rounding error too: s = r/2 + r (W + 1/2). */
INLINE vreal vsin_any(vreal x) {
    vreal r, t;
    const vnatural q = pi_multiples(x, 1, &r, &t);
    const vreal y = vfma(-r, r, vset(SIN_Y0)), h = vonly(y < 0, vset(-0.5));
    const vreal w = vfma(sin_slope(y), y, vset(SIN_W[0]) - h), first = vfma(h, r, r);
    const vreal s = vfma(w, r, first);
    vreal e = vfma(-w, r, s - first);
    e = vfma(-t, vfma(y, vset(0.42), vset(1 - REAL(0.42) * SIN_Y0)), e);
    return vnegate_if_odd(s - e, q);
}

INLINE vreal vsin(vreal x) {
    const vreal y = vfma(-x, x, vset(SIN_Y0));
    if (__builtin_expect(vany_negative((vint)y), 0)) return vsin_any(x);    /* |x| > sqrt 2 */
    return vfma(vfma(sin_slope(y), y, vset(SIN_W[0])), x, x);
}

/* sin a = a + a z S(z),  z = a^2,  |a| <= pi/4.
 * Largest error: 0.04 (float 0.07) times 2^-53 (2^-24). */
COEFFICIENTS(SIN_QUARTER,
    (-0x1.5555555555548p-3, 0x1.111111110f73p-7,
    -0x1.a01a019beb345p-13, 0x1.71de3558e134bp-19, -0x1.ae5e4fc30051ap-26, 0x1.5d8ce7bccabd7p-33),
    (-0x1.555546p-3f, 0x1.110776p-7f, -0x1.995314p-13f))

/* sin(a + b), b a rounding error. */
INLINE vreal sin_quarter(vreal a, vreal b) {
    const vreal z = a * a, p = vpolynomial_even_odd(z, SIN_QUARTER, TERMS(SIN_QUARTER));
    return a + vfma(a * z, p, b);
}

/* Any x: x = q pi/2 + r + t.  q even: +-cos r = +-(1 - 2 sin^2(r/2)); q odd: -+sin r. */
INLINE vreal vcos_any(vreal x) {
    vreal r, t;
    const vnatural q = pi_multiples(x, 0, &r, &t);
    const vint even = (q & 1) == 0;
    const vreal h = vonly(even, vset(0.5));
    const vreal s = sin_quarter(vfma(-h, r, r), vfma(-h, t, t));
    const vreal c = vselect(even, vfma(-2 * s, s, vone), s);
    return vnegate_if_odd(c, (q + 1) >> 1);
}

INLINE vreal vcos(vreal x) {
    const vreal a = 0.5 * x;
    const vreal room = vfma(-a, a, vset(0.154056));               /* |x| < 0.785 < pi/4 */
    if (__builtin_expect(vany_negative((vint)room), 0)) return vcos_any(x);
    const vreal s = sin_quarter(a, vzero);
    return vfma(-2 * s, s, vone);
}

INLINE void vsincos(vreal x, vreal *s, vreal *c) {
    *s = vsin(x);
    *c = vcos(x);
}
