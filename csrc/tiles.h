/* The contract of the C core, second part: forces on rows, tiles, kernels, and how they are
 * found. */
#pragma once
#include "pyintegrate.h"

/* ---- pauses ---------------------------------------------------------------------------------- */
/* Long computations on rows ask now and then whether to stop: once per force, stage, column of
 * an elimination, or some hundred instructions. Most calls only count; `look` decides how many
 * pass until it reads the clock again. */
typedef struct PiPause {
    int64_t left;                       /* calls until the next look() */
    int (*look)(struct PiPause *pause); /* sets left; non-zero: stop */
} PiPause;
static inline int pi_pause(PiPause *pause) {
    return pause && --pause->left < 0 && pause->look(pause);
}

/* ---- forces on rows -------------------------------------------------------------------------- */
typedef enum {
    PI_RHS,          /* dim rows */
    PI_ACCELERATION, /* dof rows; for a separable system the rate of change of the momenta */
    PI_ENERGY,       /* one row */
    PI_INVARIANTS,
    PI_JACOBIAN, /* dim * dim rows: d rhs_i / dy_k is row i * dim + k */
    PI_VELOCITY, /* dof rows: T_p of a separable system */
    PI_NEXT,     /* dim rows: the state after a step with noise, in place of v its numbers */
    PI_PREPARE   /* fills in the derived parameters */
} PiQuestion;
enum { PI_QUESTIONS = PI_PREPARE + 1 };
extern const char *const pi_question_names[PI_QUESTIONS]; /* run/catalogue.c */

/* Rows of the result; 0 for PI_PREPARE, which writes parameters. */
static inline int64_t pi_answer_rows(const PiSystem *system, PiQuestion question) {
    switch (question) {
    case PI_RHS:
    case PI_NEXT: return system->dim;
    case PI_ACCELERATION:
    case PI_VELOCITY: return system->dof;
    case PI_ENERGY: return 1;
    case PI_INVARIANTS: return system->n_invariants;
    case PI_JACOBIAN: return (int64_t)system->dim * system->dim;
    case PI_PREPARE: break;
    }
    return 0;
}

/* The mathematics of a system in registers, one for each component: the arguments of the answer to
 * each question, and the head of the function that gives it. p: parameters, then derived ones.
 * Second order: J[i][k] = da_i / dx_k, and da_i / dv_k from k = dof on; otherwise df_i / dy_k, and
 * J is zero before. */
#define PI_AT(y)               vreal t, const vreal *y, const vreal *p
#define RHS_ARGUMENTS          (PI_AT(y), vreal * dydt)
#define ACCELERATION_ARGUMENTS (vreal t, const vreal *x, const vreal *v, const vreal *p, vreal *a)
#define VELOCITY_ARGUMENTS     (const vreal *momentum, const vreal *p, vreal *v) /* T_p */
#define ENERGY_ARGUMENTS       (PI_AT(y))
#define INVARIANTS_ARGUMENTS   (PI_AT(y), vreal * values)
#define JACOBIAN_ARGUMENTS     (PI_AT(y), vreal J[PI_MAX_DIM][PI_MAX_DIM])
#define RHS(id)                INLINE void id##_rhs RHS_ARGUMENTS
#define ACCELERATION(id)       INLINE void id##_acceleration ACCELERATION_ARGUMENTS
#define VELOCITY(id)           INLINE void id##_velocity VELOCITY_ARGUMENTS
#define NEXT(id)               INLINE void id##_next RHS_ARGUMENTS
#define PREPARE(id)            INLINE void id##_prepare(vreal *p)
#define ENERGY(id)             INLINE vreal id##_energy ENERGY_ARGUMENTS
#define INVARIANTS(id)         INLINE void id##_invariants INVARIANTS_ARGUMENTS
#define JACOBIAN(id)           INLINE void id##_jacobian JACOBIAN_ARGUMENTS

/* Rows of registers side by side: quantity d of all lanes begins d * registers vectors in. */
typedef struct {
    int64_t registers; /* in each row */
    const void *t;     /* one row */
    const void *y;     /* dim rows; for PI_ACCELERATION dof rows of positions */
    const void *v;     /* for PI_ACCELERATION and PI_VELOCITY: dof rows of velocities or momenta */
    void *p;           /* parameters, then derived ones */
    void *out;         /* the result */
    void *scratch;     /* as many rows as the system needs */
    uint64_t uniform;  /* bit i: parameter i of the first 64 has one value for all lanes */
    PiPause *pause;    /* may be NULL */
    int one_time;      /* has t one value for all lanes? */
    int64_t lanes, bytes; /* in a row: for outside functions */
} PiRows;
/* 0; otherwise the run must stop (a callback has raised, or a pause). context: the force's own
 * data. */
typedef int PiForce(const void *context, PiQuestion question, const PiRows *rows);

/* ---- noise ----------------------------------------------------------------------------------- */
/* Pairs of random numbers of some lanes: standard normals, or of the stream PI_UNIFORMS numbers
 * between 0 and 1. The key of the generator is the seed; its counter is, from the lowest bit on,
 * the number of the pair (48 bits), the component (16), the trajectory (48) and the stream (16).
 * Substeps 2 i and 2 i + 1 have the first and the second number of pair i. */
enum { PI_NORMALS, PI_SECOND_NORMALS, PI_UNIFORMS, PI_STREAMS, PI_BRIDGES = PI_STREAMS };
typedef struct {
    uint64_t seed, pair;
    int component, stream;
    int64_t lanes; /* whole registers */
    const uint64_t *trajectory;
    double *first, *second;
} PiPairs;
typedef void PiDraw(const PiPairs *pairs);
/* A Brownian bridge over a part of a step: its ends, in units of its deviation over the whole step;
 * whole / part; the numbers to which those of its streams belong. */
typedef struct {
    uint64_t seed, trajectory, step;
    int component;
    double from, to, whole;
} PiBridge;
/* When it is first zero, from 0 to 1; 2: never. */
typedef double PiPassage(const PiBridge *bridge);
/* The last parameters of a system with noise belong to the run: the step; the number of substeps;
 * three and two times 24 bits, the lowest first, of the seed and of the trajectory's number; how
 * many jumps the step has had, if it is what they leave of one: that has 4 streams of its own. */
enum {
    PI_OF_STEP,
    PI_OF_SUBSTEPS,
    PI_OF_SEED,
    PI_OF_TRAJECTORY = PI_OF_SEED + 3,
    PI_OF_JUMPS = PI_OF_TRAJECTORY + 2,
    PI_OF_RUN,
    PI_OF_BITS = 24,
    PI_OF_JUMPS_BIT = 50 /* of the upper half of the counter: 4 streams for each */
};

/* ---- tiles and kernels ----------------------------------------------------------------------- */
/* Number i of a row of reals of so many bytes. */
static inline double pi_real(const void *row, int64_t i, int real_bytes) {
    return real_bytes == 8 ? ((const double *)row)[i] : ((const float *)row)[i];
}
static inline void pi_set_real(void *row, int64_t i, int real_bytes, double value) {
    if (real_bytes == 8) ((double *)row)[i] = value;
    else ((float *)row)[i] = value;
}
/* Lanes of one quantity: stride 1, or 0 if one value serves all. */
typedef struct {
    const void *data;
    int64_t stride;
} PiRow;

/* The reductions of a quantity over the steps (kernels/rows/reduce.h): name, number of rows of
 * sums, the first row of a lane that restarts (any value exceeds it), initial rows, zeros last. */
#define PI_EACH_REDUCTION(REDUCTION)                                                               \
    REDUCTION(PI_LARGEST, "maximum", 2, -INFINITY, NAN, NAN)                                       \
    REDUCTION(PI_SMALLEST, "minimum", 2, INFINITY, NAN, NAN)                                       \
    REDUCTION(PI_LARGEST_MAGNITUDE, "max_abs", 2, -1, NAN, NAN)                                    \
    REDUCTION(PI_SUM, "sum", 2, 0, 0)                                                              \
    REDUCTION(PI_SUM_OF_SQUARES, "squares", 2, 0, 0)                                               \
    REDUCTION(PI_LINE, "line", 10, NAN, NAN)                                                       \
    REDUCTION(PI_RISES, "rises", 5, NAN, NAN, NAN, 0, 0, NAN)                                      \
    REDUCTION(PI_FALLS, "falls", 5, NAN, NAN, NAN, 0, 0, NAN)                                      \
    REDUCTION(PI_PASSES, "passes", 5, NAN, NAN, NAN, 0, 0, NAN)                                    \
    REDUCTION(PI_BEGINS_TO_HOLD, "begins", 5, NAN, NAN, NAN)                                       \
    REDUCTION(PI_BRIDGED, "bridged", 5, NAN, NAN, NAN)                                             \
    REDUCTION(PI_BRANCH, "branch", 5, NAN, NAN)
#define PI_KIND(kind, ...) kind,
typedef enum { PI_EACH_REDUCTION(PI_KIND) PI_REDUCTIONS } PiReduction;
/* The rows of a zero crossing: the quantity g after the last step and after the one before (NaN:
 * unknown); two numbers to which each step appends a binary digit: has g crossed zero, may it have
 * done so twice? The last bend, g_{n+1} - 2 g_n + g_{n-1}. Of conditions, and with bridges, the
 * first row and the third alone. */
typedef enum { PI_NOW, PI_BEFORE, PI_CROSSED, PI_DIPPED, PI_BEND, PI_CROSSING_ROWS } PiCrossingRow;
/* The source of a reduction: a result of a program; a component; the system's energy; its energy
 * minus `origin`, times `factor`. */
typedef enum { PI_OF_PROGRAM, PI_OF_STATE, PI_OF_ENERGY, PI_OF_CHANGE } PiSource;
enum { PI_SOURCES = PI_OF_CHANGE + 1 };
typedef struct {
    int kind, source, number; /* PiReduction, PiSource; index of the result or component */
    int first;                /* its first row among all sums */
} PiReduced;
enum { PI_REDUCE_STATES = 16 }; /* evaluated together, at most */
enum { PI_CHANGES = 48 };       /* of energy, likewise: they fit the first-level cache */
typedef struct {
    int64_t registers;   /* in a row */
    int64_t count, next; /* states, and registers from one quantity to the next */
    int64_t step, every; /* the index of the first state's step; to the next */
    int64_t index;       /* the number of steps evaluated before */
    const void *quantity;
    const void *origin, *factor; /* rows, or NULL: (quantity - origin) factor is reduced */
    const void *ends;            /* a row: the step from which a lane is frozen; or NULL */
    const void *of_run;          /* of PI_BRIDGED: rows of the parameters of the run; the event */
    int component;
    const PiReduced *of; /* n of them: all reductions of the quantity */
    int n;
    double *sums;   /* rows, any alignment, */
    int64_t stride; /* reals from each to the next */
} PiReduceRows;
typedef void PiReduce(const PiReduceRows *rows);

typedef struct {
    const PiSystem *system;
    const PiMethod *method;
    const PiTable *table;
    int64_t registers; /* vectors in each row */
    const void *in;    /* state before: component d begins d * in_stride reals further */
    void *out;         /* state after; may be in */
    void *record;      /* components after every record_every steps and after the last; or NULL */
    int64_t record_every, record_next; /* record_next: reals from each to the next */
    int64_t in_stride, out_stride, record_stride;
    int stream; /* write the record past the caches? It is then aligned to a vector */
    /* Reductions of (energy - origin) factor after the steps that are multiples of reduced->every,
     * from the tile's first lane on; NULL for none. By kernels with PiKernels.changes. */
    const PiReduceRows *reduced;
    PiReduce *reduce;
    PiRow origin, factor;
    void *changes; /* room for PI_CHANGES times PI_MAX_FLIGHT vectors */
    int64_t lane;  /* where the tile begins in the rows below */
    PiRow t0, h;
    const PiRow *params;
    int64_t first, steps; /* from step `first` on; step n is at t0 + n h */
    const void *frozen;   /* a row of masks: lanes that keep the state before; NULL for none. If
                             there are such, `out` is not `in` */
    double bound;         /* largest |component| allowed */
    void *reach; /* a row: the largest |component| after any of the steps, and whether all were
                    within the bound: infinity if not; or NULL */
    /* Row kernels only: */
    PiForce *force;
    const void *context;
    PiDraw *draw;
    void *workspace;
    int64_t chunk;         /* registers processed together */
    int history;           /* rows of the state past its components: the history of the method, */
    int compensated;       /* and last, for each component, its rounding errors */
    int64_t starter_until; /* steps before this one are made by the starter */
    const PiMethod *starter;
    const PiTable *starter_table;
    PiPause *pause; /* may be NULL */
    int8_t *status; /* for each lane: why its solve failed; or NULL */
} PiTile;

/* Advances every lane; 1 if a lane that is not frozen ends non-finite or outside the bound, or was
 * outside after any of the steps, with `reach`; -1 if the force or a pause stops the run. */
typedef int PiKernel(const PiTile *tile);

/* A question to a system at given times and states. */
typedef struct {
    const PiSystem *system;
    PiForce *force;
    const void *context;
    int64_t lanes;
    PiRow t;
    const PiRow *y, *params;
    void *out;       /* rows, `lanes` reals apart */
    void *workspace; /* pi_sample_rows() rows of 8 vectors */
    PiPause *pause;  /* may be NULL */
} PiSample;
/* 0; -1 if the force or a pause stops it. */
typedef int PiEvaluate(const PiSample *sample, PiQuestion question);

/* Values of lanes at one step, at most PI_TOGETHER, for statistics across the batch. A cell is the
 * sign, the exponent and PI_CELL_BITS of the mantissa; a window has half of its cells on either
 * side of zero. */
enum { PI_TOGETHER = 512, PI_CELL_BITS = 8, PI_WINDOW = 32 << PI_CELL_BITS };
typedef enum { PI_RANGE, PI_SUMS, PI_PLACES } PiSurveyed;
typedef struct {
    const double *q;
    int64_t count;
    int odd;          /* PI_RANGE: is any not finite? PI_SUMS: is one not the sum of its parts? */
    double low, high; /* PI_RANGE: of all but NaN */
    /* PI_SUMS: the sums of two parts of the values, to what adding and subtracting these leaves. */
    double shift[2], sum[2];
    /* PI_PLACES: those of the values minus `about` in the window of cells from `from` on; PI_WINDOW
     * outside. With room for whole registers. */
    double about;
    int64_t from, *place;
} PiSurvey;
typedef void PiSurveyor(PiSurveyed what, PiSurvey *survey);

/* How many of the steps of a tile, which are all in its record, does each lane complete within the
 * bound? completed: a row of reals. */
typedef void PiComplete(const PiTile *tile, void *completed);

/* A PiForce that answers questions about the whole state, and whose rows of y, of parameters and of
 * the answer lie so many registers apart. */
typedef struct {
    PiRows rows;
    int64_t y, p, out;
} PiApartRows;
typedef int PiApart(const void *context, PiQuestion question, const PiApartRows *rows);

/* The energy of several states, for a system whose energy is compiled and independent of time. */
typedef struct {
    int64_t registers;           /* in a row */
    int64_t count, next, apart;  /* states, registers from one to the next, between components */
    const void *y, *p;           /* rows: states; parameters, then derived ones */
    const void *origin, *factor; /* rows, or NULL: the result is (energy - origin) factor */
    void *out;                   /* one row after the other */
} PiEnergyRows;
typedef void PiEnergies(const PiEnergyRows *rows);

/* ---- to a tolerance -------------------------------------------------------------------------- */
/* An embedded pair in the form for its kernel: sparse rows of weights as in a PiTable, first those
 * of the stages, then these. On x'' = a(t, x) stages are accelerations; rows that end in _X make
 * positions from them, and errors of positions. */
typedef enum {
    PI_STEP,
    PI_ERROR,  /* b - b_embedded */
    PI_ERROR2, /* b - b_embedded2 */
    PI_STEP_X,
    PI_ERROR_X,
    PI_ERROR2_X,
    PI_PAIR_ROWS
} PiPairRow;
enum {
    PI_MAX_PAIR_ROWS = PI_MAX_STAGES + PI_PAIR_ROWS + PI_MAX_EXTRA + 2 * (PI_MAX_DEGREE - 3),
    PI_MAX_PAIR_WEIGHTS = PI_MAX_PAIR_ROWS * PI_MAX_SLOPES
};
/* Where the force changes branches in a step, the larger of the estimate and of the difference to
 * the trapezoidal rule, which no jump of the force escapes. */
enum { PI_OF_BRANCHES = 2 };
/* Places of a step where the borders of a force are asked for: both ends, and stages between. The
 * value in the middle of two is that of the polynomial through the nearest ones. */
enum { PI_MAX_PLACES = PI_MAX_STAGES + 1, PI_NEAREST = 4 };
typedef struct {
    int stages, nystrom;
    uint64_t counts;             /* the stages with a weight in the step, as bits */
    int fsal;                    /* is the last stage the first of the next step? */
    int combined;                /* two estimates, combined as in DOP853 or PI_OF_BRANCHES */
    int branches;                /* does the system tell where its force takes another branch? */
    int forgets;                 /* may a later stage hide a slope that is not a number? */
    int places, chord;           /* and at how many of them; is the state there on the chord? */
    double place[PI_MAX_PLACES]; /* parts of the step */
    int place_of[PI_MAX_STAGES]; /* of a stage; 0: not asked, or not kept */
    int nearest[PI_MAX_PLACES];  /* the first of those that make the next middle, */
    double middle[PI_MAX_PLACES][PI_NEAREST]; /* and their weights */
    int power;                                /* the estimate is proportional to h^power */
    int radau; /* Radau's method: f(t, y) is in the estimate and no stage, its step is its own */
    double c[PI_MAX_STAGES];
    /* States within the steps (PiDense), if their degree is set: after the rows above those of
     * further stages, then for each coefficient one of velocities, then of positions. Slope number
     * `stages` is that at the end, if no stage is. */
    int degree, extra;
    double c_extra[PI_MAX_EXTRA];
    int start[PI_MAX_PAIR_ROWS + 1], index[PI_MAX_PAIR_WEIGHTS];
    double weight[PI_MAX_PAIR_WEIGHTS];
} PiPair;
static inline int pi_dense_row(const PiPair *m, int number) {
    return m->stages + PI_PAIR_ROWS + number;
}

/* A trial step of all lanes: from t, y by h, with the parameters p, to the weighted sums of the
 * slopes. */
typedef struct {
    int64_t registers; /* of each row */
    const PiPair *pair;
    const void *weights; /* of the pair, reals */
    const void *t, *h, *y, *p;
    const void *first; /* the first slope, if the last of a step is the first of the next */
    void *last;        /* that slope */
    void *slopes;      /* rows of all of them; NULL: these are not asked for */
    void *sums;        /* `dim` rows each of sum b k, of the error and of the second error */
} PiTrialRows;
typedef void PiTrial(const PiTrialRows *rows);

/* Where a continuation sets out: with the step and the control that were planned, or, if it does
 * not go on, with a first step. */
typedef enum { PI_MARKED = 1, PI_GOES_ON = 2 } PiMark;
/* Used as a PiStatus: a trajectory that is left to an implicit method. Both also stand in
 * pyintegrate/adaptive/adaptive_run.py. */
enum { PI_LEFT_TO_ANOTHER = 16 };
/* A batch that goes to a tolerance, each trajectory with its own steps. All rows have one item per
 * trajectory, or one for all. */
typedef struct {
    const PiSystem *system;
    PiForce *force;
    const void *context;
    PiPair pair;
    PiTrial *trial;           /* compiled for the system; NULL: the one for any force */
    const PiMethod *implicit; /* of an implicit pair, with its table; or NULL */
    PiTable table;
    int64_t lanes, registers; /* trajectories; registers of a row that are processed together */
    PiRow *initial, *params;
    PiRow t0, t_end;
    PiRow first_step, max_step; /* first_step: 0 if it is to be estimated */
    PiRow *rtol, *atol;         /* one row, or one for each component */
    int n_rtol, n_atol;
    int64_t max_steps; /* attempted, accepted or rejected */
    uint64_t asked;    /* components that observers ask for within every step, as bits; 0: none */
    double bound;      /* largest |component| allowed */
    double decay; /* h |lambda| from which one leaves as stiff, or up to which as calm; 0: never */
    /* Rows of results. status: trajectories with PI_CANCELLED are integrated; others stay. accepted
     * and rejected are incremented from their given values. */
    void *state; /* `dim` rows */
    void *t, *h; /* h: the step with which it would continue */
    int64_t *accepted, *rejected;
    int8_t *status;
    /* Where a continuation sets out: before the first step that t_end changes, or test that it
     * prevents. Of each trajectory a PiMark, its steps accepted and rejected until then, and
     * n_onward reals (rows_onward of kernels/tolerance/rows.h); NULL if marks are not kept.
     * earlier: such reals, n_earlier each, from which those with PI_GOES_ON in goes_on continue,
     * where it is erased; or NULL. */
    int8_t *mark, *goes_on;
    int64_t *made, n_onward, n_earlier;
    void *onward;
    const void *earlier;
    /* States at given times, one after the other in the direction of time; the times of one
     * trajectory lie times_next reals apart, those of neighbours times_lane. */
    int64_t n_times, times_next, times_lane;
    const void *times;
    void *record; /* NULL: none */
    int64_t record_next, record_component, record_lane;
    int *saved; /* the components that are saved */
    int n_saved;
    /* Numbers of a kept step from which it can be made again (make_again of
     * kernels/tolerance/loop.h), if they are kept too; or rows of them, for states within steps
     * that were kept. */
    int n_within;
    const PiRow *within;
} PiSolve;

/* Steps that lanes have just made, for watches and events: they may request states within them,
 * and end them earlier. Rows of reals with one item per lane; component d of lane i is item
 * d lanes + i of a state. */
typedef enum {
    PI_STEP_NONE, /* to be ignored */
    PI_STEP_MADE,
    PI_STEP_STOPPED, /* ends the trajectory, as the next two do */
    PI_STEP_ZENO,
    PI_STEP_LOST,  /* its new state is not finite: the one before is kept */
    PI_STEP_JUMPED /* continues from another state */
} PiStepEnd;
/* A sum of components, times some factors, on the polynomials of the steps, that has known values
 * at both ends: degree + 1 rows of its Bernstein coefficients; their least, greatest and mean; and
 * if it is asked for the part of the step at which it is zero, with its slope there: NaN where
 * there may be none, or several; infinite where it is far from zero. */
typedef struct {
    const double *factors, *begin, *end;
    double *coefficients, *least, *most, *mean, *zero, *slope;
} PiCombination;
typedef struct PiSteps {
    int64_t lanes;
    const int64_t *id; /* the trajectory of each lane */
    int8_t *end;       /* a PiStepEnd for each */
    const void *t0, *t0_low,
        *before;             /* its initial time, with its rounding error; its initial state */
    void *t, *t_low, *after; /* the same at its end */
    void *part;         /* a time within the step: first its end, then the requested one, or 0 */
    const void *within; /* the states there */
    /* Rows of states on the polynomials of the steps, each lane's at theta from 0 to 1 of its step
     * as first shown, in double precision: at least of the components marked in `of`, of the first
     * 64. */
    void (*at)(const struct PiSteps *steps, const double *theta, uint64_t of, double *y);
    /* The same of one lane, at n thetas; NULL: this cannot be asked. */
    void (*of_lane)(const struct PiSteps *steps, int64_t lane, int64_t n, const double *theta,
                    uint64_t of, double *y);
    void (*combine)(const struct PiSteps *steps, const PiCombination *combination);
    int degree;
    const void *of;
} PiSteps;

/* A thread that works on it. */
typedef struct PiSolver {
    const PiSolve *solve;
    void *workspace; /* pi_solve_rows() rows of solve->registers vectors */
    PiPause *pause;
    /* Takes up to `most` trajectories that have not begun: the first, *count of them; 0: no more.
     */
    int (*take)(struct PiSolver *solver, int64_t most, int64_t *first, int64_t *count);
    _Atomic int64_t *arrived; /* how many have */
    /* Room for the time and the saved components at the start of an accepted step or at the end,
     * and for the numbers of the step; NULL without memory. NULL as a function: they are not kept.
     */
    void *(*keep)(struct PiSolver *solver, int64_t lane);
    /* Watches and events; NULL: none, and the next four are not called. `begin` sees the first
     * states, at t0; `locate` returns 1 while it requests parts of steps, which it sees next; then
     * `accept` sees the final steps. -1 stops the run. */
    void *observer;
    int (*begin)(struct PiSolver *solver, const PiSteps *steps);
    int (*locate)(struct PiSolver *solver, const PiSteps *steps);
    int (*accept)(struct PiSolver *solver, const PiSteps *steps);
    void (*marked)(struct PiSolver *solver, int64_t lane); /* a trajectory, between its steps */
} PiSolver;
/* Until no trajectory is left; -1 if the force or a pause stops it, or without memory. */
typedef int PiSolveKernel(PiSolver *solver);

/* ---- kernels --------------------------------------------------------------------------------- */
/* The kernels of one system on one instruction set in one precision; NULL for missing ones. */
typedef struct {
    const char *system;
    PiKernel *family[PI_FAMILIES], *specialised[PI_SPECIALISED];
    PiForce *force;
    PiTrial *trial;
    PiEnergies *energies; /* in double precision */
    int changes;          /* do the kernels reduce changes of an energy without time? */
} PiKernels;

/* A system compiled by itself: its kernels, or NULL if it was compiled with other headers. */
typedef const PiKernels *PiOneSystem(uint64_t layout);
#define PI_LAYOUT                                                                                  \
    ((uint64_t)sizeof(PiTile) << 40 | (uint64_t)sizeof(PiSystem) << 24 | sizeof(PiTable) << 4 |    \
     (sizeof(PiRows) + sizeof(PiKernels)) << 2 | PI_FAMILIES)

typedef struct {
    int n;
    const PiKernels *systems;
} PiKernelPart;
typedef struct {
    int real_bits, vector_bytes;
    const PiKernelPart
        *parts[PI_PARTS];  /* of the systems, in the order of contents.h; NULL past the last */
    PiForce *const *sized; /* of the systems of any size; the context is a PiSized */
    PiKernel *rows;        /* for any force */
    PiEvaluate *evaluate;
    PiForce *program;   /* runs byte code; its context is a PiProgram */
    PiApart *apart;     /* the same */
    PiReduce *reduce;   /* in double precision */
    PiSurveyor *survey; /* likewise */
    PiComplete *complete;
    PiSolveKernel *solve; /* to a tolerance, any force */
    PiDraw *draw;         /* in double precision */
    PiPassage *passage;   /* likewise */
} PiKernelSet;
/* The kernels of a system by its number in contents.h. */
static inline const PiKernels *pi_kernels(const PiKernelSet *set, int number) {
    const PiKernelPart *const *part = set->parts;
    while (number >= (*part)->n) number -= (*part++)->n;
    return &(*part)->systems[number];
}

/* ---- run/dispatch.c -------------------------------------------------------------------------- */
/* Kernel sets of an instruction set by number, the best last; NULL past the end. Those that were
 * not built are NULL. */
typedef struct {
    const char *name;
    const PiKernelSet *f64, *f32;
} PiIsa;
const PiIsa *pi_isa(int number);
int pi_isa_supported(int number); /* was it built, and does this machine have it? */
const char *pi_isa_missing(void); /* a set of this machine above those that were built; or NULL */
