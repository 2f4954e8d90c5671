/* One trial step of every lane of a chunk, by its own h from its own t, and its error estimate.
 *
 *   k_s = f(t + c_s h, y + h sum_j a_sj k_j),   y' = y + h sum_s b_s k_s,
 *   error = h sum_s (b_s - b*_s) k_s
 *
 * and on x'' = a(t, x) the same in Nystrom form, or a Nystrom pair, as in rows/explicit_rk.h. */
#pragma once
#include "../rows/implicit_rk.h"
#include "../rows/rosenbrock.h"
#include "branches.h"
#include "powers.h"

/* Some components of some registers are processed together: their sums are independent, and a
 * weight is loaded once for all. IN_PATCHES(f, l, ...) is f(l, ..., d, u, components, registers)
 * for all components of a slope and all registers. */
enum { MOST_PARTS = 2, MOST_ABREAST = 4 };
#define OVER_REGISTERS(f, l, d, parts, ...)                                                        \
    do {                                                                                           \
        int64_t u = 0;                                                                             \
        for (; u + 4 <= (l)->c.R; u += 4) f(l, __VA_ARGS__, d, u, parts, 4);                       \
        for (; u + 2 <= (l)->c.R; u += 2) f(l, __VA_ARGS__, d, u, parts, 2);                       \
        for (; u < (l)->c.R; u++) f(l, __VA_ARGS__, d, u, parts, 1);                               \
    } while (0)
#define IN_PATCHES(f, l, ...)                                                                      \
    do {                                                                                           \
        int d = 0;                                                                                 \
        for (; d + 2 <= (l)->n; d += 2) OVER_REGISTERS(f, l, d, 2, __VA_ARGS__);                   \
        for (; d < (l)->n; d++) OVER_REGISTERS(f, l, d, 1, __VA_ARGS__);                           \
    } while (0)

/* In one register: a multiply-add with base plus index addressing is two operations on some
 * machines.
 */
#define PLAIN_POINTER(p) __asm__("" : "+r"(p))

typedef vreal Patch[MOST_PARTS][MOST_ABREAST];
/* sum_j weight_j k_j of components d, d + 1, ..., registers u, u + 1, ... */
INLINE void weigh(const Lanes *l, int row, int64_t d, int64_t u, int parts, int count, Patch sum) {
    const PiPair *m = l->pair;
    const int from = m->start[row], to = m->start[row + 1];
    const int64_t R = l->c.R, here = d * R + u;
    EACH(e, parts)
        EACH(i, count) sum[e][i] = vzero;
    EACH_FROM(j, from, to) {
        const vreal w = vset(l->w[j]), *at = l->slope[j] + here;
        EACH(e, parts) {
            PLAIN_POINTER(at);
            EACH(i, count) sum[e][i] = vfma(w, at[i], sum[e][i]);
            at += R;
        }
    }
}
/* The state of a stage by its row, at a part of the step. */
INLINE void stage_some(const Lanes *l, int row, double at, const int nystrom, int d, int64_t u,
                       int parts, int count) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, to_v = c->dof * R;
    const vreal part = vset(at);
    const vreal *h = c->h + u;
    Patch sum;
    weigh(l, row, d, u, parts, count, sum);
    EACH(e, parts)
        EACH(i, count) {
            const vreal *y = c->y + (d + e) * R + u + i;
            l->ys[(d + e) * R + u + i] =
                nystrom ? vfma(h[i] * h[i], sum[e][i], vfma(part * h[i], y[to_v], *y))
                        : vfma(h[i], sum[e][i], *y);
        }
}
/* The slope at the state of a stage, or at `state` if that is known. */
static void slope_of(Lanes *l, int row, double part, const vreal *state, vreal *k) {
    Chunk *c = &l->c;
    const int nystrom = l->pair->nystrom;
    if (!state && nystrom) IN_PATCHES(stage_some, l, row, part, 1);
    else if (!state) IN_PATCHES(stage_some, l, row, part, 0);
    const vreal *t = times(c, 0, part), *at = state ? state : l->ys;
    if (nystrom) ask(c, PI_ACCELERATION, t, at, c->y + c->dof * c->R, k);
    else rhs_rows(c, t, at, k);
}
/* Slopes of the stages from `first` on; the first is at the state itself. */
static void slopes(Lanes *l, int first) {
    const PiPair *m = l->pair;
    for (int s = first; s < m->stages && !l->c.stopped; s++) {
        slope_of(l, s, m->c[s], s ? NULL : l->c.y, l->k + s * l->n * l->c.R);
        if (s && m->counts >> s & 1) note_branches(l, m->place_of[s], m->c[s], l->ys);
    }
}

/* Slopes of an implicit pair, by Newton's method: lanes without a trajectory are skipped, and
 * those that do not converge get slopes that are not numbers, so that their step is rejected. For
 * a Rosenbrock method its u / h, with one factorisation. */
static void implicit_slopes(Lanes *l) {
    Chunk *c = &l->c;
    const PiSolve *s = l->solve;
    EACH_REGISTER(u, c) {
        c->code[u] = vset_int(0);
        l->idle[u] = ~l->active[u];
    }
    c->frozen = l->idle;
    if (s->implicit->family == PI_ROSENBROCK) rosenbrock_stages(c, s->implicit, 0, l->k);
    else implicit_stages(c, s->implicit, &s->table, 0, l->k);
    EACH_BELOW(i, s->pair.stages * l->n * c->R) l->k[i] /= c->h[i % c->R];
}
/* The sums of the slopes with the weights of row PI_STEP, PI_ERROR or PI_ERROR2. */
INLINE void sum_some(const Lanes *l, int row, vreal *to, int d, int64_t u, int parts, int count) {
    Patch sum;
    weigh(l, l->pair->stages + row, d, u, parts, count, sum);
    EACH(e, parts)
        EACH(i, count) to[(d + e) * l->c.R + u + i] = sum[e][i];
}
/* How exactly the equations of Radau's method are solved. */
static void radau_tolerances(Lanes *l) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, all = c->dim * R;
    const Radau *r = &l->radau;
    EACH_REGISTER(u, c) {
        vreal least = vone;
        for (int64_t i = u; i < all; i += R) {
            const vreal rtol = limit_of(l, OWN_RTOL, l->solve->n_rtol, i, u);
            TAKE(least, rtol > 0, vmin(rtol, least)); /* 0: tangents */
            r->scale[i] = 1 / tolerance_of(l, i, u, vabs(c->y[i]));
        }
        const vreal enough = vmin(vsqrt(least), vset(RADAU_MOST_LEFT));
        r->exact[u] = 10 * EPSILON / least;
        r->enough[u] = vmax(r->exact[u], enough);
    }
}
/* The trial steps of Radau's method, with the sums z_3 / h and estimate / h. */
static void radau_trial(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t R = c->R, all = c->dim * R;
    const Radau *r = &l->radau;
    radau_tolerances(l);
    EACH_REGISTER(u, c) r->again[u] = (l->growth[u] == 0) | (l->error[u] == NO_ERROR_YET);
    radau_step(c, r, l->active);
    for (int s = 0; l->pair->branches && s < l->pair->stages - 1 && !c->stopped; s++) {
        EACH_BELOW(i, all) l->ys[i] = c->y[i] + r->z[s * all + i];
        note_branches(l, l->pair->place_of[s], r->c[s], l->ys);
    }
    EACH_BELOW(i, all) {
        l->sums[i] = r->z[2 * all + i] / c->h[i % R];
        l->sums[all + i] = r->error[i] / c->h[i % R];
    }
}
/* Shortened steps of Radau's method, for lanes that request them. */
static void radau_parts_of_steps(Lanes *l) {
    const int64_t all = l->c.dim * l->c.R;
    vreal *z = l->radau.parts_z;
    radau_shorter(&l->c, &l->radau, l->active, !l->shortened, z);
    l->shortened = 1;
    EACH_BELOW(i, all) l->sums[i] = z[2 * all + i] / l->c.h[i % l->c.R];
}
/* A trial step of all lanes: the sums. */
static void try_steps(Lanes *l) {
    Chunk *c = &l->c;
    const PiPair *m = l->pair;
    if (l->solve->trial) {
        const PiTrialRows rows = {
            c->R, m, l->w, c->t0, c->h, c->y, c->p, l->k, l->after, l->poly ? l->k : NULL, l->sums};
        l->solve->trial(&rows);
        stops(c);
        return;
    }
    note_branches(l, 0, 0, c->y);
    if (m->radau) {
        radau_trial(l);
        return;
    }
    if (l->solve->implicit) implicit_slopes(l);
    else slopes(l, m->fsal);
    if (m->fsal) copy_rows(c, l->n, l->k + (m->stages - 1) * l->n * c->R, l->after);
    EACH_BELOW(kind, 2 + (m->combined > 0)) {
        vreal *to = l->sums + kind * c->dim * c->R;
        if (m->nystrom) {
            IN_PATCHES(sum_some, l, PI_STEP_X + kind, to);
            to += l->n * c->R;
        }
        IN_PATCHES(sum_some, l, PI_STEP + kind, to);
    }
}

/* The state after the step, y' = y + h sum b k, including earlier rounding errors. */
static void step_rows(Lanes *l) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, positions = l->pair->nystrom ? c->dof : 0, to_v = c->dof * R;
    EACH_BELOW(d, c->dim)
        EACH_REGISTER(u, c) {
            const int64_t at = d * R + u;
            const vreal h = c->h[u], rest = l->rounding[at], sum = l->sums[at];
            const vreal delta = d < positions ? vfma(h * h, sum, vfma(h, c->y[at + to_v], rest))
                                              : vfma(h, sum, rest);
            l->yn[at] = two_sum(c->y[at], delta, &l->low[at]);
        }
}

/* ---- the error ------------------------------------------------------------------------------- */
/* Sums over the components of (error / (h tolerance))^2; tolerance = atol + rtol max(|y|, |y'|). */
INLINE void errors_some(const Lanes *l, const int combined, int64_t u, int count, vreal *sum,
                        vreal *sum2) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, positions = l->pair->nystrom ? c->dof : 0, all = c->dim * R;
    EACH(i, count) sum[i] = sum2[i] = vzero;
    EACH_BELOW(d, c->dim) {
        const int64_t at = d * R + u;
        const vreal *e = l->sums + all + at;
        EACH(i, count) {
            const vreal size = vlarger(vabs(c->y[at + i]), vabs(l->yn[at + i])); /* or NaN */
            vreal inverse = 1 / tolerance_of(l, at + i, u + i, size);
            if (d < positions) inverse *= c->h[u + i];
            const vreal q = e[i] * inverse;
            sum[i] = vfma(q, q, sum[i]);
            if (!combined) continue;
            const vreal q2 = e[all + i] * inverse;
            sum2[i] = vfma(q2, q2, sum2[i]);
        }
    }
}
/* log2 of the error over the tolerance, in the root mean square of the components. Combined:
 * |h| E5^2 / sqrt(E5^2 + E3^2 / 100).  Hairer, Norsett, Wanner I, II.10. */
INLINE vreal log_error(const Lanes *l, const int combined, vreal h, vreal sum, vreal sum2) {
    const vreal dim = vlog2_rough(vset(l->c.dim)), half = vset(0.5);
    const vreal size = vlog2_rough(sum);
    if (combined != 1) return vfma(half, size - dim, vlog2_rough(h));
    const vreal both = vlog2_rough(vfma(vset(0.01), sum2, sum));
    return vlog2_rough(h) + size - half * (both + dim);
}

/* ---- the next step --------------------------------------------------------------------------- */
/* Predictive control: after two accepted steps, the error of a step of the same length is
 * assumed to change as it did between them; takes the shorter of this step and that of plain
 * control. Gustafsson (1994), ACM Trans. Math. Softw. 20, 496-517; Hairer, Wanner II, IV.8. All in
 * log2. Safety factor 0.9, ratios from 1/3 to 6, none above 1 after a rejection. */
#define HELD_UP_TO  REAL(0.26303441) /* log2 1.2 */
#define LOG_SAFETY  REAL(-0.15200309)
#define MOST_SHRINK REAL(-1.6)
#define MOST_GROWTH REAL(2.6)
#define LEAST_ERROR REAL(-13.0)
INLINE vreal control(const Lanes *l, int64_t u, vreal error, vint accepted) {
    const vreal power = vset(-1 / (real)l->pair->power), safety = vset(LOG_SAFETY);
    vreal *before = l->error + u, *trend = l->trend + u, *growth = l->growth + u;
    const vreal plain = vfma(power, error, safety);
    const vreal predicted = vfma(power, error + error - *before, *trend + safety);
    vreal good = vsmaller(plain, *growth);
    good = vsmaller(predicted, good);
    vreal factor = vselect(accepted, good, plain);
    factor = vlarger(factor, vset(MOST_SHRINK));
    if (l->pair->radau) /* a step of equal length needs no new factors */
        TAKE(factor, accepted & (factor > 0) & (factor < HELD_UP_TO), vzero);
    const vreal seen = vlarger(error, vset(LEAST_ERROR));
    TAKE(*before, accepted, seen);
    *trend = vselect(accepted, factor, *trend + factor);
    *growth = vselect(accepted, vset(MOST_GROWTH), vzero);
    return vexp2_rough(factor);
}
/* Judges the trial steps: which lanes accept them, which leave and why, and their next steps. */
INLINE void judge_some(Lanes *l, const int combined, int64_t u, int count) {
    const Chunk *c = &l->c;
    const real bound = l->solve->bound < REAL_MAX ? l->solve->bound : REAL_MAX;
    const integer most = l->solve->max_steps < INT32_MAX ? l->solve->max_steps : INT32_MAX;
    /* Lanes whose equations could not be solved have steps that are not numbers. */
    const PiMethod *m = l->solve->implicit;
    const int nowhere = m && m->family == PI_IMPLICIT_RK ? PI_NOT_CONVERGED : PI_NOT_FINITE;
    const int branches = l->pair->branches;
    const vint observed = vset_int(-(l->solver->observer != NULL));
    const real halves = (1 + LOG_SAFETY) * l->pair->power; /* the next step */
    vreal sum[4], sum2[4], error[4], would[4];
    vint finite[4], inside[4], good[4];
    errors_some(l, combined, u, count, sum, sum2);
    /* Each is a chain: in turns of a few operations those of several registers overlap. */
    EACH(i, count) {
        /* A sum that is not finite is no small error, even of a step of tiny length h. */
        error[i] = vselect(sum[i] <= REAL_MAX, log_error(l, combined, c->h[u + i], sum[i], sum2[i]),
                           vset(REAL_MAX));
    }
    EACH(i, count) {
        finite[i] = sum[i] <= REAL_MAX, inside[i] = vset_int(-1);
        EACH_BELOW(d, c->dim) {
            const vreal size = vabs(l->yn[d * c->R + u + i]);
            finite[i] &= size <= REAL_MAX;
            inside[i] &= size <= bound;
        }
    }
    EACH(i, count) {
        const int64_t at = u + i;
        const vreal h = c->h[at];
        const vint crossed = combined && branches ? l->crossed[at] : vset_int(0);
        if (combined && branches)
            TAKE(error[i], crossed, vmax(error[i], log_error(l, 0, h, sum2[i], sum2[i])));
        if (branches) TAKE(error[i], l->visits[at], vmax(error[i], vset(halves)));
        good[i] = (error[i] <= 0) & finite[i];
        /* Where the force jumps the error is proportional to h. */
        const vreal steep = vset(l->pair->power) * error[i];
        would[i] = h * control(l, at, vselect(crossed & ~good[i], steep, error[i]), good[i]);
    }
    EACH(i, count) {
        const int64_t at = u + i;
        const vreal h = c->h[at], t = c->t0[at];
        const vint active = l->active[at], last = l->last[at];
        /* An observed step may lead beyond the bound: an event may end it before. */
        const vint accepted = good[i] & active & (inside[i] | observed);
        vreal *next = l->next + at, *longest = l->longest + at;
        if (combined && branches)
            would[i] = up_to_border(l, at, accepted, active & l->crossed[at] & ~good[i], would[i]);
        vreal further = vselect(vabs(would[i]) < *longest, would[i], vcopysign(*longest, would[i]));
        /* The last step may be any part of the planned one. */
        TAKE(further, good[i] & last, *next);
        TAKE(*next, active, further);
        l->tn[at] = two_sum(t, h + l->t_low[at], &l->tn_low[at]);
        TAKE(l->tn[at], last, l->t_end[at]);
        TAKE(l->tn_low[at], last, vzero);
        l->accepted[at] = accepted;
        vint *taken = l->taken + at;
        vint *rejected = l->rejected + at;
        *taken -= accepted;
        *rejected -= active & ~accepted;
        const vint beyond = good[i] & ~inside[i], arrived = accepted & inside[i] & last;
        /* Good steps too, once they shrink without moving t: towards a collision they go on. */
        const vint stuck = (l->tn[at] == t) & (vabs(further) < vabs(h)),
                   lost = vselect_int(good[i], stuck, too_small(further, t));
        const vint many = *taken + *rejected >= most;
        vint code = vselect_int(many, vset_int(PI_TOO_MANY_STEPS), vset_int(PI_OK));
        TAKE(code, lost, vselect_int(finite[i], vset_int(PI_STEP_TOO_SMALL), vset_int(nowhere)));
        TAKE(code, beyond, vset_int(PI_OUT_OF_BOUNDS));
        l->code[at] = vselect_int(arrived, vset_int(PI_OK), code);
        l->leaves[at] = (arrived | beyond | lost | many) & active;
    }
}
INLINE void judge_all(Lanes *l, const int combined) {
    int64_t u = 0;
    for (; u + 2 <= l->c.R; u += 2) judge_some(l, combined, u, 2);
    for (; u < l->c.R; u++) judge_some(l, combined, u, 1);
}
static void judge(Lanes *l) {
    if (l->pair->combined) judge_all(l, l->pair->combined);
    else judge_all(l, 0);
}
