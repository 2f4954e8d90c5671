/* Forces of several branches. Such a system answers PI_INVARIANTS by a number that changes where
 * its force takes another branch, then by the borders' own numbers, each zero on its border. They
 * are asked for at the places of a step: its ends, and those of its stages that count.
 *
 * A step has crossed a border if its places are not all on one branch. If they are it may yet have
 * paid a visit to the other side between two of them: with values a, b of a border there, and m in
 * the middle, of the polynomial through the nearest places, the parabola through the three has
 *
 *     bend = a + b - 2 m,   slope = |b - a| / 2,
 *     least value = min(a, b) - bend (1 - slope / bend)^2 / 2  if slope < bend.
 *
 * What passes two borders between two places may have been on a third branch there. Where a step
 * across is rejected, the place of the first border, by secants through a, m and b, tells how far
 * steps may go. */
#pragma once
#include "lanes.h"

/* The tolerance of a component, never exactly 0, so that a zero error passes; that of entry i of
 * the state, which belongs to register u. */
INLINE vreal tolerance(vreal rtol, vreal size, vreal atol) {
    return vfma(rtol, size, atol) + REAL_MIN_NORMAL;
}
INLINE vreal tolerance_of(const Lanes *l, int64_t i, int64_t u, vreal size) {
    return tolerance(limit_of(l, OWN_RTOL, l->solve->n_rtol, i, u), size,
                     limit_of(l, OWN_ATOL, l->solve->n_atol, i, u));
}

static vreal *sides_at(const Lanes *l, int place) {
    return l->sides + place * l->solve->system->n_invariants * l->c.R;
}
/* Notes the branch of each lane at a place, a part of the step. Place 0: the start if y is c->y,
 * or else a stage whose borders are not kept, perhaps one at the time of the start. */
static void note_branches(Lanes *l, int place, double part, const vreal *y) {
    Chunk *c = &l->c;
    const PiPair *m = l->pair;
    if (!m->branches) return;
    const int start = y == c->y;
    const vreal *first = sides_at(l, 0);
    vreal *here = sides_at(l, start || place ? place : m->places);
    ask(c, PI_INVARIANTS, times(c, 0, part), y, y + c->dof * c->R, here);
    EACH_REGISTER(u, c) l->crossed[u] = start ? vset_int(0) : l->crossed[u] | (here[u] != first[u]);
}
/* Times so close that a step between them is lost: |h| of a few rounding units of t. */
INLINE vint too_small(vreal h, vreal t) {
    const vreal least = vabs(t) * vset(4 * (REAL_MAX == FLT_MAX ? FLT_EPSILON : DBL_EPSILON));
    return (vabs(h) <= least) | (vabs(h) < REAL_MIN_NORMAL);
}

/* Steps that may have paid a visit: they are made again at half the length, until they are short
 * beside the longest that was tried lately. What the polynomial misses is counted by a larger
 * parabola, and more of it where one border is passed: another may have a kink there, or a jump,
 * as that of t % P < d has where a period begins, across which a polynomial may bend either way. */
#define BROADER   REAL(2.0)
#define KINKED    REAL(8.0)
#define DEEPER    REAL(2.0)
#define SHORTEST  REAL(0x1p-15)
#define FORGETS   REAL(0.97)
#define NO_BORDER REAL(2.0)
INLINE vint visits_in_register(const Lanes *l, int64_t u, const int nearest, vint moving,
                               vreal *border) {
    const PiPair *m = l->pair;
    const int n = l->solve->system->n_invariants;
    const int64_t R = l->c.R, next = n * R;
    vint visits = {0}, passed = {0};
    for (int i = 0; i + 1 < m->places; i++) {
        const vreal *here = sides_at(l, i) + u, *near = sides_at(l, m->nearest[i]) + u;
        const vint across = here[0] != here[next];
        const vreal broader = vselect(across, vset(1 + KINKED), vset(1 + BROADER));
        if (!m->chord) passed = vset_int(0); /* whose ends alone tell that a step has crossed */
        for (int64_t g = R; g < next; g += R) {
            const vreal side = vcopysign(vone, here[g] + here[g + next]);
            const vreal a = side * here[g], b = side * here[g + next], least = vmin(a, b);
            vreal middle = vzero;
            EACH(j, nearest) middle = vfma(vset(m->middle[i][j]), near[g + j * next], middle);
            vreal bend = vfma(side * -2, middle, a + b);
            TAKE(bend, across, vabs(bend));
            const vreal inside = vfma(broader, bend, vset(-0.5) * vabs(b - a));
            visits |= (moving | across) & (inside > 0) & (least >= 0) &
                      (least * bend < DEEPER / 2 * inside * inside);
            const vint passes = (least <= 0) & (a != b); /* or has at one of them */
            visits |= passed & passes;
            passed |= passes;
            if (!vany(passes)) continue;
            const vint early = (middle < 0) != (here[g] < 0);
            const vreal from = vselect(early, here[g], middle);
            const vreal to = vselect(early, middle, here[g + next]);
            const vreal halves = vselect(early, vzero, vone) + from / (from - to);
            const real half = (m->place[i + 1] - m->place[i]) / 2;
            const vreal at = vfma(vset(half), halves, vset(m->place[i]));
            TAKE(*border, passes & (at < *border), at);
        }
    }
    return visits;
}
/* With Radau's method a component that has decayed, in ever longer steps, needs no look, unless
 * time leads over a border. */
static vint moves(const Lanes *l, int64_t u) {
    const Chunk *c = &l->c;
    const vreal *scale = l->radau.scale;
    vint yes = {0};
    if (!l->pair->radau) return ~yes;
    EACH_IN_COLUMN(i, u, c->dim, c) yes |= vabs(l->yn[i] - c->y[i]) * scale[i] > 1;
    return yes;
}
static void find_visits(Lanes *l) {
    const Chunk *c = &l->c;
    const int places = l->pair->places;
    EACH_REGISTER(u, c) {
        const vreal h = vabs(c->h[u]);
        vreal *longest = l->longest_tried + u;
        *longest = vmax(FORGETS * *longest, h);
        const vint moving = moves(l, u);
        vint may = (h > SHORTEST * *longest) & ~too_small(h / 4, c->t0[u]);
        if (!c->tile->system->time_dependent) may &= moving;
        l->visits[u] = vset_int(0);
        l->border[u] = vset(NO_BORDER);
        if (!vany(may | l->crossed[u])) continue;
        const int all = places > 3;
        l->visits[u] = may & (all ? visits_in_register(l, u, PI_NEAREST, moving, &l->border[u])
                                  : visits_in_register(l, u, places, moving, &l->border[u]));
    }
}
/* The next step. A rejected step across a border is followed by one that ends shortly before it,
 * then by steps twice as long as the rest of the way, until one is accepted; behind the border the
 * steps are soon as long as they were. further: the step that is planned by the error of the step
 * h, accepted or not. */
#define SHORT_OF  REAL(0.01)
#define PAST      REAL(2.2)    /* the border lies at no usual place of a stage */
#define AS_BEFORE REAL(0.0625) /* a part, for the estimate may miss what is fast there */
INLINE vreal up_to_border(const Lanes *l, int64_t u, vint accepted, vint rejected, vreal further) {
    const Chunk *c = &l->c;
    const vreal h = c->h[u], t = c->t0[u], at = l->border[u];
    vreal *left = l->to_border + u, *error = l->error + u;
    const vreal before = h * vselect(at > 2 * SHORT_OF, at - SHORT_OF, 0.5 * at);
    const vint located = rejected & (at > 0) & (at < 1) & ~too_small(before, t);
    const vint passed = accepted & (*left * h != 0) & (vabs(h) >= vabs(*left));
    TAKE(*left, accepted, vselect(passed, vzero, vselect(*left == 0, *left, *left - h)));
    TAKE(*left, located, h * at);
    const vint near =
        accepted & (*left != 0) & (PAST * vabs(*left) < vabs(further)) & ~too_small(*left, t);
    further = vselect(located, before, vselect(near, PAST * *left, further));
    const vint behind = passed & l->crossed[u];
    const vreal usual = AS_BEFORE * l->longest_tried[u];
    TAKE(*error, behind, vset(NO_ERROR_YET));
    return vselect(behind & (usual > vabs(further)), vcopysign(usual, further), further);
}
/* Lanes that slide along the border of two branches leave: the force drives them back from both
 * sides. At the end of a step across, the slope there leads back over the border, within AHEAD
 * steps even if the forces are very unequal, and a step backwards along it crosses no border; if a
 * motion passes the border, it does. What has decayed about a border, to less than LEAST of its
 * tolerance, does not slide: an explicit pair, whose steps are held up there, leaves it to another
 * method that may follow. */
enum { MOST_RETURNS = 25, AHEAD = 1024 };
#define LEAST REAL(0x1p-20)
static void sliding_lanes_leave(Lanes *l) {
    Chunk *c = &l->c;
    const PiSolve *s = l->solve;
    const int64_t R = c->R;
    vint any = {0};
    EACH_REGISTER(u, c) any |= l->accepted[u] & l->crossed[u];
    if (!vany(any)) return;
    const int end = s->pair.places - 1, may_leave = s->decay > 0 && !s->pair.radau;
    vreal *slope = l->between, *other = l->ys, *branch = sides_at(l, end + 1);
    copy_rows(c, 1, l->tn, c->t);
    rhs_rows(c, c->t, l->yn, slope);
    vreal *behind = slope, *before = sides_at(l, end + 2);
    EACH_ENTRY(i, c->dim, c) {
        const vreal way = c->h[i % R] * slope[i];
        other[i] = vfma(vset(AHEAD), way, l->yn[i]);
        behind[i] = l->yn[i] - way;
    }
    ask(c, PI_INVARIANTS, c->t, other, other + c->dof * R, branch);
    ask(c, PI_INVARIANTS, c->t, behind, behind + c->dof * R, before);
    EACH_ENTRY(i, c->dim, c) { /* by a tolerance; those of tangents are infinite */
        const vreal by = tolerance_of(l, i, i % R, vabs(l->yn[i]));
        other[i] = l->yn[i] + vselect(by <= REAL_MAX, by, vzero);
    }
    vreal *near = sides_at(l, end + 3);
    ask(c, PI_INVARIANTS, c->t, other, other + c->dof * R, near);
    EACH_REGISTER(u, c) {
        vint *often = l->returns + u;
        const vreal *here = sides_at(l, end) + u;
        const vint returns = (branch[u] != here[0]) & (before[u] == here[0]);
        const vint crosses = l->accepted[u] & l->crossed[u];
        vint far = {0};
        for (int64_t g = R; g < s->system->n_invariants * R; g += R)
            far |= ~(vabs(branch[u + g] - here[g]) <= LEAST * vabs(near[u + g] - here[g]));
        TAKE(*often, crosses, (*often - returns) & returns);
        const vint slides = crosses & (*often >= MOST_RETURNS) & ~l->leaves[u];
        const vint why =
            vselect_int(far, vset_int(PI_STEP_TOO_SMALL), vset_int(PI_LEFT_TO_ANOTHER));
        const vint leaves = may_leave ? slides : slides & far;
        TAKE(l->code[u], leaves, why);
        l->leaves[u] |= leaves;
    }
}
