/* Radau IIA of order 5: increments z_i = h sum_j a_ij f(t + c_j h, y + z_j) and the error estimate.
 *
 * With A^-1 = T D T^-1 and z = T w, Newton's method splits into a real and a complex system:
 *
 *     (D - h J) dw = h T^-1 f(y + T w) - D w,     D = gamma and (alpha, beta; -beta, alpha)
 *
 * with one Jacobian, which lanes keep from step to step while it is good enough, and factors that
 * are kept while h is. It ends when the next correction would be a small part of the tolerance. The
 * start is the polynomial of the last step, extrapolated. The estimate, of order 3,
 *
 *     (1 - h J / gamma)^-1 (h f(t, y) + sum_i e_i z_i) / gamma,
 *
 * stays small on the fast motions of stiff problems; if it would reject the first step or one
 * after a rejection, f(t, y + estimate) takes the place of f(t, y).
 * Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.8. */
#pragma once
#include "../rows/factors.h"
#include "../rows/newton.h"

#define RADAU_GAMMA REAL(3.6378342527444957322)
#define RADAU_ALPHA REAL(2.6810828736277521339)
#define RADAU_BETA  REAL(3.0504301992474105694)
static const real radau_t[3][3] = {
    {0.094438762488975241487, -0.14125529502095420843, 0.030029194105147424492},
    {0.25021312296533331138, 0.204129352293799932, -0.3829421127572619378},
    {1.0, 1.0, 0.0}};
static const real radau_t_inverse[3][3] = {
    {4.1787185915519047273, 0.32768282076106238708, 0.52337644549944954804},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {0.50287263494578687595, -2.5719269498556054292, 0.59603920482822492497}};
static const real radau_e[3] = {-10.048809399827415562, 1.3821427331607488958,
                                -0.33333333333333333333};
enum { RADAU_ITERATIONS = 7 };
#define RADAU_MOST_LEFT REAL(0.03) /* of the tolerance, by Newton's method; or its root */
#define RADAU_SLOW_RATE REAL(1e-3) /* slower convergence needs a new Jacobian */
/* Whether a lane has a Jacobian, and for which state. */
enum { NO_JACOBIAN, OLD_JACOBIAN, THIS_JACOBIAN };

typedef struct {
    const double *c; /* nodes */
    union {
        vreal *part[RADAU_PARTS]; /* in the order of workspace.h, or by name: */
        /* before: increments of the last step; then the Jacobian (rows_onward), and that of shorter
         * steps; factors of gamma - h J, and of the pair alpha -+ i beta - h J; increments of the
         * stages, the same as W = T^-1 Z, and of shorter steps; slopes of the stages; the residual,
         * and then the correction. The slope at the state, which is that of the stage, and the
         * estimate; 1 / tolerance; for differences. The step of the factors; the size of the
         * correction before, of one that is enough, and of rounding; the step. Masks: of Newton's
         * method; where it did not converge, or slowly; where the Jacobian must be computed; where
         * the estimate must be filtered twice. */
        struct {
            vreal *before, *J, *parts_J, *alone, *pair, *z, *w, *parts_z, *slopes, *residual;
            vint *pivot, *pair_pivot;
            vreal *slope, *state, *error, *scale, *shifted, *here;
            vreal *made_h, *last, *enough, *exact, *tried;
            vint *going, *lost, *slow, *needed, *again;
        };
    };
    vint *jacobian;  /* for each lane: NO_JACOBIAN ... */
    vreal *h_before; /* the length of the last step; 0: there is none */
} Radau;
_Static_assert(offsetof(Radau, jacobian) - offsetof(Radau, part) == RADAU_PARTS * sizeof(vreal *),
               "a name for each");

/* sum_s w_s x_s of entry i, where x_s lie n vectors apart. */
INLINE vreal three(const real *w, const vreal *x, int64_t n, int64_t i) {
    return vfma(vset(w[2]), x[2 * n + i], vfma(vset(w[1]), x[n + i], vset(w[0]) * x[i]));
}
/* u(theta) = sum_s w_s z_s, the polynomial through 0 and z_s at c_s. */
INLINE void collocation_weights(const Radau *r, vreal theta, vreal w[3]) {
    EACH_BELOW(s, 3) {
        double below = r->c[s];
        w[s] = theta;
        EACH_BELOW(j, 3) {
            if (j == s) continue;
            below *= r->c[s] - r->c[j];
            w[s] *= theta - vset(r->c[j]);
        }
        w[s] *= vset(1 / below);
    }
}
/* u(theta) of one register: n / R entries, R vectors apart. */
INLINE void polynomial(const Radau *r, vreal theta, const vreal *z, int64_t n, int64_t R,
                       vreal *u) {
    vreal w[3];
    collocation_weights(r, theta, w);
    for (int64_t i = 0; i < n; i += R)
        u[i] = vfma(w[2], z[2 * n + i], vfma(w[1], z[n + i], w[0] * z[i]));
}
/* Root mean square of x * scale over some states. */
INLINE vreal scaled_size(const Chunk *c, const Radau *r, const vreal *x, int states, int64_t u) {
    const vreal *scale = r->scale;
    vreal sum = vzero;
    EACH_BELOW(s, states)
        EACH_BELOW(d, c->dim) {
            const vreal q = x[(s * c->dim + d) * c->R + u] * scale[d * c->R + u];
            sum = vfma(q, q, sum);
        }
    return vsqrt(sum / (real)(states * c->dim));
}

/* The Jacobian of lanes that need one. */
static void radau_jacobian(Chunk *c, const Radau *r) {
    vreal *made = r->pair, *const J = r->J;
    const vint *need = r->needed;
    if (!any_row(c, need)) return;
    jacobian_rows(c, times(c, 0, 0), c->y, r->slope, made, r->shifted, r->here);
    EACH_BELOW(i, (int64_t)c->dim * c->dim * c->R) TAKE(J[i], need[i % c->R], made[i]);
    EACH_REGISTER(u, c) {
        TAKE(r->made_h[u], need[u], vset(NAN));
        TAKE(r->jacobian[u], need[u], vset_int(THIS_JACOBIAN));
    }
}
/* The factors, unless they are those of every lane's h and J. Pivots are the largest in units of
 * `measure`, which changes what it measures, here a copy of J. */
static void radau_factors(Chunk *c, const Radau *r, const vint *active) {
    const int n = motion_of(c);
    const int64_t R = c->R;
    vreal *h = r->made_h, *const J = r->J, *unit = r->shifted;
#define ENTRY(i, k) J[(place(c, i, 0) * c->dim + place(c, k, 0)) * R + u]
    vint other = {0};
    EACH_REGISTER(u, c) other |= active[u] & ~(h[u] == c->h[u]);
    if (!vany(other)) return;
    EACH_BELOW(i, n * n)
        EACH_REGISTER(u, c) r->pair[i * R + u] = ENTRY(i / n, i % n);
    measure(R, n, c->dof ? n / 2 : 0, r->pair, unit);
    EACH_BELOW(i, n)
        EACH_BELOW(k, n)
            EACH_REGISTER(u, c) {
                const vreal hj = c->h[u] * ENTRY(i, k), one = vset(i == k);
                vreal *pair = r->pair + u;
                const vreal here = RADAU_ALPHA * one - hj, there = RADAU_BETA * one;
                r->alone[(i * n + k) * R + u] = RADAU_GAMMA * one - hj;
                pair[(i * 2 * n + k) * R] = pair[((n + i) * 2 * n + n + k) * R] = here;
                pair[(i * 2 * n + n + k) * R] = there;
                pair[((n + i) * 2 * n + k) * R] = -there;
            }
    copy_rows(c, 1, c->h, h);
    factor_rows(c, n, r->alone, r->pivot, unit);
    factor_rows(c, 2 * n, r->pair, r->pair_pivot, unit);
#undef ENTRY
}

static void radau_to_w(const Chunk *c, const Radau *r) {
    const int64_t n = c->dim * c->R;
    EACH_BELOW(s, 3)
        EACH_BELOW(i, n) r->w[s * n + i] = three(radau_t_inverse[s], r->z, n, i);
}
/* z of active lanes: on the extrapolated polynomial of the last step. */
static void radau_start(Chunk *c, const Radau *r) {
    const int64_t R = c->R, n = c->dim * R;
    const vreal *before = r->before;
    const vint *going = r->going;
    vreal *z = r->z, *there = r->state;
    EACH_REGISTER(u, c) {
        const vint none = r->h_before[u] == 0;
        EACH_BELOW(s, 3) {
            const vreal theta = vfma(vset(r->c[s]), c->h[u] / r->h_before[u], vone);
            polynomial(r, theta, before + u, n, R, there + u);
            for (int64_t i = u; i < n; i += R) {
                const vreal from_here = vselect(none, vzero, there[i] - before[2 * n + i]);
                TAKE(z[s * n + i], going[u], from_here);
            }
        }
    }
    radau_to_w(c, r);
}
/* The corrections dw. */
static void radau_correction(Chunk *c, const Radau *r) {
    const int64_t R = c->R, n = c->dim * R;
    vreal *z = r->z, *w = r->w, *y = r->state, *f = r->slopes, *dw = r->residual;
    EACH_BELOW(s, 3) {
        /* Of other lanes z may be any number, for which an outside function may raise an error. */
        EACH_BELOW(i, n) y[i] = c->y[i] + vselect(r->going[i % R], z[s * n + i], vzero);
        rhs_rows(c, times(c, 0, r->c[s]), y, f + s * n);
    }
    EACH_BELOW(i, n) {
        const vreal h = c->h[i % R], w1 = w[n + i], w2 = w[2 * n + i];
        dw[i] = vfma(h, three(radau_t_inverse[0], f, n, i), -RADAU_GAMMA * w[i]);
        dw[n + i] = vfma(h, three(radau_t_inverse[1], f, n, i),
                         vfma(vset(-RADAU_ALPHA), w1, -RADAU_BETA * w2));
        dw[2 * n + i] = vfma(h, three(radau_t_inverse[2], f, n, i),
                             vfma(vset(RADAU_BETA), w1, -RADAU_ALPHA * w2));
    }
    solve_all_rows(c, 1, r->alone, r->pivot, NULL, r->J, r->shifted, dw);
    solve_all_rows(c, 2, r->pair, r->pair_pivot, NULL, r->J, r->shifted, dw + n);
}
/* w moves by dw; lanes that have converged, or will not within `most` iterations, stop. */
static void radau_correct(Chunk *c, const Radau *r, int iteration, int most) {
    const int64_t R = c->R, n = c->dim * R;
    const vreal *dw = r->residual;
    vreal *z = r->z, *w = r->w;
    vint *going = r->going, *lost = r->lost, *slow = r->slow;
    EACH_REGISTER(u, c) {
        const vreal size = scaled_size(c, r, dw, 3, u), enough = r->enough[u];
        const vreal rate = size / r->last[u], rest = rate / (1 - rate);
        vreal ahead = rest; /* the remainder after the last iteration, relative to the size */
        EACH_FROM(i, iteration + 1, most) ahead *= rate;
        const vint later = vset_int(-(iteration > 0)), shrinks = rate < 1;
        const vint fails =
            ~(size <= REAL_MAX) | (later & ~(size == 0) & ~(shrinks & (ahead * size <= enough)));
        const vint ends = (size == 0) | (later & shrinks & (rest * size <= enough));
        const vint moves = going[u] & ~fails;
        for (int64_t i = u; i < 3 * n; i += R) TAKE(w[i], moves, w[i] + dw[i]);
        EACH_BELOW(s, 3)
            for (int64_t i = u; i < n; i += R)
                TAKE(z[s * n + i], moves, three(radau_t[s], w, n, i));
        if (iteration > 1) {
            const vint slowly = rate > RADAU_SLOW_RATE;
            TAKE(slow[u], moves, slowly);
        }
        lost[u] |= going[u] & fails;
        TAKE(r->last[u], going[u], size);
        going[u] &= ~fails & ~ends;
    }
}
/* Newton's method, of so many iterations at most. */
static void radau_iterate(Chunk *c, const Radau *r, int most) {
    EACH_WHILE(i, most, any_row(c, r->going) && !c->stopped) {
        radau_correction(c, r);
        radau_correct(c, r, i, most);
    }
}
/* The estimate from the slope f. */
static void radau_estimate(Chunk *c, const Radau *r, const vreal *f, vreal *error) {
    const int64_t R = c->R, n = c->dim * R;
    EACH_BELOW(i, n) error[i] = vfma(c->h[i % R], f[i], three(radau_e, r->z, n, i));
    solve_all_rows(c, 1, r->alone, r->pivot, NULL, r->J, r->shifted, error);
}

/* z and the estimate of a trial step of all lanes, NaN if Newton's method does not converge.
 * `scale` and `enough` are inputs; `again`: lanes whose estimate may be filtered twice.
 */
static void radau_step(Chunk *c, const Radau *r, const vint *active) {
    const int64_t R = c->R, n = c->dim * R;
    vint *going = r->going, *lost = r->lost, *slow = r->slow, *again = r->again, *need = r->needed;
    vreal *z = r->z, *error = r->error, *y = r->state, *slope = r->slope;
    rhs_rows(c, times(c, 0, 0), c->y, slope);
    copy_rows(c, 1, c->h, r->tried);
    EACH_REGISTER(u, c) {
        need[u] = active[u] & (r->jacobian[u] == NO_JACOBIAN);
        going[u] = active[u];
    }
    EACH_WHILE(attempt, 2, any_row(c, going) && !c->stopped) {
        radau_jacobian(c, r);
        radau_factors(c, r, active);
        radau_start(c, r);
        EACH_REGISTER(u, c) {
            lost[u] &= ~going[u];
            slow[u] &= ~going[u];
        }
        radau_iterate(c, r, RADAU_ITERATIONS);
        EACH_REGISTER(u, c) {
            lost[u] |= going[u]; /* too slow */
            /* With the Jacobian of an earlier state: it is computed here, and the step tried again.
             */
            need[u] = going[u] = active[u] & lost[u] & (r->jacobian[u] == OLD_JACOBIAN);
        }
    }
    radau_estimate(c, r, slope, error);
    EACH_REGISTER(u, c) again[u] &= active[u] & ~lost[u] & (scaled_size(c, r, error, 1, u) > 1);
    if (any_row(c, again)) {
        EACH_BELOW(i, n) y[i] = c->y[i] + vselect(again[i % R], error[i], vzero);
        rhs_rows(c, times(c, 0, 0), y, r->slopes);
        radau_estimate(c, r, r->slopes, y);
        EACH_BELOW(i, n) TAKE(error[i], again[i % R], y[i]);
    }
    EACH_BELOW(i, 3 * n) TAKE(z[i], lost[i % R], vset(NAN));
}
/* Lanes that accept the step remember it, and keep their Jacobian if it converged well. */
static void radau_accept(const Chunk *c, const Radau *r, const vint *accepted) {
    const vint *slow = r->slow;
    EACH_REGISTER(u, c) {
        const vint yes = accepted[u], kept = OLD_JACOBIAN & ~slow[u];
        TAKE(r->jacobian[u], yes, kept);
        TAKE(r->h_before[u], yes, r->tried[u]);
        EACH_IN_COLUMN(i, u, 3 * c->dim, c) TAKE(r->before[i], yes, r->z[i]);
    }
}
/* z of shortened steps from the same state, of lengths c->h, to rounding: they start on the
 * polynomial of the step, and stay there if Newton's method does not converge. With a Jacobian of
 * this state, made if `first`, so that they depend on the step alone. The data kept for the step
 * are not changed. */
static void radau_shorter(Chunk *c, const Radau *step, const vint *active, int first, vreal *z) {
    const int64_t R = c->R, n = c->dim * R;
    Radau part = *step;
    part.z = z;
    part.J = part.parts_J;
    part.slow = part.again;
    part.enough = part.exact;
    const Radau *r = &part;
    vint *going = r->going, *lost = r->lost;
    const vreal *whole = step->z, *tried = r->tried;
    if (first) {
        copy_rows(c, 1, c->h, z);
        copy_rows(c, 1, tried, c->h); /* the width of differences is that of the step */
        rhs_rows(c, times(c, 0, 0), c->y, r->slope);
        jacobian_rows(c, times(c, 0, 0), c->y, r->slope, r->J, r->shifted, r->here);
        copy_rows(c, 1, z, c->h);
        EACH_REGISTER(u, c) r->made_h[u] = vset(NAN);
    }
    radau_factors(c, r, active);
    EACH_REGISTER(u, c) {
        going[u] = active[u] & (c->h[u] != 0);
        lost[u] = vset_int(0);
    }
    EACH_BELOW(s, 3)
        EACH_REGISTER(u, c)
            polynomial(r, vset(r->c[s]) * c->h[u] / tried[u], whole + u, n, R, z + s * n + u);
    radau_to_w(c, r);
    radau_iterate(c, r, 3 * RADAU_ITERATIONS);
    EACH_REGISTER(u, c) {
        r->made_h[u] = vset(NAN); /* of another Jacobian than that of the next step */
        lost[u] &= ~(r->last[u] <= step->enough[u]); /* accurate enough */
        if (!vany(lost[u])) continue;
        vreal *end = r->w + u;
        polynomial(r, c->h[u] / tried[u], whole + u, n, R, end);
        for (int64_t i = 0; i < n; i += R) TAKE(z[2 * n + u + i], lost[u], end[i]);
    }
}
