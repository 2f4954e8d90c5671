/* x = q u + r + t, where u is pi or pi/2, q an integer, |r| <= u/2 and t the rounding error of r.
 *
 * Cody and Waite with fused multiply-adds, u = u0 + u1 + u2 (+ u3), u1 so short that q u1 is exact,
 * u0 and u1 positive so that r = -0 for x = -0:
 *   r0 = x - q u0    exact: a multiple of the last bit of u0, smaller than 2
 *   r  = r0 - q u1   one rounding
 *   t  = ((r0 - r) - q u1) - q u2 - q u3, where the first bracket is exact
 * For huge x (|q| >= 2^20, float 2^10) lane by lane: the fraction of x 2/pi from those digits of
 * 2/pi that meet the bits of x (Payne and Hanek 1983, SIGNUM Newsletter 18, 19). */
#pragma once
#include "bits.h"

#if PI_REAL_BITS == 64
#define ONE_OVER_PI 0x1.45f306dc9c883p-2
#define PI_0 0x1.921fb54442d18p+1
#define PI_1 0x1.1a626331p-53
#define PI_2 0x1.1701b839a252p-87
#define PI_3 0
#define PI_SCALE 0x1p-19
#else
#define ONE_OVER_PI 0x1.45f306p-2f
#define PI_0 0x1.921fb4p+1f
#define PI_1 0x1.444p-23f
#define PI_2 0x1.68c234p-38f
#define PI_3 0x1.898cc6p-63f
#define PI_SCALE 0x1p-9f
#endif

/* 2/pi = sum of digit[i] 2^(-64 i), digit[0] = 0. */
static const uint64_t TWO_OVER_PI[] = {0,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/* The double m 2^e, e normal. */
INLINE double ldexp_normal(double m, int e) {
    const uint64_t power = (uint64_t)(1023 + e) << 52;
    double p;
    memcpy(&p, &power, sizeof p);
    return m * p;
}

/* One finite x, |x| >= 2^10: q modulo 4 and r + t;  u = pi/2 for unit = 0, pi for unit = 1. */
INLINE uint64_t pi_multiple_of_huge(double x, int unit, double *r, double *t) {
    uint64_t word, f[3];
    memcpy(&word, &x, sizeof word);
    const uint64_t m = (word & 0xfffffffffffff) | (uint64_t)1 << 52;
    const int e = (int)(word >> 52 & 0x7ff) - 1075;              /* |x| = m 2^e */

    /* f = m (2/pi) 2^e modulo 4 in 192 bits, the point behind the second. */
    const int from = e + 62, at = from / 64, by = from % 64;
    unsigned __int128 carry = 0;
    for (int i = 2; i >= 0; i--) {
        const uint64_t *d = TWO_OVER_PI + at + i;
        const uint64_t digit = by == 0 ? d[0] : d[0] << by | d[1] >> (64 - by);
        carry += (unsigned __int128)digit * m;
        f[i] = (uint64_t)carry;
        carry >>= 64;
    }
    /* q: the nearest multiple; what is left, a fraction of either sign. */
    const int point = 62 + unit;
    uint64_t q = (f[0] >> (point - 1)) + 1;
    q = q >> 1;
    f[0] -= q << point;
    const int negative = f[0] >> 63;
    if (negative) {                                             /* f = -f */
        f[2] = ~f[2] + 1;
        f[1] = ~f[1] + (f[2] == 0);
        f[0] = ~f[0] + ((f[1] | f[2]) == 0);
    }
    /* 128 bits from the first one on: f = h 2^-left; times pi/2: the upper 128 bits of 256. */
    int left = 0;
    while (!(f[0] >> 63) && left < 192) {
        f[0] = f[0] << 1 | f[1] >> 63;
        f[1] = f[1] << 1 | f[2] >> 63;
        f[2] <<= 1;
        left++;
    }
    const uint64_t half_pi[] = {0xc90fdaa22168c234, 0xc4c6628b80dc1cd1};    /* pi/2 2^127 */
    const unsigned __int128 hh = (unsigned __int128)f[0] * half_pi[0],
        hl = (unsigned __int128)f[0] * half_pi[1], lh = (unsigned __int128)f[1] * half_pi[0];
    const unsigned __int128 p = hh + (hl >> 64) + (lh >> 64);   /* r = p 2^(-125 - left) */
    const double scale = ldexp_normal(negative != (int)(word >> 63) ? -1 : 1, -left);
    const double high = ldexp_normal((uint64_t)(p >> 75), -50) * scale,
        low = ldexp_normal((uint64_t)(p >> 22) & 0x1fffffffffffff, -103) * scale;
    *r = high + low;
    *t = low - (*r - high);
    return word >> 63 ? -q : q;
}

/* The lanes of the mask only; the others keep what they have. */
RARE void pi_multiples_of_huge(const vreal *x, const vint *mask, int unit, vreal *r, vreal *t,
                               vnatural *q) {
    EACH_BELOW(i, VLEN) {
        if (!(*mask)[i]) continue;
        (*r)[i] = (*x)[i] - (*x)[i];                            /* NaN for inf and NaN */
        (*t)[i] = 0;
        (*q)[i] = 0;
        if (!((*r)[i] == 0)) continue;
        double high, low;
        (*q)[i] = pi_multiple_of_huge((*x)[i], unit, &high, &low);
        (*r)[i] = high;
        (*t)[i] = (high - (*r)[i]) + low;
    }
}

/* q modulo 4 in the low bits of the answer. */
INLINE vnatural pi_multiples(vreal x, int unit, vreal *r, vreal *t) {
    const real u = unit ? 1 : REAL(0.5), scale = PI_SCALE;
    const vreal rounded = vfma(x, vset(ONE_OVER_PI / u * scale), vset(ROUND * scale));
    const vreal q = rounded - vset(ROUND * scale);              /* scaled: |q| < 2 is in range */
    const vreal r0 = vfma(q, vset(-u * PI_0 / scale), x);
    *r = vfma(q, vset(-u * PI_1 / scale), r0);
    *t = vfma(q, vset(-u * PI_2 / scale), vfma(q, vset(-u * PI_1 / scale), r0 - *r));
    if (PI_3 != 0) *t = vfma(q, vset(-u * PI_3 / scale), *t);
    const vint huge = (vint)((vnatural)q << 1);     /* the first bit of the exponent: |q| >= 2 */
    if (__builtin_expect(vany_negative(huge), 0)) {
        const vreal a = x;
        const vint mask = huge < 0;
        vreal b = *r, c = *t;
        vnatural n = (vnatural)rounded;
        pi_multiples_of_huge(&a, &mask, unit, &b, &c, &n);
        *r = b;
        *t = c;
        return n;
    }
    return (vnatural)rounded;
}
