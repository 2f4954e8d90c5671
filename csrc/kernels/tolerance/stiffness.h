/* Whether a trajectory is stiff for an explicit pair: then its steps are limited by stability,
 * with h |lambda| of the fastest decay at the boundary, where the tolerance alone would allow
 * longer ones. Tested after 25, 50, 100, ... attempts, unless the end is near, so that the cost is
 * small; if the test is positive, every 5 attempts, later every 64th of all, and six in a row mean
 * stiff: fast motions come and go.
 *
 * Eight multiplications by the Jacobian, by differences of the slope along one direction, leave v
 * in the space of the largest one or two eigenvalues, which are the roots of x^2 = a x + b with J^2
 * v = a J v + b v in the least squares: a real one and the next, or a pair. Hairer, Wanner (1996),
 * Solving Ordinary Differential Equations II, IV.2.
 *
 * And whether a trajectory that Radau's method continues is no longer stiff: the explicit pair
 * would be stable with the same steps, h |lambda| well within its limit for the largest eigenvalue
 * of the Jacobian that is kept. It must be so for twenty steps in a row, a sixteenth of all
 * attempts, and a tenth of the time for which the trajectory has been stiff: a relaxation
 * oscillation has fast motions, of many steps in a short time, and is stiff again after each. One
 * that has returned to the pair is tested after 50, 100, 200, ... further attempts. */
#pragma once
#include "start.h"

enum { POWERS = 8, IN_A_ROW = 6, SOON_AGAIN = 5, CALM_IN_A_ROW = 20, CALM_SHARE = 16 };
#define MANY      REAL(100.0) /* steps to come, beside which a test costs little */
#define HELD_UP   REAL(16.0)  /* times a step that a border holds up: the longest that is taken */
#define CALM_PART REAL(0.1)   /* of the time before */

/* <x, y> of register u, in units of the sizes of the components, of which the inverse is given. */
INLINE vreal product_of(const Chunk *c, const vreal *x, const vreal *y, const vreal *inverse,
                        int64_t u) {
    vreal sum = vzero;
    EACH_IN_COLUMN(i, u, c->dim, c) sum = vfma(x[i] * inverse[i], y[i] * inverse[i], sum);
    return sum;
}
/* x becomes J x / |x|: (f(y + d x / |x|) - f(y)) / d. length: |x|. */
static void times_jacobian(Lanes *l, vreal *x, const vreal *slope, const vreal *inverse,
                           vreal *length) {
    Chunk *c = &l->c;
    const vreal width = vsqrt(vset(EPSILON)), per_width = 1 / width;
    EACH_REGISTER(u, c) {
        length[u] = vsqrt(product_of(c, x, x, inverse, u) / (real)c->dim);
        EACH_IN_COLUMN(i, u, c->dim, c) l->ys[i] = vfma(width, x[i] / length[u], c->y[i]);
    }
    rhs_rows(c, times(c, 0, 0), l->ys, x);
    EACH_ENTRY(i, c->dim, c) x[i] = (x[i] - slope[i]) * per_width;
}
/* The most negative real part of the roots of x^2 = a x + b, with v0 of length 1, v1 = J v0 and
 * v2 = J v1. */
INLINE vreal fastest_decay(vreal p00, vreal p01, vreal p11, vreal q0, vreal q1) {
    const vreal one = p01 / p00; /* v1 = one v0, if only one eigenvalue remains */
    const vreal rest = p11 - one * p01;
    const vreal a = (q1 - one * q0) / rest, b = (q0 - a * p01) / p00;
    const vreal below = vfma(a, a, 4 * b);
    const vreal apart = vsqrt(vlarger(below, vzero));
    const vreal least = 0.5 * (a - apart), most = 0.5 * (a + apart);
    /* A motion that grows as fast as it decays is not stiff, but unstable without friction. */
    const vreal pair = vselect(most > -(0.5 * least), vzero, least);
    return vselect(rest <= p11 * REAL(1e-3), one, pair);
}
/* The inverse sizes of the components, and a vector in which all of them have their size. */
static void sizes_and_start(const Lanes *l, vreal *inverse, vreal *start) {
    const Chunk *c = &l->c;
    const int64_t R = c->R;
    EACH_ENTRY(i, c->dim, c) {
        const vreal rtol = limit_of(l, OWN_RTOL, l->solve->n_rtol, i, i % R);
        const vreal atol = limit_of(l, OWN_ATOL, l->solve->n_atol, i, i % R);
        const vreal size = vabs(c->y[i]) + atol / rtol + REAL_MIN_NORMAL;
        inverse[i] = 1 / size;
        start[i] = vselect(size <= REAL_MAX, i / R % 2 ? -size : size, vzero);
    }
}
INLINE vint attempts(const Lanes *l, int64_t u) { return l->taken[u] + l->rejected[u]; }
static void leave_to_another(Lanes *l, int64_t i) {
    leave(l, i, (PiStatus)PI_LEFT_TO_ANOTHER);
    LANE(l->leaves, i) = -1;
}
/* Which lanes of l pass the test; slope, sizes and three vectors use rows that the next step
 * overwrites. */
static void test_stiffness(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t R = c->R, n = c->dim * R;
    const real most = l->solve->decay;
    vreal *slope = l->sums, *inverse = l->sums + n, *v0 = l->yn, *v1 = l->low, *v2 = l->between,
          *length = l->tn;
    sizes_and_start(l, inverse, v0);
    rhs_rows(c, times(c, 0, 0), c->y, slope);
    EACH_BELOW(i, POWERS) times_jacobian(l, v0, slope, inverse, length);
    EACH_REGISTER(u, c) length[u] = vsqrt(product_of(c, v0, v0, inverse, u) / (real)c->dim);
    EACH_BELOW(i, n) v1[i] = v0[i] = v0[i] / length[i % R];
    times_jacobian(l, v1, slope, inverse, length);
    copy_rows(c, c->dim, v1, v2);
    times_jacobian(l, v2, slope, inverse, length); /* J v1 / |v1| */
    EACH_REGISTER(u, c) {
        const vreal decay = fastest_decay(
            product_of(c, v0, v0, inverse, u), product_of(c, v0, v1, inverse, u),
            product_of(c, v1, v1, inverse, u), length[u] * product_of(c, v0, v2, inverse, u),
            length[u] * product_of(c, v1, v2, inverse, u));
        vreal h = l->next[u];
        if (l->pair->branches) /* a border may hold the steps up */
            h = vcopysign(vmin(l->longest_tried[u], HELD_UP * vabs(h)), h);
        const vint stiff = -h * decay >= most;
        const vint made = attempts(l, u);
        vint *due = l->check + u, *often = due + R;
        const vint twice = 2 * made - due[2 * R];
        *often = (*often - stiff) & stiff;
        *due = vselect_int(stiff, made + (made >> 6) + SOON_AGAIN, twice);
        l->passed[u] = *often == IN_A_ROW;
    }
}
/* The tests that lanes wait for; those that are stiff leave. */
static void make_tests(Lanes *l) {
    Lanes *few = l->apart;
    const int64_t count = l->n_wait;
    test_stiffness(few);
    l->c.stopped |= few->c.stopped;
    l->n_wait = 0;
    EACH_BELOW(k, count) {
        const int64_t i = l->waiting[k];
        LANE(l->wait, i) = 0;
        EACH_FROM(row, l->at[OWN_CHECK], l->at[OWN_CHECK + 1])
            LANE(l->own + row * l->c.R, i) = few->own[row][k];
        if (few->passed[0][k] && !l->c.stopped) leave_to_another(l, i);
    }
}
/* Lane i waits for a test, as it is now; the first of a register fills what is left of it. */
static void wait_for_test(Lanes *l, int64_t i) {
    vreal *own = l->apart->own;
    EACH_BELOW(row, l->at[OWN_PARTS]) {
        const real number = LANE(l->own + row * l->c.R, i);
        if (l->n_wait) own[row][l->n_wait] = number;
        else own[row] = vset(number);
    }
    LANE(l->wait, i) = -1;
    l->waiting[l->n_wait++] = i;
    if (l->n_wait == VLEN) make_tests(l);
}
/* Lanes that are stiff leave. They are tested at different times, each as it was then; the tests
 * are made for a register of them, or when one has an effect: at the last of a row, and before the
 * next one of a lane. */
static void stiff_lanes_leave(Lanes *l) {
    const Chunk *c = &l->c;
    const int64_t R = c->R;
    int now = 0;
    EACH_REGISTER(u, c) {
        vint *due = l->check + u;
        const vint made = attempts(l, u);
        if (!vany(made >= *due)) continue;
        if (l->n_wait && vany((made >= *due) & l->wait[u])) make_tests(l);
        const vint passed = l->active[u] & l->accepted[u] & (made >= *due);
        const vreal rest = l->t_end[u] - c->t0[u], next = l->next[u];
        const vint far = passed & (vabs(rest) >= vabs(next) * MANY);
        mark_lanes(l, u, passed & ~far);
        if (!vany(far)) continue;
        now |= vany(far & (due[R] == IN_A_ROW - 1));
        TAKE(*due, far, made + (SOON_AGAIN - 1));
        EACH_BELOW(k, VLEN) /* rarely, and so not unrolled */
            if (far[k]) wait_for_test(l, u * VLEN + k);
    }
    if (l->n_wait && now) make_tests(l);
}

/* x becomes h J x, with the Jacobian that Radau's method keeps and the step that it would try next.
 */
static void times_kept_jacobian(Lanes *l, vreal *x) {
    const Chunk *c = &l->c;
    const int64_t R = c->R, n = c->dim;
    const vreal *const J = l->radau.J;
    vreal *out = l->sums;
    EACH_BELOW(i, n)
        EACH_REGISTER(u, c) {
            vreal sum = vzero;
            EACH_BELOW(k, n) sum = vfma(J[(i * n + k) * R + u], x[k * R + u], sum);
            out[i * R + u] = l->next[u] * sum;
        }
    copy_rows(c, c->dim, out, x);
}
/* Lanes that are no longer stiff leave; sizes, a vector and its length use rows that the next step
 * overwrites. Of |(h J)^8 v|^2 <= (h |lambda|)^8 |(h J)^4 v|^2 no root is needed. */
static void calm_lanes_leave(Lanes *l) {
    Chunk *c = &l->c;
    const int64_t R = c->R;
    const real most = l->solve->decay, square = most * most,
               eighth = square * square * square * square;
    vreal *inverse = l->yn, *x = l->low, *before = l->tn;
    vint any = {0};
    EACH_REGISTER(u, c) any |= l->active[u] & l->accepted[u];
    if (!vany(any)) return;
    sizes_and_start(l, inverse, x);
    EACH_BELOW(i, POWERS) {
        times_kept_jacobian(l, x);
        for (int64_t u = 0; i == POWERS / 2 - 1 && u < R; u++)
            before[u] = product_of(c, x, x, inverse, u);
    }
    EACH_REGISTER(u, c) {
        const vreal after = product_of(c, x, x, inverse, u), t = c->t0[u];
        const vint made = l->active[u] & l->accepted[u];
        const vint calm = (after <= eighth * before[u]) & (after <= REAL_MAX);
        vint *often = l->check + u;
        vreal *since = (vreal *)l->check + R + u, stiff = since[R];
        TAKE(*since, made & ((*often == 0) | ~calm), t);
        TAKE(*often, made, (*often - calm) & calm);
        const vint lasts = vabs(t - *since) >= vabs(*since - stiff) * CALM_PART;
        l->passed[u] =
            made & lasts & (*often >= CALM_IN_A_ROW) & (*often * CALM_SHARE >= attempts(l, u));
    }
    EACH_BELOW(i, R * VLEN)
        if (LANE(l->passed, i)) leave_to_another(l, i);
}
