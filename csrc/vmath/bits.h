/* The bits of a lane: integers modulo 2^PI_REAL_BITS, powers of two, rounding. All reals from UNIT
 * on are integers. */
#pragma once
#include "../simd.h"

#if PI_REAL_BITS == 64
typedef uint64_t natural;
enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023 };
#define UNIT 0x1p52
#define ROUND 0x1.8p52
#define REAL_MIN_NORMAL DBL_MIN
#else
typedef uint32_t natural;
enum { MANTISSA_BITS = 23, EXPONENT_BIAS = 127 };
#define UNIT 0x1p23f
#define ROUND 0x1.8p23f
#define REAL_MIN_NORMAL FLT_MIN
#endif
/* A function for arguments that are rare: apart from where it is called. */
#define RARE static __attribute__((noinline, cold, unused))
typedef natural vnatural __attribute__((vector_size(PI_VECTOR_BYTES)));


INLINE vnatural vset_natural(natural a) { return a - (vnatural){0}; }

/* x with its sign turned where n is odd. */
INLINE vreal vnegate_if_odd(vreal x, vnatural n) {
    return (vreal)((vnatural)x ^ (n << (PI_REAL_BITS - 1)));
}

/* Is the sign set in any lane? From 32 bytes on vany looks at nothing else. */
INLINE int vany_negative(vint a) { return vany(PI_VECTOR_BYTES > 16 ? a : (vint)(a < 0)); }

/* Negative where |x| > limit or x is NaN: as integers, reals keep their order, and NaN is above
 * inf. */
INLINE vint vroom(vreal x, real limit) {
    return (vint)((vnatural)vset(limit) - (vnatural)vabs(x));
}

/* a where the mask is set, else +0. */
INLINE vreal vonly(vint mask, vreal a) { return (vreal)(mask & (vint)a); }

/* x 2^n where that is normal; of n count the low bits only: those of n + ROUND will do. */
INLINE vreal vscale(vreal x, vnatural n) { return (vreal)((vnatural)x + (n << MANTISSA_BITS)); }

/* 2^n for a normal result. */
INLINE vreal vpower_of_two(vnatural n) { return vscale(vone, n); }
