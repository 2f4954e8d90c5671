/* The hook between steps: code that needs the states of a run registers an observer, and is
 * shown the rows of a tile, by the thread that works on it, after each call of a kernel. Recording
 * is one (record.c). A run without observers has no cost for it.
 *
 * The kernel writes every `interval`-th state of a block, the last step of the run included, to the
 * scratch of the thread, which lies in the first-level cache; or to the memory of one observer that
 * has room for whole registers. All observers are then shown the same rows. Each sees the multiples
 * of its own `every`, and the last step; the interval divides them all. A block in which a
 * lane fails is repeated in pieces, and shown then: anything written to memory before is
 * overwritten. No observer is shown the same step twice; after a lane has failed, it is shown
 * its last good state. The steps of a tile come in order; the tiles come in any order, from any
 * thread, so that a sum of an observer belongs to a lane, or is exact in any order (integers).
 *
 * Lanes that stop, and states that a rule changes, are made by an observer that intervenes
 * (watching/events.c): the kernel has then run on to the end of the call. If there is no other
 * observer, the lanes that have stopped make room for the others (leaving.c). An observer that
 * makes each call end at its steps changes the state with which the next call begins
 * (watching/renormalise.c).
 *
 * Runs whose steps differ from lane to lane have a loop of their own (tolerance/solve.c). */
#pragma once
#include "../tiles.h"

typedef struct PiRun PiRun;

/* States of the lanes of one tile: `count` of them, the i-th after min(step + i every, n_steps)
 * steps of the run (the index of that step is run->first more). Component d of lane l of the i-th
 * is the real at rows[i next + d stride + l]; the system's components, without the history. */
typedef struct {
    int64_t tile, lane, lanes; /* the first lane, and their number; padding may follow */
    int64_t block;             /* of time; 0: the initial state */
    int64_t step, every, count;
    const void *rows;
    int64_t stride, next;
    const void *writer; /* `self` of the observer that owns the rows; or NULL */
    void *scratch;      /* of the thread, with the size that the observer requested */
    const int64_t *at;  /* lane i of the rows is lane at[i] of the tile; NULL: lane i */
    const PiTile *made; /* the steps, for who makes parts of them again; NULL in block 0 */
} PiSeen;
static inline int64_t pi_place(const PiSeen *seen, int64_t i) { return seen->at ? seen->at[i] : i; }

/* Where a kernel may write all components of whole registers, padding included. */
typedef struct {
    void *rows; /* NULL: none */
    int64_t stride, next;
    int stream; /* past the caches? */
} PiPlace;

typedef struct {
    void *self;
    int64_t every; /* steps */
    int wide;      /* does it rather see many lanes than many states at once? */
    /* 0; -1 stops the run. May be NULL. */
    int (*observe)(void *self, const PiRun *run, const PiSeen *seen);
    /* May be NULL: before the states are shown, changes those of lanes, in the rows that are shown
     * and in the tile's `out`, and freezes lanes by pi_fail() of layout.h. Needs every = 1, or
     * `alone`. The tile has made the steps from its `in`. 0, or -1. */
    int (*intervene)(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile);
    /* Each call of a kernel ends at its steps; then it may intervene with any `every`, in
     * the tile's `out`, and no other observer may have a smaller interval. */
    int alone;
    /* Does it stop so many lanes that the others are shown packed, some of a tile? Then it
     * intervenes, and observes block 0 only. */
    int packed;
    /* May be NULL. Otherwise it needs no states, but reductions of the energy, which kernels in
     * registers make if no other observer wants states: sets them for a tile whose block begins, if
     * it can. `keep` follows if no lane has failed in the block. */
    int (*reduced)(void *self, const PiRun *run, const PiSeen *seen, PiTile *tile);
    void (*keep)(void *self, const PiRun *run, const PiSeen *seen);
    /* May be NULL: the destination of the states from `step` on of the lanes from `lane` on. */
    PiPlace (*place)(void *self, const PiRun *run, int64_t lane, int64_t step);
    /* May be NULL: a tile begins a block of time, from 1 on. After an interrupt only the blocks
     * that all tiles have completed count: an observer with sums keeps those of two blocks. The
     * scratch belongs to the observer until the tile has made the block. */
    void (*open)(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch);
    /* May be NULL: size of the thread's scratch, once the tiles of the run are known. */
    int64_t (*scratch_bytes)(const void *self, const PiRun *run);
} PiObserver;

enum { PI_MAX_OBSERVERS = 10 };
/* To be called before the run is prepared. 0, or -1 if there are too many. */
int pi_run_observe(PiRun *run, PiObserver observer);

/* ---- record.c --------------------------------------------------------------------------------
 * Component saved[i] of lane l after save s goes to
 * data[s save_stride + i component_stride + l lane_stride]. */
typedef struct {
    void *data;
    int64_t every;        /* steps from one save to the next */
    const int64_t *steps; /* the saved steps instead, increasing, multiples of `every`; or NULL */
    int64_t listed;       /* their number */
    int64_t save_stride, component_stride, lane_stride; /* reals from one to the next */
    int64_t saves;                                      /* for which there is room */
    int64_t room;        /* lanes that may be written: from `stride` on with the padding */
    int n_saved, *saved; /* indices of the components */
    int stream;          /* past the caches? */
} PiRecord;
PiObserver pi_record_observer(PiRecord *record);
