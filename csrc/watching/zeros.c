/* Zeros and extremes of a polynomial that is known at Chebyshev points. */
#include <math.h>
#include "pieces.h"

/* A zero of the polynomial a between lo and hi, where it has values of different sign: Newton's
 * method from a secant, and bisection where that leaves the interval. */
static double zero_between(int n, const double *a, double lo, double hi, double f_lo, double f_hi) {
    if (f_hi == 0) return hi;
    double x = hi - f_hi * ((hi - lo) / (f_hi - f_lo));
    for (int i = 0; i < 100 && hi - lo > 0x1p-50; i++) {
        if (!(x > lo && x < hi)) x = 0.5 * (lo + hi);
        double slope;
        const double f = cheb_value_and_slope(n, a, x, &slope), off = f / slope;
        if (f == 0 || fabs(off) <= 0x1p-52) return x;
        if ((f < 0) == (f_lo < 0)) lo = x;
        else hi = x;
        /* Every fourth step halves, whatever the slopes are. */
        x = i % 4 < 3 ? x - off : 0.5 * (lo + hi);
    }
    return hi;
}
static double all_but_first(int n, const double *a) {
    double sum = 0;
    for (int k = 1; k <= n; k++) sum += fabs(a[k]);
    return sum;
}

/* On an interval with middle m and half width r a polynomial p has no zero if
 * |p(m)| > |p'(m)| r + bend r^2 / 2, where bend is no less than |p''|, and is monotone if
 * |p'(m)| > bend r; otherwise it is halved, until all of it is within `error` of zero. */
typedef struct {
    int n, found, near, begins;
    const double *a, *d;
    double bend, error;
    PiZero *zeros;
} Isolation;
static void add_zero(Isolation *s, double x, int rises) {
    const double slope = cheb_value(s->n - 1, s->d, x) * (s->begins ? x + 1 : 1);
    s->zeros[s->found++] = (PiZero){x, slope, rises};
}
static void isolate(Isolation *s, double lo, double hi, double p_lo, double p_hi) {
    const double m = 0.5 * (lo + hi), r = 0.5 * (hi - lo), rest = 0.5 * s->bend * r * r;
    const double p = cheb_value(s->n, s->a, m), slope = cheb_value(s->n - 1, s->d, m);
    if (fabs(p) > fabs(slope) * r + rest) return;
    const int crosses = p_lo < 0 ? p_hi >= 0 : p_lo > 0 && p_hi <= 0;
    const int monotone = fabs(slope) > s->bend * r;
    const double error = s->begins ? s->error / (hi + 1) : s->error;
    if (monotone || fabs(p) + fabs(slope) * r + rest <= error) {
        s->near |= !monotone && !crosses;
        if (crosses && s->found < PI_MOST_ZEROS)
            add_zero(s, zero_between(s->n, s->a, lo, hi, p_lo, p_hi), p_lo < 0);
        return;
    }
    isolate(s, lo, m, p_lo, p);
    isolate(s, m, hi, p, p_hi);
}
int find_zeros(int n, const double *f, int begins, double error, PiZero *zeros, int *near) {
    double a[CHEB_MOST + 1], d[CHEB_MOST + 1], bend[CHEB_MOST + 1], g[CHEB_MOST + 1], size = 0;
    cheb_coefficients(n, f, a);
    for (int i = 0; i <= n; i++) g[i] = f[i], size = fmax(size, fabs(f[i]));
    if (begins || f[0] == 0) { /* (f - f_0) / (x + 1) */
        begins = 1;
        cheb_derivative(n, a, d);
        g[0] = cheb_value(n - 1, d, -1);
        for (int i = 1; i <= n; i++) g[i] = (f[i] - f[0]) / (cheb_point(n, i) + 1);
        cheb_coefficients(n, g, a);
    }
    error = fmax(error, 0x1p-46 * size);
    if (size == 0 || fabs(a[0]) > all_but_first(n, a) + (begins ? 0 : error)) return 0;
    cheb_derivative(n, a, d);
    cheb_derivative(n, d, bend);
    Isolation s = {n, 0, 0, begins, a, d, fabs(bend[0]) + all_but_first(n, bend), error, zeros};
    isolate(&s, -1, 1, g[0], g[n]);
    *near |= s.near;
    return s.found;
}
int find_simple_zero(int n, const double *f, PiZero *zero) {
    double a[CHEB_MOST + 1];
    cheb_coefficients(n, f, a);
    zero->rises = f[0] < 0;
    zero->x = zero_between(n, a, -1, 1, f[0], f[n]);
    cheb_value_and_slope(n, a, zero->x, &zero->slope);
    return f[0] != 0;
}

double largest_value(int n, const double *f, int sign, double known, double *x) {
    double a[CHEB_MOST + 1], d[CHEB_MOST + 1], slope[3];
    int at = 0;
    for (int i = 1; i <= n; i++)
        if (sign * f[i] > sign * f[at]) at = i;
    double best = sign * f[at], off = 0;
    *x = cheb_point(n, at);
    for (int i = at - 1; i <= at + 1; i += 2)
        if (i >= 0 && i <= n && fabs(f[i] - f[at]) > off) off = fabs(f[i] - f[at]);
    if (best + off < known) return best; /* nor is any value between these */
    cheb_coefficients(n, f, a);
    cheb_derivative(n, a, d);
    for (int i = 0; i < 3; i++)
        slope[i] = at + i > 0 && at + i <= n + 1
                       ? sign * cheb_value(n - 1, d, cheb_point(n, at + i - 1))
                       : 0;
    for (int i = 0; i < 2; i++) {
        if (!(slope[i] > 0 && slope[i + 1] < 0)) continue;
        const double lo = cheb_point(n, at + i - 1), hi = cheb_point(n, at + i);
        const double there = zero_between(n - 1, d, lo, hi, sign * slope[i], sign * slope[i + 1]);
        const double value = sign * cheb_value(n, a, there);
        if (value > best) best = value, *x = there;
    }
    return best;
}
