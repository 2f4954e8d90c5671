/* A chunk of a tile: some registers of every row, in the workspace of a thread, small enough for
 * the caches; and functions for all families. Dimensions are known only at run time. */
#pragma once
#include "../../simd.h"
#include "../../tiles.h"

/* A factor of each lane: a row, or one register if it is the same for all (memory traffic
 * dominates). */
typedef struct {
    const vreal *row; /* NULL: 1 */
    int64_t stride;   /* 1, or 0 */
} Factor;

typedef struct {
    const PiTile *tile;
    int64_t R;                  /* registers in a row */
    int dim, dof;               /* dof = 0 for first order */
    vreal *y, *p;               /* state with its history; parameters */
    vreal *carry;               /* rounding errors of additions to the state; or NULL */
    vreal *t0, *h, *t;          /* rows */
    vreal *scratch, *free;      /* of the force; the next unused row */
    vint *code;                 /* why a lane's solve failed: a PiStatus, or 0 */
    const vint *frozen;         /* lanes that need not be computed, or NULL */
    int stopped;                /* has a force or a pause stopped the run? */
    int one_time;               /* are starts and steps the same for all lanes? */
    int goes_on;                /* are the random numbers of the step before still there? */
    uint64_t uniform;           /* parameters that are the same for all lanes, as bits */
    Factor scale[PI_MAX_STATE]; /* of the rate of each component, taken out of the parameters */
} Chunk;

/* Each register of a row, or of n rows one after the other; of these, those of one register; each
 * lane, and what a row has for it. */
#define EACH_REGISTER(u, c)        EACH_BELOW(u, (c)->R)
#define EACH_ENTRY(i, n, c)        EACH_BELOW(i, (n) * (c)->R)
#define EACH_IN_COLUMN(i, u, n, c) for (int64_t i = u; i < (n) * (c)->R; i += (c)->R)
#define EACH_LANE(i, c)            EACH_BELOW(i, (c)->R * VLEN)
#define LANE(row, i)               (row)[(i) / VLEN][(i) % VLEN]

static vreal *take_rows(Chunk *c, int64_t n) {
    vreal *rows = c->free;
    c->free += n * c->R;
    return rows;
}
static void copy_rows(const Chunk *c, int64_t n, const vreal *from, vreal *to) {
    EACH_ENTRY(i, n, c) to[i] = from[i];
}
INLINE int any_row(const Chunk *c, const vint *mask) {
    vint any = {0};
    EACH_REGISTER(u, c) any |= mask[u];
    return vany(any);
}
/* The row of times (t0 + n h) + fraction h; any times for forces that do not depend on it. */
static const vreal *times(const Chunk *c, int64_t n, double fraction) {
    if (!c->tile->system->time_dependent) return c->t;
    const vreal steps = vset(n), part = vset(fraction);
    const int64_t own = c->one_time ? 1 : c->R;
    EACH_BELOW(u, own) {
        const vreal t = vfma(steps, c->h[u], c->t0[u]);
        c->t[u] = fraction == 0 ? t : vfma(part, c->h[u], t);
    }
    EACH_FROM(u, own, c->R) c->t[u] = *c->t;
    return c->t;
}

/* Why lanes of register u fail: the first reason counts. */
static void fail_lanes(Chunk *c, int64_t u, vint lanes, PiStatus why) {
    TAKE(c->code[u], lanes & (c->code[u] == 0), vset_int(why));
}

/* Has the run been stopped, or is it to be? */
static int stops(Chunk *c) { return c->stopped = c->stopped || pi_pause(c->tile->pause); }

/* ---- the force ------------------------------------------------------------------------------- */
static void ask(Chunk *c, PiQuestion question, const vreal *t, const vreal *y, const vreal *v,
                vreal *out) {
    const PiRows rows = {.registers = c->R,
                         .t = t,
                         .y = y,
                         .v = v,
                         .p = c->p,
                         .out = out,
                         .scratch = c->scratch,
                         .uniform = c->uniform,
                         .pause = c->tile->pause,
                         .one_time = c->one_time,
                         .lanes = c->R * VLEN,
                         .bytes = c->R * sizeof(vreal)};
    if (stops(c) || c->tile->force(c->tile->context, question, &rows)) c->stopped = 1;
}
/* The velocities that belong to v: v itself, or for a separable system T_p(v), written to `to`. */
static const vreal *velocities(Chunk *c, const vreal *v, vreal *to) {
    if (c->tile->system->structure != PI_SEPARABLE) return v;
    ask(c, PI_VELOCITY, c->t, v, v, to);
    return to;
}
static void rhs_rows(Chunk *c, const vreal *t, const vreal *y, vreal *dydt) {
    if (c->dof == 0) {
        ask(c, PI_RHS, t, y, y, dydt);
        return;
    }
    const vreal *v = y + c->dof * c->R, *velocity = velocities(c, v, dydt);
    if (velocity != dydt) copy_rows(c, c->dof, velocity, dydt);
    ask(c, PI_ACCELERATION, t, y, v, dydt + c->dof * c->R);
}

/* ---- linear combinations --------------------------------------------------------------------- */
/* h^power weight of register u. */
INLINE vreal weight_at(const Chunk *c, double weight, int power, int64_t u) {
    return (power == 2 ? c->h[u] * c->h[u] : power == 1 ? c->h[u] : vone) * (real)weight;
}
/* The h^power weights of a row of a table, for some registers from `first` on. */
INLINE void fill_weights(const Chunk *c, const PiTable *m, int row, int power, int64_t first,
                         int count, vreal (*w)[4]) {
    for (int32_t j = m->start[row]; j < m->start[row + 1]; j++, w++)
        EACH(u, count) (*w)[u] = weight_at(c, m->weight[j], power, first + u);
}
/* Some registers of combine_rows side by side, with weights of their own or one for all. */
INLINE void combine_some(int terms, vreal (*w)[4], int own, const vreal *const *at, const vreal *y,
                         vreal *out, int64_t i, int count) {
    vreal sum[8];
    EACH(u, count) sum[u] = y[i + u];
    EACH_BELOW(j, terms)
        EACH(u, count) sum[u] = vfma(w[j][own ? u : 0], at[j][i + u], sum[u]);
    EACH(u, count) out[i + u] = sum[u];
}
/* out = y + sum of h^power weight_j k_j over one row of a table, j in its order; n rows each, the
 * rows of k_j begin n_k R j vectors in. out may be y. */
static void combine_rows(const Chunk *c, int n, const PiTable *m, int row, int power,
                         const vreal *y, const vreal *k, int64_t n_k, vreal *out) {
    const int from = m->start[row], terms = m->start[row + 1] - from;
    const int64_t R = c->R, size = n * R;
    vreal w[PI_MAX_STAGES + 1][4];
    const vreal *at[PI_MAX_STAGES + 1];
    EACH_BELOW(j, terms) at[j] = k + m->index[from + j] * n_k * R;
    int64_t i = 0, first = 0;
    if (!c->tile->h.stride) {
        fill_weights(c, m, row, power, 0, 1, w);
        for (; i + 8 <= size; i += 8) combine_some(terms, w, 0, at, y, out, i, 8);
        for (; i < size; i++) combine_some(terms, w, 0, at, y, out, i, 1);
        return;
    }
    for (; first + 4 <= R; first += 4) {
        fill_weights(c, m, row, power, first, 4, w);
        for (i = first; i < size; i += R) combine_some(terms, w, 1, at, y, out, i, 4);
    }
    for (; first < R; first++) {
        fill_weights(c, m, row, power, first, 1, w);
        for (i = first; i < size; i += R) combine_some(terms, w, 1, at, y, out, i, 1);
    }
}
/* to = y + weight k, n registers. */
static void moved_by_one(int64_t n, const vreal *y, vreal weight, const vreal *k, vreal *to) {
    EACH_BELOW(i, n) to[i] = vfma(weight, k[i], y[i]);
}
/* y += weight h^power k, n rows. */
static void add_rows(const Chunk *c, int n, double weight, int power, const vreal *k, vreal *y) {
    if (!power || !c->tile->h.stride)
        moved_by_one(n * c->R, y, weight_at(c, weight, power, 0), k, y);
    else
        EACH_REGISTER(u, c) {
            const vreal w = weight_at(c, weight, power, u);
            EACH_IN_COLUMN(i, u, n, c) y[i] = vfma(w, k[i], y[i]);
        }
}

/* ---- scaled weights -------------------------------------------------------------------------- */
/* From here on the force gives the rates without their scales (PiSystem.scale), which the weights
 * include, as in registers (take_scales of model.h); until they are returned to the parameters. */
static void set_scales_aside(Chunk *c) {
    const PiSystem *system = c->tile->system;
    const int n = system->n_params;
    const int alike = n < 64 && c->uniform == pi_lowest_bits(n);
    EACH_WHILE(d, c->dim, d < PI_MAX_STATE) {
        const int i = system->scale[d] - 1;
        if (i < 0) continue;
        vreal *row = take_rows(c, 1);
        copy_rows(c, 1, c->p + i * c->R, row);
        const int one = i < n ? i < 64 && c->uniform >> i & 1 : alike;
        c->scale[d] = (Factor){row, !one};
    }
    EACH_WHILE(d, c->dim, d < PI_MAX_STATE)
        if (c->scale[d].row)
            EACH_REGISTER(u, c) c->p[(system->scale[d] - 1) * c->R + u] = vone;
}
static void give_scales_back(Chunk *c) {
    EACH_WHILE(d, c->dim, d < PI_MAX_STATE) {
        if (c->scale[d].row)
            copy_rows(c, 1, c->scale[d].row, c->p + (c->tile->system->scale[d] - 1) * c->R);
        c->scale[d].row = NULL;
    }
}
static Factor scale_of(const Chunk *c, int d) {
    return d < PI_MAX_STATE ? c->scale[d] : (Factor){NULL, 0};
}
/* to[d] = y[d] + h weight k[d] for n components from d = `first` on, to which these rows belong,
 * with the scale of each; h is a row, or its square. */
static void moved_rows(const Chunk *c, int first, int n, const vreal *y, const vreal *h,
                       real weight, const vreal *k, vreal *to) {
    const int64_t R = c->R;
    for (int d = 0, some; d < n; d += some, y += some * R, k += some * R, to += some * R) {
        const Factor scale = scale_of(c, first + d);
        /* Rows without a scale are processed together. */
        for (some = 1; !scale.row && d + some < n && !scale_of(c, first + d + some).row;) some++;
        if (c->tile->h.stride || scale.stride)
            EACH_REGISTER(u, c) {
                vreal w = h[u] * weight;
                if (scale.row) w *= scale.row[u * scale.stride];
                EACH_IN_COLUMN(i, u, some, c) to[i] = vfma(w, k[i], y[i]);
            }
        else moved_by_one(some * R, y, scale.row ? *h * weight * *scale.row : *h * weight, k, to);
    }
}

/* ---- compensated sums ------------------------------------------------------------------------ */
/* a + b = sum + rest, exactly. Knuth (1969), The Art of Computer Programming II, 4.2.2. */
INLINE vreal two_sum(vreal a, vreal b, vreal *rest) {
    const vreal sum = a + b, added = sum - a;
    *rest = (a - (sum - added)) + (b - added);
    return sum;
}
/* Where a step adds its increments of the components from `first` on: to the state, or to
 * the rounding errors of earlier additions. */
static vreal *increments(const Chunk *c, int first) {
    return (c->carry ? c->carry : c->y) + first * c->R;
}
/* Adds these to n components, and keeps the rounding error.
 * Kahan (1965), Comm. ACM 8, 40; Hairer, Lubich, Wanner, Geometric Numerical Integration, VIII.5.
 */
static void settle(const Chunk *c, int first, int n) {
    if (!c->carry) return;
    EACH_FROM(i, first * c->R, (first + n) * c->R)
        c->y[i] = two_sum(c->y[i], c->carry[i], &c->carry[i]);
}
