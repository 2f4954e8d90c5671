/* Polynomials c[0] + c[1] x + ... + c[n-1] x^(n-1). */
#pragma once
#include "../simd.h"

/* A table of coefficients, for doubles and for floats; and their number. */
#define UNBRACKETED(...) __VA_ARGS__
#if PI_REAL_BITS == 64
#define COEFFICIENTS(name, wide, narrow) static const real name[] = {UNBRACKETED wide};
#else
#define COEFFICIENTS(name, wide, narrow) static const real name[] = {UNBRACKETED narrow};
#endif
#define TERMS(c) ((int)(sizeof(c) / sizeof *(c)))

/* Horner goes on: c[0] + c[1] x + ... + c[n-1] x^(n-1) + p x^n. */
INLINE vreal vpolynomial_and(vreal p, vreal x, const real *c, int n) {
    UNROLL for (int i = n - 1; i >= 0; i--) p = vfma(p, x, vset(c[i]));
    return p;
}
/* Horner: n - 1 operations one after the other. */
INLINE vreal vpolynomial(vreal x, const real *c, int n) {
    return vpolynomial_and(vset(c[n - 1]), x, c, n - 1);
}

/* Even and odd powers apart, p = e(x^2) + x o(x^2): one operation more, half as many in a row. */
INLINE vreal vpolynomial_even_odd(vreal x, const real *c, int n) {
    const vreal xx = x * x;
    const int last_even = (n - 1) & ~1, last_odd = n - 1 - (n & 1);
    vreal even = vset(c[last_even]), odd = vset(c[last_odd]);
    UNROLL for (int i = last_even - 2; i >= 0; i -= 2) even = vfma(even, xx, vset(c[i]));
    UNROLL for (int i = last_odd - 2; i >= 1; i -= 2) odd = vfma(odd, xx, vset(c[i]));
    return vfma(odd, x, even);
}
