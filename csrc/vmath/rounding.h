/* Rounding to integers, and the sign. Exact; NaN and inf stay what they are. */
#pragma once
#include "bits.h"

/* |a| + UNIT - UNIT rounds to even. */
INLINE vreal vrint(vreal a) {
    const vreal size = vabs(a);
    return vselect(size < UNIT, vcopysign((size + UNIT) - UNIT, a), a);
}
INLINE vreal vfloor(vreal a) {
    const vreal r = vrint(a);
    return vselect(r > a, r - 1, r);
}
/* -1, 0 or 1 (numpy.sign). */
INLINE vreal vsign(vreal a) {
    const vreal size = vselect(a == 0, vzero, vcopysign(vone, a));
    return vselect(a == a, size, a);
}
/* The rest of a division whose quotient is cut towards zero, with the sign of a (C's fmod). Exact:
 * b grows by powers of two until a holds it less than 2^52 times; from there on back to b, each
 * quotient is found in one division, perhaps 1 too large, and a - q b is representable. */
INLINE vreal vfmod(vreal a, vreal b) {
    const vreal up = vset(UNIT / 2), size = vabs(a);
    const vint valid = (size < INFINITY) & (vabs(b) > 0);
    const vreal least = vselect(valid, vabs(b), vset(INFINITY)), held = size / up;
    vreal r = size, by = least;
    for (vint small; vany(small = valid & (by <= held));) TAKE(by, small, by * up);
    for (vint more = valid;;) {
        const vreal rest = vfma(-vfloor(r / by), by, r);
        TAKE(r, more & (by <= r), vselect(rest < 0, rest + by, rest));
        more = by > least;
        if (!vany(more)) return vselect(valid, vcopysign(r, a), vset(NAN));
        TAKE(by, more, by / up);
    }
}
