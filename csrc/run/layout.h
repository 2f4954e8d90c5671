/* The layout of the rows of a run, and declarations shared by the files of a run. */
#pragma once
#include "../aligned.h"
#include "run.h"

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t common_divisor(int64_t a, int64_t b) {
    return b ? common_divisor(b, a % b) : a;
}
/* a / b for non-negative numbers. A 64-bit division takes as long as some steps of a whole
 * register, and there are many between two calls of a kernel, most of them by one. */
static inline int64_t over(int64_t a, int64_t b) {
    if (b == 1) return a;
    return (a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}
static inline int64_t ceil_div(int64_t a, int64_t b) { return over(a + b - 1, b); }
/* Items in a cache line. */
static inline int64_t lanes_in_line(const PiRun *run) { return run->real_bytes == 8 ? 8 : 16; }
/* So many lanes, in whole cache lines. */
static inline int64_t padded(const PiRun *run, int64_t lanes) {
    return pi_rounded_up(lanes, lanes_in_line(run));
}
/* Trajectories in a tile. */
static inline int64_t lanes_in(const PiRun *run, int64_t tile) {
    return smaller(run->tile_lanes, run->lanes - tile * run->tile_lanes);
}
static inline char *row_at(const PiRun *run, const void *rows, int64_t stride, int64_t d,
                           int64_t lane) {
    return (char *)rows + (d * stride + lane) * run->real_bytes;
}
/* Each row of a state. */
#define EACH_ROW(d, run) EACH_BELOW(d, (run)->state_rows)
/* What is done for doubles or for floats, whichever they are. */
#define WITH_REAL(run, what)                                                                       \
    if ((run)->real_bytes == 8) {                                                                  \
        what(double)                                                                               \
    } else {                                                                                       \
        what(float)                                                                                \
    }
static inline double number_at(const PiRun *run, const void *row, int64_t i) {
    return pi_real(row, i, run->real_bytes);
}
static inline void set_number(const PiRun *run, void *row, int64_t i, double value) {
    pi_set_real(row, i, run->real_bytes, value);
}
/* Copies `bytes` of each row; rows lie from_next and to_next bytes apart. */
static inline void copy_rows(int64_t rows, int64_t bytes, const void *from, int64_t from_next,
                             void *to, int64_t to_next) {
    EACH_BELOW(i, rows) memcpy((char *)to + i * to_next, (const char *)from + i * from_next, bytes);
}
/* A block begins with the sums of the block before: rows of run->stride doubles, in two copies. */
static inline void begin_sums(const PiRun *run, int64_t rows, double *const sums[2], int64_t tile,
                              int64_t block) {
    const int64_t lane = tile * run->tile_lanes, row = run->stride * sizeof(double);
    if (sums[0] != sums[1])
        copy_rows(rows, padded(run, lanes_in(run, tile)) * sizeof(double),
                  sums[1 - (block & 1)] + lane, row, sums[block & 1] + lane, row);
}
/* The states of lanes, so many bytes of each row; strides in reals. */
static inline void copy_states(const PiRun *run, int64_t bytes, const void *from,
                               int64_t from_stride, void *to, int64_t to_stride) {
    copy_rows(run->state_rows, bytes, from, from_stride * run->real_bytes, to,
              to_stride * run->real_bytes);
}
/* to[i] = from[at[i]], and to[at[i]] = from[i]; items of a row. */
#define GATHER(real)                                                                               \
    EACH_BELOW(i, n) ((real *)to)[i] = ((const real *)from)[at[i]];
#define SCATTER(real)                                                                              \
    EACH_BELOW(i, n) ((real *)to)[at[i]] = ((const real *)from)[i];
static inline void gather(const PiRun *run, const void *from, const int64_t *at, int64_t n,
                          void *to) {
    WITH_REAL(run, GATHER)
}
static inline void scatter(const PiRun *run, const void *from, const int64_t *at, int64_t n,
                           void *to) {
    WITH_REAL(run, SCATTER)
}

/* ---- blocks.c, run.c --------------------------------------------------------------------------
 */
enum { PI_BLOCK_SAVES = 32 }; /* states shown in a block, at most */
enum { PI_STEPS_SHOWN = 32 }; /* steps that lanes which may stop make together */
/* The steps done after b blocks; the number of blocks; the number of steps in one. */
int64_t pi_steps_after(const PiRun *run, int64_t b);
int64_t pi_count_blocks(const PiRun *run);
int64_t pi_steps_of_block(const PiRun *run);
/* Operations of a step of one lane on rows, approximately. Newton's method: one elimination, four
 * times. */
double pi_step_operations(const PiRun *run);
/* The number of lanes that cost the same: one alone takes as long as a register of them. */
double pi_lanes_worked(const PiRun *run);
/* The scratch of a thread, in pi_run_scratch_bytes() of memory, or NULL. */
typedef struct {
    char *tile, *workspace;    /* states; of row kernels */
    PiRow *params;             /* of one step of a driven run */
    char *far, *shown;         /* a row: how far lanes have been; states that observers will see */
    char *observers, *leaving; /* of observers, one after the other; of leaving.c */
} PiScratch;
PiScratch pi_scratch_in(const PiRun *run, void *memory);
/* A tile makes the steps of a block. 0; -1 if it was stopped, or has no memory for failures. */
int pi_advance_tile(PiRun *run, int64_t number, int64_t block, const PiScratch *scratch,
                    PiPause *pause);

/* ---- observers.c ------------------------------------------------------------------------------
 */
#define EACH_OBSERVER(o, run)                                                                      \
    for (const PiObserver *o = (run)->observers; o < (run)->observers + (run)->n_observers; o++)
/* Are states written between those of the blocks, several per call? */
int pi_is_shown(const PiRun *run);
/* The interval that serves all observers, and the one whose memory kernels write to. */
void pi_prepare_observers(PiRun *run);
/* Tells the observers that a tile begins a block of time, the first of which is 1. */
static inline void pi_open_block(const PiRun *run, int64_t tile, int64_t block,
                                 const PiScratch *scratch) {
    EACH_OBSERVER(o, run)
        if (o->open)
            o->open(o->self, run, tile, block,
                    scratch->observers + run->observer_offset[o - run->observers]);
}
/* Observers that change states intervene; then all are shown their states. 0, or -1. */
int pi_let_intervene(PiRun *run, PiSeen seen, const PiTile *tile);
int pi_show(const PiRun *run, const PiSeen *seen);
/* Shows `count` of the states to one observer: every `each`-th, starting with index `from`. */
int pi_show_to(const PiRun *run, const PiObserver *o, PiSeen seen, int64_t from, int64_t count,
               int64_t each);

/* ---- bounds.c -------------------------------------------------------------------------------- */
/* Can leaving trajectories be found in the shown states? */
int pi_has_seen_bound(const PiRun *run);
/* Freezes the lanes that leave the bound in the shown steps, all of one call, in the rows
 * and in `out`; completed: room for a row. 0; 1 if a lane fails otherwise, and nothing is done; -1
 * without memory. */
int pi_find_leavers(PiRun *run, const PiSeen *seen, const PiTile *tile, void *completed);
/* Lane i did not complete all steps in the record of a call (PiComplete): it fails as `lane` of
 * tile `number`, and its state, at `place` of `to`, is that before. 0, or -1 without memory. */
int pi_stay(PiRun *run, int64_t number, const PiTile *made, const void *completed, int64_t i,
            int64_t lane, void *to, int64_t stride, int64_t place);

/* ---- leaving.c ------------------------------------------------------------------------------- */
/* Do trajectories that leave, or that an observer stops, make room? Then pi_advance_tile() lets
 * this function advance them, with that much scratch per thread. */
int pi_makes_room(const PiRun *run);
int pi_stops_make_room(const PiRun *run);
int64_t pi_leaving_bytes(const PiRun *run);
int64_t pi_stopping_rows_bytes(const PiRun *run);
/* From step `from` to step `to`; the tile has its `in`. 0, or -1. */
int pi_advance_leaving(PiRun *run, int64_t number, PiTile *tile, int64_t from, int64_t to,
                       void *target, const PiScratch *scratch);
/* The same if an observer stops them; seen: the part that all calls have in common. */
int pi_advance_stopping(PiRun *run, PiTile *tile, PiSeen seen, int64_t from, int64_t to,
                        void *target, const PiScratch *scratch);

/* ---- failures.c ------------------------------------------------------------------------------ */
static inline int is_frozen(const PiFailures *f, int64_t lane) {
    return f->count && f->status[lane] != PI_OK;
}
/* PI_OK, or why the state of a lane is not valid. */
PiStatus pi_state_status(const PiRun *run, const void *rows, int64_t stride, int64_t lane);
int pi_states_are_valid(const PiRun *run, const void *rows, int64_t stride, int64_t lanes);
/* Freezes a lane of a tile. Only the thread that works on the tile calls this. 0, or -1 without
 * memory. */
int pi_fail(PiRun *run, int64_t tile, int64_t lane, PiStatus status, int64_t step);
/* Finds the lanes of a tile that have failed, after its kernel has reported one. 0, or -1. */
int pi_find_failures(PiRun *run, int64_t number, const PiTile *tile);
/* Lets lanes that failed after a step continue: the state is that of the step again. */
void pi_forget_failures(PiRun *run, int64_t step);

/* ---- packed.c --------------------------------------------------------------------------------
 * Lanes apart: some lanes of a tile, side by side in rows of their own, so that the kernel makes
 * steps of these alone: those that remain when others leave, those that leave or fail, parts of the
 * steps of some. A result depends on its own lane only, wherever that is. */
typedef struct {
    const PiRun *run;
    const PiTile *tile;
    int64_t count, *at;   /* their places in the tile */
    int64_t *list;        /* of some of them */
    int64_t stride;       /* of a row */
    char *in, *out, *own; /* rows of states before and after a call; of t0, h and parameters */
    PiRow *params;
} PiPacked;

/* Room for so many lanes, in a part of a memory. */
PiPacked pi_place_packed(PiMemory *memory, const PiRun *run, const PiTile *tile, int64_t room);
/* Of the lanes in `at` the rows of t0, h and parameters; with states from rows of the tile, to
 * `to`.
 */
void pi_packed_own(PiPacked *packed);
void pi_packed_collect(PiPacked *packed, const void *rows, int64_t stride, char *to);
/* Their states in `rows`, to their places in rows of the run. */
void pi_packed_spread(const PiPacked *packed, const char *rows, void *to);
/* Takes over the first n lanes in the list of others, with the states before. */
void pi_packed_take(PiPacked *packed, const PiPacked *others, int64_t n);
/* The last lanes take the places of the first n in the list, which is in order; rows: their states.
 */
void pi_packed_drop(PiPacked *packed, char *rows, int64_t n);
static inline void pi_packed_turn(PiPacked *p) {
    char *in = p->in;
    p->in = p->out;
    p->out = in;
}
/* These as a tile that goes from `in` to `out`; copies of the last fill its register. */
PiTile pi_packed_tile(PiPacked *packed, int64_t first, int64_t steps);
