/* Linear multistep methods of k steps, on y' = f and on x'' = a(t, x).
 *
 *     sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j}        (or h^2, positions and accelerations)
 *
 * explicit, implicit by Newton's method, or predicted, evaluated, corrected and evaluated (PECE).
 * The state carries what is remembered: rows of past states, the newest first, then rows of past
 * forces. The first k - 1 steps are those of a one-step method.
 * Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, III.1 and III.10. */
#pragma once
#include "explicit_rk.h"
#include "implicit_rk.h"

typedef struct {
    const PiMethod *method;
    int n, power;             /* components: all, or positions only; of h */
    int n_states, n_forces;   /* how many of the past are remembered */
    vreal *states, *forces;   /* they are here */
    vreal *now, *next, *work; /* force at step n; the new state; n rows */
    int known;                /* is the force at step n there already? */
} Multistep;

static Multistep multistep_start(Chunk *c, const PiMethod *m) {
    Multistep s = {.method = m, .n = m->derivative == 2 ? c->dof : c->dim, .power = m->derivative};
    pi_remembered(m, &s.n_states, &s.n_forces);
    s.states = c->y + c->dim * c->R;
    s.forces = s.states + s.n_states * s.n * c->R;
    s.now = take_rows(c, s.n);
    s.next = take_rows(c, s.n);
    s.work = take_rows(c, s.n);
    return s;
}
static void force_rows(Chunk *c, const Multistep *s, int64_t n, const vreal *y, vreal *f) {
    const vreal *t = times(c, n, 0);
    if (s->power == 2) ask(c, PI_ACCELERATION, t, y, c->y + c->dof * c->R, f);
    else rhs_rows(c, t, y, f);
}
/* The state and the force of step n become the newest of the past. */
static void remember(const Chunk *c, const Multistep *s) {
    const int64_t rows = s->n * c->R;
    for (int j = s->n_states - 1; j > 0; j--)
        copy_rows(c, s->n, s->states + (j - 1) * rows, s->states + j * rows);
    if (s->n_states) copy_rows(c, s->n, c->y, s->states);
    for (int j = s->n_forces - 1; j > 0; j--)
        copy_rows(c, s->n, s->forces + (j - 1) * rows, s->forces + j * rows);
    if (s->n_forces) copy_rows(c, s->n, s->now, s->forces);
}
/* to = from + h^power sum_j weight_j f_{n+j}, the newest first, j < k. */
static void add_forces(const Chunk *c, const Multistep *s, const double *weight, int power, int n,
                       vreal *to) {
    const int k = s->method->stages;
    if (weight[k - 1] != 0) add_rows(c, n, weight[k - 1], power, s->now, to);
    for (int j = 0; j < s->n_forces; j++)
        if (weight[k - 2 - j] != 0)
            add_rows(c, n, weight[k - 2 - j], power, s->forces + j * n * c->R, to);
}
/* next = -sum_j alpha_j y_{n+j} + h^power sum_j beta_j f_{n+j}, j < k */
static void combine_past(const Chunk *c, const Multistep *s) {
    const PiMethod *m = s->method;
    const int k = m->stages;
    for (int64_t i = 0; i < s->n * c->R; i++) s->next[i] = c->y[i] * (real)-m->alpha[k - 1];
    for (int j = 0; j < s->n_states; j++)
        if (m->alpha[k - 2 - j] != 0)
            add_rows(c, s->n, -m->alpha[k - 2 - j], 0, s->states + j * s->n * c->R, s->next);
    add_forces(c, s, m->beta, s->power, s->n, s->next);
}

/* The differences of positions that are the velocities of Stormer-Verlet: central,
 * (x_{n+1} - x_{n-1}) / 2h with one step ahead, or backward, (x_n - x_{n-1}) / h. */
static void difference_velocities(Chunk *c, Multistep *s, int64_t n) {
    vreal *v = c->y + c->dof * c->R;
    const vreal *ahead = c->y;
    if (!s->method->backward) {
        if (!s->known) force_rows(c, s, n, c->y, s->now);
        s->known = 1;
        combine_past(c, s);
        ahead = s->next;
    }
    const vreal widths = vset(s->method->backward ? REAL(1.0) : REAL(2.0));
    for (int64_t i = 0; i < c->dof * c->R; i++)
        v[i] = (ahead[i] - s->states[i]) / (widths * c->h[i % c->R]);
}
/* x_{-1} = x - h v + h^2 a / 2 */
static void position_before(const Chunk *c, const Multistep *s) {
    copy_rows(c, c->dof, c->y, s->states);
    add_rows(c, c->dof, -1, 1, c->y + c->dof * c->R, s->states);
    add_rows(c, c->dof, 0.5, 2, s->now, s->states);
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
        if (differences) position_before(c, s);
        else {
            remember(c, s);
            if (tile->starter->family == PI_IMPLICIT_RK)
                implicit_rk_rows_step(c, tile->starter, tile->starter_table, n);
            else if (tile->starter_table->nystrom) nystrom_rows_step(c, tile->starter_table, n);
            else explicit_rk_rows_step(c, tile->starter_table, n);
            return;
        }
    }
    combine_past(c, s);
    const double implicit = m->beta[k], at_its_time = 0;
    if (m->predictor[k - 1] != 0) {
        copy_rows(c, s->n, c->y, s->work);
        add_forces(c, s, m->predictor, s->power, s->n, s->work);
        vreal *const free = c->free, *f = take_rows(c, s->n);
        force_rows(c, s, n + 1, s->work, f);
        add_rows(c, s->n, implicit, s->power, f, s->next);
        c->free = free;
    } else if (implicit != 0) {
        newton(c, n + 1, 1, s->power, &at_its_time, &implicit, s->next, s->work);
        for (int64_t i = 0; i < s->n * c->R; i++) s->next[i] += s->work[i];
    }
    if (m->derivative == 2 && !differences) { /* v += h sum velocity_j a_{n+j} */
        vreal *v = c->y + c->dof * c->R;
        add_forces(c, s, m->velocity, 1, c->dof, v);
        force_rows(c, s, n + 1, s->next, s->work);
        add_rows(c, c->dof, m->velocity[k], 1, s->work, v);
        remember(c, s);
        copy_rows(c, c->dof, s->work, s->now);
        s->known = 1;
    } else remember(c, s);
    copy_rows(c, s->n, s->next, c->y);
}
