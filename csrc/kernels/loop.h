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
    EACH(d, model->system->dim) scales |= model->system->scale[d];
    if (!scales) return 0;
    return choice->family == PI_COMPOSITION ? !keeps_force(choice->method, model->system)
                                            : choice->specialised == PI_RK4;
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
    const int nystrom = pi_sees_positions_only(model->system);
    if (choice->family == PI_COMPOSITION) {
        if (choice->specialised)
            FLIGHT(u, 0, count,
                   { known_composition_step(model, choice->method, w + u * stride, n, u, f); });
        else composition_step(model, choice->method, count, w, stride, n, n == tile->first, f);
    } else if (!choice->specialised) {
        any_explicit_rk_step(model, tile->table, count, w, stride, n, f);
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
            explicit_rk_step(model, choice->method, t, h, f->y[u], p);
        });
}

/* How many registers in flight: enough to hide the latency without running out of registers. The
 * stages of an explicit method need registers too. The numbers are measured. */
INLINE int in_flight(const KernelChoice *choice, const Model *model) {
    const int dim = model->system->dim,
              table = choice->family == PI_EXPLICIT_RK && !choice->specialised;
    int n = PI_IN_FLIGHT;
    if (rolled(model)) return PI_IN_FLIGHT_SMALL;
    if (model->long_chain ? choice->family == PI_COMPOSITION && dim <= 4 : dim <= 2)
        n = PI_IN_FLIGHT_SMALL;
    if (table && !model->long_chain && n > PI_IN_FLIGHT_TABLE) n = PI_IN_FLIGHT_TABLE;
    /* Where each keeps a force of two components, more do not fit in 32 registers. */
    if (PI_VECTOR_BYTES == 64 && n * dim == 32 && choice->specialised &&
        keeps_force(choice->method, model->system))
        n = 6;
    if (choice->specialised == PI_TSITOURAS54) n /= 2;
    return n > 1 ? n : 1;
}

/* ---- the loop -------------------------------------------------------------------------------- */
/* What is rare or needs no speed goes through memory, in functions that all kernels share.
 *
 * A group is `count` registers from index r on; only the first `valid` of the last group are of the
 * tile, and the others repeat the last of these. */
static __attribute__((noinline, unused)) void load_row(const PiTile *tile, const PiRow *row,
                                                       int64_t r, int count, int valid, vreal *to) {
    const real *data = row->data;
    const int own = row->stride ? valid : 1;
    if (!row->stride) *to = vset(*data);
    else
        EACH_BELOW(u, valid) to[u] = vload(data + tile->lane + (r + u) * VLEN);
    for (int u = own; u < count; u++) to[u] = to[own - 1];
}
INLINE vreal row_register(const PiRow *row, int64_t lane) {
    const real *data = row->data;
    return row->stride ? vload(data + lane) : vset(*data);
}
/* The end of a call: writes the states y, rows of `count` registers, and how far each lane has been
 * (far). Returns a mask of the lanes that have failed. */
static __attribute__((noinline, unused)) vint finish(const PiTile *tile, int64_t r, int count,
                                                     int valid, const vreal *y, const vreal *far) {
    const vreal bound = vset(tile->bound);
    const vint *frozen = tile->frozen ? (const vint *)tile->frozen + r : NULL;
    real *out = (real *)tile->out + r * VLEN;
    real *reach = tile->reach ? (real *)tile->reach + r * VLEN : NULL;
    vint bad = {0};
    for (int u = 0; u < valid; u++, out += VLEN) {
        vint good = vset_int(-1);
        EACH_BELOW(d, tile->system->dim) {
            const vreal end = y[d * count + u];
            vstore(out + d * tile->out_stride, end);
            good &= vabs(end) <= bound;
        }
        if (reach) good &= far[u] <= bound;
        if (frozen) good |= frozen[u];
        bad |= ~good;
        if (reach) vstore(reach + u * VLEN, vselect(good, far[u], vset(INFINITY)));
    }
    return bad;
}
/* Frozen lanes keep the state before, in what was written: n rows from `to` on. */
static void keep_frozen(const PiTile *tile, int dim, real *to, int64_t stride) {
    const vint *frozen = tile->frozen;
    EACH_BELOW(i, tile->registers)
        for (int d = vany(frozen[i]) ? 0 : dim; d < dim; d++) {
            const real *in = (const real *)tile->in + d * tile->in_stride + i * VLEN;
            real *at = to + d * stride + i * VLEN;
            vstore(at, vselect(frozen[i], vload(in), vload(at)));
        }
}
static __attribute__((noinline, unused)) void restore_frozen(const PiTile *tile, int dim) {
    keep_frozen(tile, dim, tile->out, tile->out_stride);
    if (!tile->record) return;
    real *record = tile->record;
    for (int64_t n = 0; n < tile->steps; n += tile->record_every, record += tile->record_next)
        keep_frozen(tile, dim, record, tile->record_stride);
}

/* Do kernels reduce changes of energy? Watches do so in double precision. */
enum { REDUCES_CHANGES = PI_REAL_BITS == 64 && PI_VECTOR_BYTES > 16 };
/* The changes, with the bits of energy_rows (on_rows.h). scaled: were scales taken out of the
 * parameters? */
INLINE void find_changes(const Model *model, int scaled, int count, const Flight *f,
                         const vreal *origin, const vreal *factor, vreal *to) {
    FLIGHT(u, 0, count, {
        vreal p[PI_MAX_PARAMS];
        EACH(i, PI_MAX_PARAMS) p[i] = f->p[u][i];
        EACH(d, model->system->dim)
            if (scaled && model->system->scale[d]) p[model->system->scale[d] - 1] = f->scale[u][d];
        to[u] = (model->energy(vzero, f->y[u], p) - origin[u]) * factor[u];
    });
}
/* Passes on the changes after `count` steps, the last of them n, of `valid` registers from index r
 * on; next: registers from one step to the next. */
static __attribute__((noinline, unused)) void reduce_changes(const PiTile *tile, int64_t r,
                                                             int64_t valid, int64_t n,
                                                             int64_t count, const vreal *changes,
                                                             int64_t next) {
    PiReduceRows rows = *tile->reduced;
    rows.registers = valid;
    rows.count = count;
    rows.next = next;
    rows.step = n - (count - 1) * rows.every;
    rows.index = rows.step / rows.every;
    rows.quantity = changes;
    rows.sums += r * VLEN;
    tile->reduce(&rows);
}

INLINE void widen_reach(const Model *model, int count, const Flight *f, vreal *far) {
    FLIGHT(u, 0, count, {
        EACH(d, model->system->dim) far[u] = vfarther(f->y[u][d], far[u]);
    });
}
INLINE int group(const KernelChoice *choice, const PiTile *tile, const Model *model, int64_t r,
                 int count, int valid, int most) {
    const int dim = model->system->dim;
    /* Weights that steps load from memory: all of a table's, few of a specialised method's, which
     * has them in registers; others share those of a common step. */
    const int composition = choice->family == PI_COMPOSITION;
    const int weights = choice->specialised ? (composition ? 4 : 1)
                        : composition       ? 2 * PI_MAX_SUBSTEPS
                                            : PI_MAX_WEIGHTS;
    const int64_t stride = choice->specialised || tile->h.stride ? weights : 0;
    vreal w[most * weights], origin[most], factor[most];
    const int reduces = REDUCES_CHANGES && (rolled(model) || count == in_flight(choice, model)) &&
                        model->energy && !model->system->time_dependent && tile->reduced;
    vreal *changes = tile->changes;
    int64_t changed = 0; /* states in these */
    vreal p[PI_MAX_PARAMS][PI_MAX_FLIGHT], t0[PI_MAX_FLIGHT], h[PI_MAX_FLIGHT];
    EACH(d, model->system->n_params) load_row(tile, &tile->params[d], r, count, valid, p[d]);
    load_row(tile, &tile->h, r, count, valid, h);
    if (model->system->time_dependent) load_row(tile, &tile->t0, r, count, valid, t0);
    if (reduces) {
        load_row(tile, &tile->origin, r, count, valid, origin);
        load_row(tile, &tile->factor, r, count, valid, factor);
    }
    Flight f;
    FLIGHT(u, 0, count, {
        const real *in = (const real *)tile->in + (r + (u < valid ? u : valid - 1)) * VLEN;
        EACH(d, dim) f.y[u][d] = vload(in + d * tile->in_stride);
        EACH(d, model->system->n_params) f.p[u][d] = p[d][u];
        f.t0[u] = model->system->time_dependent ? t0[u] : vzero;
        f.h[u] = h[u];
        if (model->prepare) model->prepare(f.p[u]);
        take_scales(model, choice->scaled, &f, u);
        EACH(d, model->system->dof) f.kept[u][d] = vzero;
    });
    load_weights(choice, tile, model, count, w, stride, &f);
    real *record = tile->record ? (real *)tile->record + r * VLEN : NULL;
    /* Read once: the compiler must assume that the stores may alias the tile. */
    const int64_t record_stride = tile->record_stride, record_next = tile->record_next;
    const int stream = tile->stream;
    const int64_t last = tile->first + tile->steps;
    const int looks = tile->reach != NULL;
    /* Steps so short that looks must stay in the loop too. */
    const int light = PI_REAL_BITS == 64 && count > 1 && choice->family == PI_COMPOSITION &&
                      choice->specialised && !model->long_chain && !rolled(model);
    vreal far[PI_MAX_FLIGHT];
    FLIGHT(u, 0, count, far[u] = vzero;);
    /* Steps between two records or reductions go without a test: what is not asked for is free. */
    const int64_t every = reduces  ? tile->reduced->every
                          : record ? tile->record_every
                                   : tile->steps;
    int64_t n = tile->first, save = reduces ? n - n % every : n;
    while (n < last) {
        if (n >= save) save += every;
        const int64_t end = save < last ? save : last;
        const int64_t stop = looks && !light ? n + 1 : end;
        if (looks && light) do {
                step(choice, tile, model, count, w, stride, n, &f);
                widen_reach(model, count, &f, far);
            } while (++n < stop);
        else do
                step(choice, tile, model, count, w, stride, n, &f);
            while (++n < stop);
        if (looks && !light) widen_reach(model, count, &f, far);
        if (reduces) {
            if (n == save)
                find_changes(model, choice->scaled, count, &f, origin, factor,
                             changes + changed++ * count);
            if (changed == PI_CHANGES || (changed && n == last)) {
                reduce_changes(tile, r, valid, n == save ? n : save - every, changed, changes,
                               count);
                changed = 0;
            }
        } else if (record && n == end) {
            if (stream)
                EACH(d, dim)
                    FLIGHT(u, 0, count, {
                        if (u < valid) vstream(record + d * record_stride + u * VLEN, f.y[u][d]);
                    });
            else
                EACH(d, dim)
                    FLIGHT(u, 0, count, {
                        if (u < valid) vstore(record + d * record_stride + u * VLEN, f.y[u][d]);
                    });
            record += record_next;
        }
    }
    vreal y[PI_MAX_DIM * most], reached[most];
    EACH(d, dim) FLIGHT(u, 0, count, y[d * count + u] = f.y[u][d];);
    if (looks) FLIGHT(u, 0, count, reached[u] = far[u];);
    return vany(finish(tile, r, count, valid, y, reached));
}

/* A single step of each register, of a method that the compiler knows. It is no chain: the
 * registers overlap by themselves, and what a group keeps for its next step would cost more than
 * the step. Forces that see the time, often by a sine in each stage, are as fast in groups. */
INLINE int single_step(const KernelChoice *choice, const PiTile *tile, const Model *model) {
    const PiSystem *s = model->system;
    const int64_t in_stride = tile->in_stride, out_stride = tile->out_stride;
    const real *in = tile->in;
    real *out = tile->out;
    const vreal bound = vset(tile->bound);
    vint bad = {0};
    for (int64_t lane = tile->lane, r = 0; r < tile->registers; r++, lane += VLEN) {
        Flight f;
        vreal w[4];
        EACH(d, s->dim) f.y[0][d] = vload(in + d * in_stride + r * VLEN);
        EACH(i, s->n_params) f.p[0][i] = row_register(&tile->params[i], lane);
        f.h[0] = row_register(&tile->h, lane);
        f.t0[0] = vzero;
        if (model->prepare) model->prepare(f.p[0]);
        take_scales(model, choice->scaled, &f, 0);
        load_weights(choice, tile, model, 1, w, 4, &f);
        step(choice, tile, model, 1, w, 4, tile->first, &f);
        EACH(d, s->dim) {
            vstore(out + d * out_stride + r * VLEN, f.y[0][d]);
            bad |= ~(vint)(vabs(f.y[0][d]) <= bound);
        }
    }
    return vany(bad);
}

/* Groups of `in_flight` registers; the last few one by one, if that takes less time. */
INLINE int groups(const KernelChoice *choice, const PiTile *tile, const Model *model,
                  int in_flight) {
    if (choice->specialised && !rolled(model) && !model->system->time_dependent &&
        tile->steps == 1 && !tile->record && !tile->reduced && !tile->reach && !tile->frozen)
        return single_step(choice, tile, model);
    int bad = 0;
    int64_t r = 0;
    while (r < tile->registers) {
        const int64_t left = tile->registers - r;
        const int valid = left < in_flight ? left : in_flight;
        if (rolled(model)) bad |= group(choice, tile, model, r, valid, valid, in_flight);
        else if (!tile->reduced && (valid == 1 || 4 * valid <= in_flight)) {
            bad |= group(choice, tile, model, r++, 1, 1, 1);
            continue;
        } else bad |= group(choice, tile, model, r, in_flight, valid, in_flight);
        r += valid;
    }
    return bad;
}
/* Compiled for weights with the scales and without them: a force whose scales are 1 for the
 * compiler has no multiplications by them. A long chain hides these. Tables in single precision,
 * rarely asked for, go through loops. */
INLINE int advance(const KernelChoice *choice, const PiTile *tile, const Model *of_system) {
    int bad;
    KernelChoice here = *choice;
    Model small = *of_system;
    const Model *model = &small;
    small.compact |= PI_REAL_BITS == 32 && !choice->specialised;
    if (choice->family == PI_COMPOSITION && !model->acceleration) return 0; /* refused earlier */
    here.scaled = takes_scales(choice, model);
    if (here.scaled && !model->long_chain && !rolled(model)) {
        here.scaled = 1;
        bad = groups(&here, tile, model, in_flight(choice, model));
    } else bad = groups(&here, tile, model, in_flight(choice, model));
    if (tile->stream) vstream_end();
    if (tile->frozen) restore_frozen(tile, model->system->dim);
    return bad;
}
