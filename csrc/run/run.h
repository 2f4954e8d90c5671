/* A run: a batch, a system, a method and steps; advanced by any number of threads together. */
#pragma once
#include <stdatomic.h>
#include "../tiles.h"
#include "observe.h"

/* What a row of doubles has for a lane. */
static inline double pi_item(PiRow row, int64_t lane) {
    return ((const double *)row.data)[row.stride * lane];
}

/* The lanes of one tile that have failed. */
typedef struct {
    void *mask;     /* a row of masks as wide as reals: all ones where frozen; NULL: none was */
    int8_t *status; /* those of the run, from the tile's first lane on */
    int64_t *step;
    int64_t count;
    int still; /* blocks of time in which all of them stood still */
} PiFailures;

/* A resolved system: its kernels (NULL if it has none), its force, and the kernels for any
 * force. unanswered: bit q is set if question q has no answer. */
typedef struct {
    const PiSystem *system;
    const PiKernels *kernels;
    const PiKernelSet *set;
    PiForce *force;
    const void *context;
    PiDraw *draw;
    unsigned unanswered;
} ResolvedSystem;
/* The system of any size of that number, of so many parts (catalogue.c). */
PiSized pi_sized(int number, int parts);

struct PiRun {
    /* The caller's arguments: python/fields.c or run_type.c has a line for each. */
    int real_bytes;               /* 8 or 4 */
    int64_t lanes;                /* trajectories */
    int64_t first, n_steps;       /* steps first + 1 .. first + n_steps */
    int64_t save_every;           /* steps from one save to the next; the last is saved too */
    int64_t workers;              /* threads that will share the run */
    double bound;                 /* of |components|; infinite: none given */
    int has_history;              /* is that of a multistep method in `initial`? */
    int use_row_kernels;          /* those for any force, even if others are compiled */
    int compensated;              /* carry the rounding errors of additions to the state */
    PiRow t0, h, *params;         /* allocated, n_params */
    const int64_t *drive_strides; /* reals from a parameter's row to the next step's; or NULL */
    int8_t *status;               /* of each lane: PI_OK, or why it is frozen, */
    int64_t *failed;              /* and the first step that it has not completed */

    /* pi_run_choose: */
    const PiSystem *system;
    const PiMethod *method;
    PiKernel *kernel;
    PiForce *force; /* for row kernels, with its data */
    const void *context;
    PiDraw *draw;
    const PiMethod *starter; /* of a multistep method, or NULL */
    int64_t starter_until;   /* steps before this one are made by the starter */
    PiComplete *complete;
    int vector_bytes;
    int state_rows; /* components, the history of the method, rounding errors */

    /* Rows of `stride` reals, a multiple of 64 bytes. A block of time reads one state and writes
     * the other, so that the last complete block survives an interrupt, unless both are the
     * same memory. */
    void *initial, *state[2];
    int64_t stride;
    int same; /* all trajectories begin alike: `initial` has one item a row */
    PiObserver observers[PI_MAX_OBSERVERS];
    int n_observers;

    /* pi_run_prepare: */
    PiTable *table, *starter_table; /* side by side, if there is a starter */
    int64_t cut;                    /* blocks of time end at its multiples */
    int64_t interval;               /* steps between the states that observers see */
    int alone;                      /* does each call of a kernel end with an interval? */
    int64_t observer_offset[PI_MAX_OBSERVERS + 1]; /* of their scratch; the end */
    const PiObserver *reducer; /* the only observer, if kernels make its reductions; or NULL */
    const PiObserver *writer;  /* whose memory kernels write to; NULL: the scratch */
    int64_t block_steps;       /* a block is so many steps, or saves if these are fewer steps */
    int64_t tile_lanes, n_tiles, n_blocks;
    int64_t first_block; /* its number: observers keep their sums after even and odd blocks apart */
    int64_t shown_lanes; /* of a tile whose lanes stop: how many go on together, and are shown */
    PiFailures *failures;           /* one for each tile */
    int64_t chunk, workspace_bytes; /* of row kernels */

    /* Tickets are handed out tile by tile, block by block; block 0 examines the initial state. */
    _Atomic int64_t next, done;
    _Atomic int cancelled, out_of_memory, stopped; /* stopped: by the force, or in a pause */
};

/* Called about every 50 ms by the thread that gave it, also within a long step; non-zero
 * cancels the run. */
typedef int PiPoll(void *context, int64_t steps_done);

/* Sets the method, its starter (NULL: the default one) and the kernel. NULL, or why the method
 * cannot integrate the system. */
const char *pi_run_choose(PiRun *run, const ResolvedSystem *resolved, const PiMethod *method,
                          const PiMethod *starter);
/* Fills in the fields that follow from the others (tiles, blocks, tables). 0, or -1 without memory.
 */
int pi_run_prepare(PiRun *run);
/* Works on a PiRun until nothing is left or it is cancelled. Any number of threads may call it at
 * once.
 */
void pi_run_work(void *run, PiPoll *poll, void *context);
/* Stepping by hand: n steps from step `first` on, in place (initial and both states are the same
 * rows), by the calling thread, in scratch memory of pi_run_scratch_bytes(). 0; -1 if there is no
 * memory, or the force or poll stopped the run: see out_of_memory and stopped. In every case all
 * trajectories are at one step, `completed` steps on: a block that was not completed is undone, for
 * which `before` has room for a state; the sums of observers are in their first copies. `before`
 * may be NULL if pi_run_may_undo() says so: then poll is called between blocks only, and if there
 * are several tiles, one without memory for its failures continues: a later step finds them, but
 * their last valid state is lost. */
int64_t pi_run_scratch_bytes(const PiRun *run);
int pi_run_may_undo(const PiRun *run, int64_t n);
int pi_run_step(PiRun *run, int64_t first, int64_t n, void *scratch, void *before, PiPoll *poll,
                void *context, int64_t *completed);
/* The steps that every trajectory of a PiRun has completed. */
int64_t pi_run_completed(const void *run);
/* The state after them; NULL if it was overwritten (one state buffer, interrupted). */
const void *pi_run_state(const PiRun *run);
/* Examines the initial state, with scratch for observers if there are any; 0, or -1 without memory.
 */
int pi_run_begin(PiRun *run, void *scratch);
/* Stepping by hand: shows the state of step n, as an initial one, to the observers from number
 * `observer` on. 0, or -1. */
int pi_run_show(PiRun *run, int64_t n, int observer, void *scratch);
/* Keeps the padding of the last tile unchanged, whatever it holds; lets a failed trajectory
 * continue.
 */
int pi_run_freeze_padding(PiRun *run);
void pi_run_clear_failure(PiRun *run, int64_t lane);
/* Freezes those trajectories, and only those, whose status says so: they have failed before.
 * Returns 0, or -1 without memory. */
int pi_run_freeze(PiRun *run);
int64_t pi_run_count_failures(const PiRun *run);
void pi_run_free(PiRun *run);

/* Rounding to nearest, subnormals kept: set at entry, restored at exit; and set again after an
 * outside function, which may have changed it (dispatch.c). */
uint32_t pi_enter_float_mode(void);
void pi_leave_float_mode(uint32_t mode);
void pi_keep_float_mode(void);
