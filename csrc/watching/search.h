/* Where a quantity crosses zero: R. P. Brent's bracketing in the form of T. R. Chandrupatla (Adv.
 * Eng. Software 28, 145, 1997): inverse quadratic interpolation where it is safe, else bisection.
 */
#pragma once
#include <float.h>
#include <math.h>
#include "parts.h"

/* For a lane: a is the newest place, the zero lies between a and b; c was b or a before. Also kept
 * are both ends and the first place between them, with their values. */
typedef struct {
    double a, b, c, fa, fb, fc, least, back, part, tiny;
    double from, to, f_from, f_to, first, f_first;
    int rising, tries;
} PiSearch;

/* The crossing lies between places lo and hi of a step of length h, where it has the values f_lo,
 * and f_hi on the other side or zero. */
static inline PiSearch pi_search(const PiRun *run, double h, double lo, double hi, double f_lo,
                                 double f_hi) {
    PiSearch s = {.a = hi, .b = lo, .c = lo, .fa = f_hi, .fb = f_lo, .fc = f_lo, .back = 1};
    s.tiny = (run->real_bytes == 8 ? DBL_EPSILON : FLT_EPSILON) * fabs(h);
    s.least = 0.5 * s.tiny / fabs(s.a - s.b);
    s.part = fmin(fmax(s.fa / (s.fa - s.fb), s.least), 0.5 + 0.5 * (1 - s.least)); /* the chord's */
    s.rising = f_lo < 0;
    s.from = lo, s.to = hi, s.f_from = f_lo, s.f_to = f_hi, s.first = NAN;
    return s;
}
/* The next place to evaluate; 0: the search is over. */
static inline int pi_search_next(const PiRun *run, PiSearch *s, double *x) {
    *x = pi_rounded(run, s->a + s->part * (s->b - s->a));
    /* After a jump a quantity begins near zero, and the chord's zero may be there, but not its
     * crossing. */
    if (!s->tries && *x == s->b) *x = pi_rounded(run, s->a + 0.5 * (s->b - s->a));
    return s->tries++ < 100 && *x != s->a && *x != s->b && !(fabs(s->b - s->a) <= s->tiny);
}
static inline int pi_search_has_passed(const PiSearch *s, double f) {
    return s->rising ? f >= 0 : f <= 0;
}
/* The value there; 0: it is not a number, and the search is over. */
static inline int pi_search_found(PiSearch *s, double x, double fx) {
    if (!(fabs(fx) <= DBL_MAX)) return 0;
    if (s->tries == 1) s->first = x, s->f_first = fx;
    if (pi_search_has_passed(s, fx) == pi_search_has_passed(s, s->fa)) s->c = s->a, s->fc = s->fa;
    else s->c = s->b, s->fc = s->fb, s->b = s->a, s->fb = s->fa;
    s->a = x, s->fa = fx;
    if (fabs(s->b - s->a) <= s->tiny) return 0;
    s->least = fmin(0.5, 0.5 * s->tiny / fabs(s->b - s->a));
    const double a = s->a, b = s->b, c = s->c, fa = s->fa, fb = s->fb, fc = s->fc;
    const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    s->part = 0.5;
    if (fa == 0) s->part = fmin(0.5, s->least * (s->back *= 2)); /* the side before is close */
    else if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
        s->part =
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
    s->part = fmin(fmax(s->part, s->least), fmax(0.5, 1 - s->least));
    return 1;
}

/* Does a quantity keep its new sign after a jump at its zero, as after an impulse at a time or a
 * place? Then it is on the other side at once, and moves in proportion to the time: `moved` are its
 * changes in 2^-digits and 2^-2 digits of the step. A bounce reverses it; a body coming to rest has
 * no speed, and moves with the square of the time. */
static inline int pi_binary_digits(const PiRun *run) { return run->real_bytes == 8 ? 10 : 3; }
static inline int pi_has_speed(const PiRun *run, const double *moved) {
    return ldexp(moved[1], pi_binary_digits(run)) > 0.5 * moved[0];
}

/* The minimum of a quantity between two places where it is positive, by successive parabolas
 * through three points each. */
enum { PI_DIP_TRIES = 20 };
typedef struct {
    double x[3], f[3], whole;
    int tries;
} PiDip;
/* The next place to evaluate; 0: the search is over. */
static inline int pi_dip_next(const PiRun *run, PiDip *d, double *next) {
    const double *const x = d->x, *const f = d->f;
    const double p = (x[1] - x[0]) * (f[1] - f[2]), q = (x[1] - x[2]) * (f[1] - f[0]);
    *next = pi_rounded(run, x[1] - 0.5 * ((x[1] - x[0]) * p - (x[1] - x[2]) * q) / (p - q));
    /* Inside the bracket, and still moving; a NaN is neither. */
    return (*next - x[0]) * (x[2] - *next) > 0 && fabs(*next - x[1]) > 1e-7 * fabs(d->whole) &&
           d->tries-- > 0;
}
/* The value there. */
static inline void pi_dip_found(PiDip *d, double next, double there) {
    const int side = (next - d->x[1]) * d->whole > 0 ? 2 : 0;
    if (there < d->f[1]) {
        d->x[2 - side] = d->x[1], d->f[2 - side] = d->f[1];
        d->x[1] = next, d->f[1] = there;
    } else d->x[side] = next, d->f[side] = there;
}

/* ---- three zeros ------------------------------------------------------------------------------
 * With the zero at `root` divided out, f / (x - root) has one sign, here made positive, unless f
 * has two more zeros between the ends. Near the root this is rounding error. */
static inline double pi_search_rest(const PiSearch *s, double root, double x, double f) {
    return (s->to > s->from) == s->rising ? f / (x - root) : -f / (x - root);
}
static inline int pi_search_is_apart(const PiRun *run, const PiSearch *s, double root, double x) {
    return fabs(x - root) > ldexp(fabs(s->to - s->from), run->real_bytes == 8 ? -13 : -6);
}
/* Does the parabola through this quotient at both ends and at the first place, the zero of the
 * chord, become negative between them? Then *dip searches for its minimum. (If the first place is
 * at the root, the quantity is nearly a straight line.) */
static inline int pi_search_may_pass_thrice(const PiRun *run, const PiSearch *s, double root,
                                            PiDip *dip) {
    const double whole = s->to - s->from, *const x = dip->x, *const f = dip->f;
    *dip = (PiDip){.x = {s->from, s->first, s->to},
                   .f = {pi_search_rest(s, root, s->from, s->f_from),
                         pi_search_rest(s, root, s->first, s->f_first),
                         pi_search_rest(s, root, s->to, s->f_to)},
                   .whole = whole,
                   .tries = PI_DIP_TRIES};
    const double before = (f[1] - f[0]) / (x[1] - x[0]), after = (f[2] - f[1]) / (x[2] - x[1]);
    const double bend = (after - before) / whole, slope = before + bend * (x[1] - x[0]);
    return pi_search_is_apart(run, s, root, s->first) && f[0] > 0 && f[2] > 0 && bend > 0 &&
           4 * bend * f[1] <= slope * slope;
}
