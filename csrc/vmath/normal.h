/* Random numbers that depend on a counter and a key only: Philox4x32-10, and pairs of standard
 * normals by Box and Muller. In double precision; numbers for floats are rounded from these.
 *
 * Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC '11, and
 * Random123 (its known answers: tests/stochastic/test_generator.py); Box, Muller (1958), Ann. Math.
 * Stat. 29, 610. */
#pragma once
#include "bits.h"
#include "exponent.h"

/* Ten rounds on the lower halves of the lanes of four words, of `count` registers. */
INLINE void philox(int count, vnatural word[][4], uint64_t key) {
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    EACH(round, 0, 10) {
        EACH(u, 0, count) {
            const vnatural a = vmultiply_halves(word[u][0], vset_natural(0xD2511F53)),
                           b = vmultiply_halves(word[u][2], vset_natural(0xCD9E8D57));
            word[u][0] = (b >> 32) ^ word[u][1] ^ vset_natural(low);
            word[u][1] = b;
            word[u][2] = (a >> 32) ^ word[u][3] ^ vset_natural(high);
            word[u][3] = a;
        }
        low += 0x9E3779B9, high += 0xBB67AE85;
    }
}
/* Two words as 64 bits; only the lower halves count. */
INLINE vnatural joined(vnatural high, vnatural low) {
    return high << 32 | (low & vset_natural(0xffffffff));
}
/* The first 52 bits as a number from 2^-53 to 1 - 2^-53. */
INLINE vreal unit_interval(vnatural bits) {
    return (vreal)(bits >> 12 | (vnatural)vset(1)) - vset(1 - 0x1p-53);
}

/* -2 ln u = -2 (k ln 2 + 2 s + s z P(z)),  s = f / (2 + f), z = s^2: u = 2^k (1 + f) is normal.
 * P from fdlibm's e_log.c (Sun Microsystems, 1993): error below 2^-58. */
static const real LOG_RATIO[] = {0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2,
    0x1.c71c51d8e78afp-3, 0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3, 0x1.2f112df3e5244p-3};
INLINE vreal minus_twice_log(vreal u) {
    vreal k;
    const vreal f = split_exponent(u, &k), s = f / (vset(2) + f), z = s * s, w = z * z;
    const vreal even = vfma(vfma(vfma(w, vset(LOG_RATIO[6]), vset(LOG_RATIO[4])), w,
                                 vset(LOG_RATIO[2])), w, vset(LOG_RATIO[0]));
    const vreal odd = vfma(vfma(w, vset(LOG_RATIO[5]), vset(LOG_RATIO[3])), w, vset(LOG_RATIO[1]));
    const vreal p = vfma(odd, z, even) * vset(-2);
    return vfma(k, vset(-0x1.62e42fefa39efp+0), vfma(s * z, p, s * vset(-4)));
}

/* sin a = a + a z S(z),  cos a = 1 - z/2 + z^2 C(z),  |a| <= pi/4: errors below 2^-57
 * (fdlibm, k_sin.c and k_cos.c). */
static const real SIN_TURN[] = {-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
    0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33};
static const real COS_TURN[] = {0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
    -0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37};
/* r (cos, sin) of the angle that 64 bits choose: the first turns by a half, the second mirrors at
 * the diagonal, 50 more give an angle between -pi/4 and pi/4. */
INLINE void on_circle(vreal r, vnatural bits, vreal *first, vreal *second) {
    const vreal a = (unit_interval(bits << 2) - vset(0.5)) * vset(0x1.921fb54442d18p+0), z = a * a,
                w = z * z;
    const vreal even = vfma(vfma(vset(SIN_TURN[4]), w, vset(SIN_TURN[2])), w, vset(SIN_TURN[0]));
    const vreal odd = vfma(vfma(vset(SIN_TURN[5]), w, vset(SIN_TURN[3])), w, vset(SIN_TURN[1]));
    const vreal sine = vfma(vfma(odd, z, even), z * a, a);
    vreal cosine = vset(COS_TURN[5]);
    EACH(i, 1, 6) cosine = vfma(cosine, z, vset(COS_TURN[5 - i]));
    cosine = vfma(vfma(cosine, z, vset(-0.5)), z, vset(1));
    const vint mirrored = (vint)(bits << 1) < 0;
    r = (vreal)((vnatural)r ^ (bits & ((natural)1 << 63)));
    *first = r * vselect(mirrored, sine, cosine);
    *second = r * vselect(mirrored, cosine, sine);
}
