/* Which event of a step is located next: see event_order.h. */
#include "event_order.h"

int is_begun(const PiStepObserver *p, int64_t id, int j) {
    return !p->of->event[j].located && known(p, id)[p->of->count + j] == JUST_BEGUN;
}
/* The parabola through the last three steps, which differ in length, extrapolated back to where the
 * first of three equal steps would be: may it cross zero and return? */
static int dips(const PiStepObserver *p, const Search *s, int64_t id, double old, double new) {
    const double last = known(p, id)[p->of->count + s->j], r = last_step(p, id)[LAST_STEP] / s->h;
    if (!isfinite(last)) return 0;
    const double bend = ((last - old) / r + (new - old)) / (1 + r);
    return may_dip(2 * old - new + 2 * bend, old, new);
}

int is_short(const PiStepObserver *p, const Search *s, int64_t id, double part) {
    return fabs(part) <= ldexp(fabs(last_step(p, id)[LAST_STEP]), -2 * pi_binary_digits(s->run));
}

void choose_event(const PiStepObserver *p, int64_t i) {
    Search *s = &p->search[i];
    const double *found = p->found + i * 2 * p->of->count;
    s->slot = 0;
    for (int k = 1; k < 2 * p->of->count; k++)
        if (fabs(found[k]) < fabs(found[s->slot]) ||
            (found[k] == 0 && !p->of->event[k / 2].located))
            s->slot = k;
    s->doing = fabs(found[s->slot]) < INFINITY ? HAPPENS : RESTS;
    s->part = s->doing == HAPPENS ? found[s->slot] : 0;
}
void next_search(const PiStepObserver *p, int64_t i, int64_t id) {
    Search *s = &p->search[i];
    const double *const old = known(p, id), *const new = p->g + i * p->of->count;
    while (++s->j < p->of->count) {
        const PiEvent *e = &p->of->event[s->j];
        const double b = old[s->j], a = new[s->j];
        const int again = e->located && old[p->of->count + s->j] == JUST_JUMPED;
        if (is_begun(p, id, s->j)) p->found[i * 2 * p->of->count + 2 * s->j] = 0;
        else if (crosses(e, b, a) && !e->located) p->found[i * 2 * p->of->count + 2 * s->j] = s->h;
        else if (again && (crosses(e, b, a) || is_short(p, s, id, s->h)))
            begin_recrossing(s, last_step(p, id)[LAST_STEP]);
        else if (crosses(e, b, a)) begin_root(s, 2 * s->j, 0, b, s->h, a);
        else if (e->located && a * b > 0 && dips(p, s, id, b, a)) begin_dip(s, b, a);
        else continue;
        if (e->located) return;
    }
    choose_event(p, i);
}
void end_search(const PiStepObserver *p, int64_t i, int64_t id) {
    Search *s = &p->search[i];
    const PiEvent *e = &p->of->event[s->j];
    const double old = known(p, id)[s->j], new = p->g[i * p->of->count + s->j];
    const int first = 2 * s->j;
    if (s->doing == RECROSSES && !s->n_moved && crosses(e, old, new)) {
        begin_root(s, first, 0, old, s->h, new);
        return;
    }
    if (s->doing == RECROSSES && s->n_moved) {
        known(p, id)[s->j] = 0;
        if (old * new > 0) p->g[i * p->of->count + s->j] = 0; /* not yet, but too close to decide */
    }
    if (s->doing == SEEKS_ROOT) {
        p->found[i * 2 * p->of->count + s->slot] = s->best;
        if (begin_more(s)) return;
    }
    if (s->doing == SEEKS_MORE) p->more[i * 2 * p->of->count + s->slot] = s->more;
    const int dipped = s->doing == SEEKS_DIP && !isnan(s->dip);
    if (dipped && crosses(e, old, s->g_dip)) {
        begin_root(s, first, 0, old, s->dip, s->g_dip);
        return;
    }
    const int before = s->doing == SEEKS_ROOT || s->doing == SEEKS_MORE;
    const int after = dipped || (before && s->slot == first && !isnan(s->dip));
    if (after && crosses(e, s->g_dip, new)) {
        begin_root(s, first + 1, s->dip, s->g_dip, s->h, new);
        return;
    }
    s->dip = NAN;
    next_search(p, i, id);
}
