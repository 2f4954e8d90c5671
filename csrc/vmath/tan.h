/* Tangent for every argument; tan(-0) = -0, NaN for inf and NaN. */
#pragma once
#include "pi_multiples.h"
#include "polynomial.h"

/* tan r = r + r z T(z),  z = r^2,  |r| <= pi/4.
 * Largest error: 0.01 (float 0.3) times 2^-53 (2^-24). */
COEFFICIENTS(TAN_T,
    (0x1.555555555555ep-2, 0x1.11111111105d2p-3, 0x1.ba1ba1babf353p-5,
    0x1.664f485d24914p-6, 0x1.226e3a8184b96p-7, 0x1.d6d2e7aa29c66p-9, 0x1.7db18f3221174p-10,
    0x1.34bc180edc67ep-11, 0x1.ff2ebaf3e20fcp-13, 0x1.5e77799eafcdp-14, 0x1.19f92e383fe9cp-14,
    -0x1.ae452734ee744p-16, 0x1.981c46dc1c6bp-15, -0x1.9768585abc0edp-16, 0x1.48e3893e4de69p-17),
    (0x1.5554dep-2f, 0x1.112deap-3f, 0x1.b5856ap-5f, 0x1.906cfcp-6f,
    0x1.96fe6cp-9f, 0x1.33cec2p-7f))
/* tan(r + t) = r - w for a rounding error t:  w = -(r z T + t (1 + tan^2 r)), tan^2 r about 1.6 z.
 * Subtracted, so that tan(-0) = -0 - 0 = -0. */
INLINE vreal tan_quarter(vreal r, vreal t) {
    const vreal z = r * r, p = vpolynomial_even_odd(z, TAN_T, TERMS(TAN_T));
    return vfma(-r * z, p, vfma(t * z, vset(-1.6), -t));
}

/* x = q pi/2 + r + t; q odd: -1/tan. For tan = h + l the quotient c = -1/h is mended by its
 * residue, c + c (1 + c h + c l). */
INLINE vreal vtan_any(vreal x) {
    vreal r, t;
    const vnatural q = pi_multiples(x, 0, &r, &t);
    const vreal w = tan_quarter(r, t), h = r - w, l = (r - h) - w;
    const vreal c = -1 / h;
    return vselect((vint)((q & 1) == 0), h, vfma(c, vfma(c, l, vfma(c, h, vone)), c));
}

INLINE vreal vtan(vreal x) {
    const vreal room = vfma(-x, x, vset(0.616225));               /* |x| < 0.785 < pi/4 */
    if (__builtin_expect(vany_negative((vint)room), 0)) return vtan_any(x);
    return x - tan_quarter(x, vzero);
}
