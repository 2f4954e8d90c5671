/* Cube root and the length of a vector. */
#pragma once
#include "exponent.h"
#include "polynomial.h"

/* m^(-1/3) = R(m),  sqrt(1/2) <= m <= sqrt 2, to 4e-5 (float 2e-3). */
COEFFICIENTS(CBRT_START,
    (0x1.dfe01b70d6aa3p+0, -0x1.dc9f754822fc5p+0,
    0x1.8faf8d79302c4p+0, -0x1.679c82bfb2cd1p-1, 0x1.06e4226d3b5e8p-3),
    (0x1.8ee322p+0f, -0x1.88d1eep-1f, 0x1.ad6858p-3f))
/* |x| = 2^(3 k + j) m with j = -1, 0, 1.  y = (2^j m)^(-1/3) from R, one step of third order,
 * y (1 + h/3 + 2 h^2/9), h = 1 - m y^3; then c = m y^2 and Newton's c - (c^3 - m)/(3 c^2) with an
 * exact residue. Zero, inf and NaN are their own cube roots. */
INLINE vreal vcbrt(vreal x) {
    const vreal a = vabs(x);
    vreal e, m = 1 + split_exponent_of_any(a, &e);
    const vreal k = vfma(e, vset(1 / 3.), vset(ROUND));
    const vreal j = vfma(k - ROUND, vset(-3), e);
    vreal y = vpolynomial(m, CBRT_START, TERMS(CBRT_START));
    y = y * vselect(j > 0, vset(0.7937005259840998),
                    vselect(j < 0, vset(1.2599210498948732), vone));
    m = m * vpower_of_two((vnatural)(j + ROUND));
    const vreal h = vfma(-m * y, y * y, vone);
    y = vfma(y * h, vfma(h, vset(2 / 9.), vset(1 / 3.)), y);
    const vreal c = m * y * y, cc = c * c, lost = vfma(c, c, -cc);
    const vreal residue = vfma(-c, lost, vfma(-c, cc, m));
    const vreal root = vfma(residue * y, y / 3, c);
    const vreal scaled = root * vpower_of_two((vnatural)k);
    const vint ordinary = (a > 0) & (a <= REAL_MAX);
    return vselect(ordinary, vcopysign(scaled, x), x);
}

#if PI_REAL_BITS == 64
#define HYPOT_LARGE 0x1p+500
#define HYPOT_SMALL 0x1p-500
#define HYPOT_SCALE 0x1p+600
#else
#define HYPOT_LARGE 0x1p+60f
#define HYPOT_SMALL 0x1p-60f
#define HYPOT_SCALE 0x1p+80f
#endif

/* sqrt(a^2 + b^2), a >= b: the root h of a rounded sum, and its residue over 2 h:
 * a^2 + b^2 - h^2. Scaled where the squares would leave the range. inf beats NaN. */
INLINE vreal vhypot(vreal x, vreal y) {
    const vreal u = vabs(x), v = vabs(y);
    const vint swap = v > u;
    vreal a = vselect(swap, v, u), b = vselect(swap, u, v);
    const vint large = a > HYPOT_LARGE, small = a < HYPOT_SMALL;
    const vreal up = vset(HYPOT_SCALE), down = vset(1 / HYPOT_SCALE);
    const vreal scale = vselect(large, down, vselect(small, up, vone));
    const vreal back = vselect(large, up, vselect(small, down, vone));
    a = a * scale;
    b = b * scale;
    const vreal h = vsqrt(vfma(a, a, b * b));
    const vreal aa = a * a, residue = (vfma(-h, h, aa) + vfma(a, a, -aa)) + b * b;
    const vreal length = (h + vonly(h > 0, residue / (h + h))) * back;
    const vint infinite = (u > REAL_MAX) | (v > REAL_MAX);
    return vselect(infinite, vset(INFINITY), vselect((x != x) | (y != y), x + y, length));
}
