/* The hook between steps: whoever wants to see the states of a run registers an observer, and is
 * shown the rows of a tile, by the thread that works on it, after each call of a kernel. Recording
 * is one (record.c). A run without observers pays nothing.
 *
 * The kernel writes every `interval`-th state of a block, the last step of the run included, to the
 * scratch of the thread, which lies in the first cache; or to the memory of one observer that has a
 * place for whole registers. All observers are then shown the same rows. Each sees the multiples of
 * its own `every`, and the last step; the interval is what divides them all. A block in which a
 * lane fails is made again in pieces, and shown then: what was written to a place before is
 * overwritten, and nobody is shown the same step twice, nor a step of a lane that has failed but as
 * its last good state. The steps of a tile come in order; the tiles come in any, from any thread,
 * so that what an observer adds up belongs to a lane, or is exact in any order (integers).
 *
 * Lanes that stop, and states that a rule changes, are made by an observer that intervenes
 * (watching/events.c): the kernel has then run on to the end of the call. Where nobody else watches
 * the lanes that have stopped make room for the others (leaving.c). One that has each call
 * end where it is due changes the state that the next begins with (watching/renormalise.c).
 *
 * Planned, and where it will sit:
 *  - Steps that differ from lane to lane: t0 and h are rows of the tile already, so that a lane's
 *    time is its own; a step that is refused is a lane frozen for one call. */
#pragma once
#include "../tiles.h"

typedef struct PiRun PiRun;

/* States of the lanes of one tile: `count` of them, the i-th after min(step + i every, n_steps)
 * steps of the run (the number of that step is run->first more). Component d of lane l of the i-th
 * is the real at rows[i next + d stride + l]; the system's components, without the history. */
typedef struct {
    int64_t tile, lane, lanes; /* the first lane, and how many; padding may follow them */
    int64_t block;             /* of time; 0: the initial state */
    int64_t step, every, count;
    const void *rows;
    int64_t stride, next;
    const void *writer; /* the observer whose place the rows are, as its `self`; or NULL */
    void *scratch;      /* of the thread, as many bytes as the observer has asked for */
    const int64_t *at;  /* lane i of the rows is lane at[i] of the tile; NULL: lane i */
} PiSeen;
static inline int64_t pi_place(const PiSeen *seen, int64_t i) { return seen->at ? seen->at[i] : i; }

/* Where a kernel may write all components of whole registers, padding included. */
typedef struct {
    void *rows; /* NULL: nowhere */
    int64_t stride, next;
    int stream; /* past the caches? */
} PiPlace;

typedef struct {
    void *self;
    int64_t every; /* steps */
    /* 0; -1 stops the run. */
    int (*observe)(void *self, const PiRun *run, const PiSeen *seen);
    /* May be NULL: before anybody observes, changes the states of lanes: those that are shown, and
     * those in the tile's `out`, and freezes lanes by fail() of layout.h. Needs every = 1, or
     * `alone`. The tile has made the steps from its `in`. 0, or -1. */
    int (*intervene)(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile);
    /* Each call of a kernel ends where it is due; then it may intervene whatever its `every`, in
     * the tile's `out`, and no other observer may watch more often. */
    int alone;
    /* May it be shown some lanes of a tile side by side, as it ends so many that it pays to go on
     * with the others alone? Then it intervenes, and observes block 0 only. */
    int packed;
    /* May be NULL: where the states from `step` on of the lanes from `lane` on belong. */
    PiPlace (*place)(void *self, const PiRun *run, int64_t lane, int64_t step);
    /* May be NULL: a tile begins a block of time, from 1 on. After an interrupt only the blocks
     * that all tiles have completed count: whoever adds up keeps the sums of two blocks. The
     * scratch is the observer's own until the tile has made the block. */
    void (*open)(void *self, const PiRun *run, int64_t tile, int64_t block, void *scratch);
    /* May be NULL: of the thread's scratch, once the tiles of the run are known. */
    int64_t (*scratch_bytes)(const void *self, const PiRun *run);
} PiObserver;

enum { PI_MAX_OBSERVERS = 10 };
/* Before the run is prepared. 0, or -1 where there are too many. */
int pi_run_observe(PiRun *run, PiObserver observer);
