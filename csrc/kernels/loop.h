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
    EACH(u, 0, count) {
        if (u > 0 && stride == 0) break;
        if (choice->family == PI_COMPOSITION)
            composition_weights(choice->method, f->h[u], w + u * stride);
        else if (!choice->specialised) table_weights(tile->table, f->h[u], w + u * stride);
    }
    if (choice->family == PI_COMPOSITION)
        composition_start(model, choice->method, count, tile->first, f);
}
INLINE void step(const KernelChoice *choice, const PiTile *tile, const Model *model, int count,
                 const vreal *w, int64_t stride, int64_t n, Flight *f) {
    const int nystrom =
        model->acceleration && !model->velocity && !model->system->velocity_dependent;
    if (choice->family == PI_COMPOSITION) {
        composition_step(model, choice->method, count, w, stride, n, f);
    } else if (!choice->specialised) {
        if (nystrom) any_nystrom_form_step(model, tile->table, count, w, stride, n, f);
        else any_explicit_rk_step(model, tile->table, count, w, stride, n, f);
    } else if (choice->specialised == PI_RK4) {
        const int room =
            PI_VECTOR_BYTES == 64 || model->system->dim <= 2; /* in 32 or 16 registers */
        const int side = room && count > 1 ? SIDE_BY_SIDE : 1;
        EACH(u, 0, count / side) {
            if (nystrom) rk4_nystrom_form_step(model, u * side, side, n, f);
            else rk4_step(model, u * side, side, n, f);
        }
    } else
        EACH(u, 0, count) {
            const vreal h = f->h[u], t = time_at(f->t0[u], h, n), *p = f->p[u];
            if (nystrom) nystrom_form_step(model, choice->method, t, h, f->y[u], p);
            else explicit_rk_step(model, choice->method, t, h, f->y[u], p);
        }
}

/* ---- the loop -------------------------------------------------------------------------------- */
INLINE vreal load_row(PiRow row, int64_t lane) {
    const real *data = (const real *)row.data;
    return row.stride ? vload(data + lane) : vset(*data);
}

/* The offset of register u in the rows; past the last one, that one again. */
INLINE int64_t place(const PiTile *tile, int64_t r, int u) {
    return r + u < tile->registers ? r + u : tile->registers - 1;
}
/* Frozen lanes keep the state before. */
INLINE void keep_frozen(const PiTile *tile, const Model *model, int64_t r, int count, Flight *f) {
    const vint *frozen = (const vint *)tile->frozen;
    if (!frozen) return;
    EACH(u, 0, count) {
        const int64_t i = place(tile, r, u);
        EACH(d, 0, model->system->dim)
            f->y[u][d] =
                vselect(frozen[i], vload((const real *)tile->in + d * tile->in_stride + i * VLEN),
                        f->y[u][d]);
    }
}
/* The first `left` of `count` registers, beginning at `record`. */
INLINE void write_record(const Model *model, int count, int64_t left, const Flight *f, real *record,
                         int64_t stride, int stream) {
    if (left < count) {
        EACH(d, 0, model->system->dim)
            EACH(u, 0, count)
                if (u < left) vstore(record + d * stride + u * VLEN, f->y[u][d]);
    } else if (stream)
        EACH(d, 0, model->system->dim)
            EACH(u, 0, count) vstream(record + d * stride + u * VLEN, f->y[u][d]);
    else
        EACH(d, 0, model->system->dim)
            EACH(u, 0, count) vstore(record + d * stride + u * VLEN, f->y[u][d]);
}

/* Do kernels record changes of energy? Watches reduce them in double precision. */
enum { RECORDS_CHANGES = PI_REAL_BITS == 64 && PI_VECTOR_BYTES > 16 };
/* The changes of the first `left` registers, with the bits of energy_rows (on_rows.h). scaled: were
 * scales taken out of the parameters? */
INLINE void write_changes(const Model *model, int scaled, int count, int64_t left, const Flight *f,
                          const vreal *origin, const vreal *factor, real *record) {
    EACH(u, 0, count) {
        vreal p[PI_MAX_PARAMS];
        EACH(i, 0, PI_MAX_PARAMS) p[i] = f->p[u][i];
        EACH(d, 0, model->system->dim)
            if (scaled && model->system->scale[d]) p[model->system->scale[d] - 1] = f->scale[u][d];
        const vreal change = (model->energy(vset(0), f->y[u], p) - origin[u]) * factor[u];
        if (u < left) vstore(record + u * VLEN, change);
    }
}

/* `count` registers from index r on; past the last one, that one is computed and written again. */
INLINE int group(const KernelChoice *choice, const PiTile *tile, const Model *model, int64_t r,
                 int count) {
    const int dim = model->system->dim;
    const vint *frozen = (const vint *)tile->frozen;
    /* A specialised kernel has its weights in registers; others share those of a common step. */
    const int weights = weight_count(choice);
    const int64_t stride = choice->specialised || tile->h.stride ? weights : 0;
    vreal w[count * weights], origin[count], factor[count];
    const int changes =
        RECORDS_CHANGES && model->energy && !model->system->time_dependent && tile->origin.data;
    Flight f;
    EACH(u, 0, count) {
        const int64_t lane = place(tile, r, u) * VLEN;
        EACH(d, 0, dim) f.y[u][d] = vload((const real *)tile->in + d * tile->in_stride + lane);
        EACH(d, 0, model->system->n_params)
            f.p[u][d] = load_row(tile->params[d], tile->lane + lane);
        f.t0[u] = load_row(tile->t0, tile->lane + lane);
        f.h[u] = load_row(tile->h, tile->lane + lane);
        origin[u] = changes ? load_row(tile->origin, tile->lane + lane) : vset(0);
        factor[u] = changes ? load_row(tile->factor, tile->lane + lane) : vset(0);
        if (model->prepare) model->prepare(f.p[u]);
        take_scales(model, choice->scaled, &f, u);
        EACH(d, 0, model->system->dof) f.kept[u][d] = vset(0);
    }
    load_weights(choice, tile, model, count, w, stride, &f);
    real *record = tile->record ? (real *)tile->record + r * VLEN : NULL;
    /* Read once: the compiler must assume that the stores may alias the tile. */
    const int64_t record_stride = tile->record_stride, record_next = tile->record_next;
    const int64_t left = tile->registers - r;
    const int stream = tile->stream;
    const int64_t last = tile->first + tile->steps;
    const int looks = tile->reach != NULL;
    vreal far[count];
    EACH(u, 0, count) far[u] = vset(0);
    /* Steps without a look between them: one that is not asked for costs nothing. */
    int64_t n = tile->first, save = n;
    while (n < last) {
        if (n == save)
            save = record && tile->record_every < last - n ? n + tile->record_every : last;
        const int64_t stop = looks ? n + 1 : save;
        do step(choice, tile, model, count, w, stride, n, &f);
        while (++n < stop);
        if (looks)
            EACH(u, 0, count) {
                vreal most = f.y[u][0];
                EACH(d, 1, dim) most = vmagnitude(f.y[u][d], most);
                far[u] = vfarther(most, far[u]);
            }
        if (record && n == save) {
            if (changes) { /* those of frozen lanes count for nothing */
                write_changes(model, choice->scaled, count, left, &f, origin, factor, record);
            } else {
                keep_frozen(tile, model, r, count, &f);
                write_record(model, count, left, &f, record, record_stride, stream);
            }
            record += record_next;
        }
    }
    vint bad = {0};
    const vreal bound = vset((real)tile->bound);
    EACH(u, 0, count) {
        vint good = vabs(f.y[u][0]) <= bound;
        EACH(d, 1, dim) good &= vabs(f.y[u][d]) <= bound;
        if (frozen) good |= frozen[place(tile, r, u)];
        bad |= ~good;
        if (looks) far[u] = vselect(good, far[u], vset((real)INFINITY));
    }
    keep_frozen(tile, model, r, count, &f);
    if (looks)
        EACH(u, 0, count) vstore((real *)tile->reach + place(tile, r, u) * VLEN, far[u]);
    EACH(u, 0, count)
        EACH(d, 0, dim)
            vstore((real *)tile->out + d * tile->out_stride + place(tile, r, u) * VLEN, f.y[u][d]);
    return vany(bad);
}

INLINE int groups(const KernelChoice *choice, const PiTile *tile, const Model *model,
                  int in_flight) {
    int bad = 0;
    if (tile->registers == 1) return group(choice, tile, model, 0, 1);
    for (int64_t r = 0; r < tile->registers; r += in_flight)
        bad |= group(choice, tile, model, r, in_flight);
    return bad;
}
/* Compiled for weights with the scales and without them: a force whose scales are 1 for the
 * compiler has no multiplications by them. */
INLINE int advance(const KernelChoice *choice, const PiTile *tile, const Model *model,
                   int in_flight) {
    int bad;
    if (choice->family == PI_COMPOSITION && !model->acceleration) return 0; /* refused earlier */
    if (takes_scales(choice, model)) {
        KernelChoice scaled = *choice;
        scaled.scaled = 1;
        bad = groups(&scaled, tile, model, in_flight);
    } else bad = groups(choice, tile, model, in_flight);
    if (tile->stream) vstream_end();
    return bad;
}

/* How many registers in flight: enough to hide the latency without running out of registers. The
 * stages of an explicit method need registers too, and a heavy system has enough to do with half
 * as many. The numbers are measured. */
INLINE int in_flight(const KernelChoice *choice, const Model *model) {
    const int dim = model->system->dim,
              table = choice->family == PI_EXPLICIT_RK && !choice->specialised;
    const int few = choice->specialised == PI_RK4 && PI_VECTOR_BYTES == 64 ? 3 : 2;
    int n = PI_IN_FLIGHT;
    if (dim <= few || (dim <= 4 && model->long_chain && !table)) n = PI_IN_FLIGHT_SMALL;
    if (table && !model->long_chain && n > PI_IN_FLIGHT_TABLE) n = PI_IN_FLIGHT_TABLE;
    if (choice->specialised == PI_TSITOURAS54) n /= 2;
    if (model->heavy) n /= 2;
    return n > 1 ? n : 1;
}
