/* Plain functions around vmath, for test_vmath.py.
 *   cc -shared -fPIC -ffp-contract=off -DPI_REAL_BITS=64 -DPI_VECTOR_BYTES=32 vmath_driver.c -lm
 * y[i] = f(x[i]), i < n; the last register is filled up with copies of the last element. */
#if !defined(__clang__) && PI_VECTOR_BYTES == 64
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")
#elif !defined(__clang__) && PI_VECTOR_BYTES == 32
#pragma GCC target("avx2,fma")
#endif
#include "../../csrc/simd.h"
#include "../../csrc/vmath/vmath.h"
#if PI_VECTOR_BYTES < 64 || PI_REAL_BITS == 32
#define vquotient vdivide
#endif

/* The widest vector_bytes that this processor runs. */
int widest(void);
int widest(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 64;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 32;
#endif
    return 16;
}

static vreal gather(const real *x, long i, long n) {
    real lane[PI_VECTOR_BYTES / sizeof(real)];
    for (int l = 0; l < VLEN; l++) lane[l] = x[i + l < n ? i + l : n - 1];
    return vload(lane);
}
static void scatter(real *y, vreal v, long i, long n) {
    real lane[PI_VECTOR_BYTES / sizeof(real)];
    vstore(lane, v);
    for (int l = 0; l < VLEN && i + l < n; l++) y[i + l] = lane[l];
}
#define ONE_ARGUMENT(name)                                                                         \
    void f_##name(const real *x, real *y, long n);                                                 \
    void f_##name(const real *x, real *y, long n) {                                                \
        for (long i = 0; i < n; i += VLEN) scatter(y, v##name(gather(x, i, n)), i, n);             \
    }
#define TWO_ARGUMENTS(name)                                                                        \
    void f_##name(const real *a, const real *b, real *y, long n);                                  \
    void f_##name(const real *a, const real *b, real *y, long n) {                                 \
        for (long i = 0; i < n; i += VLEN)                                                         \
            scatter(y, v##name(gather(a, i, n), gather(b, i, n)), i, n);                           \
    }
INLINE vreal vsincos_sin(vreal x) {
    vreal s, c;
    vsincos(x, &s, &c);
    return s;
}
INLINE vreal vsincos_cos(vreal x) {
    vreal s, c;
    vsincos(x, &s, &c);
    return c;
}

ONE_ARGUMENT(sin)
ONE_ARGUMENT(cos)
ONE_ARGUMENT(sincos_sin) ONE_ARGUMENT(sincos_cos) ONE_ARGUMENT(exp) ONE_ARGUMENT(log)
    ONE_ARGUMENT(tan) ONE_ARGUMENT(asin) ONE_ARGUMENT(acos) ONE_ARGUMENT(atan) TWO_ARGUMENTS(atan2)
        ONE_ARGUMENT(expm1) ONE_ARGUMENT(log1p) ONE_ARGUMENT(sinh) ONE_ARGUMENT(cosh)
            ONE_ARGUMENT(tanh) TWO_ARGUMENTS(pow) ONE_ARGUMENT(cbrt) TWO_ARGUMENTS(hypot)
                TWO_ARGUMENTS(divide) TWO_ARGUMENTS(quotient) ONE_ARGUMENT(log2) ONE_ARGUMENT(log10)
                    ONE_ARGUMENT(asinh) ONE_ARGUMENT(acosh) ONE_ARGUMENT(atanh)
