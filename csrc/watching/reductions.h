/* The reductions that the core computes itself: over the steps (kernels/rows/reduce.h); and in a
 * run to a tolerance over time, of quantities that are polynomials on pieces of the steps
 * (reductions.c). */
#pragma once
#include "pieces.h"

/* Each keeps some numbers of a trajectory, which reductions.c names, in the order in which
 * pyintegrate/watching/time_weighted.py reads them; NaN at first unless they are sums or counts. */
typedef enum {
    PI_STATES,
    PI_MEAN,
    PI_MOMENTS,
    PI_TIMED_MAXIMUM,
    PI_TIMED_MINIMUM,
    PI_TIMED_MAX_ABS,
    PI_PASSAGES,
    PI_TURNS,
    PI_TRUTH
} PiPieceKind;
enum { PI_PIECE_KINDS = PI_TRUTH + 1 };
/* What is known of each, here and in Python: its rows, their initial values, and the first of a
 * lane that restarts, which any value exceeds; `need` of a quantity. */
typedef struct {
    const char *name;
    int rows, need;
    double initial[10], again;
} PiDeclared;
extern const PiDeclared pi_reductions[PI_REDUCTIONS], pi_piece_reductions[PI_PIECE_KINDS];
typedef struct {
    int kind, quantity, first; /* PiPieceKind; its first number among those of a trajectory */
    int after;                 /* the row of times from which it counts, or -1 */
} PiPieceReduction;

/* How often one quantity or two lie in each bin, at `count` equally spaced times from the start to
 * the end of a run, both included: of each trajectory, or (stride 0) of all. */
typedef struct {
    PiBins of;
    int64_t count, stride, *counts;
    int after; /* as above */
} PiPieceSamples;

/* Counts the samples on a lane's piece, from t_from, which is not included, to t_to, and from time
 * `after` on; of: the trajectory, whose run goes from t0 to t_end. */
void pi_sample_piece(const PiPieceSamples *samples, const Pieces *pieces, int64_t lane,
                     double t_from, double t_to, double t0, double t_end, double after, int64_t of);
/* Counts one sample of trajectory `of`, by its values. */
void pi_count_sample(const PiPieceSamples *samples, double first, double second, int64_t of);
/* Adds a quantity on a lane's piece, between two times, to the numbers of its trajectory. */
void pi_reduce_piece(const PiPieceReduction *reduction, const Pieces *pieces, int64_t lane,
                     double t_from, double t_to, double *numbers);
/* Adds a single value: the first, or one after a jump. */
void pi_reduce_value(const PiPieceReduction *reduction, double value, double t, double *numbers);
/* Counts one more state; counts: is it included, or does it come before `after`? */
void pi_count_state(const PiPieceReduction *reduction, double value, int counts, double *numbers);
