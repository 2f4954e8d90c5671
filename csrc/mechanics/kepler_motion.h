/* A body about a centre, x'' = -mu x / |x|^3, moved by any time h: an ellipse, a parabola or a
 * hyperbola.
 *
 * With the universal variable X, dX = dt / r, and G_k = X^k c_k(beta X^2), beta = 2 mu / r - v^2,
 *     F(X) = r0 X + eta G2 + zeta G3 - h = 0,   eta = x . v,   zeta = v^2 r0 - mu,
 *     F' = r = r0 + eta G1 + zeta G2,   F'' = eta G0 + zeta G1,
 *     x += g v - mu G2 / r0 x,   v += -mu G1 / (r0 r) x - mu G2 / r v,   g = h - mu G3.
 * Stumpff (1959), Himmelsmechanik I; Danby (1988), Fundamentals of Celestial Mechanics, 6.9; Rein,
 * Tamayo (2015), Mon. Not. R. Astron. Soc. 452, 376-388. */
#pragma once
#include "../vmath/polynomial.h"
#include "rotation.h"

#if PI_REAL_BITS == 64
#define KEPLER_NEAR     REAL(0x1p-28) /* the square is a rounding */
#define KEPLER_ROUNDING REAL(0x1p-50)
#define KEPLER_LOST     REAL(0x1p-36)
#else
#define KEPLER_NEAR     REAL(0x1p-13)
#define KEPLER_ROUNDING REAL(0x1p-21)
#define KEPLER_LOST     REAL(0x1p-16)
#endif
enum { KEPLER_ITERATIONS = 200, KEPLER_QUARTERS = 24 };

static const real kepler_c3[] = {
    1 / 6.,        -1 / 120.,        1 / 5040.,          -1 / 362880.,
    1 / 39916800., -1 / 6227020800., 1 / 1307674368000., -1 / 355687428096000.};
static const real kepler_c2[] = {1 / 2.,
                                 -1 / 24.,
                                 1 / 720.,
                                 -1 / 40320.,
                                 1 / 3628800.,
                                 -1 / 479001600.,
                                 1 / 87178291200.,
                                 -1 / 20922789888000.,
                                 1 / 6402373705728000.};
/* c_k(z) = 1 / k! - z / (k + 2)! + z^2 / (k + 4)! - ...: up to |z| = 1 by these sums, beyond from
 * c_k(z / 4), as often as a lane needs it. */
INLINE void kepler_functions(vreal beta, vreal X, vreal *G) {
    const vreal XX = X * X, size = vabs(beta * XX);
    vreal z = beta * XX, edge = vone;
    int quarters = 0;
    for (; quarters < KEPLER_QUARTERS && vany(size > edge); quarters++) {
        TAKE(z, size > edge, z * 0.25);
        edge *= 4;
    }
    vreal c3 = vpolynomial_even_odd(z, kepler_c3, TERMS(kepler_c3)),
          c2 = vpolynomial_even_odd(z, kepler_c2, TERMS(kepler_c2)), c1 = vfma(-z, c3, vone),
          c0 = vfma(-z, c2, vone);
    for (; quarters > 0; quarters--) {
        edge *= 0.25;
        const vint more = size > edge;
        TAKE(c3, more, vfma(c0, c3, c2) * 0.25);
        TAKE(c2, more, c1 * c1 * 0.5);
        TAKE(c1, more, c0 * c1);
        TAKE(c0, more, vfma(c0 + c0, c0, -vone));
    }
    G[0] = c0;
    G[1] = X * c1;
    G[2] = XX * c2;
    G[3] = XX * X * c3;
}

/* An orbit, near = 1 / r0, and the root of F, between low and high, with G_k and r there once it is
 * found. */
typedef struct {
    vreal h, r0, near, eta, beta, zeta, X, low, high, G[4], r;
    vint found;
} KeplerRoot;

/* Halley's method, or bisection where it leads out of the bounds or too far, and where it is asked
 * for; then Newton's, with the functions at X + d from those at X by their addition theorems, if d
 * is small. Found is what is near, or as near as rounding of F lets it be. Each lane by itself. */
INLINE void kepler_iterate(KeplerRoot *o, int bisect) {
    const vreal half = vset(0.5), most = vset(REAL_MAX);
    vreal G[4];
    kepler_functions(o->beta, o->X, G);
    const vreal F = vfma(o->zeta, G[3], vfma(o->eta, G[2], vfma(o->r0, o->X, -o->h))),
                slope = vfma(o->zeta, G[2], vfma(o->eta, G[1], o->r0)),
                bend = vfma(o->zeta, G[1], o->eta * G[0]) * half;
    const vint past = vselect_int(vabs(F) <= most, F > 0, o->X > 0);
    o->low = vselect(past, o->low, o->X);
    TAKE(o->high, past, o->X);
    const vreal sum = o->low + o->high, next = o->X - F * slope / vfma(slope, slope, -F * bend),
                middle = vselect(vabs(sum) <= most, sum * half, o->X + o->X),
                X = vselect((next >= o->low) & (next <= o->high) & (vabs(next) <= vabs(o->X) * 4) &
                                vset_int(-!bisect),
                            next, middle),
                d = X - o->X, dd = d * d, w = o->beta * dd;
    const vreal g3 = dd * d * vpolynomial(w, kepler_c3, 3), g2 = dd * vpolynomial(w, kepler_c2, 3),
                g1 = vfma(-o->beta, g3, d), g0 = vfma(-o->beta, g2, vone);
    const vreal G3 = vfma(g3, G[0], vfma(g2, G[1], vfma(d, G[2], G[3]))),
                G2 = vfma(g2, G[0], vfma(g1, G[1], G[2])), G1 = vfma(g1, G[0], g0 * G[1]),
                G0 = vfma(-o->beta * g1, G[1], g0 * G[0]);
    const vreal r = vfma(o->zeta, G2, vfma(o->eta, G1, o->r0)),
                time = vfma(o->zeta, G3, vfma(o->eta, G2, vfma(o->r0, X, -o->h))),
                terms = vabs(o->r0 * X) + vabs(o->eta * G2) + vabs(o->h), rest = time / -r;
    const vint near =
        (vabs(w) <= REAL(1e-4)) & ~o->found &
        ((vabs(rest) <= vabs(X) * KEPLER_NEAR) | (vabs(time) <= terms * KEPLER_ROUNDING));
    TAKE(o->G[3], near, vfma(rest, G2, G3));
    TAKE(o->G[2], near, vfma(rest, G1, G2));
    TAKE(o->G[1], near, vfma(rest, G0, G1));
    TAKE(o->r, near, vfma(rest, vfma(o->zeta, G1, o->eta * G0), r));
    o->found |= near;
    o->X = X;
}
static __attribute__((noinline)) void kepler_iterate_on(KeplerRoot *o) {
    EACH_WHILE(i, KEPLER_ITERATIONS, vany(~o->found)) kepler_iterate(o, i % 3 == 2);
}

/* The orbit, and a first X = h / r0 (1 - a - b + 2 a^2 - ...), from 1/4 to 4 times h / r0. */
INLINE void kepler_begin(vreal mu, vreal h, const vreal *x, const vreal *v, KeplerRoot *o) {
    const vreal vv = dot3(v, v), r0 = vsqrt(dot3(x, x)), near = 1 / r0, infinite = vset(INFINITY);
    o->h = h;
    o->r0 = r0;
    o->near = near;
    o->eta = dot3(x, v);
    o->beta = vfma(mu + mu, near, -vv);
    o->zeta = vfma(vv, r0, -mu);
    o->low = vselect(h > 0, vzero, -infinite);
    o->high = vselect(h > 0, infinite, vzero);
    o->G[1] = o->G[2] = o->G[3] = o->r = vset(NAN);
    const vreal first = h * near, a = o->eta * first * near * 0.5,
                b = o->zeta * first * first * near * (real)(1 / 6.),
                series = vfma(a, vfma(vset(2), a, vset(-1)), 1 - b);
    o->X = first * vlarger(vsmaller(series, vset(4)), vset(0.25));
    o->found = ~(vabs(o->X + o->beta + o->zeta) <= REAL_MAX); /* no orbit */
}
/* Nothing is found where the terms of r cancel but for rounding: after a fast hyperbola has passed
 * the centre closely they are large as exponentials, and how far it was turned is not in them. */
INLINE void kepler_check(KeplerRoot *o) {
    o->found &= ~(o->r < KEPLER_LOST * vabs(o->eta * o->G[1]));
    TAKE(o->r, ~o->found, vset(NAN));
}
/* Replaces x and v by their changes, NaN where none was found. */
INLINE void kepler_end(const KeplerRoot *o, vreal mu, vreal *x, vreal *v) {
    const vreal f = -mu * o->near * o->G[2], g = vfma(-mu, o->G[3], o->h), turn = -mu / o->r;
    EACH(k, 3) {
        const vreal from = x[k];
        x[k] = vfma(f, from, g * v[k]);
        v[k] = turn * vfma(o->near * o->G[1], from, o->G[2] * v[k]);
    }
}
