/* Planets about a dominant body: compositions of Kepler's motions, in place of straight drifts, and
 * of kicks by what else the bodies feel.
 *
 * Jacobi coordinates: q_i = x_i - R_(i-1) from the centre of mass R of the bodies before it,
 * R_i = R_(i-1) + (m_i / M_i) q_i, where M_i = m_0 + ... + m_i. Of H = A + B, A moves R_(n-1)
 * straight on and each q_i about a centre of g M_i; B is the attraction without that of A.
 * Changes are added to x and v, which are all that a step knows of the one before.
 *
 * Wisdom, Holman (1991), Astron. J. 102, 1528-1538; Rein, Tamayo (2015), Mon. Not. R. Astron. Soc.
 * 452, 376-388. */
#pragma once
#include "../../mechanics/kepler_motion.h"
#include "../registers/kept_force.h"
#include "chunk.h"

/* Planets whose independent work keeps a processor busy. */
enum { TOGETHER = 8 };
/* One register of systems: rows of one register, three for each of n bodies. */
typedef struct {
    int64_t n;
    vreal *x, *v, *q, *u, *a; /* q, u: x, v in Jacobi coordinates, and then their changes */
    vreal *share, *mu;        /* m_i / M_i, g M_i */
    vint solved;
    PiRows rows; /* of the force */
} Planets;

static void to_jacobi(const Planets *b, const vreal *x, vreal *q) {
    vreal R[3];
    EACH(k, 3) R[k] = x[k];
    EACH_FROM(i, 1, b->n)
        EACH(k, 3) {
            q[3 * i + k] = x[3 * i + k] - R[k];
            R[k] = vfma(b->share[i], q[3 * i + k], R[k]);
        }
    EACH(k, 3) q[k] = R[k];
}
/* x += the change that q is, of R_(n-1) and of the others */
static void add_jacobi(const Planets *b, const vreal *q, vreal *x) {
    vreal R[3];
    EACH(k, 3) R[k] = q[k];
    for (int64_t i = b->n - 1; i > 0; i--)
        EACH(k, 3) {
            R[k] = vfma(-b->share[i], q[3 * i + k], R[k]);
            x[3 * i + k] += R[k] + q[3 * i + k];
        }
    EACH(k, 3) x[k] += R[k];
}

static void planets_drift(Planets *b, vreal h) {
    to_jacobi(b, b->x, b->q);
    to_jacobi(b, b->v, b->u);
    EACH(k, 3) b->q[k] = h * b->u[k], b->u[k] = vzero;
    for (int64_t first = 1; first < b->n; first += TOGETHER) {
        const int64_t last = first + TOGETHER < b->n ? first + TOGETHER : b->n;
        KeplerRoot o[TOGETHER];
        EACH_FROM(i, first, last)
            kepler_begin(b->mu[i], h, b->q + 3 * i, b->u + 3 * i, &o[i - first]);
        EACH_FROM(i, first, last) kepler_iterate(&o[i - first], 0);
        EACH_FROM(i, first, last) {
            if (vany(~o[i - first].found)) kepler_iterate_on(&o[i - first]);
            kepler_check(&o[i - first]);
            b->solved &= o[i - first].found;
            kepler_end(&o[i - first], b->mu[i], b->q + 3 * i, b->u + 3 * i);
        }
    }
    add_jacobi(b, b->q, b->x);
    add_jacobi(b, b->u, b->v);
}
/* a = force + g M_i q_i / |q_i|^3 */
static void planets_force(Chunk *c, Planets *b) {
    if (c->tile->force(c->tile->context, PI_ACCELERATION, &b->rows)) c->stopped = 1;
    to_jacobi(b, b->x, b->q);
    EACH(k, 3) b->q[k] = vzero;
    EACH_FROM(i, 1, b->n) {
        vreal *q = b->q + 3 * i;
        const vreal rr = dot3(q, q), w = vdivide_by_cube(b->mu[i], rr);
        EACH(k, 3) q[k] *= w;
    }
    add_jacobi(b, b->q, b->a);
}
static void planets_kick(Planets *b, vreal h) {
    EACH_BELOW(i, 3 * b->n) b->v[i] = vfma(h, b->a[i], b->v[i]);
}
/* The kicks and drifts of a step; kept: the force is that of the step before. */
static void planets_step(Chunk *c, Planets *b, const PiMethod *m, vreal h, int kept) {
    EACH_WHILE(s, m->stages, !c->stopped) {
        if (m->kick[s] != 0) {
            if (s > 0 || !kept) planets_force(c, b);
            planets_kick(b, h * (real)m->kick[s]);
        }
        if (m->drift[s] != 0) planets_drift(b, h * (real)m->drift[s]);
    }
}
/* From what is shown to what moves, or back: a corrector of steps that begin with half a drift, and
 * half a drift and half a kick to those that begin with half a kick. The corrector is made of kicks
 * -b at a and b at -a, where a = k sqrt(7/40) h and b = corrector_k h, k = -8 .. 8: backwards all
 * of them change their signs. */
static void planets_correct(Chunk *c, Planets *b, const PiMethod *m, vreal h, int back) {
    double at = back ? 0.5 : 0;
    if (back) planets_force(c, b), planets_kick(b, -(h * 0.5));
    EACH_FROM(k, -PI_CORRECTIONS, PI_CORRECTIONS + 1) {
        const int nth = k < 0 ? -k : k;
        const double kick = nth > 0 ? m->corrector[nth - 1] * (k < 0 ? 1 : -1) : 0;
        for (int side = 1; side >= -1 && kick != 0 && !c->stopped; side -= 2) {
            const double to = side * k * 0.41833001326703777;
            planets_drift(b, h * (real)(to - at));
            planets_force(c, b);
            planets_kick(b, h * (real)(back ? -side * kick : side * kick));
            at = to;
        }
    }
    planets_drift(b, h * (real)((back ? 0 : 0.5) - at));
    if (!back) planets_force(c, b), planets_kick(b, h * 0.5);
}

/* All steps of register u. */
static void planets_steps(Chunk *c, int64_t u) {
    const PiTile *tile = c->tile;
    const PiSystem *system = tile->system;
    const PiMethod *m = tile->method;
    const int64_t R = c->R, dof = c->dof, n = dof / 3, n_p = pi_parameter_rows(system);
    const int corrected = m->corrector[0] != 0, starts = tile->first < tile->starter_until;
    const vreal h = c->h[u];
    vreal *x = c->free, *p = x + 5 * dof, *shown = c->y + u,
          *moving = shown + (corrected ? c->dim * R : 0);
    Planets b = {n,
                 x,
                 x + dof,
                 x + 2 * dof,
                 x + 3 * dof,
                 x + 4 * dof,
                 p + n_p,
                 p + n_p + n,
                 vset_int(-1),
                 {.registers = 1,
                  .t = c->t,
                  .y = x,
                  .v = x + dof,
                  .p = p,
                  .out = x + 4 * dof,
                  .scratch = c->scratch,
                  .pause = tile->pause}};
    EACH_BELOW(i, 2 * dof) x[i] = (starts ? shown : moving)[i * R];
    EACH_BELOW(i, n_p) p[i] = c->p[i * R + u];
    vreal mass = p[1];
    EACH_FROM(i, 1, n) {
        mass += p[1 + i];
        b.share[i] = p[1 + i] / mass;
        b.mu[i] = p[0] * mass;
    }
    if (starts) planets_correct(c, &b, m, h, 0);
    EACH_WHILE(s, tile->steps, !c->stopped) {
        stops(c);
        planets_step(c, &b, m, h, s > 0 && keeps_force(m, system));
    }
    EACH_BELOW(i, 2 * dof) moving[i * R] = x[i];
    if (corrected) planets_correct(c, &b, m, h, 1);
    if (vany(~b.solved))
        EACH_BELOW(i, 2 * dof) /* what is not shown does not move */
            moving[i * R] = vselect(b.solved, moving[i * R], vset(NAN));
    EACH_BELOW(i, 2 * dof) shown[i * R] = x[i];
    fail_lanes(c, u, ~b.solved, PI_NOT_CONVERGED);
}
static void planets(Chunk *c) {
    EACH_WHILE(u, c->R, !c->stopped) planets_steps(c, u);
}
