/* Zeros and extremes of a polynomial that is known at Chebyshev points. */
#include "pieces.h"

/* A zero of the polynomial a between lo and hi, where it rises from negative values or falls from
 * positive ones: Newton's method from x, and bisection where that leaves the interval. */
static double zero_between(int n, const double *a, double lo, double hi, int rises, double x) {
    double last = hi - lo;
    EACH_WHILE(i, 100, hi - lo > 0x1p-50) {
        if (!(x > lo && x < hi)) x = 0.5 * (lo + hi);
        double slope;
        const double f = cheb_value_and_slope(n, a, x, &slope), off = f / slope;
        if (f == 0) return x;
        if (fabs(off) <= 0x1p-27) return clamped(x - off, lo, hi); /* to its square */
        if ((f < 0) == rises) lo = x;
        else hi = x;
        /* Every fourth step halves, whatever the slopes are, unless Newton's do so too. */
        x = i % 4 < 3 || fabs(off) < 0.25 * last ? x - off : 0.5 * (lo + hi);
        last = fabs(off);
    }
    return hi;
}
static double all_but_first(int n, const double *a) {
    double sum = 0;
    EACH_FROM(k, 1, n + 1) sum += fabs(a[k]);
    return sum;
}

/* On an interval with middle m and half width r a polynomial p has no zero if
 * |p(m)| > |p'(m)| r + bend r^2 / 2, where bend is no less than |p''|, and is monotone if
 * |p'(m)| > bend r; otherwise it is halved, until all of it is within `error` of zero. (With
 * zeros at its ends there is equality, but for rounding, for which half of `error` is room.) */
typedef struct {
    int n, begins;
    const double *a, *d;
    double bend, error;
    PiZeros *to;
} Isolation;
static double error_at(const Isolation *s, double x) {
    return s->begins ? s->error / (x + 1) : s->error;
}
/* Adds a zero; those beyond the room are left out. */
static void add(PiZeros *to, double x, double slope, int rises) {
    if (to->count < PI_MOST_ZEROS) to->at[to->count++] = (PiZero){x, slope, rises};
}
static void isolate(Isolation *s, double lo, double hi, double p_lo, double p_hi) {
    const double m = 0.5 * (lo + hi), r = 0.5 * (hi - lo), rest = 0.5 * s->bend * r * r;
    const double p = cheb_value(s->n, s->a, m), slope = cheb_value(s->n - 1, s->d, m);
    const double most = fabs(slope) * r + rest;
    const double error = error_at(s, hi);
    if (!(fabs(p) <= most + 0.5 * error)) return; /* nor if it is no number */
    const int crosses = p_lo < 0 ? p_hi >= 0 : p_lo > 0 && p_hi <= 0;
    const int monotone = fabs(slope) > s->bend * r;
    if (monotone || fabs(p) + most <= error) {
        s->to->near |= !monotone && !crosses;
        if (!crosses) return;
        const double secant = hi - p_hi * ((hi - lo) / (p_hi - p_lo));
        const double x = p_hi == 0 ? hi : zero_between(s->n, s->a, lo, hi, p_lo < 0, secant);
        add(s->to, x, cheb_value(s->n - 1, s->d, x) * (s->begins ? x + 1 : 1), p_lo < 0);
        return;
    }
    isolate(s, lo, m, p_lo, p);
    isolate(s, m, hi, p, p_hi);
}
void pi_find_zeros(int n, const double *f, int begins, double error, PiZeros *zeros) {
    zeros->count = zeros->near = 0;
    double a[CHEB_MOST + 1], d[CHEB_MOST + 1], bend[CHEB_MOST + 1], g[CHEB_MOST + 1], size = 0;
    cheb_coefficients(n, f, a);
    EACH_BELOW(i, n + 1) g[i] = f[i], size = fabs(f[i]) > size ? fabs(f[i]) : size;
    if (begins || f[0] == 0) { /* (f - f_0) / (x + 1) */
        begins = 1;
        cheb_derivative(n, a, d);
        g[0] = cheb_value(n - 1, d, -1);
        EACH_FROM(i, 1, n + 1) g[i] = (f[i] - f[0]) / (cheb_point(n, i) + 1);
        cheb_coefficients(n, g, a);
    }
    error = fmax(error, 0x1p-46 * size);
    zeros->near = size > 0x1p900; /* its derivatives may overflow */
    if (zeros->near || size == 0 || fabs(a[0]) > all_but_first(n, a) + 0.5 * error) return;
    cheb_derivative(n, a, d);
    cheb_derivative(n, d, bend);
    Isolation s = {n, begins, a, d, fabs(bend[0]) + all_but_first(n, bend), error, zeros};
    EACH_BELOW(i, n) { /* between two points it is within bend r^2 / 2 of the chord */
        const double lo = cheb_point(n, i), hi = cheb_point(n, i + 1), r = 0.5 * (hi - lo);
        const double far = 0.5 * s.bend * r * r + error_at(&s, hi);
        if (!(g[i] > far && g[i + 1] > far) && !(g[i] < -far && g[i + 1] < -far))
            isolate(&s, lo, hi, g[i], g[i + 1]);
    }
    EACH_FROM(k, 1, zeros->count) { /* does it turn back so near to zero between two? */
        const double x = 0.5 * (zeros->at[k - 1].x + zeros->at[k].x);
        zeros->near |= fabs(cheb_value(n, a, x)) <= error_at(&s, x);
    }
}
int pi_falls_through(double side, int n, const double *f, double to, int slow) {
    const double x = 2 * 0x1p-10 / to;
    double a[CHEB_MOST + 1] = {0}, slope;
    if (x > 1) return 0;
    cheb_coefficients(n, f, a);
    cheb_value_and_slope(n, a, -1, &slope);
    const double speed = side * slope;
    const double way = side * (cheb_value(n, a, x - 1) - f[0]) / x;
    /* What is left in the last coefficients, also of rounding, hides speeds. */
    const double hidden = n * n * (fabs(a[n - 1]) + fabs(a[n])), whole = side * (f[n] - f[0]);
    for (double y = x; fabs(speed) <= hidden && y <= 2; y *= 4) { /* the first longer way tells */
        const double shift = side * (cheb_value(n, a, y - 1) - f[0]);
        if (fabs(shift) > 4 * hidden) return shift > 0;
    }
    if (fabs(speed) <= hidden) return whole > 4 * hidden;
    if (speed >= -0x1p-20 * way && way > 0 && !(speed > 0.5 * way)) return 1;
    return (slow > 0 || speed > 0) && 8 * fabs(speed) < whole ? slow : 0;
}
/* Through five points, c_0 + ... + c_4 x^4: its even part has x^2 = 0, 1 / 2, 1. */
void pi_quartic(const double *f, double *c) {
    const double one = 0.5 * (f[4] + f[0]) - f[2], half = 0.5 * (f[3] + f[1]) - f[2];
    const double odd = 0.5 * (f[4] - f[0]);
    c[0] = f[2];
    c[2] = 4 * half - one, c[4] = one - c[2];
    c[3] = 2 * odd - 1.4142135623730950488 * (f[3] - f[1]), c[1] = odd - c[3];
}
void pi_find_simple_zero(const double *f, PiZeros *zeros) {
    double c[5], x = -(f[0] + f[4]) / (f[4] - f[0]), slope = 0;
    pi_quartic(f, c);
    EACH_BELOW(i, 4) { /* Newton's method: the slope varies little */
        const double value = (((c[4] * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0];
        slope = ((4 * c[4] * x + 3 * c[3]) * x + 2 * c[2]) * x + c[1];
        x = clamped(x - value / slope, -1, 1);
        if (fabs(value) <= 0x1p-27 * fabs(slope)) break; /* to its square */
    }
    zeros->count = f[0] != 0;
    zeros->near = 0;
    zeros->at[0] = (PiZero){f[4] == 0 ? 1 : x, slope, f[0] < 0};
}

/* Halves the polynomial b by de Casteljau's algorithm: b becomes its first part, and `rest` the
 * other. */
static void halve(int n, double *b, double *rest) {
    for (int k = n; k >= 0; k--) {
        rest[k] = b[n];
        for (int i = n; i > n - k; i--) b[i] = 0.5 * (b[i - 1] + b[i]);
    }
}
/* 1 / (m + 1): ratios of binomial coefficients without divisions. */
static const double inverse[] = {1,      1 / 2., 1 / 3.,  1 / 4.,  1 / 5.,  1 / 6., 1 / 7.,
                                 1 / 8., 1 / 9., 1 / 10., 1 / 11., 1 / 12., 1 / 13.};
/* The only zero of a polynomial of which c[0] and c[n] differ in sign. With u = t / (1 - t), or its
 * inverse beyond the middle, it is that of sum_m (n over m) c_m u^m: Halley's method from the zero
 * of the control polygon, and bisection where that leaves the interval. */
static double bernstein_zero(int n, const double *c, double *slope) {
    double e[PI_MAX_DEGREE + 1] = {0}, over = 1;
    int k = 0;
    while (k < n - 1 && (c[k + 1] < 0) == (c[0] < 0)) k++;
    const double first = (k + c[k] / (c[k] - c[k + 1])) / n;
    const int back = first > 0.5;
    const double *from = back ? c + n : c;
    for (int m = 0; m <= n; over *= (n - m) * inverse[m], m++, from += back ? -1 : 1)
        e[m] = over * *from;
    double lo = 0, hi = 0x1p60, u = back ? (1 - first) / first : first / (1 - first), d = 0;
    EACH_BELOW(i, 200) {
        double f = e[n], bend = 0;
        d = 0;
        for (int m = n - 1; m >= 0; m--) {
            bend = bend * u + d;
            d = d * u + f;
            f = f * u + e[m];
        }
        if (f == 0) break;
        if ((f < 0) == (e[0] < 0)) lo = u;
        else hi = u;
        const double ratio = f / d, off = ratio / (1 - ratio * bend / d), next = u - off;
        const int near = fabs(off) < 0x1p-17 * (1 + u);
        if (next > lo && next < hi) u = next;
        else if (near || hi - lo <= 0x1p-50 * hi) break;
        else u = hi < 0x1p60 ? 0.5 * (lo + hi) : 2 * u + 1;
        if (near) break; /* the cube of this is left */
    }
    const double part = u / (1 + u), rest = 1 - part;
    *slope = back ? -d : d;
    EACH_BELOW(m, n - 2) *slope *= rest;
    return back ? rest : part;
}
/* The zeros of a part from lo to hi, where the coefficients are c, after those that are found. They
 * change sign as often as the polynomial or more, also if `error` or less is added: if once, and
 * none is that small, it has one zero, and is nowhere else so near to it. */
static void isolate_bernstein(int n, double *c, double lo, double hi, double error, int direction,
                              PiZeros *to) {
    double least = c[0], most = c[0], closest = fabs(c[0]), rise = 0, fall = 0;
    int changes = 0;
    EACH_FROM(k, 1, n + 1) {
        const double step = c[k] - c[k - 1], size = fabs(c[k]);
        least = c[k] < least ? c[k] : least;
        most = c[k] > most ? c[k] : most;
        closest = size < closest ? size : closest;
        rise = step > rise ? step : rise;
        fall = step < fall ? step : fall;
        changes += (c[k] < 0) != (c[k - 1] < 0);
    }
    if (!(least <= error && most >= -error) || to->count == PI_MOST_ZEROS) return;
    if (most - least > 0x1p1000) { /* multiples of these may overflow */
        to->near = 1;
        return;
    }
    const int crosses = c[0] < 0 ? c[n] >= 0 : c[0] > 0 && c[n] <= 0;
    const int monotone = rise == 0 || fall == 0;
    const int single = monotone || (changes == 1 && closest > error);
    if (single || (least >= -error && most <= error) || hi - lo < 0x1p-45) {
        to->near |= !single && !crosses;
        if (crosses && (c[0] < 0 ? direction >= 0 : direction <= 0)) {
            double slope = n * (c[n] - c[n - 1]), x = 1;
            if (c[n] != 0 && single) x = bernstein_zero(n, c, &slope);
            add(to, lo + (hi - lo) * x, slope / (hi - lo), c[0] < 0);
        }
        return;
    }
    double rest[PI_MAX_DEGREE + 1];
    const double middle = 0.5 * (lo + hi);
    halve(n, c, rest);
    isolate_bernstein(n, c, lo, middle, error, direction, to);
    isolate_bernstein(n, rest, middle, hi, error, direction, to);
}
void pi_find_linear_zeros(const Pieces *p, int64_t lane, int quantity, int n,
                          const double *coefficients, double error, int direction, PiZeros *zeros) {
    const int64_t at = quantity * p->lanes + lane;
    double c[PI_MAX_DEGREE + 1];
    zeros->count = zeros->near = 0;
    EACH_BELOW(m, n + 1) c[m] = coefficients[m * p->lanes + lane];
    if (isnan(p->zero[at])) isolate_bernstein(n, c, 0, 1, error, direction, zeros);
    else if (c[0] < 0 ? direction >= 0 : direction <= 0)
        add(zeros, p->zero[at], p->slope[at], c[0] < 0);
}
double pi_largest_on_step(int n, const double *c, int sign, double *x) {
    double d[PI_MAX_DEGREE], best = sign * c[0], size = fabs(c[n]);
    EACH_BELOW(k, n) d[k] = sign * (c[k + 1] - c[k]), size = fmax(size, fabs(c[k]));
    PiZeros zeros;
    zeros.count = zeros.near = 0;
    isolate_bernstein(n - 1, d, 0, 1, 0x1p-46 * size, -1, &zeros);
    *x = 0;
    EACH_BELOW(j, zeros.count) {
        const double part = zeros.at[j].x, rest = 1 - part;
        double value = c[0] * rest, power = 1, over = 1;
        EACH_FROM(m, 1, n) {
            over *= (n - m + 1) * inverse[m - 1];
            power *= part;
            value = (value + over * power * c[m]) * rest;
        }
        value += power * part * c[n];
        if (sign * value > best) best = sign * value, *x = part;
    }
    return best;
}

double pi_largest_value(int n, const double *f, int sign, double known, double *x) {
    double a[CHEB_MOST + 1], d[CHEB_MOST + 1];
    int at = 0;
    EACH_FROM(i, 1, n + 1)
        if (sign * f[i] > sign * f[at]) at = i;
    const double best = sign * f[at];
    *x = cheb_point(n, at);
    /* By a parabola in the angle, where the points are equally far apart and the ends are mirrors;
     * waves that these resolve lie up to so many times as far above them. */
    const int before = at > 0 ? at - 1 : 1, after = at < n ? at + 1 : n - 1;
    const double down = best - sign * f[before], up = best - sign * f[after];
    const double steeper = down > up ? down : up, rise = down - up, both = down + up;
    if (best + 0.125 * steeper + (both > 0 ? n / 16.0 * rise * rise / both : 0) < known)
        return best; /* nor is any value between these */
    cheb_coefficients(n, f, a);
    cheb_derivative(n, a, d);
    if (at == 0 || at == n) { /* does it go on to rise, from the end? */
        const double slope = sign * cheb_value(n - 1, d, *x);
        if (at ? slope >= 0 : slope <= 0) return best;
    }
    const double lo = cheb_point(n, at > 0 ? before : 0), hi = cheb_point(n, at < n ? after : n);
    const double part = both > 0 ? 0.5 * rise / both : 0;
    const double there = zero_between(n - 1, d, lo, hi, sign < 0, *x + 0.5 * part * (hi - lo));
    const double value = sign * cheb_value(n, a, there);
    if (!(value > best)) return best;
    *x = there;
    return value;
}
