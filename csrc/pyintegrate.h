/* The contract of the C core: what a system, a method, a tile and a kernel are. No Python here.
 *
 * Outside, arrays (..., dim); inside, rows: component d of all trajectories side by side, so that
 * one wide register holds one component of several trajectories ("lanes"). A tile is a window of
 * lanes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    PI_MAX_DIM = 12,      /* components that a kernel keeps in registers */
    PI_MAX_PARAMS = 16,   /* parameters with those derived from them */
    PI_MAX_STAGES = 16,   /* stages of a Runge-Kutta method */
    PI_MAX_SUBSTEPS = 40, /* kicks or drifts of a composition */
    PI_MAX_WEIGHTS = PI_MAX_STAGES * (PI_MAX_STAGES + 1), /* entries of a table */
    PI_MAX_FLIGHT = 8,                                    /* registers in flight */
};

/* How a trajectory ended. */
typedef enum {
    PI_OK = 0,
    PI_NOT_FINITE = 1,
    PI_NOT_CONVERGED = 2,
    PI_SINGULAR = 3,
    PI_CANCELLED = 4,
    PI_OUT_OF_BOUNDS = 5
} PiStatus;

/* ---- systems: what moves --------------------------------------------------------------------- */
typedef enum {
    PI_FIRST_ORDER,  /* y' = f(t, y) */
    PI_SECOND_ORDER, /* x' = v, v' = a(t, x, v); positions first */
    PI_SEPARABLE,    /* q' = T_p(p), p' = -V_q(q); positions first */
} PiStructure;

typedef struct {
    const char *name, *unit; /* "1" where there is none */
    double value;            /* default parameter or initial component */
    const char *meaning;
} PiQuantity;

typedef struct {
    const char *name, *title, *equation, *reference;
    PiStructure structure;
    int dim, dof;           /* dof = 0 for first order */
    int velocity_dependent; /* does the acceleration use v? */
    int time_dependent;     /* does the force use t? */
    int n_params, n_invariants;
    PiQuantity state[PI_MAX_DIM];
    PiQuantity params[PI_MAX_PARAMS]; /* an array has one for each element, of the same name */
    PiQuantity invariants[4];
} PiSystem;

/* ---- methods: how it moves ------------------------------------------------------------------- */
typedef enum { PI_EXPLICIT_RK, PI_COMPOSITION, PI_FAMILIES } PiFamily;

/* Methods that have kernels of their own, compiled for each system. */
typedef enum {
    PI_GENERAL, /* none: the kernel of the family with a table */
    PI_RK4,
    PI_TSITOURAS54,
    PI_SEMI_IMPLICIT_EULER,
    PI_VELOCITY_VERLET,
    PI_SPECIALISED
} PiSpecialised;

typedef struct {
    const char *name, *title, *formula, *reference, *aliases; /* aliases: separated by spaces */
    PiFamily family;
    PiSpecialised specialised;
    int order, stages;
    int evaluations; /* force evaluations a step; the stages from there on serve an error estimate
                        only */
    int symplectic, symmetric;
    int quadratic_kinetic; /* composition: of its order only where T is quadratic in the momenta */
    const char *written;   /* the descriptor as it stands in methods/: its numbers with all digits,
                              for exact arithmetic; catalogue.c fills it in */
    /* explicit Runge-Kutta: k_s = f(t + c_s h, y + h sum_j a_sj k_j),  y += h sum_s b_s k_s */
    double c[PI_MAX_STAGES], a[PI_MAX_STAGES][PI_MAX_STAGES], b[PI_MAX_STAGES];
    /* composition: for each s  v += kick_s h a(x),  x += drift_s h v; a zero is left out */
    double kick[PI_MAX_SUBSTEPS], drift[PI_MAX_SUBSTEPS];
} PiMethod;

/* A method as a table kernel wants it: one sparse row of weights for each linear combination.
 * Explicit Runge-Kutta: rows 0..stages-1 make the stages and row `stages` the step. On x'' = a(t,
 * x) the rows make positions from accelerations (A^2 and b'A), and row stages + 1 makes the
 * velocity (b). */
typedef struct {
    int stages, nystrom;
    double c[PI_MAX_STAGES];
    int start[PI_MAX_STAGES + 3]; /* row s: entries start[s] .. start[s + 1] - 1 */
    int index[PI_MAX_WEIGHTS];
    double weight[PI_MAX_WEIGHTS];
} PiTable;

/* ---- tiles and kernels ----------------------------------------------------------------------- */
/* Lanes of one quantity: step 1, or 0 where one value serves all. */
typedef struct {
    const void *data;
    int64_t step;
} PiRow;

typedef struct {
    int64_t registers; /* vectors in each row */
    const void *in;    /* state before: component d begins d * in_stride reals further */
    void *out;         /* state after; may be in */
    void *record;      /* a second copy of the state after, or NULL */
    int64_t in_stride, out_stride, record_stride;
    int stream; /* write the record past the caches? It is then aligned to a vector */
    PiRow t0, h, params[PI_MAX_PARAMS];
    int64_t first, steps; /* from step `first` on; step n is at t0 + n h */
    const void *frozen;   /* a row of masks: lanes that keep the state before; NULL for none */
    double bound;         /* largest |component| allowed */
    const PiMethod *method;
    const PiTable *table;
} PiTile;

/* Advances every lane; true if a lane that is not frozen ends non-finite or beyond the bound. */
typedef int PiKernel(const PiTile *tile);

/* What a system can be asked. PI_VELOCITY: the rate of the positions of a separable system;
 * PI_PREPARE: the parameters derived once from the others. */
typedef enum {
    PI_RHS,
    PI_ACCELERATION,
    PI_ENERGY,
    PI_INVARIANTS,
    PI_JACOBIAN,
    PI_VELOCITY,
    PI_PREPARE
} PiQuestion;

/* Rows of registers: quantity d of all lanes begins d * registers vectors in; all are aligned. */
typedef struct {
    int64_t registers; /* in each row */
    const void *t;     /* one row */
    const void *y;     /* dim rows; for PI_ACCELERATION: dof rows of positions */
    const void *v;     /* for PI_ACCELERATION and PI_VELOCITY: dof rows of velocities (momenta) */
    void *p;           /* parameters, then those derived from them (PI_PREPARE fills those in) */
    void *out; /* rows of the answer: dim, dof, 1, n_invariants, dim * dim (J[i][k] at row i * dim +
                  k), dof */
    void *scratch; /* rows for the force's own temporaries: as many as it declares */
} PiRows;
/* 0, or non-zero: the run is to be stopped (a callback raised). context: the force's own data, NULL
 * for built-in systems. */
typedef int PiForce(const void *context, PiQuestion question, const PiRows *rows);

typedef struct {
    int64_t lanes;
    PiRow t, y[PI_MAX_DIM], params[PI_MAX_PARAMS];
    void *out; /* rows, out_stride reals apart */
    int64_t out_stride;
} PiSample;
typedef void PiEvaluate(const PiSample *sample, PiQuestion question);

/* The kernels of one system on one instruction set in one precision; NULL where it cannot be. */
typedef struct {
    const char *system;
    PiKernel *family[PI_FAMILIES], *specialised[PI_SPECIALISED];
    PiEvaluate *evaluate;
} PiKernels;

typedef struct {
    const char *isa;
    int real_bits, vector_bytes, n_systems;
    const PiKernels *systems; /* in the order of contents.h */
    PiForce *program;         /* runs byte code; its context is a PiProgram */
} PiKernelSet;

/* ---- catalogue.c and dispatch.c -------------------------------------------------------------- */
extern const PiSystem *const pi_systems[];
extern const PiMethod *const pi_methods[];
extern const int pi_n_systems, pi_n_methods;

/* Kernel sets of an instruction set by number, best last; NULL past the end. */
typedef struct {
    const char *name;
    const PiKernelSet *f64, *f32;
} PiIsa;
const PiIsa *pi_isa(int number);
int pi_isa_supported(int number);
int pi_fma_is_exact(void); /* the C library's, which the baseline stands on */

/* What a table kernel needs of the method on this system. */
void pi_make_table(const PiMethod *method, const PiSystem *system, PiTable *table);
