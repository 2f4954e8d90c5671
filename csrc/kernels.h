/* The loop over a tile, written once, and its instances for every system of contents.h.
 *
 * The state of a group of registers stays in registers for all the steps of a call. Several
 * independent registers "in flight" hide the latency of dependent steps; a single one costs only
 * its own chain. */
#pragma once
#include "pyintegrate.h"
#include "simd.h"
#include "vmath/vmath.h"

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
    int heavy;
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
    } else
        EACH(u, 0, count) {
            const vreal h = f->h[u], t = time_at(f->t0[u], h, n), *p = f->p[u];
            if (rule->specialised == PI_RK4) {
                if (nystrom) rk4_nystrom_form_step(q, t, h, f->y[u], p);
                else rk4_step(q, t, h, f->y[u], p);
            } else if (nystrom) nystrom_form_step(q, rule->method, t, h, f->y[u], p);
            else explicit_rk_step(q, rule->method, t, h, f->y[u], p);
        }
}

/* ---- the loop -------------------------------------------------------------------------------- */
INLINE vreal load_row(PiRow row, int64_t lane) {
    const real *data = (const real *)row.data;
    return row.step ? vload(data + lane) : vset(*data);
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
        const int64_t lane = (r + u < tile->registers ? r + u : tile->registers - 1) * VLEN;
        EACH(d, 0, dim) f.y[u][d] = vload((const real *)tile->in + d * tile->in_stride + lane);
        EACH(d, 0, q->system->n_params) f.p[u][d] = load_row(tile->params[d], lane);
        f.t0[u] = load_row(tile->t0, lane);
        f.h[u] = load_row(tile->h, lane);
        if (q->prepare) q->prepare(f.p[u]);
        EACH(d, 0, q->system->dof) f.kept[u][d] = vset(0);
    }
    start(rule, tile, q, count, w, stride, &f);
    for (int64_t n = tile->first; n < tile->first + tile->steps; n++)
        step(rule, tile, q, count, w, stride, n, &f);
    vint bad = {0};
    const vreal bound = vset((real)tile->bound);
    EACH(u, 0, count) {
        const int64_t i = r + u < tile->registers ? r + u : tile->registers - 1, lane = i * VLEN;
        vint good = vabs(f.y[u][0]) <= bound;
        EACH(d, 1, dim) good &= vabs(f.y[u][d]) <= bound;
        if (frozen) {
            EACH(d, 0, dim)
                f.y[u][d] =
                    vselect(frozen[i], vload((const real *)tile->in + d * tile->in_stride + lane),
                            f.y[u][d]);
            good |= frozen[i];
        }
        bad |= ~good;
        EACH(d, 0, dim) {
            vstore((real *)tile->out + d * tile->out_stride + lane, f.y[u][d]);
            if (tile->record) {
                real *record = (real *)tile->record + d * tile->record_stride + lane;
                if (tile->stream) vstream(record, f.y[u][d]);
                else vstore(record, f.y[u][d]);
            }
        }
    }
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

/* How many registers in flight: as many as hide the latency without running out of registers. A
 * heavy system has enough to do with half of them. */
INLINE int in_flight(const Model *q) {
    return (q->system->dim <= 2 ? PI_IN_FLIGHT_SMALL : PI_IN_FLIGHT) / (q->heavy ? 2 : 1);
}

/* ---- questions ------------------------------------------------------------------------------- */
INLINE vreal load_some(PiRow row, int64_t lane, int64_t lanes) {
    const real *data = (const real *)row.data;
    if (!row.step) return vset(*data);
    if (lane + VLEN <= lanes) return vload(data + lane);
    vreal v = vset(data[lanes - 1]);
    for (int64_t i = lane; i < lanes; i++) v[i - lane] = data[i];
    return v;
}
INLINE void store_some(real *out, int64_t lane, int64_t lanes, vreal v) {
    if (lane + VLEN <= lanes) vstore(out + lane, v);
    else
        for (int64_t i = lane; i < lanes; i++) out[i] = v[i - lane];
}

INLINE int answer(const Model *q, PiQuestion question, vreal t, const vreal *y, const vreal *p,
                  vreal *a) {
    const int dim = q->system->dim, dof = q->system->dof;
    switch (question) {
    case PI_RHS: rhs(q, t, y, p, a); return dim;
    case PI_ACCELERATION:
        if (q->acceleration) q->acceleration(t, y, y + dof, p, a);
        return dof;
    case PI_ENERGY:
        if (q->energy) a[0] = q->energy(t, y, p);
        return q->energy ? 1 : 0;
    case PI_INVARIANTS:
        if (q->invariants) q->invariants(t, y, p, a);
        return q->system->n_invariants;
    case PI_JACOBIAN: {
        vreal J[PI_MAX_DIM][PI_MAX_DIM] = {{{0}}};
        q->jacobian(t, y, p, J);
        for (int i = 0; i < dim; i++)
            for (int k = 0; k < dim; k++)
                a[i * dim + k] = q->system->structure != PI_SECOND_ORDER ? J[i][k]
                                 : i >= dof                              ? J[i - dof][k]
                                                                         : vset(k == i + dof);
        return dim * dim;
    }
    default: return 0;
    }
}

INLINE void evaluate(const Model *q, const PiSample *sample, PiQuestion question) {
    const int dim = q->system->dim;
    for (int64_t lane = 0; lane < sample->lanes; lane += VLEN) {
        vreal y[PI_MAX_DIM], p[PI_MAX_PARAMS], a[PI_MAX_DIM * PI_MAX_DIM];
        EACH(d, 0, dim) y[d] = load_some(sample->y[d], lane, sample->lanes);
        EACH(d, 0, q->system->n_params) p[d] = load_some(sample->params[d], lane, sample->lanes);
        if (q->prepare) q->prepare(p);
        const int rows = answer(q, question, load_some(sample->t, lane, sample->lanes), y, p, a);
        for (int i = 0; i < rows; i++)
            store_some((real *)sample->out + i * sample->out_stride, lane, sample->lanes, a[i]);
    }
}

#include "program.h"

/* ---- the instances --------------------------------------------------------------------------- */
/* First reading of contents.h: the methods and systems themselves. A HEAVY_SYSTEM's force takes so
 * long that specialised kernels gain nothing, and many registers in flight neither: it does
 * without, and is compiled in a third of the time. */
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
#include "contents.h"

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
        return advance(&rule, tile, &id##_model, in_flight(&id##_model));                          \
    }
#define GENERAL(id)                                                                                \
    KERNEL(id, any_explicit_rk, PI_EXPLICIT_RK, PI_GENERAL, tile->method)                          \
    KERNEL(id, any_composition, PI_COMPOSITION, PI_GENERAL, tile->method)                          \
    KERNEL(id, rk4, PI_EXPLICIT_RK, PI_RK4, &rk4)                                                  \
    static void id##_evaluate(const PiSample *sample, PiQuestion question) {                       \
        evaluate(&id##_model, sample, question);                                                   \
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
#include "contents.h"

/* Third reading: their table. Heavy systems, and the baseline, have few specialised kernels; the
 * general ones give the same bits. */
#undef SYSTEM
#undef HEAVY_SYSTEM
#define ROW(id, ...)                                                                               \
    {.system = #id,                                                                                \
     .family = {id##_any_explicit_rk, id##_any_composition},                                       \
     .specialised = {NULL, id##_rk4, __VA_ARGS__},                                                 \
     .evaluate = id##_evaluate},
#define HEAVY_SYSTEM(id, ...)                                                                      \
    ROW(id, id##_any_explicit_rk, id##_any_composition, id##_any_composition)
#if PI_VECTOR_BYTES > 16
#define SYSTEM(id, ...) ROW(id, id##_tsitouras54, id##_semi_implicit_euler, id##_velocity_verlet)
#else
#define SYSTEM HEAVY_SYSTEM
#endif
static const PiKernels systems[] = {
#include "contents.h"
};
const PiKernelSet PI_KERNEL_SET = {
    .isa = PI_ISA,
    .real_bits = PI_REAL_BITS,
    .vector_bytes = PI_VECTOR_BYTES,
    .n_systems = sizeof systems / sizeof *systems,
    .systems = systems,
    .program = run_program,
};
