/* The loop over a tile, written once, and its instances for every system of contents.h.
 *
 * The state of a group of registers stays in registers for all the steps of a call. Several
 * independent registers "in flight" hide the latency of dependent steps; a single one costs only
 * its own chain. */
#pragma once
#include "simd.h"
#include "tiles.h"
#include "vmath/vmath.h"
/* A traced system that is compiled (pyintegrate/trace/compiler.py) has a table of contents of its
 * own, and takes the kernels for any force from the package. */
#ifndef PI_ONE_SYSTEM
#define PI_CONTENTS "contents.h"
#include "program.h"
#include "rows/kernels.h"
#endif

/* A system's mathematics, one wide register for each component. p: parameters, then those derived.
 */
typedef void Rhs(vreal t, const vreal *y, const vreal *p, vreal *dydt);
typedef void Acceleration(vreal t, const vreal *x, const vreal *v, const vreal *p, vreal *a);
/* v += w a, for forces that cost less so than kept from one step to the next. */
typedef void Kick(vreal w, vreal t, const vreal *x, const vreal *p, vreal *v);
typedef void Velocity(const vreal *momentum, const vreal *p, vreal *v); /* T_p */
typedef void Prepare(vreal *p);
typedef vreal Energy(vreal t, const vreal *y, const vreal *p);
typedef void Invariants(vreal t, const vreal *y, const vreal *p, vreal *values);
/* Second order: J[i][k] = da_i / dx_k, and da_i / dv_k from k = dof on. Otherwise df_i / dy_k. */
typedef void Jacobian(vreal t, const vreal *y, const vreal *p, vreal J[PI_MAX_DIM][PI_MAX_DIM]);

typedef struct {
    const PiSystem *system;
    Rhs *rhs;
    Acceleration *acceleration;
    Kick *kick;
    Velocity *velocity;
    Prepare *prepare;
    Energy *energy;
    Invariants *invariants;
    Jacobian *jacobian;
    int heavy;      /* so long that specialised kernels gain nothing */
    int long_chain; /* a division or a sine: its latency is hidden by many registers only */
} Model;

INLINE void rhs(const Model *q, vreal t, const vreal *y, const vreal *p, vreal *dydt) {
    const int dof = q->system->dof;
    if (q->rhs) {
        q->rhs(t, y, p, dydt);
        return;
    }
    if (q->velocity) q->velocity(y + dof, p, dydt);
    else
        EACH(i, 0, dof) dydt[i] = y[dof + i];
    q->acceleration(t, y, y + dof, p, dydt + dof);
}

/* Registers in flight: state, parameters, first time and step of some trajectories, and a force
 * kept from step to step. */
typedef struct {
    vreal y[PI_MAX_FLIGHT][PI_MAX_DIM], p[PI_MAX_FLIGHT][PI_MAX_PARAMS];
    vreal t0[PI_MAX_FLIGHT], h[PI_MAX_FLIGHT], kept[PI_MAX_FLIGHT][PI_MAX_DIM];
} Flight;

#include "families/classical_rk4.h"
#include "families/composition.h"
#include "families/explicit_rk.h"

/* ---- one step of whatever the kernel is compiled for ----------------------------------------- */
/* The family, the method (a constant in specialised kernels) and the table (in general ones). */
typedef struct {
    PiFamily family;
    PiSpecialised specialised;
    const PiMethod *method;
} Rule;

/* Weights that steps take from memory: all of a table's, few of a specialised method's. */
INLINE int weight_count(const Rule *rule) {
    if (rule->family == PI_COMPOSITION) return rule->specialised ? 4 : 2 * PI_MAX_SUBSTEPS;
    return rule->specialised ? 1 : PI_MAX_WEIGHTS;
}
INLINE void start(const Rule *rule, const PiTile *tile, const Model *q, int count, vreal *w,
                  int64_t stride, Flight *f) {
    EACH(u, 0, count) {
        if (u > 0 && stride == 0) break;
        if (rule->family == PI_COMPOSITION)
            composition_weights(rule->method, f->h[u], w + u * stride);
        else if (!rule->specialised) table_weights(tile->table, f->h[u], w + u * stride);
    }
    if (rule->family == PI_COMPOSITION) composition_start(q, rule->method, count, tile->first, f);
}
INLINE void step(const Rule *rule, const PiTile *tile, const Model *q, int count, const vreal *w,
                 int64_t stride, int64_t n, Flight *f) {
    const int nystrom = q->acceleration && !q->velocity && !q->system->velocity_dependent;
    if (rule->family == PI_COMPOSITION) {
        composition_step(q, rule->method, count, w, stride, n, f);
    } else if (!rule->specialised) {
        if (nystrom) any_nystrom_form_step(q, tile->table, count, w, stride, n, f);
        else any_explicit_rk_step(q, tile->table, count, w, stride, n, f);
    } else if (rule->specialised == PI_RK4) {
        const int room = PI_VECTOR_BYTES == 64 || q->system->dim <= 2; /* in 32 or 16 registers */
        const int side = room && count > 1 ? SIDE_BY_SIDE : 1;
        EACH(u, 0, count / side) {
            if (nystrom) rk4_nystrom_form_step(q, u * side, side, n, f);
            else rk4_step(q, u * side, side, n, f);
        }
    } else
        EACH(u, 0, count) {
            const vreal h = f->h[u], t = time_at(f->t0[u], h, n), *p = f->p[u];
            if (nystrom) nystrom_form_step(q, rule->method, t, h, f->y[u], p);
            else explicit_rk_step(q, rule->method, t, h, f->y[u], p);
        }
}

/* ---- the loop -------------------------------------------------------------------------------- */
INLINE vreal load_row(PiRow row, int64_t lane) {
    const real *data = (const real *)row.data;
    return row.step ? vload(data + lane) : vset(*data);
}

/* The place of register u in the rows; past the last one, that one again. */
INLINE int64_t place(const PiTile *tile, int64_t r, int u) {
    return r + u < tile->registers ? r + u : tile->registers - 1;
}
/* Frozen lanes keep the state before. */
INLINE void keep_frozen(const PiTile *tile, const Model *q, int64_t r, int count, Flight *f) {
    const vint *frozen = (const vint *)tile->frozen;
    if (!frozen) return;
    EACH(u, 0, count) {
        const int64_t i = place(tile, r, u);
        EACH(d, 0, q->system->dim)
            f->y[u][d] =
                vselect(frozen[i], vload((const real *)tile->in + d * tile->in_stride + i * VLEN),
                        f->y[u][d]);
    }
}
INLINE void write_record(const PiTile *tile, const Model *q, int64_t r, int count, const Flight *f,
                         real *record) {
    EACH(u, 0, count)
        EACH(d, 0, q->system->dim) {
            real *to = record + d * tile->record_stride + place(tile, r, u) * VLEN;
            if (tile->stream) vstream(to, f->y[u][d]);
            else vstore(to, f->y[u][d]);
        }
}

/* `count` registers from number r on; past the last one, that is done and written again. */
INLINE int group(const Rule *rule, const PiTile *tile, const Model *q, int64_t r, int count) {
    const int dim = q->system->dim;
    const vint *frozen = (const vint *)tile->frozen;
    /* A specialised kernel has its weights in registers; others share those of a common step. */
    const int weights = weight_count(rule);
    const int64_t stride = rule->specialised || tile->h.step ? weights : 0;
    vreal w[count * weights];
    Flight f;
    EACH(u, 0, count) {
        const int64_t lane = place(tile, r, u) * VLEN;
        EACH(d, 0, dim) f.y[u][d] = vload((const real *)tile->in + d * tile->in_stride + lane);
        EACH(d, 0, q->system->n_params) f.p[u][d] = load_row(tile->params[d], tile->lane + lane);
        f.t0[u] = load_row(tile->t0, tile->lane + lane);
        f.h[u] = load_row(tile->h, tile->lane + lane);
        if (q->prepare) q->prepare(f.p[u]);
        EACH(d, 0, q->system->dof) f.kept[u][d] = vset(0);
    }
    start(rule, tile, q, count, w, stride, &f);
    real *record = (real *)tile->record;
    const int64_t last = tile->first + tile->steps;
    for (int64_t n = tile->first; n < last;) {
        const int64_t every =
            record && tile->record_every < last - n ? tile->record_every : last - n;
        for (const int64_t stop = n + every; n < stop; n++)
            step(rule, tile, q, count, w, stride, n, &f);
        if (record) {
            keep_frozen(tile, q, r, count, &f);
            write_record(tile, q, r, count, &f, record);
            record += tile->record_next;
        }
    }
    vint bad = {0};
    const vreal bound = vset((real)tile->bound);
    EACH(u, 0, count) {
        vint good = vabs(f.y[u][0]) <= bound;
        EACH(d, 1, dim) good &= vabs(f.y[u][d]) <= bound;
        if (frozen) good |= frozen[place(tile, r, u)];
        bad |= ~good;
    }
    keep_frozen(tile, q, r, count, &f);
    EACH(u, 0, count)
        EACH(d, 0, dim)
            vstore((real *)tile->out + d * tile->out_stride + place(tile, r, u) * VLEN, f.y[u][d]);
    return vany(bad);
}

INLINE int advance(const Rule *rule, const PiTile *tile, const Model *q, int in_flight) {
    int bad = 0;
    if (rule->family == PI_COMPOSITION && !q->acceleration) return 0; /* refused long before */
    if (tile->registers == 1) bad = group(rule, tile, q, 0, 1);
    else
        for (int64_t r = 0; r < tile->registers; r += in_flight)
            bad |= group(rule, tile, q, r, in_flight);
    if (tile->stream) vstream_end();
    return bad;
}

/* How many registers in flight: as many as hide the latency without running out of registers. The
 * stages of an explicit method want registers too, and a heavy system has enough to do with half of
 * them. All as measured. */
INLINE int in_flight(const Rule *rule, const Model *q) {
    const int dim = q->system->dim, table = rule->family == PI_EXPLICIT_RK && !rule->specialised;
    const int few = rule->specialised == PI_RK4 && PI_VECTOR_BYTES == 64 ? 3 : 2;
    int n = PI_IN_FLIGHT;
    if (dim <= few || (dim <= 4 && q->long_chain && !table)) n = PI_IN_FLIGHT_SMALL;
    if (table && !q->long_chain && n > PI_IN_FLIGHT_TABLE) n = PI_IN_FLIGHT_TABLE;
    if (rule->specialised == PI_TSITOURAS54) n /= 2;
    if (q->heavy) n /= 2;
    return n > 1 ? n : 1;
}

/* ---- the same system as a force on rows ------------------------------------------------------ */
INLINE int answer_rows(const Model *q, PiQuestion question, const PiRows *rows) {
    const int dim = q->system->dim, dof = q->system->dof;
    const int64_t R = rows->registers;
    const vreal *y_rows = rows->y, *v_rows = rows->v;
    vreal *p_rows = rows->p, *out = rows->out;
    for (int64_t u = 0; u < R; u++) {
        vreal y[PI_MAX_DIM], p[PI_MAX_PARAMS], answer[PI_MAX_DIM];
        EACH(i, 0, PI_MAX_PARAMS) p[i] = p_rows[i * R + u];
        const vreal t = ((const vreal *)rows->t)[u];
        const int halves = question == PI_ACCELERATION || question == PI_VELOCITY;
        EACH(d, 0, dim) y[d] = halves && d >= dof ? v_rows[(d - dof) * R + u] : y_rows[d * R + u];
        int n = 0;
        switch (question) {
        case PI_RHS: rhs(q, t, y, p, answer), n = dim; break;
        case PI_ACCELERATION:
            if (q->acceleration) q->acceleration(t, y, y + dof, p, answer), n = dof;
            break;
        case PI_VELOCITY:
            if (q->velocity) q->velocity(y + dof, p, answer), n = dof;
            break;
        case PI_ENERGY:
            if (q->energy) answer[0] = q->energy(t, y, p), n = 1;
            break;
        case PI_INVARIANTS:
            if (q->invariants) q->invariants(t, y, p, answer), n = q->system->n_invariants;
            break;
        case PI_PREPARE:
            EACH(i, q->system->n_params, PI_MAX_PARAMS) p[i] = vset(0);
            if (q->prepare) q->prepare(p);
            EACH(i, q->system->n_params, PI_MAX_PARAMS) p_rows[i * R + u] = p[i];
            break;
        case PI_JACOBIAN: {
            vreal J[PI_MAX_DIM][PI_MAX_DIM] = {{{0}}};
            q->jacobian(t, y, p, J);
            EACH(i, 0, dim)
                EACH(k, 0, dim)
                    out[(i * dim + k) * R + u] = q->system->structure != PI_SECOND_ORDER ? J[i][k]
                                                 : i >= dof ? J[i - dof][k]
                                                            : vset(k == i + dof);
        }
        }
        EACH(i, 0, PI_MAX_DIM)
            if (i < n) out[i * R + u] = answer[i];
    }
    return 0;
}

/* ---- the instances --------------------------------------------------------------------------- */
/* First reading of contents.h: the methods and systems themselves. A HEAVY_SYSTEM's force takes so
 * long that specialised kernels gain nothing, and many registers in flight neither: it does
 * without, and is compiled in a third of the time. */
#define IMPLICIT_RK(id, ...)
#define NYSTROM(id, ...)
#define MULTISTEP(id, ...)
#define RIGID_MOTION(id, ...)
#define EXPLICIT_RK(id, ...)                                                                       \
    static const PiMethod id                                                                       \
        __attribute__((unused)) = {.name = #id, .family = PI_EXPLICIT_RK, __VA_ARGS__};
#define COMPOSITION(id, ...)                                                                       \
    static const PiMethod id                                                                       \
        __attribute__((unused)) = {.name = #id, .family = PI_COMPOSITION, __VA_ARGS__};
#define MATHEMATICS(...) __VA_ARGS__
#define SYSTEM(id, mathematics, ...)                                                               \
    static const PiSystem id##_system = {.name = #id, __VA_ARGS__};                                \
    static const Model id##_model = {.system = &id##_system, mathematics};
#define HEAVY_SYSTEM(id, mathematics, ...)                                                         \
    static const PiSystem id##_system = {.name = #id, __VA_ARGS__};                                \
    static const Model id##_model = {.system = &id##_system, .heavy = 1, mathematics};
#define SIZED_SYSTEM(id, ...)
#include PI_CONTENTS

/* Second reading: a kernel for each system and family, and for each specialised method. */
#undef EXPLICIT_RK
#undef COMPOSITION
#undef SYSTEM
#undef HEAVY_SYSTEM
#define EXPLICIT_RK(id, ...)
#define COMPOSITION(id, ...)
#define KERNEL(id, label, ...)                                                                     \
    static int id##_##label(const PiTile *tile) {                                                  \
        const Rule rule = {__VA_ARGS__};                                                           \
        return advance(&rule, tile, &id##_model, in_flight(&rule, &id##_model));                   \
    }
#define ANSWER(id, question)                                                                       \
    case question: return answer_rows(&id##_model, question, rows);
#define GENERAL(id)                                                                                \
    KERNEL(id, any_explicit_rk, PI_EXPLICIT_RK, PI_GENERAL, tile->method)                          \
    KERNEL(id, any_composition, PI_COMPOSITION, PI_GENERAL, tile->method)                          \
    KERNEL(id, rk4, PI_EXPLICIT_RK, PI_RK4, &rk4)                                                  \
    static int id##_on_rows(const void *context, PiQuestion question, const PiRows *rows) {        \
        (void)context;                                                                             \
        switch (question) {                                                                        \
            ANSWER(id, PI_RHS)                                                                     \
            ANSWER(id, PI_ACCELERATION)                                                            \
            ANSWER(id, PI_ENERGY)                                                                  \
            ANSWER(id, PI_INVARIANTS)                                                              \
            ANSWER(id, PI_JACOBIAN)                                                                \
            ANSWER(id, PI_VELOCITY)                                                                \
            ANSWER(id, PI_PREPARE)                                                                 \
        }                                                                                          \
        return 0;                                                                                  \
    }
#if PI_VECTOR_BYTES > 16
#define SPECIALISED(id)                                                                            \
    KERNEL(id, tsitouras54, PI_EXPLICIT_RK, PI_TSITOURAS54, &tsitouras54)                          \
    KERNEL(id, semi_implicit_euler, PI_COMPOSITION, PI_SEMI_IMPLICIT_EULER, &semi_implicit_euler)  \
    KERNEL(id, velocity_verlet, PI_COMPOSITION, PI_VELOCITY_VERLET, &velocity_verlet)
#else
#define SPECIALISED(id)
#endif
#define SYSTEM(id, ...)       GENERAL(id) SPECIALISED(id)
#define HEAVY_SYSTEM(id, ...) GENERAL(id)
#include PI_CONTENTS

/* Third reading: their table. Heavy systems, and the baseline, have few specialised kernels; the
 * general ones give the same bits. */
#undef SYSTEM
#undef HEAVY_SYSTEM
#define ROW(id, ...)                                                                               \
    {.system = #id,                                                                                \
     .family = {id##_any_explicit_rk, id##_any_composition, id##_any_explicit_rk},                 \
     .specialised = {NULL, id##_rk4, __VA_ARGS__},                                                 \
     .force = id##_on_rows},
#define HEAVY_SYSTEM(id, ...)                                                                      \
    ROW(id, id##_any_explicit_rk, id##_any_composition, id##_any_composition)
#if PI_VECTOR_BYTES > 16
#define SYSTEM(id, ...) ROW(id, id##_tsitouras54, id##_semi_implicit_euler, id##_velocity_verlet)
#else
#define SYSTEM HEAVY_SYSTEM
#endif
static const PiKernels systems[] = {
#include PI_CONTENTS
};
#ifdef PI_ONE_SYSTEM
__attribute__((visibility("default"))) const PiKernels *PI_ONE_SYSTEM(uint64_t layout);
const PiKernels *PI_ONE_SYSTEM(uint64_t layout) { return layout == PI_LAYOUT ? systems : NULL; }
#else
/* Fourth reading: systems of any size are forces on rows. */
#undef SYSTEM
#undef HEAVY_SYSTEM
#undef SIZED_SYSTEM
#define SYSTEM(id, ...)
#define HEAVY_SYSTEM(id, ...)
#define SIZED_SYSTEM(id, force, ...) force,
static PiForce *const sized_forces[] = {
#include PI_CONTENTS
};
const PiKernelSet PI_KERNEL_SET = {
    .isa = PI_ISA,
    .real_bits = PI_REAL_BITS,
    .vector_bytes = PI_VECTOR_BYTES,
    .n_systems = sizeof systems / sizeof *systems,
    .systems = systems,
    .sized = sized_forces,
    .rows = {explicit_rk_rows, composition_rows, explicit_rk_rows, multistep_rows, implicit_rk_rows,
             rigid_motion_rows},
    .evaluate = evaluate,
    .program = run_program,
};
#endif
