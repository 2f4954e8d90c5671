/* Kernels on rows: any force, any dimension, every family; and questions to a force. Compiled once
 * for each instruction set and precision. */
#pragma once
#include "classical_rk4.h"
#include "composition.h"
#include "multistep.h"
#include "noise.h"
#if PI_REAL_BITS == 64
#include "reduce.h"
#include "survey.h"
#endif
#include "rigid_motion.h"
#include "rosenbrock.h"
#include "wisdom_holman.h"

/* ---- loading and storing --------------------------------------------------------------------- */
/* R registers of a row, from `lane` on; copies of the last of its lanes fill what is left. */
static void load_some(PiRow row, int64_t lane, int64_t lanes, int64_t R, vreal *to) {
    const real *data = row.data;
    for (int64_t u = 0; u < R; u++, lane += VLEN)
        if (!row.stride) to[u] = vset(*data);
        else if (lane + VLEN <= lanes) memcpy(to + u, data + lane, sizeof *to);
        else
            EACH_BELOW(i, VLEN) to[u][i] = data[lane + i < lanes ? lane + i : lanes - 1];
}
static Chunk load_chunk(const PiTile *tile, int64_t first, int64_t count) {
    const PiSystem *system = tile->system;
    const int64_t lane = tile->lane + first * VLEN;
    const int rows = system->dim + tile->history;
    Chunk c = {.tile = tile,
               .R = count,
               .dim = system->dim,
               .dof = system->dof,
               .free = tile->workspace,
               .one_time = !tile->t0.stride && !tile->h.stride};
    c.y = take_rows(&c, rows);
    if (tile->compensated) c.carry = c.y + (rows - c.dim) * count;
    c.p = take_rows(&c, pi_parameter_rows(system));
    c.t0 = take_rows(&c, 1);
    c.h = take_rows(&c, 1);
    c.t = take_rows(&c, 1);
    c.code = (vint *)take_rows(&c, 1);
    c.scratch = take_rows(&c, system->scratch);
    if (tile->frozen) c.frozen = (const vint *)tile->frozen + first;
    const real *in = (const real *)tile->in + first * VLEN;
    EACH_BELOW(d, rows)
        EACH_BELOW(u, count) c.y[d * count + u] = vload(in + d * tile->in_stride + u * VLEN);
    EACH_BELOW(i, system->n_params) {
        load_some(tile->params[i], lane, INT64_MAX, count, c.p + i * count);
        if (i < 64 && !tile->params[i].stride) c.uniform |= (uint64_t)1 << i;
    }
    load_some(tile->t0, lane, INT64_MAX, count, c.t0);
    load_some(tile->h, lane, INT64_MAX, count, c.h);
    EACH_BELOW(u, count) c.t[u] = c.t0[u], c.code[u] = vset_int(0);
    ask(&c, PI_PREPARE, c.t, c.y, c.y, c.p);
    return c;
}
/* A component, or, of a frozen lane, what it was. */
INLINE vreal unless_frozen(const Chunk *c, int d, int64_t u, int64_t lane) {
    const vreal y = c->y[d * c->R + u];
    if (!c->frozen) return y;
    return vselect(c->frozen[u], vload((const real *)c->tile->in + d * c->tile->in_stride + lane),
                   y);
}
/* One save; frozen lanes keep the state before. */
static void record_chunk(const Chunk *c, int64_t first, real *record) {
    const PiTile *tile = c->tile;
    EACH_BELOW(d, c->dim)
        EACH_REGISTER(u, c) {
            const int64_t lane = (first + u) * VLEN;
            const vreal y = unless_frozen(c, d, u, lane);
            real *to = record + d * tile->record_stride + lane;
            if (tile->stream) vstream(to, y);
            else vstore(to, y);
        }
}
/* Writes the state; returns the lanes that are not finite or out of bounds. */
static vint store_chunk(const Chunk *c, int64_t first) {
    const PiTile *tile = c->tile;
    const vreal bound = vset(tile->bound);
    const int rows = c->dim + tile->history;
    vint bad = {0};
    EACH_REGISTER(u, c) {
        const int64_t lane = (first + u) * VLEN;
        vint good = vset_int(-1);
        EACH_BELOW(d, rows) {
            const vreal y = unless_frozen(c, d, u, lane);
            if (d < c->dim) good &= vabs(y) <= bound;
            vstore((real *)tile->out + d * tile->out_stride + lane, y);
        }
        real *far = tile->reach ? (real *)tile->reach + lane : NULL;
        if (far) good &= vload(far) <= bound;
        if (c->frozen) good |= c->frozen[u];
        bad |= ~good;
        if (far) vstore(far, vselect(good, vload(far), vset(INFINITY)));
        if (tile->status)
            EACH_BELOW(i, VLEN) tile->status[lane + i] = c->code[u][i];
    }
    return bad;
}

/* The largest |component| of each lane, if requested. */
static void look_at_chunk(const Chunk *c, int64_t first) {
    real *far = (real *)c->tile->reach + first * VLEN;
    for (int64_t u = 0; u < c->R; u++, far += VLEN) {
        vreal most = vload(far);
        EACH_BELOW(d, c->dim) most = vfarther(c->y[d * c->R + u], most);
        vstore(far, most);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */
/* Each step of a call; the rows that it takes are free for the next. */
#define EACH_STEP(n)                                                                               \
    for (vreal *free = c->free, *once = free; once; once = NULL)                                   \
        for (int64_t n = c->tile->first; n < c->tile->first + c->tile->steps && !c->stopped;       \
             n++, c->free = free)
static void run_explicit_rk(Chunk *c) {
    const PiTile *tile = c->tile;
    const int rk4 = tile->method->specialised == PI_RK4 && !c->carry,
              nystrom = tile->table->nystrom;
    if (rk4) set_scales_aside(c);
    EACH_STEP(n) {
        if (rk4 && nystrom) rk4_nystrom_rows_step(c, n);
        else if (rk4) rk4_rows_step(c, n);
        else if (nystrom) nystrom_rows_step(c, tile->table, n);
        else explicit_rk_rows_step(c, tile->table, n);
    }
    give_scales_back(c);
}
static void run_composition(Chunk *c) {
    const PiTile *tile = c->tile;
    const PiMethod *m = tile->method;
    const int keeps = keeps_force(m, tile->system);
    vreal *force = take_rows(c, c->dof);
    if (!keeps) set_scales_aside(c);
    EACH_STEP(n) composition_rows_step(c, m, n, force, keeps && n > tile->first);
    give_scales_back(c);
}
static void run_implicit_rk(Chunk *c) {
    EACH_STEP(n) implicit_rk_rows_step(c, c->tile->method, c->tile->table, n);
}
static void run_rosenbrock(Chunk *c) {
    EACH_STEP(n) rosenbrock_rows_step(c, c->tile->method, n);
}
static void run_multistep(Chunk *c) {
    const PiTile *tile = c->tile;
    Multistep s = multistep_start(c, tile->method);
    EACH_STEP(n) multistep_rows_step(c, &s, n);
    if (s.power == 2 && !tile->starter) difference_velocities(c, &s, tile->first + tile->steps);
}

/* The steps of a chunk, by the family of the method. */
static void (*const runs[PI_FAMILIES])(Chunk *) = {[PI_EXPLICIT_RK] = run_explicit_rk,
                                                   [PI_COMPOSITION] = run_composition,
                                                   [PI_NYSTROM] = run_explicit_rk,
                                                   [PI_MULTISTEP] = run_multistep,
                                                   [PI_IMPLICIT_RK] = run_implicit_rk,
                                                   [PI_ROSENBROCK] = run_rosenbrock,
                                                   [PI_NOISE] = noise_rows,
                                                   [PI_WISDOM_HOLMAN] = planets,
                                                   [PI_RIGID_MOTION] = rigid_motion};

/* The kernel of all families, for any force: PiKernelSet.rows. */
static int rows_kernel(const PiTile *tile) {
    vint bad = {0};
    PiTile interval = *tile; /* between saves */
    if (tile->reach) memset(tile->reach, 0, tile->registers * PI_VECTOR_BYTES);
    for (int64_t r = 0; r < tile->registers; r += tile->chunk) {
        const int64_t rest = tile->registers - r, last = tile->first + tile->steps;
        Chunk c = load_chunk(tile, r, rest < tile->chunk ? rest : tile->chunk);
        vreal *free = c.free;
        real *record = tile->record;
        c.tile = &interval;
        for (interval.first = tile->first; interval.first < last;) {
            const int64_t left = last - interval.first;
            const int64_t every = record && tile->record_every < left ? tile->record_every : left;
            const int64_t next = interval.first + every;
            interval.steps = tile->reach ? 1 : every;
            for (; interval.first < next; interval.first += interval.steps) {
                runs[tile->method->family](&c);
                if (c.stopped) return -1;
                c.free = free;
                if (tile->reach) look_at_chunk(&c, r);
            }
            if (record) {
                record_chunk(&c, r, record);
                record += tile->record_next;
            }
        }
        bad |= store_chunk(&c, r);
    }
    if (tile->stream) vstream_end();
    return vany(bad);
}

static void complete(const PiTile *tile, void *completed) {
    const PiTile t = *tile; /* no store changes it */
    const int dim = t.system->dim;
    EACH_BELOW(u, t.registers) {
        const real *row = (const real *)t.record + u * VLEN;
        vreal steps = vzero;
        vint within = vset_int(-1);
        for (int64_t n = 0; n < t.steps && vany(within); n++, row += t.record_next) {
            EACH_BELOW(d, dim) within &= vabs(vload(row + d * t.record_stride)) <= vset(t.bound);
            steps += vselect(within, vone, vzero);
        }
        vstore((real *)completed + u * VLEN, steps);
    }
}

/* ---- questions ------------------------------------------------------------------------------- */
static int evaluate(const PiSample *sample, PiQuestion question) {
    enum { REGISTERS = 8 };
    const PiSystem *system = sample->system;
    const int dim = system->dim, dof = system->dof;
    const int64_t answers = pi_answer_rows(system, question);
    for (int64_t lane = 0; lane < sample->lanes; lane += REGISTERS * VLEN) {
        PiTile tile = {.system = system,
                       .force = sample->force,
                       .context = sample->context,
                       .pause = sample->pause};
        Chunk c = {.tile = &tile,
                   .R = REGISTERS,
                   .dim = dim,
                   .dof = dof,
                   .free = (vreal *)sample->workspace};
        c.y = take_rows(&c, dim);
        c.p = take_rows(&c, pi_parameter_rows(system));
        c.t = take_rows(&c, 1);
        c.scratch = take_rows(&c, system->scratch);
        vreal *out = take_rows(&c, answers);
        EACH_BELOW(d, dim) load_some(sample->y[d], lane, sample->lanes, c.R, c.y + d * c.R);
        EACH_BELOW(i, system->n_params)
            load_some(sample->params[i], lane, sample->lanes, c.R, c.p + i * c.R);
        load_some(sample->t, lane, sample->lanes, c.R, c.t);
        ask(&c, PI_PREPARE, c.t, c.y, c.y, c.p);
        if (question == PI_RHS) rhs_rows(&c, c.t, c.y, out);
        else ask(&c, question, c.t, c.y, c.y + dof * c.R, out);
        if (c.stopped) return -1;
        const int64_t left = sample->lanes - lane, some = left < c.R * VLEN ? left : c.R * VLEN;
        EACH_BELOW(i, answers)
            memcpy((real *)sample->out + i * sample->lanes + lane, out + i * c.R,
                   some * sizeof(real));
    }
    return 0;
}
