/* Where a quantity crosses zero: R. P. Brent's bracketing in the form of T. R. Chandrupatla (Adv.
 * Eng. Software 28, 145, 1997): inverse quadratic interpolation where it is safe, else bisection.
 */
#pragma once
#include <float.h>
#include <math.h>
#include "parts.h"

/* For a lane: a is the newest place, the zero lies between a and b; c was b or a before. */
typedef struct {
    double a, b, c, fa, fb, fc, least, back, part, tiny;
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
