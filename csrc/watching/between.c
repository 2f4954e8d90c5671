/* States between the steps: see between.h. Lanes whose next time lies in a step are packed, so that
 * the kernel makes parts of the steps of these alone. */
#include "between.h"
#include "../run/layout.h"

enum { PACK = 64 }; /* lanes that are made together: whole registers */

/* Lanes within a part of the step to step n. */
typedef struct {
    PiBetween *b;
    const PiRun *run;
    int64_t n, count, lane[PACK];
    double from, to;     /* fractions of the step */
    double *y[2];        /* rows of PACK; at the beginning and at the end */
    PiPacked made;       /* those that wait for their states, */
    double own[2][PACK]; /* the times where their parts begin, and the lengths; */
    int8_t why[PACK];    /* PI_OK, or why a part has no end */
} Pack;

static int64_t lay_out(Pack *p, const PiTile *tile, void *scratch) {
    PiMemory m = {scratch, 0};
    EACH_BELOW(end, 2) PLACE(&m, p->y[end], pi_product(p->run->system->dim, PACK));
    p->made = pi_place_packed(&m, p->run, tile, PACK);
    return m.used;
}
int64_t pi_between_scratch_bytes(const void *between, const PiRun *run) {
    return lay_out(&(Pack){.run = run}, NULL, NULL);
}
static Pack make_pack(PiBetween *b, const PiRun *run, const PiTile *tile, int64_t n,
                      void *scratch) {
    Pack pack = {.b = b, .run = run, .n = n, .to = 1};
    lay_out(&pack, tile, scratch);
    return pack;
}

/* How many steps after t0 the next time of a lane lies, whole at the time of a step; within the
 * run. */
static double position(const PiBetween *b, const PiRun *run, int64_t lane) {
    const double t = b->t[b->next[lane] * b->t_stride + lane * b->t_lane];
    const double t0 = pi_item(b->t0, lane), h = pi_item(b->h, lane);
    const double part = (t - t0) / h, whole = rint(part);
    const double steps = t0 + whole * h == t ? whole : part;
    const double least = run->first, most = least + run->n_steps;
    return steps >= least ? steps <= most ? steps : most : least;
}
/* Moves a lane so many times further, and finds the step that contains its next time. */
static void look_ahead(PiBetween *b, const PiRun *run, int64_t lane, int further) {
    b->next[lane] += further;
    b->due[lane] = b->next[lane] < b->count ? ceil(position(b, run, lane)) : INFINITY;
}
/* Writes y as component `at` of those that are kept, at the next time of a lane. */
static void put(const PiBetween *b, const PiRun *run, int64_t lane, int at, double y) {
    const PiRecord *r = b->record;
    set_number(run, r->data,
               b->next[lane] * r->save_stride + lane * r->lane_stride + at * r->component_stride,
               y);
}

/* Lane i of the pack waits for its state at a part of the step. */
static void add(Pack *p, int64_t i, double part) {
    PiPacked *a = &p->made;
    const double h = pi_item(p->b->h, p->lane[i]);
    const double start = pi_item(p->b->t0, p->lane[i]) + (p->n - 1) * h;
    const int64_t k = a->count++;
    a->at[k] = p->lane[i] - a->tile->lane;
    a->list[k] = i;
    EACH_BELOW(d, p->run->state_rows)
        set_number(p->run, a->in, d * a->stride + k,
                   d < p->run->system->dim ? p->y[0][d * PACK + i] : 0);
    p->own[0][k] = start + p->from * h;
    p->own[1][k] = (part - p->from) * h;
}
/* Makes the states for which lanes wait. 0, or -1 if the kernel fails. */
static int make(Pack *p) {
    const PiRun *run = p->run;
    PiPacked *a = &p->made;
    pi_packed_own(a);
    PiTile tile = pi_packed_tile(a, 0, 1);
    PiRow *const rows[] = {&tile.t0, &tile.h};
    const int64_t lanes = tile.registers * run->vector_bytes / run->real_bytes;
    EACH_BELOW(r, 2) {
        void *row = row_at(run, a->own, a->stride, r, 0);
        EACH_BELOW(k, lanes) set_number(run, row, k, p->own[r][smaller(k, a->count - 1)]);
        *rows[r] = (PiRow){row, 1};
    }
    tile.starter_until = pi_first_steps(run->method);
    memset(p->why, 0, sizeof p->why); /* most kernels write none */
    tile.status = p->why;
    if (run->kernel(&tile) < 0) return -1;
    EACH_BELOW(k, a->count)
        if (pi_state_status(run, a->out, a->stride, k) == PI_NOT_FINITE) p->why[k] = PI_NOT_FINITE;
    return 0;
}
/* All times of the packed lanes up to the end of the part. */
static int fill_in(Pack *p) {
    PiBetween *b = p->b;
    PiPacked *a = &p->made;
    do {
        a->count = 0;
        EACH_BELOW(i, p->count) {
            const int64_t lane = p->lane[i];
            while (b->due[lane] <= p->n) {
                const double part = position(b, p->run, lane) - (p->n - 1);
                if (part > p->to) break;
                const double s = (part - p->from) / (p->to - p->from);
                if (s != 1 && s != 0 && !p->run->system->noisy) {
                    add(p, i, part);
                    break;
                }
                EACH_BELOW(at, b->record->n_saved) {
                    const int64_t k = b->record->saved[at] * PACK + i;
                    const double y0 = p->y[0][k], y1 = p->y[1][k];
                    put(b, p->run, lane, at, s == 1 ? y1 : y0 + s * (y1 - y0));
                }
                look_ahead(b, p->run, lane, 1);
            }
        }
        if (a->count && make(p)) return -1;
        EACH_BELOW(k, a->count) {
            const int64_t lane = p->lane[a->list[k]];
            EACH_BELOW(at, b->record->n_saved)
                put(b, p->run, lane, at,
                    p->why[k] ? NAN
                              : number_at(p->run, a->out, b->record->saved[at] * a->stride + k));
            look_ahead(b, p->run, lane, 1);
        }
    } while (a->count);
    p->count = 0;
    return 0;
}
int pi_between_piece(PiBetween *b, const PiRun *run, const PiTile *tile, int64_t lane, int64_t n,
                     double from, double to, const double *y0, const double *y1, int64_t apart,
                     void *scratch) {
    if (!(b->due[lane] <= n) || !(to > from)) return 0;
    Pack pack = make_pack(b, run, tile, n, scratch);
    pack.from = from;
    pack.to = to;
    pack.count = 1;
    pack.lane[0] = lane;
    EACH_BELOW(d, run->system->dim) {
        pack.y[0][d * PACK] = y0[d * apart];
        pack.y[1][d * PACK] = y1[d * apart];
    }
    return fill_in(&pack);
}

/* The times of a lane up to a step have its current state: it is frozen, or has just begun. */
static void repeat(PiBetween *b, const PiRun *run, int64_t lane, int64_t n, const void *rows,
                   int64_t stride, int64_t at) {
    while (b->due[lane] <= n) {
        EACH_BELOW(i, b->record->n_saved)
            put(b, run, lane, i, number_at(run, rows, b->record->saved[i] * stride + at));
        look_ahead(b, run, lane, 1);
    }
}
/* One step of the lanes of a tile, from the rows before to the rows after. */
static int see_step(PiBetween *b, const PiRun *run, const PiSeen *seen, int64_t n,
                    const void *before, int64_t before_stride, const void *after) {
    const PiFailures *failures = &run->failures[seen->tile];
    Pack pack = make_pack(b, run, seen->made, n, seen->scratch);
    EACH_BELOW(at, seen->lanes) {
        const int64_t lane = seen->lane + at;
        if (!(b->due[lane] <= n)) continue;
        if (is_frozen(failures, at) && n >= failures->step[at]) {
            repeat(b, run, lane, n, after, seen->stride, at);
            continue;
        }
        EACH_BELOW(d, run->system->dim) {
            pack.y[0][d * PACK + pack.count] = number_at(run, before, d * before_stride + at);
            pack.y[1][d * PACK + pack.count] = number_at(run, after, d * seen->stride + at);
        }
        pack.lane[pack.count++] = lane;
        if (pack.count == PACK && fill_in(&pack)) return -1;
    }
    return fill_in(&pack);
}
static double soonest(const PiBetween *b, const PiSeen *seen) {
    double least = INFINITY;
    EACH_BELOW(at, seen->lanes)
        least = b->due[seen->lane + at] < least ? b->due[seen->lane + at] : least;
    return least;
}
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    PiBetween *b = self;
    const void *before = row_at(run, b->before, run->stride, 0, seen->lane);
    int64_t stride = run->stride;
    if (seen->block == 0) {
        EACH_BELOW(at, seen->lanes) {
            b->next[seen->lane + at] = 0;
            look_ahead(b, run, seen->lane + at, 0);
            repeat(b, run, seen->lane + at, run->first, seen->rows, seen->stride, at);
        }
    }
    double due = soonest(b, seen);
    const char *rows = seen->rows;
    EACH_BELOW(i, seen->count) {
        const int64_t n = run->first + smaller(seen->step + i * seen->every, run->n_steps);
        rows = row_at(run, seen->rows, seen->next, i, 0);
        if (seen->block > 0 && due <= n) {
            if (see_step(b, run, seen, n, before, stride, rows)) return -1;
            due = soonest(b, seen);
        }
        before = rows;
        stride = seen->stride;
    }
    copy_rows(run->system->dim, seen->lanes * run->real_bytes, rows, seen->stride * run->real_bytes,
              row_at(run, b->before, 0, 0, seen->lane), run->stride * run->real_bytes);
    return 0;
}
PiObserver pi_between_observer(PiBetween *b) {
    return (PiObserver){
        .self = b, .every = 1, .observe = observe, .scratch_bytes = pi_between_scratch_bytes};
}
