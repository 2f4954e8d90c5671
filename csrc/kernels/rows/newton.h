/* Newton's method for implicit stages, each lane by itself: its iterates never depend on its
 * neighbours, and stop once it has converged to rounding.
 *
 *     z_i = h sum_j a_ij f(t_j, base_j + z_j)      for all stages i of a group
 *
 * or, with h^2 and accelerations, for positions, whose force does not depend on the velocity. With
 * the residual r(z), the right-hand side minus the left, and M = I - h a_ij J_j, computed in each
 * iteration and solved by Gaussian elimination with partial pivoting, z += M^-1 r.
 *
 * Start: every stage at y_n, which is on the solution; base, that is y_n + h sum of earlier slopes,
 * may be far from it if the motion is stiff, although its residual may be smaller.
 * Damping: if r has grown more than GROWTH times, or is not a number, half of the correction is
 * undone, repeatedly if needed. (Less growth is usual: a step onto a slow motion amplifies r once
 * or twice.)
 * Wrong roots: as h grows from 0, the root moves continuously away from y_n until det M = 0, where
 * two roots meet. So a root is not that of y_n if det M was positive at the start and is negative
 * at the root: the iteration has crossed a fold. And if r keeps growing, the root was found by
 * chance. Both are reported as not converged.
 * Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.8; Deuflhard (2004), Newton
 * Methods for Nonlinear Problems, 3.1 (damping) and 5.1 (folds). */
#pragma once
#include "factors.h"
#include "workspace.h"

/* Correct roots of stiff problems need at most 20 iterations, in which the residual grows twice.
 * Later ones measure components in units, in case pivots were rounding; what stays for long then is
 * rounding, also if those units do not show it. */
enum { NEWTON_ITERATIONS = 50, NEWTON_GROWTHS = 6, NEWTON_EARLY = 6, NEWTON_LONG = 30 };
/* A loop over unknowns, unrolled if their number is a constant, LARGEST_KNOWN at most. */
enum { LARGEST_KNOWN = 4 };
#define KNOWN(i, from, to) UNROLL_SOME for (int i = (from); i < (to); i++)
#define GROWTH             REAL(100.0)
#define LEAST_FRACTION     REAL(0x1p-12)
/* Corrections that stop shrinking are rounding, if they are below STAGNATION relative to the
 * solution. Below TINY, the smallest normal number / EPSILON, nothing is relative: decaying motions
 * end there. */
#if PI_REAL_BITS == 64
#define EPSILON    REAL(0x1p-52)
#define STAGNATION REAL(0x1p-26)
#define TINY       REAL(0x1p-970)
#else
#define EPSILON    REAL(0x1p-23)
#define STAGNATION REAL(0x1p-12)
#define TINY       REAL(0x1p-103)
#endif

/* Rates so fast that rounding of h dv'/dx hides the 1 of x' = v. */
#if PI_REAL_BITS == 64
#define FASTEST REAL(0x1p80)
#else
#define FASTEST REAL(0x1p24)
#endif
/* There velocities, and so pivots, are measured in a power of two: the root of the largest dv'/dx
 * over the largest dx'/dv, of J or M in rows of `dim`, half of which are before the velocities of a
 * motion of dof. Without it what is left of the rows of free bodies, whose forces do not depend on
 * the place of all, is rounding. */
INLINE vreal unit_of_velocities(int64_t R, int64_t dim, int64_t dof, const vreal *J) {
    const int64_t v = dim / 2;
    vreal to_v = vzero, to_x = vzero;
    EACH_BELOW(i, dof)
        EACH_FROM(k, v, v + dof) {
            to_x = vlarger(vabs(J[(i * dim + k) * R]), to_x);
            to_v = vlarger(vabs(J[(k * dim + i) * R]), to_v);
        }
    const vint fast = (to_v > FASTEST * to_x) & (to_v <= REAL_MAX * to_x);
    if (!vany(fast)) return vone;
    const vnatural half =
        (((vnatural)(to_v / to_x) >> MANTISSA_BITS) - (natural)EXPONENT_BIAS) >> 1;
    return vselect(fast, vpower_of_two(half), vone);
}

enum { SWEEPS = 8 };
/* Multiplies row i of M in register j and divides its column by a power of two, as unit[i]. */
static void measure_row(int64_t R, int n, vreal *M, vreal *unit, int i, int64_t j, vreal factor) {
    EACH_BELOW(k, n) {
        M[(i * n + k) * R + j] *= factor;
        M[(k * n + i) * R + j] /= factor;
    }
    unit[i * R + j] *= factor;
}
/* Components in units so far apart that the pivot of one would leave rounding of the other's
 * equation: units in which row and column have entries of one size (Osborne 1960, J. ACM 7, 338).
 * True if any is not 1. */
INLINE int measure(int64_t R, int n, int dof, vreal *M, vreal *unit) {
    int scaled = 0;
    EACH_BELOW(i, n * R) unit[i] = vone;
    EACH_BELOW(j, R) {
        const vreal velocities = unit_of_velocities(R, n, dof, M + j);
        int changes = vany(velocities != 1);
        for (int i = dof; i < n && changes; i++) measure_row(R, n, M, unit, i, j, 1 / velocities);
        vreal room = vset(EPSILON); /* once one is too far apart, for all of its lane */
        scaled |= changes, changes = 1;
        for (int sweep = 0; sweep < SWEEPS && changes; sweep++) {
            changes = 0;
            EACH_BELOW(i, n) {
                vreal row = vzero, column = vzero;
                EACH_BELOW(k, n) {
                    if (k == i) continue;
                    row = vlarger(vabs(M[(i * n + k) * R + j]), row);
                    column = vlarger(vabs(M[(k * n + i) * R + j]), column);
                }
                const vreal least = vmin(row, column), most = vmax(row, column);
                const vint apart = (least < room * most) & (least > 0) & (most <= REAL_MAX);
                if (!vany(apart)) continue;
                const vint half =
                    (((vint)column >> MANTISSA_BITS) - ((vint)row >> MANTISSA_BITS)) >> 1;
                measure_row(R, n, M, unit, i, j,
                            vselect(apart, vpower_of_two((vnatural)half), vone));
                TAKE(room, apart, vset(REAL(0.0625)));
                scaled = changes = 1;
            }
        }
    }
    return scaled;
}

/* Solves M x = r in place in one register, each lane by itself: n x n entries of M, n of r.
 * singular: lanes with a pivot of zero. Returns a mask of lanes with det M < 0. If n is a constant,
 * the compiler keeps all of it in registers; pauses are for large n. */
INLINE vint eliminate(Chunk *c, int n, vreal *M, vreal *r, vint *singular) {
    vint sign = {0};
    *singular = vset_int(0);
#define ENTRY(i, k) M[(i) * n + (k)]
    KNOWN(k, 0, n) {
        if (n > LARGEST_KNOWN && stops(c)) return sign;
        KNOWN(i, k + 1, n) { /* the largest entry of the column comes to the top */
            const vint swap = vabs(ENTRY(i, k)) > vabs(ENTRY(k, k));
            if (!vany(swap)) continue;
            sign ^= swap;
            KNOWN(j, k, n) {
                const vreal upper = ENTRY(k, j), lower = ENTRY(i, j);
                ENTRY(k, j) = vselect(swap, lower, upper);
                ENTRY(i, j) = vselect(swap, upper, lower);
            }
            const vreal upper = r[k], lower = r[i];
            r[k] = vselect(swap, lower, upper);
            r[i] = vselect(swap, upper, lower);
        }
        *singular |= ENTRY(k, k) == 0;
        sign ^= (vint)ENTRY(k, k);
        const vreal inverse = 1 / ENTRY(k, k);
        KNOWN(i, k + 1, n) {
            const vreal factor = -ENTRY(i, k) * inverse;
            KNOWN(j, k + 1, n) ENTRY(i, j) = vfma(factor, ENTRY(k, j), ENTRY(i, j));
            r[i] = vfma(factor, r[k], r[i]);
        }
        ENTRY(k, k) = inverse;
    }
    KNOWN(back, 0, n) {
        const int k = n - 1 - back;
        vreal sum = r[k];
        KNOWN(j, k + 1, n) sum = vfma(-ENTRY(k, j), r[j], sum);
        r[k] = sum * ENTRY(k, k);
    }
#undef ENTRY
    return sign;
}

/* d f_i / dy_k of a motion's y_k by forward differences, for forces without a Jacobian: J[i][k] =
 * (f_i(y + d e_k) - f_i(y)) / d with d = sqrt(epsilon) max(|y_k|, |h f_k|), or sqrt(epsilon) if
 * these are zero. Beside a slow motion h f_k may be far more than y_k moves by, |h f_k| / (1 + |h
 * J_kk|): where it is more than a thousand times that, and |y_k|, these are taken. shifted, here:
 * dim rows and one, for f(y + d e_k) and y_k. */
static void differences_rows(Chunk *c, const vreal *t, vreal *y, const vreal *f, vreal *J,
                             vreal *shifted, vreal *here) {
    const int64_t R = c->R;
    const vreal part = vsqrt(vset(EPSILON));
    EACH_ENTRY(i, c->dim * c->dim, c) J[i] = vzero; /* which a solution may keep */
    EACH_BELOW(own, motion_of(c)) {
        const int k = place(c, own, 0);
        vint wide = vset_int(-1);
        copy_rows(c, 1, y + k * R, here);
        EACH_REGISTER(u, c) {
            vreal scale = vmax(vabs(here[u]), vabs(c->h[u] * f[k * R + u]));
            TAKE(scale, scale == 0, vone);
            y[k * R + u] = vfma(part, scale, here[u]);
        }
        for (int tries = 3; tries > 0 && vany(wide); tries--) {
            rhs_rows(c, t, y, shifted);
            wide = vset_int(0);
            EACH_REGISTER(u, c) {
                const vreal width = y[k * R + u] - here[u], h = c->h[u];
                EACH_BELOW(i, c->dim)
                    J[(i * c->dim + k) * R + u] = (shifted[i * R + u] - f[i * R + u]) / width;
                const vreal moves =
                    vabs(h * f[k * R + u]) / (1 + vabs(h * J[(k * c->dim + k) * R + u]));
                const vreal less = part * vmax(vabs(here[u]), moves);
                const vint other = (less > 0) & (less * 1000 < vabs(width));
                TAKE(y[k * R + u], other, here[u] + less);
                wide |= other;
            }
        }
        copy_rows(c, 1, here, y + k * R);
    }
}

/* d f_i / dy_k at (t, y), row i * dim + k, where f is the slope: the system's own, or differences,
 * which are those of the motion's y_k alone. */
static void jacobian_rows(Chunk *c, const vreal *t, vreal *y, const vreal *f, vreal *J,
                          vreal *shifted, vreal *here) {
    if (c->tile->system->no_jacobian) differences_rows(c, t, y, f, J, shifted, here);
    else ask(c, PI_JACOBIAN, t, y, y + c->dof * c->R, J);
}

/* One group of stages: `stages` stages at times t + c_j h of step n; a: their block of
 * the table, rows PI_MAX_STAGES apart; power: of h. base, z: stages x (dim, or for h^2 dof) rows.
 */
typedef struct {
    int64_t n;
    int stages, power, dim, iteration;
    const double *times_c, *a;
    const vreal *base;
    vreal *z;
    union {
        vreal *part[NEWTON_PARTS]; /* in the order of workspace.h, or by name: */
        struct {
            vreal *slopes, *residual, *state, *jacobian, *matrix, *step, *last, *before, *fraction;
            vint *first, *grown, *done;
            vreal *shifted, *here, *room;
            vint *pivot;
        };
    };
} Newton;

/* The slopes and Jacobians of all stages at z. */
static void slopes_rows(Chunk *c, const Newton *s) {
    const int64_t R = c->R;
    const int all = c->dim, dim = s->dim;
    vreal *y = s->state;
    EACH_BELOW(j, s->stages) {
        const vreal *t = times(c, s->n, s->times_c[j]), *base = s->base + j * dim * R,
                    *z = s->z + j * dim * R;
        EACH_ENTRY(i, dim, c) y[i] = base[i] + z[i];
        copy_rows(c, all - dim, c->y + dim * R, y + dim * R);
        vreal *slopes = s->slopes + j * all * R;
        rhs_rows(c, t, y, slopes);
        jacobian_rows(c, t, y, slopes, s->jacobian + j * all * all * R, s->shifted, s->here);
    }
}

/* r of register u, and M of the motion, from the slopes and Jacobians. */
INLINE void equations(const Chunk *c, const Newton *s, int64_t u, int stages, int dim, int tangents,
                      vreal *M, vreal *r) {
    const int all = c->dim, size = stages * dim, n = dim / (1 + tangents);
    const int one = tangents ? place(c, 0, 1) : n, gap = tangents * one; /* in each half */
    /* The last `dim` of the components: all, or the accelerations. */
    const vreal *f = s->slopes + (all - dim) * c->R + u,
                *J = s->jacobian + (all - dim) * all * c->R + u;
    KNOWN(i, 0, size) r[i] = -s->z[i * c->R + u];
    KNOWN(i, 0, stages)
        KNOWN(j, 0, stages) {
            const vreal w = weight_at(c, s->a[i * PI_MAX_STAGES + j], s->power, u);
            KNOWN(d, 0, dim) r[i * dim + d] = vfma(w, f[(j * all + d) * c->R], r[i * dim + d]);
            KNOWN(d, 0, n)
                KNOWN(e, 0, n) {
                    const int row = d < one ? d : d + gap, k = e < one ? e : e + gap;
                    M[(i * n + d) * stages * n + j * n + e] =
                        vfma(-w, J[((j * all + row) * all + k) * c->R], vset(i == j && d == e));
                }
        }
}

/* For lanes of register u whose r has grown: if it has grown too much, half of the last correction
 * is undone (returned as a mask); the others are counted. */
static vint step_back(Chunk *c, const Newton *s, int64_t u, vint grown, vreal norm) {
    vreal *fraction = s->fraction + u;
    vint *growths = s->grown + u;
    const vint back = grown & ~(norm <= s->before[u] * GROWTH) & (*fraction > LEAST_FRACTION);
    TAKE(*fraction, back, *fraction * 0.5);
    *growths -= grown & ~back;
    fail_lanes(c, u, (norm <= REAL_MAX) & (*growths > NEWTON_GROWTHS), PI_NOT_CONVERGED);
    return back;
}

/* shifted: units of a motion's components in register u by `measure`, from the Jacobians of all
 * stages. */
static void find_units(const Chunk *c, const Newton *s, int64_t u) {
    const int64_t R = c->R, all = c->dim, dim = s->dim;
    const vreal *J = s->jacobian + (all - dim) * all * R + u;
    vreal *M = s->matrix;
    const int n = motion_of(c) / (all / dim);
    EACH_BELOW(d, n)
        EACH_BELOW(e, n) {
            vreal *entry = M + d * n + e;
            *entry = vzero;
            EACH_BELOW(j, s->stages)
                *entry =
                    vmax(vabs(J[((j * all + place(c, d, 0)) * all + place(c, e, 0)) * R]), *entry);
        }
    measure(1, n, dim < all || !c->dof ? 0 : n / 2, M, s->shifted);
}
/* Lanes of register u in which no correction is more than rounding beside the state, or beside the
 * tangent, that it belongs to, in those units. */
RARE vint within_rounding(const Chunk *c, const Newton *s, int64_t u) {
    const int64_t R = c->R;
    const int dim = s->dim, half = c->dof ? c->dof : dim, size = s->stages * dim,
              many = half / (1 + c->tile->system->tangents);
    const vreal *unit = s->shifted;
    vint within = vset_int(-1);
    if (s->iteration >= NEWTON_LONG) return within;
    find_units(c, s, u);
#define IN_UNITS unit[i % dim / half * many + i % many]
    for (int from = 0; from < half; from += many) {
        vreal largest = vzero, state = vset(TINY);
        EACH_BELOW(i, size) {
            const int d = i % dim;
            if (d % half < from || d % half >= from + many) continue;
            largest = vmax(largest, vabs(s->step[i * R + u]) * IN_UNITS);
            state = vmax(state, (vabs(s->base[i * R + u]) + vabs(s->z[i * R + u])) * IN_UNITS);
        }
        within &= largest <= state * EPSILON;
    }
#undef IN_UNITS
    return within;
}

/* The same as `eliminate` for a motion with tangents, with M of the motion: the residual of
 * tangents grows by sum_j w_ij dJ_j of the motion's correction. */
static vint eliminate_all(Chunk *c, const Newton *s, int64_t u, const vreal *unit, vreal *M,
                          vreal *r, vint *singular) {
    const int all = c->dim, dim = s->dim, stages = s->stages;
    Chunk one = *c;
    one.R = 1, one.dim = dim;
    const int n = motion_of(&one), size = stages * n;
    vint sign = {0};
    factor_rows(&one, size, M, s->pivot, NULL);
    c->stopped = one.stopped; /* or later pauses would find out, after steps without factors */
    *singular = vset_int(0);
    EACH_BELOW(k, size) {
        sign ^= (s->pivot[k] != vset_int(k)) ^ (vint)M[k * size + k];
        *singular |= vabs(M[k * size + k]) > REAL_MAX;
    }
    solve_rows(&one, stages, 0, 1, M, s->pivot, unit, s->room, r);
    const vreal *J = s->jacobian + (all - dim) * all * c->R + u;
    EACH_FROM(q, 1, dim / n)
        EACH_BELOW(d, n)
            EACH_BELOW(j, stages) {
                const int to = place(c, d, q);
                vreal slope = vzero;
                EACH_BELOW(e, n) {
                    const int from = place(c, e, 0);
                    slope = vfma(J[((j * all + to) * all + from) * c->R], r[j * dim + from], slope);
                }
                EACH_BELOW(i, stages) {
                    const vreal w = weight_at(c, s->a[i * PI_MAX_STAGES + j], s->power, u);
                    r[i * dim + to] = vfma(w, slope, r[i * dim + to]);
                }
            }
    solve_rows(&one, stages, 1, dim / n, M, s->pivot, unit, s->room, r);
    return sign;
}

/* In register u, z moves by the correction M^-1 r, or back by half of the one before; lanes that
 * have converged, or cannot, are done. */
INLINE void correct(Chunk *c, const Newton *s, int64_t u, int stages, int dim, int tangents,
                    int late, vreal *M, vreal *r) {
    const int64_t R = c->R;
    const int size = stages * dim, n = dim / (1 + tangents), half = c->dof ? c->dof : dim;
#define OWN(i) (!tangents || (i) % half < half / (1 + tangents))
    vreal *z = s->z + u, *step = s->step + u, *last = s->last + u, *before = s->before + u,
          *fraction = s->fraction + u;
    vint *done = s->done + u, *first = s->first + u, singular;
    if (late) find_units(c, s, u);
    equations(c, s, u, stages, dim, tangents, M, r);
    vreal norm = vzero;
    KNOWN(i, 0, size)
        if (OWN(i)) norm = vmax(norm, vabs(r[i]));
    const vreal unit = late || dim < c->dim
                           ? vone
                           : unit_of_velocities(R, dim, c->dof ? n / 2 : 0, s->jacobian + u);
    const int scaled = late || vany(unit != 1);
#define UNIT_OF(i) (late ? s->shifted[(i) % n] : (i) % n >= n / 2 ? 1 / unit : vone)
    if (scaled)
        KNOWN(i, 0, stages * n)
            KNOWN(k, 0, stages * n) M[i * stages * n + k] *= UNIT_OF(i) / UNIT_OF(k);
    vint sign;
    if (tangents) {
        for (int i = 0; !late && i < n; i++) s->shifted[i] = UNIT_OF(i);
        sign = eliminate_all(c, s, u, scaled ? s->shifted : NULL, M, r, &singular);
    } else {
        if (scaled)
            KNOWN(i, 0, size) r[i] *= UNIT_OF(i);
        sign = eliminate(c, size, M, r, &singular);
        if (scaled)
            KNOWN(i, 0, size) r[i] /= UNIT_OF(i);
    }
#undef UNIT_OF
    fail_lanes(c, u, singular & ~*done, PI_SINGULAR);
    /* The largest |correction| / (|base| + |z|), and largest correction, largest state. */
    vreal change = vzero, largest = vzero, state = vset(TINY);
    KNOWN(i, 0, size) {
        const vreal here = vabs(s->base[i * R + u]) + vabs(z[i * R] + r[i]) + TINY;
        change = vmax(change, vabs(r[i]) / here);
        if (!OWN(i)) continue;
        largest = vmax(largest, vabs(r[i]));
        state = vmax(state, here);
    }
    const vint going = ~*done, grown = going & ~(norm <= *before);
    vint back = {0};
    if (s->iteration == 0) *first = sign;
    else if (vany(grown)) /* corrections as small as rounding are no indication */
        back = step_back(c, s, u, grown & ~(largest <= state * STAGNATION), norm);
    if (vany(back)) {
        KNOWN(i, 0, size) {
            const vreal by = vselect(back, -*fraction * step[i * R], r[i]);
            z[i * R] += vselect(going, by, vzero);
            step[i * R] = vselect(back, step[i * R], by);
        }
    } else {
        KNOWN(i, 0, size) {
            z[i * R] += vselect(going, r[i], vzero);
            step[i * R] = r[i];
        }
    }
    *fraction = vselect(back, *fraction, vone);
    *before = vselect(back, *before, norm);
    /* The next correction would be about change^2 / last, unless it is rounding: for a component
     * that is small because terms of its force cancel, it may be as large. */
    vint ends = (change <= EPSILON) | (change * change <= *last * EPSILON);
    if (vany(going & ~ends)) {
        const vint rounding = (change <= STAGNATION) | (largest <= state * EPSILON);
        vint stays = (change * 2 >= *last) & rounding & (*last > 0);
        if (vany(stays & going & ~(change <= STAGNATION)))
            stays &= (change <= STAGNATION) | within_rounding(c, s, u);
        ends |= ~(change <= REAL_MAX) | stays;
    }
    ends &= ~back;
    const vint folded = sign & ~*first & going & ends;
    if (vany(folded)) fail_lanes(c, u, (folded < 0) & (change <= REAL_MAX), PI_NOT_CONVERGED);
    *done |= ends | (c->code[u] != 0);
    *last = vselect(back, vzero, change);
#undef OWN
}
/* Of any number of unknowns, with tangents or without, early or late. */
static __attribute__((noinline)) void correct_any(Chunk *c, const Newton *s, int64_t u) {
    const int late = s->iteration >= NEWTON_EARLY;
    correct(c, s, u, s->stages, s->dim, c->tile->system->tangents, late, s->matrix, s->residual);
}
/* An iteration; true if there are lanes that have not converged. */
static int correct_rows(Chunk *c, const Newton *s) {
    const vint *done = s->done;
    vint going = {0};
    EACH_WHILE(u, c->R, !c->stopped) {
        if (!vany(~done[u])) continue;
        vreal M[LARGEST_KNOWN * LARGEST_KNOWN], r[LARGEST_KNOWN];
        if (c->tile->system->tangents || s->iteration >= NEWTON_EARLY) correct_any(c, s, u);
        else if (s->stages == 1 && s->dim == 1) correct(c, s, u, 1, 1, 0, 0, M, r);
        else if (s->stages == 1 && s->dim == 2) correct(c, s, u, 1, 2, 0, 0, M, r);
        else if (s->stages == 1 && s->dim == 3) correct(c, s, u, 1, 3, 0, 0, M, r);
        else if (s->stages == 1 && s->dim == 4) correct(c, s, u, 1, 4, 0, 0, M, r);
        else if (s->stages == 2 && s->dim == 2) correct(c, s, u, 2, 2, 0, 0, M, r);
        else correct_any(c, s, u);
        going |= ~done[u];
    }
    return vany(going);
}

/* One group of stages, by Newton's method as above; z is the solution. */
static void newton(Chunk *c, int64_t n, int stages, int power, const double *times_c,
                   const double *a, const vreal *base, vreal *z) {
    const int64_t R = c->R;
    const int dim = power == 2 ? c->dof : c->dim, size = stages * dim;
    Newton s = {n, stages, power, dim, 0, times_c, a, base, z, {{NULL}}};
    vreal *free = c->free;
    int64_t rows[NEWTON_PARTS];
    newton_parts(c->dim, dim, stages, c->tile->system->tangents, rows);
    EACH_BELOW(i, NEWTON_PARTS) s.part[i] = take_rows(c, rows[i]);
    vint *done = s.done;
    EACH_REGISTER(u, c) {
        done[u] = (c->code[u] != 0) | (c->frozen ? c->frozen[u] : vset_int(0));
        s.last[u] = vzero;
        s.grown[u] = vset_int(0);
    }
    EACH_BELOW(i, stages)
        EACH_BELOW(j, dim * R) z[i * dim * R + j] = c->y[j] - base[i * dim * R + j];

    for (; s.iteration < NEWTON_ITERATIONS && !c->stopped; s.iteration++) {
        slopes_rows(c, &s);
        if (!correct_rows(c, &s)) break;
    }
    EACH_REGISTER(u, c) {
        fail_lanes(c, u, ~done[u], PI_NOT_CONVERGED);
        const vint failed = c->code[u] != 0;
        EACH_BELOW(i, size) TAKE(z[i * R + u], failed, vset(NAN));
    }
    c->free = free;
}
