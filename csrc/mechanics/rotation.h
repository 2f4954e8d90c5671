/* Rotations of three-dimensional vectors by quaternions q = (w, x, y, z), from body axes to world
 * axes; and symmetric 3 x 3 matrices as (xx, yy, zz, xy, xz, yz).
 * The output of a function may be its input. Diebel (2006), Representing attitude: Euler angles,
 * unit quaternions, and rotation vectors. */
#pragma once
#include "../simd.h"

INLINE vreal dot3(const vreal *a, const vreal *b) {
    return vfma(a[2], b[2], vfma(a[1], b[1], a[0] * b[0]));
}
/* The same, added from the last component on. */
INLINE vreal dot3_from_last(const vreal *a, const vreal *b) {
    return vfma(a[0], b[0], vfma(a[1], b[1], a[2] * b[2]));
}
INLINE void set3(vreal *to, vreal a, vreal b, vreal c) { to[0] = a, to[1] = b, to[2] = c; }
INLINE void cross3(const vreal *a, const vreal *b, vreal *to) {
    set3(to, vfma(a[1], b[2], -(a[2] * b[1])), vfma(a[2], b[0], -(a[0] * b[2])),
         vfma(a[0], b[1], -(a[1] * b[0])));
}
/* y += w x */
INLINE void add3(vreal w, const vreal *x, vreal *y) {
    EACH(i, 3) y[i] = vfma(w, x[i], y[i]);
}
INLINE void symmetric3(const vreal *S, const vreal *a, vreal *to) {
    set3(to, vfma(S[4], a[2], vfma(S[3], a[1], S[0] * a[0])),
         vfma(S[5], a[2], vfma(S[1], a[1], S[3] * a[0])),
         vfma(S[2], a[2], vfma(S[5], a[1], S[4] * a[0])));
}

/* |q|^2 times the rotation: a quaternion that is not of unit length scales the vector. */
INLINE void rotation_matrix(const vreal *q, vreal M[3][3]) {
    const vreal two = vset(2);
    const vreal ww = q[0] * q[0], xx = q[1] * q[1], yy = q[2] * q[2], zz = q[3] * q[3];
    const vreal wx = q[0] * q[1], wy = q[0] * q[2], wz = q[0] * q[3];
    M[0][0] = (ww - zz) + (xx - yy);
    M[1][1] = (ww - zz) - (xx - yy);
    M[2][2] = (ww + zz) - (xx + yy);
    M[0][1] = two * vfma(q[1], q[2], -wz);
    M[1][0] = two * vfma(q[1], q[2], wz);
    M[0][2] = two * vfma(q[1], q[3], wy);
    M[2][0] = two * vfma(q[1], q[3], -wy);
    M[1][2] = two * vfma(q[2], q[3], -wx);
    M[2][1] = two * vfma(q[2], q[3], wx);
}
INLINE void to_world(vreal M[3][3], const vreal *a, vreal *to) {
    set3(to, dot3(M[0], a), dot3(M[1], a), dot3(M[2], a));
}
INLINE void to_body(vreal M[3][3], const vreal *a, vreal *to) {
    set3(to, vfma(M[2][0], a[2], vfma(M[1][0], a[1], M[0][0] * a[0])),
         vfma(M[2][1], a[2], vfma(M[1][1], a[1], M[0][1] * a[0])),
         vfma(M[2][2], a[2], vfma(M[1][2], a[1], M[0][2] * a[0])));
}

/* (0, w) q */
INLINE void spin(const vreal *w, const vreal *q, vreal *to) {
    to[0] = -vfma(w[2], q[3], vfma(w[1], q[2], w[0] * q[1]));
    to[1] = vfma(w[1], q[3], vfma(-w[2], q[2], w[0] * q[0]));
    to[2] = vfma(w[2], q[1], vfma(-w[0], q[3], w[1] * q[0]));
    to[3] = vfma(w[0], q[2], vfma(-w[1], q[1], w[2] * q[0]));
}
/* q = (c, s) q: the rotation about the world vector s of length sin(angle / 2), c = cos(angle / 2).
 */
INLINE void turn(vreal c, const vreal *s, vreal *q) {
    vreal spun[4];
    spin(s, q, spun);
    EACH(i, 4) q[i] = vfma(c, q[i], spun[i]);
}
INLINE vreal length4(const vreal *q) {
    return vsqrt(vfma(q[3], q[3], vfma(q[2], q[2], vfma(q[1], q[1], q[0] * q[0]))));
}
/* To length 1; NaN, which is no attitude, and not 0, where the square of the length overflows. */
INLINE void normalise(vreal *q) {
    const vreal length = length4(q), scale = 1 / length + (length - length);
    EACH(i, 4) q[i] *= scale;
}
