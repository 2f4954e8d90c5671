/* Newton's method for implicit stages, each lane by itself: its iterates never depend on its
 * neighbours, and stop once it has converged to rounding.
 *
 *     z_i = h sum_j a_ij f(t_j, base_j + z_j)      for all stages i of a group
 *
 * or, with h^2 and accelerations, of positions, whose force does not see the velocity. With the
 * residual r(z), its right-hand side minus its left, and M = I - h a_ij J_j, made anew in each
 * iteration and solved by Gaussian elimination with partial pivoting, z += M^-1 r.
 *
 * Start: every stage at y_n, which is on the solution; base, that is y_n + h sum of earlier slopes,
 * may be far beside it where the motion is stiff, with a smaller residual all the same.
 * Damping: where r has grown more than GROWTH times, or is not a number, half of the step is taken
 * back, as often as it takes. (Less is usual: a step onto a slow motion magnifies r once or twice.)
 * Wrong roots: with h, roots move away from y_n continuously until det M = 0, where two of them
 * meet. So a root is not that of y_n if det M was positive at the start and is negative there: the
 * iteration has crossed a fold. And one whose r keeps growing found its root by chance. Both are
 * reported as what does not converge.
 * Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.8; Deuflhard (2004), Newton
 * Methods for Nonlinear Problems, 3.1 (damping) and 5.1 (folds). */
#pragma once
#include "chunk.h"
#include "workspace.h"

/* Right roots of stiff problems take 20 iterations at most, and a residual that grows twice. */
enum { NEWTON_ITERATIONS = 50, NEWTON_GROWTHS = 6 };
#define GROWTH         REAL(100.0)
#define LEAST_FRACTION REAL(0x1p-12)
/* Corrections that no longer shrink are rounding, if they are below STAGNATION beside the solution.
 * Below TINY, the smallest normal number / EPSILON, nothing is relative: motions that die away end
 * there. */
#if PI_REAL_BITS == 64
#define EPSILON    REAL(0x1p-52)
#define STAGNATION REAL(0x1p-26)
#define TINY       REAL(0x1p-970)
#else
#define EPSILON    REAL(0x1p-23)
#define STAGNATION REAL(0x1p-12)
#define TINY       REAL(0x1p-103)
#endif

static int any_row(const Chunk *c, const vint *mask) {
    vint any = {0};
    for (int64_t u = 0; u < c->R; u++) any |= mask[u];
    return vany(any);
}

/* Solves M x = r in place: n x n rows of M, n rows of r; swap: a row. sign: negative where det M
 * is. A pivot of zero sets the lane's code. */
static void solve_rows(Chunk *c, int n, vreal *M, vreal *r, vint *swap, vint *sign) {
    const int64_t R = c->R;
    for (int64_t u = 0; u < R; u++) sign[u] = vset_int(0);
    const int long_columns = n > 256;
#define ENTRY(i, k) M[((i) * n + (k)) * R + u]
    for (int k = 0; k < n; k++) {
        if (c->stopped || pi_pause(c->tile->pause)) {
            c->stopped = 1;
            return;
        }
        for (int i = k + 1; i < n; i++) { /* the largest entry of the column comes to the top */
            for (int64_t u = 0; u < R; u++) swap[u] = vabs(ENTRY(i, k)) > vabs(ENTRY(k, k));
            if (!any_row(c, swap)) continue;
            for (int64_t u = 0; u < R; u++) {
                sign[u] ^= swap[u];
                for (int j = k; j < n; j++) {
                    const vreal upper = ENTRY(k, j), lower = ENTRY(i, j);
                    ENTRY(k, j) = vselect(swap[u], lower, upper);
                    ENTRY(i, j) = vselect(swap[u], upper, lower);
                }
                const vreal upper = r[k * R + u], lower = r[i * R + u];
                r[k * R + u] = vselect(swap[u], lower, upper);
                r[i * R + u] = vselect(swap[u], upper, lower);
            }
        }
        for (int64_t u = 0; u < R; u++) {
            const vint zero = ENTRY(k, k) == vset(0);
            c->code[u] = vselect_int(zero & (c->code[u] == 0), vset_int(PI_SINGULAR), c->code[u]);
            sign[u] ^= (vint)ENTRY(k, k);
            const vreal inverse = vset(REAL(1.0)) / ENTRY(k, k);
            for (int i = k + 1; i < n; i++) {
                if (long_columns && pi_pause(c->tile->pause)) {
                    c->stopped = 1;
                    return;
                }
                const vreal factor = -ENTRY(i, k) * inverse;
                for (int j = k + 1; j < n; j++)
                    ENTRY(i, j) = vfma(factor, ENTRY(k, j), ENTRY(i, j));
                r[i * R + u] = vfma(factor, r[k * R + u], r[i * R + u]);
            }
            ENTRY(k, k) = inverse;
        }
    }
    for (int k = n - 1; k >= 0; k--)
        for (int64_t u = 0; u < R; u++) {
            vreal sum = r[k * R + u];
            for (int j = k + 1; j < n; j++) sum = vfma(-ENTRY(k, j), r[j * R + u], sum);
            r[k * R + u] = sum * ENTRY(k, k);
        }
#undef ENTRY
}

/* d f_i / dy_k by forward differences, for forces without a Jacobian: J[i][k] = (f_i(y + d e_k) -
 * f_i(y)) / d with d = sqrt(epsilon) max(|y_k|, |h f_k|), or sqrt(epsilon) where these are zero.
 * shifted, here: dim rows and one, for f(y + d e_k) and y_k. */
static void differences_rows(Chunk *c, const vreal *t, vreal *y, const vreal *f, vreal *J,
                             vreal *shifted, vreal *here) {
    const int64_t R = c->R;
    for (int k = 0; k < c->dim; k++) {
        copy_rows(c, 1, y + k * R, here);
        for (int64_t u = 0; u < R; u++) {
            vreal scale = vmax(vabs(here[u]), vabs(c->h[u] * f[k * R + u]));
            scale = vselect(scale == vset(0), vset(REAL(1.0)), scale);
            y[k * R + u] = vfma(vsqrt(vset(EPSILON)), scale, here[u]);
        }
        rhs_rows(c, t, y, shifted);
        for (int64_t u = 0; u < R; u++) {
            const vreal width = y[k * R + u] - here[u];
            for (int i = 0; i < c->dim; i++)
                J[(i * c->dim + k) * R + u] = (shifted[i * R + u] - f[i * R + u]) / width;
        }
        copy_rows(c, 1, here, y + k * R);
    }
}

/* d f_i / dy_k at (t, y), row i * dim + k, where f is the slope: the system's own, or differences.
 */
static void jacobian_rows(Chunk *c, const vreal *t, vreal *y, const vreal *f, vreal *J,
                          vreal *shifted, vreal *here) {
    if (c->tile->system->no_jacobian) differences_rows(c, t, y, f, J, shifted, here);
    else ask(c, PI_JACOBIAN, t, y, y + c->dof * c->R, J);
}

/* What one group of stages asks: `stages` stages at times t + c_j h of step n; a: their block of
 * the table, rows PI_MAX_STAGES apart; power: of h. base, z: stages x (dim, or for h^2 dof) rows.
 */
typedef struct {
    int64_t n;
    int stages, power, dim, size;
    const double *times_c, *a;
    const vreal *base;
    vreal *z, *part[NEWTON_PARTS];
} Newton;

/* r, its largest component, and M at z. */
static void equations_rows(Chunk *c, const Newton *s) {
    const int64_t R = c->R;
    const int all = c->dim, dim = s->dim, stages = s->stages;
    vreal *slopes = s->part[NEWTON_SLOPES], *r = s->part[NEWTON_RESIDUAL],
          *y = s->part[NEWTON_STATE], *jacobian = s->part[NEWTON_JACOBIAN],
          *M = s->part[NEWTON_MATRIX], *norm = s->part[NEWTON_NORM];
    /* The last `dim` of the components: all, or the accelerations. */
    const vreal *f = slopes + (all - dim) * R, *J = jacobian + (all - dim) * all * R;
    for (int j = 0; j < stages; j++) {
        const vreal *t = times(c, s->n, s->times_c[j]), *base_j = s->base + j * dim * R;
        for (int64_t i = 0; i < dim * R; i++) y[i] = base_j[i] + s->z[j * dim * R + i];
        copy_rows(c, all - dim, c->y + dim * R, y + dim * R);
        vreal *slopes_j = slopes + j * all * R;
        rhs_rows(c, t, y, slopes_j);
        jacobian_rows(c, t, y, slopes_j, jacobian, s->part[NEWTON_SHIFTED], s->part[NEWTON_HERE]);
        for (int i = 0; i < stages; i++)
            for (int64_t u = 0; u < R; u++) {
                const vreal w = -weight_at(c, s->a[i * PI_MAX_STAGES + j], s->power, u);
                for (int d = 0; d < dim; d++)
                    for (int e = 0; e < dim; e++)
                        M[((i * dim + d) * s->size + j * dim + e) * R + u] =
                            vfma(w, J[(d * all + e) * R + u], vset(i == j && d == e));
            }
    }
    for (int64_t u = 0; u < R; u++) norm[u] = vset(0);
    for (int i = 0; i < stages; i++)
        for (int64_t u = 0; u < R; u++)
            for (int d = 0; d < dim; d++) {
                vreal sum = -s->z[(i * dim + d) * R + u];
                for (int j = 0; j < stages; j++)
                    sum = vfma(weight_at(c, s->a[i * PI_MAX_STAGES + j], s->power, u),
                               f[(j * all + d) * R + u], sum);
                r[(i * dim + d) * R + u] = sum;
                norm[u] = vmax(norm[u], vabs(sum));
            }
}

/* z moves by the correction M^-1 r, or back by half of the step before; what has converged, or
 * cannot, is done. */
static void correct_rows(Chunk *c, const Newton *s) {
    const int64_t R = c->R;
    const vreal *r = s->part[NEWTON_RESIDUAL], *norm = s->part[NEWTON_NORM];
    vreal *z = s->z, *last = s->part[NEWTON_LAST], *step = s->part[NEWTON_STEP],
          *before = s->part[NEWTON_BEFORE], *fraction = s->part[NEWTON_FRACTION];
    const vint *sign = (const vint *)s->part[NEWTON_SIGN];
    vint *done = (vint *)s->part[NEWTON_DONE], *first = (vint *)s->part[NEWTON_FIRST],
         *growths = (vint *)s->part[NEWTON_GROWN];
    for (int64_t u = 0; u < R; u++) {
        /* The largest |correction| / (|base| + |z|), and largest correction, largest state. */
        vreal change = vset(0), largest = vset(0), state = vset(TINY);
        for (int i = 0; i < s->size; i++) {
            const vreal by = r[i * R + u];
            const vreal here = vabs(s->base[i * R + u]) + vabs(z[i * R + u] + by) + TINY;
            change = vmax(change, vabs(by) / here);
            largest = vmax(largest, vabs(by));
            state = vmax(state, here);
        }
        const vint first_time = fraction[u] == vset(0), far = ~(largest <= state * STAGNATION),
                   back = far & ~(norm[u] <= before[u] * GROWTH) & (fraction[u] > LEAST_FRACTION);
        fraction[u] = vselect(back, fraction[u] * REAL(0.5), vset(REAL(1.0)));
        for (int i = 0; i < s->size; i++) {
            const vreal by = vselect(back, -fraction[u] * step[i * R + u], r[i * R + u]);
            z[i * R + u] = vselect(done[u], z[i * R + u], z[i * R + u] + by);
            step[i * R + u] = vselect(back, step[i * R + u], by);
        }
        first[u] = vselect_int(first_time, sign[u], first[u]);
        growths[u] -= ~first_time & ~back & far & (norm[u] > before[u]);
        before[u] = vselect(back, before[u], norm[u]);
        /* The next correction would be about change^2 / last, if it is not rounding: of a
         * component that is small because others cancel in its force, it is as large. */
        const vint finite = change <= vset(REAL_MAX), small = change <= vset(EPSILON),
                   next_small = change * change <= last[u] * EPSILON,
                   rounding = (change <= vset(STAGNATION)) | (largest <= state * EPSILON),
                   stagnates = (change * REAL(2.0) >= last[u]) & rounding & (last[u] > vset(0)),
                   ends =
                       ~back & (~finite | small | (next_small & (last[u] > vset(0))) | stagnates);
        const vint folded = ends & (sign[u] < vset_int(0)) & (first[u] >= vset_int(0)),
                   wrong = finite & (folded | (growths[u] > vset_int(NEWTON_GROWTHS)));
        c->code[u] = vselect_int(~done[u] & wrong & (c->code[u] == 0), vset_int(PI_NOT_CONVERGED),
                                 c->code[u]);
        done[u] |= ends | (c->code[u] != 0);
        last[u] = vselect(back, vset(0), change);
    }
}

/* One group of stages, of which Newton above tells; z is the answer. */
static void newton(Chunk *c, int64_t n, int stages, int power, const double *times_c,
                   const double *a, const vreal *base, vreal *z) {
    const int64_t R = c->R;
    const int dim = power == 2 ? c->dof : c->dim, size = stages * dim;
    Newton s = {n, stages, power, dim, size, times_c, a, base, z, {NULL}};
    vreal *const free = c->free;
    int64_t rows[NEWTON_PARTS];
    newton_parts(c->dim, dim, stages, rows);
    for (int i = 0; i < NEWTON_PARTS; i++) s.part[i] = take_rows(c, rows[i]);
    vint *done = (vint *)s.part[NEWTON_DONE];
    for (int64_t u = 0; u < R; u++) {
        done[u] = (c->code[u] != 0) | (c->frozen ? c->frozen[u] : vset_int(0));
        s.part[NEWTON_LAST][u] = s.part[NEWTON_FRACTION][u] = s.part[NEWTON_BEFORE][u] = vset(0);
        ((vint *)s.part[NEWTON_GROWN])[u] = ((vint *)s.part[NEWTON_FIRST])[u] = vset_int(0);
    }
    for (int i = 0; i < stages; i++)
        for (int64_t j = 0; j < dim * R; j++) z[i * dim * R + j] = c->y[j] - base[i * dim * R + j];
    for (int64_t i = 0; i < size * R; i++) s.part[NEWTON_STEP][i] = vset(0);

    for (int iteration = 0; iteration < NEWTON_ITERATIONS && !c->stopped; iteration++) {
        equations_rows(c, &s);
        solve_rows(c, size, s.part[NEWTON_MATRIX], s.part[NEWTON_RESIDUAL],
                   (vint *)s.part[NEWTON_SWAP], (vint *)s.part[NEWTON_SIGN]);
        correct_rows(c, &s);
        vint going = {0};
        for (int64_t u = 0; u < R; u++) going |= ~done[u];
        if (!vany(going)) break;
    }
    for (int64_t u = 0; u < R; u++) {
        c->code[u] = vselect_int(done[u], c->code[u], vset_int(PI_NOT_CONVERGED));
        const vint failed = c->code[u] != 0;
        for (int i = 0; i < size; i++)
            z[i * R + u] = vselect(failed, vset((real)NAN), z[i * R + u]);
    }
    c->free = free;
}
