/* a / b, rounded correctly: the bits of the operator, where its unit is slow beside the others. */
#pragma once
#include "bits.h"

#if PI_VECTOR_BYTES == 64 && PI_REAL_BITS == 64
#include <cpuid.h>
/* A root and a division of a register take the unit of AMD's processors 27 cycles, and that of
 * Intel's 43. */
static int fast_unit;
static __attribute__((constructor)) void look_at_processor(void) {
    unsigned a, maker = 0, c, d;
    fast_unit = __get_cpuid(0, &a, &maker, &c, &d) && maker == signature_AMD_ebx;
}
/* Is a magnitude in any lane of either not from 2^-256 to 2^256? */
INLINE int vextreme(vreal a, vreal b) {
    const uint64_t least = (uint64_t)(1023 - 256) << 52, above = (uint64_t)3 << 61;
    const vnatural far = ((vnatural)a - least) | ((vnatural)b - least);
    return _mm512_test_epi64_mask((__m512i)far, _mm512_set1_epi64((int64_t)above));
}
/* Are all 53 digits of a lane 1? */
INLINE int vall_ones(vreal a) {
    return _mm512_cmpeq_epi64_mask((__m512i)((vnatural)a << 12), _mm512_set1_epi64(-4096));
}
/* Newton's y + y (1 - b y) doubles the 14 digits of a table twice; once more, with an exact
 * residue, from a neighbour of 1 / b, gives 1 / b rounded correctly, unless all digits of b are 1;
 * and the same step from q = a y then gives a / b rounded correctly.
 * Reference: P. Markstein (1990), IBM J. Res. Dev. 34 (1), 111-119. */
INLINE vreal vquotient(vreal a, vreal b) {
    if (vextreme(a, b) | vall_ones(b)) return a / b;
    vreal y = (vreal)_mm512_rcp14_pd((__m512d)b);
    EACH(i, 3) y = vfma(y, vfma(-b, y, vone), y);
    const vreal q = a * y;
    return vfma(vfma(-b, q, a), y, q);
}
INLINE vreal vdivide(vreal a, vreal b) {
    return __builtin_expect(fast_unit, 1) ? a / b : vquotient(a, b);
}
#else
INLINE vreal vdivide(vreal a, vreal b) { return a / b; }
#endif
/* a / r^3 from r^2. In floats r^3 overflows from r = 7e12 on, where the quotient would be 0, and
 * loses its digits below 2e-13: then NaN. */
INLINE vreal vdivide_by_cube(vreal a, vreal r2) {
    const vreal r3 = r2 * vsqrt(r2), w = vdivide(a, r3);
    return PI_REAL_BITS == 64 ? w
                              : vselect((r3 >= REAL(0x1p-126)) & (r3 <= REAL_MAX), w, vset(NAN));
}
