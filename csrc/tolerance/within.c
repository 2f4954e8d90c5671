/* A lane within its step: where a quantity crosses zero, requesting one part of the step at a time;
 * dips, as in watching/passage.c, by successive parabolas. */
#include "within.h"

enum { MOST_PARABOLAS = 20 };

static void ask_root(Search *s) {
    double x;
    s->part = pi_search_next(s->run, &s->root, &x) ? x : NAN;
}
void begin_root(Search *s, int slot, double lo, double g_lo, double hi, double g_hi) {
    s->doing = SEEKS_ROOT;
    s->slot = slot;
    s->best = lo;
    s->root = pi_search(s->run, s->h, lo, hi, g_lo, g_hi);
    ask_root(s);
}
void next_root(Search *s, double g) {
    const double x = s->part;
    const int further = pi_search_found(&s->root, x, g);
    if (isfinite(g) && !pi_search_has_passed(&s->root, g) && fabs(x) >= fabs(s->best)) s->best = x;
    s->part = NAN;
    if (further) ask_root(s);
}
void begin_dip(Search *s, double old, double new) {
    s->doing = SEEKS_DIP;
    s->tries = MOST_PARABOLAS;
    s->dip = NAN;
    s->x[0] = 0, s->x[1] = s->part = pi_rounded(s->run, 0.5 * s->h), s->x[2] = s->h;
    s->f[0] = fabs(old), s->f[1] = NAN, s->f[2] = fabs(new);
}
/* |g| there, negative if it has crossed. */
void next_dip(Search *s, double there, double g) {
    const double at = s->part;
    s->part = NAN;
    if (there <= 0) {
        s->dip = at, s->g_dip = g;
        return;
    }
    if (isnan(s->f[1])) s->f[1] = there;
    else {
        const int side = (at - s->x[1]) * s->h > 0 ? 2 : 0;
        if (there < s->f[1]) {
            s->x[2 - side] = s->x[1], s->f[2 - side] = s->f[1];
            s->x[1] = at, s->f[1] = there;
        } else s->x[side] = at, s->f[side] = there;
    }
    const double *const x = s->x, *const f = s->f;
    const double a = (x[1] - x[0]) * (f[1] - f[2]), b = (x[1] - x[2]) * (f[1] - f[0]);
    const double next =
        pi_rounded(s->run, x[1] - 0.5 * ((x[1] - x[0]) * a - (x[1] - x[2]) * b) / (a - b));
    /* Within the bracket, and still moving; a NaN is neither. */
    if (!((next - x[0]) * (x[2] - next) > 0) || !(fabs(next - x[1]) > 1e-7 * fabs(s->h))) return;
    if (s->tries-- > 0) s->part = next;
}
