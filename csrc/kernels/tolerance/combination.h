/* Sums of components on the polynomials of steps, for watches and events: their Bernstein
 * coefficients, which enclose them, and where they are zero, in double precision. */
#pragma once
#include "dense.h"

typedef int64_t WideMask __attribute__((vector_size(sizeof(Wide))));
#define WIDE(row)               (((Wide *)(row))[u])
#define WIDE_SELECT(mask, a, b) (Wide)(((mask) & (WideMask)(a)) | (~(mask) & (WideMask)(b)))
INLINE int any_wide(const WideMask *mask) {
    vint part[sizeof *mask / sizeof(vint)];
    memcpy(part, mask, sizeof part);
    return vany(part[0] | part[sizeof part / sizeof *part - 1]);
}
/* Where a polynomial with these n + 1 coefficients is zero in each lane that is not far from that,
 * and its slope there, if they change sign once and none is close to zero; otherwise NaN: there may
 * be several, or none. Infinite where it is far.
 * With u = t / (1 - t), or its inverse beyond the middle, it is the zero of
 * sum_m (n over m) c_m u^m: Halley's method from that of the control polygon. */
static void only_zero(const Lanes *l, const Wide *c, const WideMask *far, Wide *zero, Wide *slope) {
    const int n = l->degree;
    const Wide none = {0}, one = none + 1;
    const WideMask near = ~*far;
    *zero = WIDE_SELECT(near, none + NAN, none + INFINITY);
    if (!any_wide(&near)) return;
    Wide size = none, closest = none + INFINITY, at = none, from = one, to = none;
    WideMask changes = {0};
    for (int m = n; m >= 0; m--) {
        const Wide each = WIDE_SELECT(c[m] < 0, -c[m], c[m]);
        size = WIDE_SELECT(each > size, each, size);
        closest = WIDE_SELECT(each < closest, each, closest);
        if (m == n) continue;
        const WideMask here = (c[m] < 0) ^ (c[m + 1] < 0);
        changes -= here;
        at = WIDE_SELECT(here, none + m, at);
        from = WIDE_SELECT(here, c[m], from);
        to = WIDE_SELECT(here, c[m + 1], to);
    }
    WideMask known =
        (changes == 1) & (closest > 0x1p-12 * size) & (size < 0x1p300) & (size > 0x1p-300);
    if (!any_wide(&known)) return;
    const Wide first = (at + from / (from - to)) / (double)n;
    const WideMask back = first > 0.5;
    Wide e[PI_MAX_DEGREE + 1], lo = none, hi = none + INFINITY, steep = none;
    EACH_BELOW(m, n + 1) e[m] = l->over[m] * WIDE_SELECT(back, c[n - m], c[m]);
    Wide u = WIDE_SELECT(back, 1 - first, first) / WIDE_SELECT(back, first, 1 - first);
    WideMask open = known;
    EACH_WHILE(i, 8, any_wide(&open)) {
        Wide f = e[n], d = none, bend = none;
        for (int m = n - 1; m >= 0; m--) {
            bend = bend * u + d;
            d = d * u + f;
            f = f * u + e[m];
        }
        const WideMask before = ~((f < 0) ^ (e[0] < 0));
        lo = WIDE_SELECT(before, u, lo);
        hi = WIDE_SELECT(before, hi, u);
        const Wide off = f * d / (d * d - f * bend), next = u - off, enough = 0x1p-17 * (1 + u);
        const WideMask close = (off < enough) & (-off < enough); /* the cube of this is left */
        known &= ~open | close | ((next > lo) & (next < hi));
        steep = WIDE_SELECT(open, d, steep);
        u = WIDE_SELECT(open, next, u);
        open &= known & ~close;
    }
    known &= ~open;
    const Wide rest = 1 / (1 + u), part = u * rest;
    steep = WIDE_SELECT(back, -steep, steep);
    EACH_BELOW(m, n - 2) steep *= rest;
    *slope = steep;
    *zero = WIDE_SELECT(known, WIDE_SELECT(back, rest, part), *zero);
}
static void combine_components(const PiSteps *steps, const PiCombination *to) {
    const Lanes *l = steps->of;
    const int64_t R = l->c.R, all = l->c.dim * R;
    const int n = l->degree;
    EACH_REGISTER(u, &l->c) {
        const Wide first = WIDE(to->begin), last = WIDE(to->end);
        Wide c[PI_MAX_DEGREE + 1], least = WIDE_SELECT(last < first, last, first), sum = first;
        Wide most = WIDE_SELECT(last > first, last, first);
        const vreal *poly = l->poly + u;
        c[0] = first, c[n] = last;
        for (int m = 1; m < n; m++, poly += all) {
            Wide f = first;
            EACH_BELOW(d, l->c.dim)
                if (to->factors[d] != 0)
                    f += to->factors[d] * __builtin_convertvector(poly[d * R], Wide);
            c[m] = f;
            least = WIDE_SELECT(f < least, f, least);
            most = WIDE_SELECT(f > most, f, most);
            sum += f;
        }
        EACH_BELOW(m, n + 1) WIDE(to->coefficients + m * R * VLEN) = c[m];
        sum += last;
        WIDE(to->least) = least, WIDE(to->most) = most, WIDE(to->mean) = sum / (n + 1.0);
        const WideMask far = ((least > 0x1p-12 * most) | (most < 0x1p-12 * least)) & (sum == sum);
        if (to->zero) only_zero(l, c, &far, &WIDE(to->zero), &WIDE(to->slope));
    }
}
