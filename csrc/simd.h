/* One wide register of reals ("vreal"). The ordinary C operators work on it lane by lane, and a
 * number beside it stands for all lanes: x > 0, 1 / x, 0.5 * x (a constant that single precision
 * has exactly, or one in REAL). Other operations are defined here.
 *
 * Before including: PI_REAL_BITS is 64 or 32, PI_VECTOR_BYTES is 16, 32 or 64 (see kernels/isa/). A
 * comparison such as a < b gives a vint of all ones (-1) where true and 0 where false, the mask
 * that vselect takes. */
#pragma once
#include "sizes.h"
#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* EACH(i, n) y[i] += x[i]; is a loop that the compiler unrolls, and an INLINE function is one
 * that it inlines. With PI_ROLLED, for the sanitizers, neither is. */
#define ALWAYS_INLINE static inline __attribute__((always_inline, unused))
#ifdef PI_ROLLED
#define INLINE static __attribute__((unused))
#define UNROLL
#define UNROLL_SOME
#else
#define INLINE ALWAYS_INLINE
#ifdef __clang__
#define UNROLL      _Pragma("clang loop unroll(full)")
#define UNROLL_SOME _Pragma("clang loop unroll(full)")
#else
#define UNROLL      _Pragma("GCC unroll 64")
#define UNROLL_SOME _Pragma("GCC unroll 4")
#endif
#endif
#define EACH_BETWEEN(i, from, to) UNROLL for (int i = (from); i < (to); i++)
#define EACH(i, n)                EACH_BETWEEN(i, 0, n)

#if PI_REAL_BITS == 64
typedef double real;
typedef int64_t integer;
#define REAL(a)  a
#define REAL_MAX DBL_MAX
#else
typedef float real;
typedef int32_t integer;
#define REAL(a)  a##f
#define REAL_MAX FLT_MAX
#endif
typedef real vreal __attribute__((vector_size(PI_VECTOR_BYTES)));
typedef integer vint __attribute__((vector_size(PI_VECTOR_BYTES)));
#define VLEN ((int)(PI_VECTOR_BYTES / sizeof(real)))

/* Every lane the same value. */
INLINE vreal vset(real a) { return a - (vreal){0}; }
INLINE vint vset_int(integer a) { return a - (vint){0}; }
#define vzero vset(0)
#define vone  vset(1)

/* Memory: any alignment, aligned past the caches, and one value for all lanes. */
INLINE vreal vload(const real *a) {
    vreal r;
    memcpy(&r, a, sizeof r);
    return r;
}
INLINE void vstore(real *a, vreal v) { memcpy(a, &v, sizeof v); }

/* Lane by lane a if the mask is set, else b. */
#if PI_VECTOR_BYTES == 32 && PI_REAL_BITS == 64
INLINE vreal vselect(vint mask, vreal a, vreal b) {
    return (vreal)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
}
#else
INLINE vreal vselect(vint mask, vreal a, vreal b) {
    return (vreal)((mask & (vint)a) | (~mask & (vint)b));
}
#endif
INLINE vint vselect_int(vint mask, vint a, vint b) { return (mask & a) | (~mask & b); }
/* x takes the value a where the mask is set: reals or integers. */
#define TAKE(x, mask, a) ((x) = (__typeof__(x))vselect(mask, (vreal)(a), (vreal)(x)))
INLINE vreal vabs(vreal a) { return (vreal)((vint)a & ~(vint)vset(REAL(-0.0))); }
/* Magnitude of a with the sign of b. */
INLINE vreal vcopysign(vreal a, vreal b) {
    const vint sign = (vint)vset(REAL(-0.0));
    vreal r = (vreal)(((vint)a & ~sign) | ((vint)b & sign));
#if defined(__clang__) && PI_VECTOR_BYTES == 64
    /* LLVM 22 takes vselect(mask, this, b) for one masked vpternlog, with its operands confused. */
    __asm__("" : "+v"(r));
#endif
    return r;
}

/* To be called after streaming stores, before another thread reads them. */
#if defined(__SSE2__)
INLINE void vstream_end(void) { _mm_sfence(); }
#else
INLINE void vstream_end(void) {}
#endif

/* vfma: a b + c with one rounding; vsqrt: rounded correctly; vstream: store an aligned register
 * past the caches; vany: is the mask set in any lane? vlarger: a > b ? a : b, which is one
 * instruction on x86, and vsmaller: a < b ? a : b; b if one of them is NaN. Without an instruction
 * for it, fma comes from the C library: slow, the same bits, and too large to inline. */
#if PI_VECTOR_BYTES > 16
/* A register as the instructions of x86 have it, whose names differ in what they begin and end
 * with; the signs of its lanes. */
#if PI_VECTOR_BYTES == 64 && PI_REAL_BITS == 64
typedef __m512d native;
#define NATIVE(name) _mm512_##name##_pd
#define SIGNS(mask)  _mm512_movepi64_mask((__m512i)(mask))
#elif PI_VECTOR_BYTES == 64
typedef __m512 native;
#define NATIVE(name) _mm512_##name##_ps
#define SIGNS(mask)  _mm512_movepi32_mask((__m512i)(mask))
#elif PI_REAL_BITS == 64
typedef __m256d native;
#define NATIVE(name) _mm256_##name##_pd
#define SIGNS(mask)  NATIVE(movemask)((native)(mask))
#else
typedef __m256 native;
#define NATIVE(name) _mm256_##name##_ps
#define SIGNS(mask)  NATIVE(movemask)((native)(mask))
#endif
INLINE vreal vfma(vreal a, vreal b, vreal c) {
    return (vreal)NATIVE(fmadd)((native)a, (native)b, (native)c);
}
INLINE vreal vsqrt(vreal a) { return (vreal)NATIVE(sqrt)((native)a); }
INLINE void vstream(real *p, vreal a) { NATIVE(stream)(p, (native)a); }
INLINE int vany(vint mask) { return SIGNS(mask) != 0; }
INLINE vreal vlarger(vreal a, vreal b) { return (vreal)NATIVE(max)((native)a, (native)b); }
INLINE vreal vsmaller(vreal a, vreal b) { return (vreal)NATIVE(min)((native)a, (native)b); }
#else
#if defined(__aarch64__) && PI_REAL_BITS == 64
INLINE vreal vfma(vreal a, vreal b, vreal c) {
    return (vreal)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
INLINE vreal vsqrt(vreal a) { return (vreal)vsqrtq_f64((float64x2_t)a); }
#elif defined(__aarch64__)
INLINE vreal vfma(vreal a, vreal b, vreal c) {
    return (vreal)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE vreal vsqrt(vreal a) { return (vreal)vsqrtq_f32((float32x4_t)a); }
#else
#if defined(__wasm__) && PI_REAL_BITS == 64
vreal pi_fma(vreal a, vreal b, vreal c); /* vmath/fma.c */
#define vfma pi_fma
#else
/* If c = 0 only the product is rounded: some C libraries lose its sign when it underflows. */
static __attribute__((noinline, unused)) vreal vfma(vreal a, vreal b, vreal c) {
    vreal r = a * b;
    EACH_BELOW(i, VLEN)
        if (c[i] != 0 || a[i] == 0 || b[i] == 0)
            r[i] = PI_REAL_BITS == 64 ? fma(a[i], b[i], c[i]) : fmaf(a[i], b[i], c[i]);
    return r;
}
#endif
INLINE vreal vsqrt(vreal a) {
    vreal r = a;
    EACH_BELOW(i, VLEN) r[i] = PI_REAL_BITS == 64 ? sqrt(a[i]) : sqrtf(a[i]);
    return r;
}
#endif
INLINE void vstream(real *p, vreal a) { vstore(p, a); }
INLINE int vany(vint mask) {
    integer any = 0;
    EACH_BELOW(i, VLEN) any |= mask[i];
    return any < 0; /* the sign bit, which the instructions use */
}
INLINE vreal vlarger(vreal a, vreal b) { return vselect(a > b, a, b); }
INLINE vreal vsmaller(vreal a, vreal b) { return vselect(a < b, a, b); }
#endif

/* x if a = b, else y. */
#if PI_VECTOR_BYTES == 64 && PI_REAL_BITS == 64
INLINE vreal vselect_equal(vreal a, vreal b, vreal x, vreal y) {
    const __mmask8 equal = _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
    return (vreal)_mm512_mask_blend_pd(equal, (__m512d)y, (__m512d)x);
}
#else
INLINE vreal vselect_equal(vreal a, vreal b, vreal x, vreal y) { return vselect(a == b, x, y); }
#endif
/* The larger of |a| and far, which is not negative; a NaN in a is ignored. */
#if PI_VECTOR_BYTES == 64
INLINE vreal vfarther(vreal a, vreal far) {
    return (vreal)NATIVE(range)((native)a, (native)far, 0x0b);
}
#else
INLINE vreal vfarther(vreal a, vreal far) { return vlarger(vabs(a), far); }
#endif
/* The smaller and the larger; a NaN in either is the result (numpy.minimum, numpy.maximum). */
INLINE vreal vmin(vreal a, vreal b) { return vselect((a < b) | (a != a), a, b); }
INLINE vreal vmax(vreal a, vreal b) { return vselect((a > b) | (a != a), a, b); }
#if PI_REAL_BITS == 64
/* The products of the lower halves of the lanes, 32 bits each. */
typedef uint64_t vhalves __attribute__((vector_size(PI_VECTOR_BYTES)));
INLINE vhalves vmultiply_halves(vhalves a, vhalves b) {
#if PI_VECTOR_BYTES == 64
    return (vhalves)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif PI_VECTOR_BYTES == 32
    return (vhalves)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vhalves)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}
#endif
