/* The loop over a tile in registers, written once for every system and family.
 *
 * The state of a group of registers stays in registers for all the steps of a call. Several
 * independent registers "in flight" hide the latency of dependent steps; a single one costs only
 * its own chain. */
#pragma once
#include "registers/classical_rk4.h"
#include "registers/composition.h"
#include "registers/explicit_rk.h"

/* ---- one step, for whatever the kernel is compiled ------------------------------------------- */
/* The family, the method (a constant in specialised kernels), and whether the scales of the rates
 * are in the weights. */
typedef struct {
    PiFamily family;
    PiSpecialised specialised;
    const PiMethod *method;
    int scaled;
} KernelChoice;

/* If weights come from a table, they would be needed once for each component, which costs what the
 * force saves. */
INLINE int takes_scales(const KernelChoice *choice, const Model *model) {
    int scales = 0;
    EACH(d, 0, model->system->dim) scales |= model->system->scale[d];
    if (!scales) return 0;
    return choice->family == PI_COMPOSITION ? !keeps_force(choice->method, model->system)
                                            : choice->specialised == PI_RK4;
}
/* Weights that steps load from memory: all of a table's, few of a specialised method's. */
INLINE int weight_count(const KernelChoice *choice) {
    if (choice->family == PI_COMPOSITION) return choice->specialised ? 4 : 2 * PI_MAX_SUBSTEPS;
    return choice->specialised ? 1 : PI_MAX_WEIGHTS;
}
INLINE void load_weights(const KernelChoice *choice, const PiTile *tile, const Model *model,
                         int count, vreal *w, int64_t stride, Flight *f) {
    const int own = stride ? count : 1;
    FLIGHT(u, 0, own, {
        if (choice->family == PI_COMPOSITION)
            composition_weights(choice->method, f->h[u], w + u * stride);
        else if (!choice->specialised) table_weights(tile->table, f->h[u], w + u * stride);
    });
    if (choice->family == PI_COMPOSITION && choice->specialised)
        composition_start(model, choice->method, count, tile->first, f);
}
INLINE void step(const KernelChoice *choice, const PiTile *tile, const Model *model, int count,
                 const vreal *w, int64_t stride, int64_t n, Flight *f) {
    const int nystrom =
        model->acceleration && !model->velocity && !model->system->velocity_dependent;
    if (choice->family == PI_COMPOSITION) {
        const int fresh = !choice->specialised && n == tile->first;
        composition_step(model, choice->method, count, w, stride, n, fresh, f);
    } else if (!choice->specialised) {
        if (nystrom) any_nystrom_form_step(model, tile->table, count, w, stride, n, f);
        else any_explicit_rk_step(model, tile->table, count, w, stride, n, f);
    } else if (choice->specialised == PI_RK4) {
        const int room =
            PI_VECTOR_BYTES == 64 || model->system->dim <= 2; /* in 32 or 16 registers */
        const int pairs = room ? count / SIDE_BY_SIDE : 0;
        FLIGHT(i, 0, pairs, {
            if (nystrom) rk4_nystrom_form_step(model, i * SIDE_BY_SIDE, SIDE_BY_SIDE, n, f);
            else rk4_step(model, i * SIDE_BY_SIDE, SIDE_BY_SIDE, n, f);
        });
        FLIGHT(u, pairs * SIDE_BY_SIDE, count, {
            if (nystrom) rk4_nystrom_form_step(model, u, 1, n, f);
            else rk4_step(model, u, 1, n, f);
        });
    } else
        FLIGHT(u, 0, count, {
            const vreal h = f->h[u], t = time_at(f->t0[u], h, n), *p = f->p[u];
            if (nystrom) nystrom_form_step(model, choice->method, t, h, f->y[u], p);
            else explicit_rk_step(model, choice->method, t, h, f->y[u], p);
        });
}

/* ---- the loop -------------------------------------------------------------------------------- */
/* What is rare or needs no speed goes through memory, in functions that all kernels share. */
typedef vreal Component[PI_MAX_DIM];
/* A quantity of `count` registers from index r on. */
static __attribute__((noinline, unused)) void load_row(const PiTile *tile, const PiRow *row,
                                                       int64_t r, int count, vreal *to) {
    const real *const data = (const real *)row->data;
    for (int u = 0; u < count; u++)
        to[u] = row->stride ? vload(data + tile->lane + (r + u) * VLEN) : vset(*data);
}
/* Frozen lanes keep the state before. */
INLINE void keep_frozen(const PiTile *tile, int dim, int64_t r, int count, Component *y) {
    const vint *frozen = (const vint *)tile->frozen;
    for (int u = 0; frozen && u < count; u++) {
        const int64_t i = r + u;
        const real *in = (const real *)tile->in + i * VLEN;
        for (int d = 0; d < dim; d++, in += tile->in_stride)
            y[u][d] = vselect(frozen[i], vload(in), y[u][d]);
    }
}
/* A save of `count` registers, at `record`. Inline: where a loop has a call, registers do not live
 * through it. */
INLINE void save_some(const PiTile *tile, int dim, int64_t r, int64_t count, Component *y,
                      real *record) {
    keep_frozen(tile, dim, r, (int)count, y);
    for (int d = 0; d < dim; d++, record += tile->record_stride)
        for (int u = 0; u < count; u++)
            if (tile->stream) vstream(record + u * VLEN, y[u][d]);
            else vstore(record + u * VLEN, y[u][d]);
}
/* The end of a call: the largest components (far), the state; -1 in lanes that have failed. */
static __attribute__((noinline, unused)) vint finish_some(const PiTile *tile, int dim, int64_t r,
                                                          int count, Component *y,
                                                          const vreal *far) {
    const vreal bound = vset((real)tile->bound);
    vint bad = {0};
    for (int u = 0; u < count; u++) {
        const int64_t i = r + u;
        vint good = vset_int(-1);
        for (int d = 0; d < dim; d++) good &= vabs(y[u][d]) <= bound;
        if (tile->frozen) good |= ((const vint *)tile->frozen)[i];
        bad |= ~good;
        if (tile->reach)
            vstore((real *)tile->reach + i * VLEN, vselect(good, far[u], vset((real)INFINITY)));
    }
    keep_frozen(tile, dim, r, count, y);
    for (int d = 0; d < dim; d++)
        for (int u = 0; u < count; u++)
            vstore((real *)tile->out + d * tile->out_stride + (r + u) * VLEN, y[u][d]);
    return bad;
}

/* Do kernels record changes of energy? Watches reduce them in double precision. */
enum { RECORDS_CHANGES = PI_REAL_BITS == 64 && PI_VECTOR_BYTES > 16 };
/* The changes, with the bits of energy_rows (on_rows.h). scaled: were scales taken out of the
 * parameters? */
INLINE void write_changes(const Model *model, int scaled, int count, const Flight *f,
                          const vreal *origin, const vreal *factor, real *record) {
    FLIGHT(u, 0, count, {
        vreal p[PI_MAX_PARAMS];
        EACH(i, 0, PI_MAX_PARAMS) p[i] = f->p[u][i];
        EACH(d, 0, model->system->dim)
            if (scaled && model->system->scale[d]) p[model->system->scale[d] - 1] = f->scale[u][d];
        const vreal change = (model->energy(vset(0), f->y[u], p) - origin[u]) * factor[u];
        vstore(record + u * VLEN, change);
    });
}

/* `count` of at most `most` registers from index r on. */
INLINE int group(const KernelChoice *choice, const PiTile *tile, const Model *model, int64_t r,
                 int count, int most) {
    const int dim = model->system->dim;
    /* A specialised kernel has its weights in registers; others share those of a common step. */
    const int weights = weight_count(choice);
    const int64_t stride = choice->specialised || tile->h.stride ? weights : 0;
    vreal w[most * weights], origin[most], factor[most];
    const int changes =
        RECORDS_CHANGES && model->energy && !model->system->time_dependent && tile->origin.data;
    vreal p[PI_MAX_PARAMS][PI_MAX_FLIGHT], t0[PI_MAX_FLIGHT], h[PI_MAX_FLIGHT];
    EACH(d, 0, model->system->n_params) load_row(tile, &tile->params[d], r, count, p[d]);
    load_row(tile, &tile->h, r, count, h);
    if (model->system->time_dependent) load_row(tile, &tile->t0, r, count, t0);
    if (changes) {
        load_row(tile, &tile->origin, r, count, origin);
        load_row(tile, &tile->factor, r, count, factor);
    }
    Flight f;
    FLIGHT(u, 0, count, {
        const real *const in = (const real *)tile->in + (r + u) * VLEN;
        EACH(d, 0, dim) f.y[u][d] = vload(in + d * tile->in_stride);
        EACH(d, 0, model->system->n_params) f.p[u][d] = p[d][u];
        f.t0[u] = model->system->time_dependent ? t0[u] : vset(0);
        f.h[u] = h[u];
        if (model->prepare) model->prepare(f.p[u]);
        take_scales(model, choice->scaled, &f, u);
        EACH(d, 0, model->system->dof) f.kept[u][d] = vset(0);
    });
    load_weights(choice, tile, model, count, w, stride, &f);
    real *record = tile->record ? (real *)tile->record + r * VLEN : NULL;
    /* Read once: the compiler must assume that the stores may alias the tile. */
    const int64_t record_stride = tile->record_stride, record_next = tile->record_next;
    const int stream = tile->stream;
    const int64_t last = tile->first + tile->steps;
    const int looks = tile->reach != NULL;
    vreal far[most];
    FLIGHT(u, 0, count, far[u] = vset(0););
    /* Steps without a look between them: one that is not asked for costs nothing. */
    int64_t n = tile->first, save = n;
    while (n < last) {
        if (n == save)
            save = record && tile->record_every < last - n ? n + tile->record_every : last;
        const int64_t stop = looks ? n + 1 : save;
        do step(choice, tile, model, count, w, stride, n, &f);
        while (++n < stop);
        if (looks)
            FLIGHT(u, 0, count, {
                vreal largest = f.y[u][0];
                EACH(d, 1, dim) largest = vmagnitude(f.y[u][d], largest);
                far[u] = vfarther(largest, far[u]);
            });
        if (record && n == save) {
            if (changes) { /* those of frozen lanes count for nothing */
                write_changes(model, choice->scaled, count, &f, origin, factor, record);
            } else {
                if (rolled(model)) {
                    save_some(tile, dim, r, count, f.y, record);
                } else if (stream)
                    EACH(d, 0, dim)
                        EACH(u, 0, count) vstream(record + d * record_stride + u * VLEN, f.y[u][d]);
                else
                    EACH(d, 0, dim)
                        EACH(u, 0, count) vstore(record + d * record_stride + u * VLEN, f.y[u][d]);
            }
            record += record_next;
        }
    }
    if (rolled(model)) return vany(finish_some(tile, dim, r, count, f.y, far));
    vint bad = {0};
    const vreal bound = vset((real)tile->bound);
    EACH(u, 0, count) {
        vint good = vabs(f.y[u][0]) <= bound;
        EACH(d, 1, dim) good &= vabs(f.y[u][d]) <= bound;
        bad |= ~good;
        if (looks)
            vstore((real *)tile->reach + (r + u) * VLEN,
                   vselect(good, far[u], vset((real)INFINITY)));
        EACH(d, 0, dim)
            vstore((real *)tile->out + d * tile->out_stride + (r + u) * VLEN, f.y[u][d]);
    }
    return vany(bad);
}

/* The registers from r on, through loops. */
INLINE int go_through_loops(const KernelChoice *choice, const PiTile *tile, const Model *model,
                            int64_t r) {
    KernelChoice here = *choice;
    Model compact = *model;
    here.scaled = takes_scales(choice, model);
    compact.compact = 1;
    int bad = 0;
    for (; r < tile->registers; r += PI_IN_FLIGHT_SMALL) {
        const int64_t left = tile->registers - r;
        const int count = left < PI_IN_FLIGHT_SMALL ? (int)left : PI_IN_FLIGHT_SMALL;
        bad |= group(&here, tile, &compact, r, count, PI_IN_FLIGHT_SMALL);
    }
    return bad;
}
/* Groups of `in_flight` registers. The last ones, and lanes among which some are frozen, go through
 * loops: the rest, which kernels share. */
typedef int Rest(const PiTile *tile, int64_t r);
INLINE int groups(const KernelChoice *choice, const PiTile *tile, const Model *model, int in_flight,
                  Rest *rest) {
    int bad = 0;
    int64_t r = 0;
    if (tile->registers == 1 && !tile->frozen) return group(choice, tile, model, 0, 1, 1);
    for (; !tile->frozen && r + in_flight <= tile->registers; r += in_flight)
        bad |= group(choice, tile, model, r, in_flight, in_flight);
    return r < tile->registers ? bad | rest(tile, r) : bad;
}
/* Compiled for weights with the scales and without them: a force whose scales are 1 for the
 * compiler has no multiplications by them. A long chain hides these. */
INLINE int advance(const KernelChoice *choice, const PiTile *tile, const Model *model,
                   int in_flight, Rest *rest) {
    int bad;
    if (choice->family == PI_COMPOSITION && !model->acceleration) return 0; /* refused earlier */
    KernelChoice here = *choice;
    here.scaled = takes_scales(choice, model);
    if (rolled(model)) bad = rest(tile, 0);
    else if (here.scaled && !model->long_chain) {
        here.scaled = 1;
        bad = groups(&here, tile, model, in_flight, rest);
    } else bad = groups(&here, tile, model, in_flight, rest);
    if (tile->stream) vstream_end();
    return bad;
}

/* How many registers in flight: enough to hide the latency without running out of registers. The
 * stages of an explicit method need registers too. The numbers are measured. */
INLINE int in_flight(const KernelChoice *choice, const Model *model) {
    const int dim = model->system->dim,
              table = choice->family == PI_EXPLICIT_RK && !choice->specialised;
    const int few = choice->specialised == PI_RK4 && PI_VECTOR_BYTES == 64 ? 3 : 2;
    int n = PI_IN_FLIGHT;
    if (dim <= few || (dim <= 4 && model->long_chain && !table)) n = PI_IN_FLIGHT_SMALL;
    if (table && !model->long_chain && n > PI_IN_FLIGHT_TABLE) n = PI_IN_FLIGHT_TABLE;
    if (choice->specialised == PI_TSITOURAS54) n /= 2;
    return n > 1 ? n : 1;
}
