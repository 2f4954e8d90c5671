/* A lane within its step: where a quantity crosses zero, requesting one part of the step at a time;
 * dips, and further zeros, as in watching/passage.c, by successive parabolas. */
#include "zero_search.h"

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
static void ask_least(Search *s) {
    double x;
    s->part = pi_dip_next(s->run, &s->least, &x) ? x : NAN;
}
void begin_dip(Search *s, double old, double new) {
    s->doing = SEEKS_DIP;
    s->dip = NAN;
    s->part = pi_rounded(s->run, 0.5 * s->h);
    s->least = (PiDip){.x = {0, s->part, s->h},
                       .f = {fabs(old), NAN, fabs(new)},
                       .whole = s->h,
                       .tries = PI_DIP_TRIES};
}
/* |g| there, negative if it has crossed. */
void next_dip(Search *s, double there, double g) {
    const double at = s->part;
    s->part = NAN;
    if (there <= 0) {
        s->dip = at, s->g_dip = g;
        return;
    }
    if (isnan(s->least.f[1])) s->least.f[1] = there;
    else pi_dip_found(&s->least, at, there);
    ask_least(s);
}
int begin_more(Search *s) {
    s->more = NAN;
    if (!pi_search_may_pass_thrice(s->run, &s->root, s->best, &s->least)) return 0;
    s->doing = SEEKS_MORE;
    ask_least(s);
    return 1;
}
void next_more(Search *s, double g) {
    const double at = s->part, rest = pi_search_rest(&s->root, s->best, at, g);
    s->part = NAN;
    if (!pi_search_is_apart(s->run, &s->root, s->best, at)) return;
    if (rest < 0) s->more = at;
    else {
        pi_dip_found(&s->least, at, rest);
        ask_least(s);
    }
}
void begin_recrossing(Search *s, double last) {
    s->doing = RECROSSES;
    s->n_moved = 0;
    s->span = fabs(s->h) < fabs(last) ? last : s->h;
    s->part = pi_rounded(s->run, ldexp(s->span, -pi_binary_digits(s->run)));
}
void next_recrossing(Search *s, double moved) {
    s->part = NAN;
    s->moved[s->n_moved++] = moved;
    if (s->n_moved == 2 && !pi_has_speed(s->run, s->moved)) s->n_moved = 0;
    if (!(moved > 0)) s->n_moved = 0;
    if (s->n_moved == 1)
        s->part = pi_rounded(s->run, ldexp(s->span, -2 * pi_binary_digits(s->run)));
}
