/* Linear multistep methods of k steps, on y' = f and on x'' = a(t, x).
 *
 *     sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j}        (or h^2, positions and accelerations)
 *
 * explicit, implicit by Newton's method, or predicted, evaluated, corrected and evaluated (PECE).
 * The first k - 1 steps are made by a one-step method, the starter.
 *
 * With h^2 the difference of two rounded positions stands for a velocity, and its errors accumulate
 * as n^2. Therefore these methods, and all in compensated runs, are in summed form: with
 * alpha(z) = (z - 1) sum_i gamma_i z^i,
 *
 *     d_{n+k} = -sum_{i<k-1} gamma_i d_{n+i+1} + h^2 sum_j beta_j a_{n+j}
 *     x_{n+k} = x_{n+k-1} + d_{n+k}
 *
 * A difference has more digits than the positions: d_n = (x_n - x_{n-1}) + rest_n, where the rest
 * is the rounding error of x_n = x_{n-1} + d_n.
 *
 * The state includes the history: rows of past states, the newest first, then of past forces,
 * then of rests, that of the present state first.
 * Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, III.1 and III.10;
 * Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, VIII.5 and XV.1. */
#pragma once
#include "explicit_rk.h"
#include "implicit_rk.h"

typedef struct {
    const PiMethod *method;
    int n, power;             /* components: all, or positions only; of h */
    int summed;               /* is it in summed form? */
    int n_states, n_forces;   /* how many past ones are kept */
    vreal *states, *forces;   /* their rows */
    vreal *rests;             /* n_states in summed form */
    vreal *now, *next, *work; /* force at step n; the new state; n rows */
    vreal *added;             /* the destination of increments: `next`, or in summed form */
    vreal *past, *low;        /* besides -sum gamma_i d_i, in two parts */
    int known;                /* is the force at step n known? */
} Multistep;

static Multistep multistep_start(Chunk *c, const PiMethod *m) {
    Multistep s = {.method = m, .n = m->derivative == 2 ? c->dof : c->dim, .power = m->derivative};
    pi_remembered(m, &s.n_states, &s.n_forces);
    s.states = c->y + c->dim * c->R;
    s.forces = s.states + s.n_states * s.n * c->R;
    s.rests = s.forces + s.n_forces * s.n * c->R;
    s.summed = pi_in_summed_form(m, c->carry != NULL);
    s.now = take_rows(c, s.n);
    s.next = s.added = take_rows(c, s.n);
    s.work = take_rows(c, s.n);
    if (!s.summed) return s;
    s.added = take_rows(c, s.n);
    s.past = take_rows(c, s.n);
    s.low = take_rows(c, s.n);
    return s;
}
static void force_rows(Chunk *c, const Multistep *s, int64_t n, const vreal *y, vreal *f) {
    const vreal *t = times(c, n, 0);
    if (s->power == 2) ask(c, PI_ACCELERATION, t, y, c->y + c->dof * c->R, f);
    else rhs_rows(c, t, y, f);
}
/* The newest of `count` values becomes the second, and so on. */
static void make_room(const Chunk *c, int n, int count, vreal *values) {
    const int64_t rows = n * c->R;
    for (int j = count - 1; j > 0; j--) copy_rows(c, n, values + (j - 1) * rows, values + j * rows);
}
/* The state and the force of step n become the newest of the past; `low` is the rest of the next
 * difference. */
static void remember(const Chunk *c, const Multistep *s) {
    make_room(c, s->n, s->n_states, s->states);
    if (s->n_states) copy_rows(c, s->n, c->y, s->states);
    make_room(c, s->n, s->n_forces, s->forces);
    if (s->n_forces) copy_rows(c, s->n, s->now, s->forces);
    if (!s->summed || !s->n_states) return;
    make_room(c, s->n, s->n_states, s->rests);
    copy_rows(c, s->n, s->low, s->rests);
}
/* to = from + h^power sum_j weight_j f_{n+j}, the newest first, j < k. */
static void add_forces(const Chunk *c, const Multistep *s, const double *weight, int power, int n,
                       vreal *to) {
    const int k = s->method->stages;
    if (weight[k - 1] != 0) add_rows(c, n, weight[k - 1], power, s->now, to);
    EACH_BELOW(j, s->n_forces)
        if (weight[k - 2 - j] != 0)
            add_rows(c, n, weight[k - 2 - j], power, s->forces + j * n * c->R, to);
}
/* next = -sum_j alpha_j y_{n+j}, j < k */
static void combine_states(const Chunk *c, const Multistep *s) {
    const PiMethod *m = s->method;
    const int k = m->stages;
    EACH_ENTRY(i, s->n, c) s->next[i] = c->y[i] * (real)-m->alpha[k - 1];
    EACH_BELOW(j, s->n_states)
        if (m->alpha[k - 2 - j] != 0)
            add_rows(c, s->n, -m->alpha[k - 2 - j], 0, s->states + j * s->n * c->R, s->next);
}
/* past + low = -sum_i gamma_i d_i, with the rounding errors of products and sums in `low`. The
 * weight of the difference that ends j steps before now is -(1 + alpha_{k-1} + ... +
 * alpha_{k-1-j}). */
static void combine_differences(const Chunk *c, const Multistep *s) {
    const PiMethod *m = s->method;
    const int64_t size = s->n * c->R;
    const vreal *end = c->y, *start = s->states, *rest = s->rests;
    double gamma = 1;
    EACH_BELOW(i, size) s->past[i] = s->low[i] = s->added[i] = vzero;
    for (int j = 0; j < s->n_states; j++, end = start, start += size, rest += size) {
        gamma += m->alpha[m->stages - 1 - j];
        if (gamma == 0) continue;
        const vreal w = vset(-gamma);
        EACH_BELOW(i, size) {
            vreal inexact, lost;
            const vreal d = two_sum(end[i], -start[i], &inexact), product = w * d;
            s->past[i] = two_sum(s->past[i], product, &lost);
            s->low[i] += vfma(w, rest[i] + inexact, lost + vfma(w, d, -product));
        }
    }
}
/* Everything except the implicit term: `next`, or in summed form past + low + added. */
static void combine_past(const Chunk *c, const Multistep *s) {
    if (s->summed) combine_differences(c, s);
    else combine_states(c, s);
    add_forces(c, s, s->method->beta, s->power, s->n, s->added);
}
/* In summed form: the new state in `next`, and the rest of its difference in `low`. */
static void add_difference(const Chunk *c, const Multistep *s) {
    EACH_ENTRY(i, s->n, c) {
        vreal lost, low, high = two_sum(s->past[i], s->added[i], &lost);
        const vreal before = c->carry ? c->carry[i] : vzero;
        high = two_sum(high, s->low[i] + lost, &low);
        high = two_sum(high, before, &lost);
        low += lost;
        s->next[i] = two_sum(c->y[i], high, &lost);
        low += lost; /* the rounding error of the new state */
        if (c->carry) c->carry[i] = low;
        s->low[i] = low - before;
    }
}

/* The differences of positions that are the velocities of Stormer-Verlet: central,
 * (x_{n+1} - x_{n-1}) / 2h with one step ahead, or backward, (x_n - x_{n-1}) / h. */
static void difference_velocities(Chunk *c, Multistep *s, int64_t n) {
    vreal *v = c->y + c->dof * c->R;
    if (!s->method->backward) {
        if (!s->known) force_rows(c, s, n, c->y, s->now);
        s->known = 1;
        combine_past(c, s);
    }
    EACH_ENTRY(i, c->dof, c) {
        const vreal h = c->h[i % c->R], d = (c->y[i] - s->states[i]) + s->rests[i];
        if (s->method->backward) v[i] = d / h;
        else v[i] = (d + (s->past[i] + (s->added[i] + s->low[i]))) / (2 * h);
    }
}
/* d_0 = h v - h^2 a / 2 */
static void first_difference(const Chunk *c, const Multistep *s) {
    vreal *d = s->work;
    EACH_ENTRY(i, c->dof, c) d[i] = vzero;
    add_rows(c, c->dof, 1, 1, c->y + c->dof * c->R, d);
    add_rows(c, c->dof, -0.5, 2, s->now, d);
    EACH_ENTRY(i, c->dof, c) {
        s->states[i] = c->y[i] - d[i];
        s->rests[i] = d[i] - (c->y[i] - s->states[i]);
    }
}
/* A first step, by the starter. */
static void starter_step(Chunk *c, const Multistep *s, int64_t n) {
    const PiTile *tile = c->tile;
    vreal *carried = c->carry;
    if (s->summed && !carried) {
        c->carry = take_rows(c, c->dim);
        EACH_ENTRY(i, c->dim, c) c->carry[i] = vzero;
    }
    if (s->summed) copy_rows(c, s->n, c->carry, s->low);
    remember(c, s);
    if (tile->starter->family == PI_IMPLICIT_RK)
        implicit_rk_rows_step(c, tile->starter, tile->starter_table, n);
    else if (tile->starter_table->nystrom) nystrom_rows_step(c, tile->starter_table, n);
    else explicit_rk_rows_step(c, tile->starter_table, n);
    if (s->summed && s->n_states)
        EACH_ENTRY(i, s->n, c) s->rests[i] = c->carry[i] - s->low[i];
    c->carry = carried;
}

static void multistep_rows_step(Chunk *c, Multistep *s, int64_t n) {
    const PiMethod *m = s->method;
    const PiTile *tile = c->tile;
    const int k = m->stages, differences = m->derivative == 2 && !tile->starter;
    const int needed =
        s->n_forces || m->beta[k - 1] != 0 || m->predictor[k - 1] != 0 || m->velocity[k - 1] != 0;
    if (!s->known && needed) force_rows(c, s, n, c->y, s->now);
    s->known = 0;
    if (n < tile->starter_until) {
        if (!differences) {
            starter_step(c, s, n);
            return;
        }
        first_difference(c, s);
    }
    combine_past(c, s);
    const double implicit = m->beta[k], at_its_time = 0;
    if (m->predictor[k - 1] != 0) {
        copy_rows(c, s->n, c->y, s->work);
        add_forces(c, s, m->predictor, s->power, s->n, s->work);
        vreal *f = take_rows(c, s->n);
        force_rows(c, s, n + 1, s->work, f);
        add_rows(c, s->n, implicit, s->power, f, s->added);
    } else if (implicit != 0) {
        if (s->summed)
            EACH_ENTRY(i, s->n, c) s->next[i] = c->y[i] + (s->past[i] + s->added[i]);
        newton(c, n + 1, 1, s->power, &at_its_time, &implicit, s->next, s->work);
        EACH_ENTRY(i, s->n, c) s->added[i] += s->work[i];
    }
    if (s->summed) add_difference(c, s);
    if (m->derivative == 2 && !differences) { /* v += h sum velocity_j a_{n+j} */
        vreal *v = increments(c, c->dof);
        add_forces(c, s, m->velocity, 1, c->dof, v);
        force_rows(c, s, n + 1, s->next, s->work);
        add_rows(c, c->dof, m->velocity[k], 1, s->work, v);
        settle(c, c->dof, c->dof);
        remember(c, s);
        copy_rows(c, c->dof, s->work, s->now);
        s->known = 1;
    } else remember(c, s);
    copy_rows(c, s->n, s->next, c->y);
}
