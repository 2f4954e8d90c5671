/* A lane within a step: see passage.h. Location: R. P. Brent's bracketing in the form of
 * T. R. Chandrupatla (Adv. Eng. Software 28, 145, 1997): inverse quadratic interpolation where it
 * is safe, else halving. */
#include "passage.h"
#include <float.h>
#include <math.h>

void copy_moment(const Lane *l, const Moment *from, Moment *to) {
    memcpy(to->y, from->y, rows(l) * sizeof *to->y);
    memcpy(to->g, from->g, l->e->count * sizeof *to->g);
    to->passed = from->passed;
}
/* The time of a moment, as solutions tell times. */
double time_of(const Lane *l, double passed) {
    const double end = pi_watch_time(&l->e->watch, l->lane, l->n);
    if (passed == l->h) return end;
    return pi_watch_time(&l->e->watch, l->lane, l->n - 1) + passed;
}
int quantities_at(const Lane *l, Moment *m) {
    return pi_watch_ask(&l->look, l->n, time_of(l, m->passed), m->y, m->g);
}

/* A step of length h from a moment, or the whole step from its beginning. */
int make_step(Lane *l, const Moment *from, double h, Moment *to) {
    const PiRun *run = l->run;
    const int64_t width = run->vector_bytes / run->real_bytes;
    /* A part of a step begins without what is carried: who takes a lane up does not know it. */
    const int known = from->passed == 0 && h == l->h ? rows(l) : dim(l);
    for (int d = 0; d < rows(l); d++)
        for (int64_t i = 0; i < width; i++)
            set_real(run, l->in, d * width + i, d < known ? from->y[d] : 0);
    PiTile tile = *l->tile;
    const double t0 = real_at(run, tile.t0.data, tile.t0.stride * l->lane);
    double t_double, h_double = h;
    float t_float, h_float = (float)h;
    const int narrow = run->real_bytes == 4;
    t_float = fmaf((float)(l->n - 1), (float)l->h, (float)t0);
    t_double = fma((double)(l->n - 1), l->h, t0);
    if (from->passed != 0) {
        t_float += (float)from->passed;
        t_double += from->passed;
    }
    tile.registers = 1;
    tile.in = l->in;
    tile.out = l->out;
    tile.in_stride = tile.out_stride = width;
    tile.record = NULL;
    tile.stream = 0;
    tile.lane = 0;
    tile.t0 = (PiRow){narrow ? (void *)&t_float : (void *)&t_double, 0};
    tile.h = (PiRow){narrow ? (void *)&h_float : (void *)&h_double, 0};
    tile.params = l->params;
    tile.first = 0;
    tile.steps = 1;
    tile.frozen = NULL;
    tile.status = NULL;
    if (run->kernel(&tile) < 0) return -1;
    for (int d = 0; d < rows(l); d++) to->y[d] = real_at(run, l->out, d * width);
    to->passed = rounded(run, from->passed + h);
    return 0;
}

/* ---- crossings ------------------------------------------------------------------------------- */
static int crossing(const PiEvent *e, double before, double after) {
    return (e->direction >= 0 && before < 0 && after >= 0) ||
           (e->direction <= 0 && before > 0 && after <= 0);
}
/* Does the parabola through three steps say that g may pass zero and come back in the last? The
 * operations of the program that looks at all lanes (events.py). */
int may_dip(double last, double old, double new) {
    const double fall = new - last, bend = new - 2.0 * old + last;
    return old * new > 0 && fall * old < 0 && (2.0 * bend + fall) * old > 0 &&
           bend * (6.0 * old - 2.0 * new) <= fall * fall;
}
/* |g| of event j, with a sign where it has crossed, after a part of the step, in l->dip. 0, or -1.
 */
static int distance(Lane *l, int j, double part, double *to) {
    if (make_step(l, &l->before, part, &l->dip) || quantities_at(l, &l->dip)) return -1;
    *to = l->before.g[j] > 0 ? l->dip.g[j] : -l->dip.g[j];
    return 0;
}
/* A moment at which event j has crossed zero, though it has not before and after: 1, in l->dip; 0
 * if there is none; or -1. The least |g| by successive parabolas, each through three points. */
static int find_dip(Lane *l, int j) {
    const double whole = rounded(l->run, l->h - l->before.passed);
    double x[3] = {0, rounded(l->run, 0.5 * whole), whole}, f[3], next = x[1], there;
    f[0] = fabs(l->before.g[j]);
    f[2] = fabs(l->after.g[j]);
    if (distance(l, j, x[1], &f[1])) return -1;
    if (f[1] <= 0) return 1;
    for (int i = 0; i < 20; i++) {
        const double p = (x[1] - x[0]) * (f[1] - f[2]), q = (x[1] - x[2]) * (f[1] - f[0]);
        const double shift = 0.5 * ((x[1] - x[0]) * p - (x[1] - x[2]) * q) / (p - q);
        next = rounded(l->run, x[1] - shift);
        /* Within the bracket, and still moving; a NaN is neither. */
        if (!((next - x[0]) * (x[2] - next) > 0)) return 0;
        if (!(fabs(next - x[1]) > 1e-7 * fabs(whole))) return 0;
        if (distance(l, j, next, &there)) return -1;
        if (there <= 0) return 1;
        const int side = (next - x[1]) * whole > 0 ? 2 : 0;
        if (there < f[1]) {
            x[2 - side] = x[1], f[2 - side] = f[1];
            x[1] = next, f[1] = there;
        } else x[side] = next, f[side] = there;
    }
    return 0;
}
/* Where event j crosses zero next: from *lo to *hi, the whole step or the half before or after a
 * dip, as the result says. */
int crossing_of(Lane *l, int j, int done, int dips, const Moment **lo, const Moment **hi) {
    const PiEvent *e = &l->e->event[j];
    const double b = l->before.g[j], a = l->after.g[j];
    *lo = &l->before;
    *hi = &l->after;
    if (crossing(e, b, a)) return done ? NOWHERE : WHOLE;
    if (!dips || done >= SECOND || !e->located || !((b > 0 && a > 0) || (b < 0 && a < 0)))
        return NOWHERE;
    const int found = find_dip(l, j);
    if (found <= 0) return found;
    const double dip = l->dip.g[j];
    if (!done && crossing(e, b, dip)) {
        *hi = &l->dip;
        return FIRST;
    }
    /* Exactly zero at the extreme: it touches, and comes back from the side of before. */
    if (!crossing(e, dip, a)) return NOWHERE;
    *lo = &l->dip;
    return SECOND;
}
/* The last moment before event j, in l->best; 0, or -1. The crossing lies between lo and hi. */
int locate(Lane *l, int j, const Moment *lo, const Moment *hi) {
    const double tiny = (l->run->real_bytes == 8 ? DBL_EPSILON : FLT_EPSILON) * fabs(l->h);
    double a = rounded(l->run, hi->passed - l->before.passed);
    double b = rounded(l->run, lo->passed - l->before.passed), c = b;
    double fa = hi->g[j], fb = lo->g[j], fc = fb;
    double least = 0.5 * tiny / fabs(a - b), back = 1;
    double part = fmin(fmax(fa / (fa - fb), least), 0.5 + 0.5 * (1 - least)); /* the chord's root */
    const int rising = fb < 0;
    if (!l->e->event[j].located) {
        copy_moment(l, hi, &l->best);
        return 0;
    }
    copy_moment(l, lo, &l->best);
    for (int i = 0; i < 100; i++) {
        const double x = rounded(l->run, a + part * (b - a));
        if (x == a || x == b) break;
        if (make_step(l, &l->before, x, &l->trial) || quantities_at(l, &l->trial)) return -1;
        const double fx = l->trial.g[j];
        if (!(fabs(fx) <= DBL_MAX)) break;
        const int crossed = rising ? fx >= 0 : fx <= 0, end = rising ? fa >= 0 : fa <= 0;
        if (!crossed && fabs(l->trial.passed) >= fabs(l->best.passed))
            copy_moment(l, &l->trial, &l->best);
        if (crossed == end) c = a, fc = fa;
        else c = b, fc = fb, b = a, fb = fa;
        a = x, fa = fx;
        if (fabs(b - a) <= tiny) break;
        least = fmin(0.5, 0.5 * tiny / fabs(b - a));
        const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
        part = 0.5;
        if (fa == 0) part = fmin(0.5, least * (back *= 2)); /* the side before is close */
        else if (phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)
            part = fa / (fb - fa) * fc / (fb - fc) +
                   (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
        part = fmin(fmax(part, least), fmax(0.5, 1 - least));
    }
    return 0;
}
