/* Arc sine, arc cosine, arc tangent of a number and of a quotient.
 * NaN for |x| > 1 (asin, acos) and for NaN. atan2 follows C99, annex F, with its signed zeros. */
#pragma once
#include "bits.h"
#include "polynomial.h"

#if PI_REAL_BITS == 64
#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
#else
#define HALF_PI_HIGH 0x1.921fb6p+0f
#define HALF_PI_LOW (-0x1.777a5cp-25f)
#endif

/* asin s = s + s z A(z),  z = s^2 <= 1/4.   Largest error: 0.2 (float 0.1) times 2^-53 (2^-24). */
COEFFICIENTS(ASIN_A,
    (0x1.555555555539p-3, 0x1.333333336e843p-4, 0x1.6db6db42774b8p-5,
    0x1.f1c72c3a0bbd5p-6, 0x1.6e89f426b09b2p-6, 0x1.1c6be3169a77cp-6, 0x1.c6fda690316cap-7,
    0x1.8ec3a821e275dp-7, 0x1.abc9ac9fe5b17p-8, 0x1.3ff890dee3f4p-6, -0x1.09d96c87950d2p-6,
    0x1.056fa7da9a95p-5),
    (0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb2p-5f, 0x1.8c3ebcp-6f,
    0x1.595bdcp-5f))
/* For |x| > 1/2 with z = (1 - |x|)/2, s + t = sqrt z: acos |x| = 2 asin(s + t).
 * Else s = |x|, t = 0.  asin(s + t) = s + w. */
INLINE vreal asin_half(vreal x, vint *large, vreal *s) {
    const vreal a = vabs(x);
    *large = a > 0.5;
    const vreal z = vselect(*large, vfma(a, vset(-0.5), vset(0.5)), a * a);
    const vreal root = vsqrt(z);
    *s = vselect(*large, root, a);
    const vreal t = vonly(*large & (root > 0), vfma(-root, root, z) / (root + root));
    return vfma(*s * z, vpolynomial_even_odd(z, ASIN_A, TERMS(ASIN_A)), t);
}

/* pi/2 - 2 (s + w) for |x| > 1/2. */
INLINE vreal vasin(vreal x) {
    vint large;
    vreal s, w = asin_half(x, &large, &s);
    const vreal high = HALF_PI_HIGH - 2 * s, lost = (HALF_PI_HIGH - high) - 2 * s;
    const vreal far = high + (lost + vfma(vset(-2), w, vset(HALF_PI_LOW)));
    return vcopysign(vselect(large, far, s + w), x);
}

/* n pi/2 + c (s + w), n and c small integers, |c s| < n pi/2 or n = 0. */
INLINE vreal half_pi_sum(vreal n, vreal c, vreal s, vreal w) {
    const vreal a = n * HALF_PI_HIGH, y = vfma(c, s, a), lost = vfma(c, s, a - y);
    return y + vfma(c, w, vfma(n, vset(HALF_PI_LOW), lost));
}

/* pi/2 -+ (s + w) for |x| <= 1/2;  2 (s + w) above;  pi - 2 (s + w) below. */
INLINE vreal vacos(vreal x) {
    vint large;
    vreal s, w = asin_half(x, &large, &s);
    const vint negative = x < 0;
    const vreal near = vselect(negative, vone, vset(-1)), far = -2 * near;
    return half_pi_sum(vselect(large, 1 + near, vone), vselect(large, far, near), s, w);
}

/* atan t = t + t z A(z),  z = t^2,  |t| <= 1.   Largest error: 0.1 (float 0.3) times 2^-53 (2^-24).
 * The coefficients alternate and cancel near t = 1: Horner sums the first ones. */
COEFFICIENTS(ATAN_A,
    (-0x1.5555555555526p-2, 0x1.99999999955b1p-3, -0x1.249249237f4cap-3,
    0x1.c71c717fcda7ap-4, -0x1.745d11ae668f9p-4, 0x1.3b13669a3b492p-4, -0x1.110e512a64302p-4,
    0x1.e1bba683daf6p-5, -0x1.ae5e7202808e2p-5, 0x1.82dacefe83c54p-5, -0x1.59a3d5ed7da26p-5,
    0x1.2c2de3fc5950bp-5, -0x1.e9f830f87051ap-6, 0x1.683a3d7eef6ep-6, -0x1.c78afd3499a5dp-7,
    0x1.d7b31bade4d11p-8, -0x1.7a35109273859p-9, 0x1.b3f8175bcae1p-11, -0x1.3f38570e6af71p-13,
    0x1.bbf9c39ecf1d5p-17),
    (-0x1.5554dcp-2f, 0x1.9978ecp-3f, -0x1.230a9cp-3f, 0x1.b4df3cp-4f,
    -0x1.3552bp-4f, 0x1.61f4aap-5f, -0x1.0c2148p-6f, 0x1.7ebdd4p-9f))
/* m pi/2 + c atan(a/b) for a, b >= 0;  t = min(a, b)/max(a, b), steep lines by pi/2 - atan t. */
INLINE vreal atan_quotient(vreal a, vreal b, vreal m, vreal c) {
    const vint steep = a > b;
    const vreal n = vselect(steep, b, a), d = vselect(steep, a, b);
    vreal t = vselect(n == d, vone, n / d);                      /* inf/inf */
    TAKE(t, n == 0, vzero);                          /* 0/0 */
    const vreal z = t * t, tail = vpolynomial_even_odd(z, ATAN_A + 4, TERMS(ATAN_A) - 4);
    const vreal w = t * z * vpolynomial_and(tail, z, ATAN_A, 4);
    return half_pi_sum(vselect(steep, m + c, m), vselect(steep, -c, c), t, w);
}

INLINE vreal vatan(vreal x) {
    return vselect(x != x, x, vcopysign(atan_quotient(vabs(x), vone, vzero, vone), x));
}

INLINE vreal vatan2(vreal y, vreal x) {
    const vint left = (vint)x < 0;                                  /* -0 too */
    const vreal m = vselect(left, vset(2), vzero), c = 1 - m;
    const vreal angle = vcopysign(atan_quotient(vabs(y), vabs(x), m, c), y);
    return vselect((x != x) | (y != y), x + y, angle);
}
