/* x^y = e^(y log x). The product is up to 745 and magnifies the error of the logarithm, which is
 * therefore a sum of two reals, good to 2^-62 (float 2^-33). Special cases as in C99, annex F. */
#pragma once
#include "exp_log.h"

/* atanh s = s + s z/3 + s z^2 P(z),  z = s^2,  |s| <= 3 - sqrt 8.
 * Largest error: 0.0001 (0.0002) times 2^-53 (2^-24). */
COEFFICIENTS(ATANH_P,
    (0x1.9999999999b2fp-3, 0x1.2492492457f2dp-3, 0x1.c71c722d3ff88p-4,
    0x1.745ce9efcae2p-4, 0x1.3b1ee9eb07ba8p-4, 0x1.0f8018e5beeafp-4, 0x1.0e41050e49e28p-4),
    (0x1.999ap-3f, 0x1.24527ap-3f, 0x1.dfa2eep-4f))
#if PI_REAL_BITS == 64
#define THIRD_HIGH 0x1.5555555555555p-2
#define THIRD_LOW 0x1.5555555555555p-56
#define LOG2_E_REST 0x1.777d0ffda0d24p-56 /* 1/log 2 = LOG2_E + LOG2_E_REST */
#define LOG10_E 0x1.bcb7b1526e50ep-2
#define LOG10_E_REST 0x1.95355baaafad3p-57
#else
#define THIRD_HIGH 0x1.555556p-2f
#define THIRD_LOW (-0x1.555556p-27f)
#define LOG2_E_REST 0x1.4ae0cp-26f
#define LOG10_E 0x1.bcb7b2p-2f
#define LOG10_E_REST (-0x1.5b235ep-27f)
#endif

/* log(1 + f) + k ln 2 = high + low.   log(1 + f) = 2 atanh s,  s = f/(2 + f) = s + sl,
 * 1/(2 + f) = (1 - s)/2;   atanh s = s (1 + e), e = z/3 + z^2 P. */
INLINE vreal log_high_low(vreal k, vreal f, vreal *low) {
    const vreal d = 2 + f, dl = f - (d - 2), s = f / d;
    const vreal sl = (vfma(-s, d, f) - s * dl) * vfma(s, vset(-0.5), vset(0.5));
    const vreal z = s * s, zl = vfma(s, s, -z) + 2 * s * sl;
    const vreal third = vset(THIRD_HIGH), p = z * third;
    const vreal pl = vfma(z, third, -p) + vfma(z, vset(THIRD_LOW), zl * third);
    const vreal rest = z * z * vpolynomial(z, ATANH_P, TERMS(ATANH_P));
    const vreal e = p + rest, el = ((p - e) + rest) + pl;
    const vreal g = s * e, gl = vfma(s, e, -g) + vfma(s, el, sl * e);
    /* k SHORT + 2 s + 2 g, and all that was lost */
    const vreal c = k * LN2_SHORT, a = c + 2 * s, al = (c - a) + 2 * s;
    const vreal b = a + 2 * g, bl = (a - b) + 2 * g;
    const vreal sum = (al + bl) + vfma(vset(2), sl + gl, k * LN2_REST);
    const vreal high = b + sum;
    *low = (b - high) + sum;
    return high;
}

/* log x / log b, with 1/log b = inverse + rest: so good that a power of b has a whole one. */
INLINE vreal log_to_base(vreal x, vreal inverse, vreal rest) {
    const vint inside = (x > 0) & (x <= REAL_MAX);
    vreal k, low;
    const vreal f = split_exponent_of_any(x, &k), high = log_high_low(k, f, &low);
    const vreal p = high * inverse, pl = vfma(low, inverse, vfma(high, inverse, -p));
    const vreal y = p + vfma(high, rest, pl);
    return __builtin_expect(vany(~inside), 0) ? vselect(inside, y, log_beyond(x)) : y;
}
INLINE vreal vlog2(vreal x) {
    return log_to_base(x, vset(LOG2_E), vset(LOG2_E_REST));
}
INLINE vreal vlog10(vreal x) {
    return log_to_base(x, vset(LOG10_E), vset(LOG10_E_REST));
}

/* e^(p + pl) = 2^n e^r (1 + t), t the rest of p. */
INLINE vreal exp_high_low(vreal p, vreal pl) {
    vreal n, r, t;
    without_ln2(p, &n, &r, &t);
    t = t + pl;
    const vreal q = vpolynomial_even_odd(r, EXP_W + 1, TERMS(EXP_W) - 1);
    const vreal rr = r * r, y = 1 + (r + vfma(rr, q, vfma(t, vfma(rr, q, r), t)));
    return scaled_twice(y, n);
}

/* x positive and finite, y finite. */
INLINE vreal pow_positive(vreal x, vreal y) {
    vreal k, low;
    const vreal f = split_exponent_of_any(x, &k), high = log_high_low(k, f, &low);
    vreal p = y * high, pl = vfma(y, low, vfma(y, high, -p));
    const vint over = p > EXP_INF, under = p < EXP_ZERO;
    p = vselect(over, vset(EXP_INF), vselect(under, vset(EXP_ZERO), p));
    return exp_high_low(p, vonly(~(over | under), pl));
}

/* Is a >= 0 an integer? */
INLINE vint is_integer(vreal a) {
    return (a >= UNIT) | ((a + UNIT) - UNIT == a);
}

RARE vreal pow_beyond(vreal x, vreal y) {
    const vreal a = vabs(x), b = vabs(y), inf = vset(INFINITY);
    const vint whole = is_integer(b), odd = whole & ~is_integer(b * 0.5) & (b < inf);
    const vint ordinary = (a > vzero) & (a < inf) & (b < inf);
    vreal z = pow_positive(vselect(ordinary, a, vone), vselect(ordinary, y, vone));
    /* 0^y, inf^y, x^inf: 0 or inf */
    const vint grows = (y > vzero) ^ (a < vone);
    z = vselect(ordinary, z, vselect(grows, inf, vzero));
    TAKE(z, (a == vone) & (b == inf), vone);
    TAKE(z, odd & ((vint)x < 0), -z);
    TAKE(z, (x < vzero) & (a < inf) & (b < inf) & ~whole, vset(NAN));
    TAKE(z, (x != x) | (y != y), x + y);
    return vselect((x == vone) | (y == vzero), vone, z);
}

INLINE vreal vpow(vreal x, vreal y) {
    const vreal z = pow_positive(x, y);
    const vint inside = (x > 0) & (x <= REAL_MAX) & (vabs(y) <= REAL_MAX);
    return __builtin_expect(vany(~inside), 0) ? pow_beyond(x, y) : z;
}
