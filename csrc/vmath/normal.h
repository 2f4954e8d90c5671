/* Random numbers that depend on a counter and a key only: Philox4x32-10, and pairs of standard
 * normals by Box and Muller. In double precision; numbers for floats are rounded from these.
 *
 * Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC '11, and
 * Random123 (its known answers: tests/stochastic/test_generator.py); Box, Muller (1958), Ann. Math.
 * Stat. 29, 610. */
#pragma once
#include "exponent.h"
#include "sin_cos.h"

enum { ROUNDS = 10 };
/* The keys of the rounds: once for many numbers, in memory, from where an operation takes them. */
INLINE void philox_keys(vnatural key[][2], uint64_t seed) {
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    EACH(round, ROUNDS) {
        key[round][0] = vset_natural(low), key[round][1] = vset_natural(high);
        low += 0x9E3779B9, high += 0xBB67AE85;
    }
}
/* All rounds on the lower halves of the lanes of four words, of `count` registers. */
INLINE void philox(int count, vnatural word[][4], const vnatural key[][2]) {
    EACH(round, ROUNDS) {
        EACH(u, count) {
            const vnatural a = vmultiply_halves(word[u][0], vset_natural(0xD2511F53)),
                           b = vmultiply_halves(word[u][2], vset_natural(0xCD9E8D57));
            word[u][0] = (b >> 32) ^ word[u][1] ^ key[round][0];
            word[u][1] = b;
            word[u][2] = (a >> 32) ^ word[u][3] ^ key[round][1];
            word[u][3] = a;
        }
    }
}
/* Two words as 64 bits; only the lower halves count. */
INLINE vnatural joined(vnatural high, vnatural low) {
    return high << 32 | (low & vset_natural(0xffffffff));
}
/* The first 52 bits as a number from 2^-53 to 1 - 2^-53. */
INLINE vreal unit_interval(vnatural bits) {
    return (vreal)(bits >> 12 | (vnatural)vone) - (1 - 0x1p-53);
}

/* r (cos, sin) of the angle that 64 bits choose: the first turns by a half, the second mirrors at
 * the diagonal, 50 more give an angle between -pi/4 and pi/4. */
INLINE void on_circle(vreal r, vnatural bits, vreal *first, vreal *second) {
    const vreal a = (unit_interval(bits << 2) - 0.5) * 0x1.921fb54442d18p+0;
    const vreal sine = sin_quarter(a, vzero), half = sin_quarter(0.5 * a, vzero);
    const vreal cosine = vfma(-2 * half, half, vone);
    const vint mirrored = (vint)(bits << 1) < 0;
    r = (vreal)((vnatural)r ^ (bits & ((natural)1 << 63)));
    *first = r * vselect(mirrored, sine, cosine);
    *second = r * vselect(mirrored, cosine, sine);
}
/* sqrt(-2 ln u), u normal: the radius of a pair of normals. u = 2^k (1 + f), s = f / (2 + f),
 * z = s^2, ln u = k ln 2 + 2 s + s z P(z), with P from fdlibm's e_log.c: error below 2^-58. */
static const real LOG_RATIO[] = {
    0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3,
    0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3, 0x1.2f112df3e5244p-3};
INLINE vreal radius(vreal u) {
    vreal k;
    const vreal f = split_exponent(u, &k), s = f / (2 + f), z = s * s;
    const vreal p = vpolynomial_even_odd(z, LOG_RATIO, 7) * -2;
    return vsqrt(vfma(k, vset(-0x1.62e42fefa39efp+0), vfma(s * z, p, s * -4)));
}
