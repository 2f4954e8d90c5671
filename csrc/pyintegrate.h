/* The contract of the C core: what a system and a method are. No Python here. tiles.h has the rest.
 *
 * Outside, arrays (..., dim); inside, rows: component d of all trajectories side by side, so that
 * one wide register holds one component of several trajectories ("lanes"). A tile is a window of
 * lanes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The arithmetic of the integrators: it counts on where results change in their bits. With
 * 1 (version 0.1): positions of x'' = a(t, x) as alpha_j x_{n+j}, Newton's method from zero;
 * 2: these positions in summed form, Newton's method from an extrapolation;
 * 3: the scales of the rates (PiSystem.scale) in the weights of rk4 and of compositions.
 * Files hold it; pyintegrate/method/arithmetic.py says which methods each number concerns. */
enum { PI_ARITHMETIC = 3 };

enum {
    PI_MAX_DIM = 12,    /* components that a kernel keeps in registers */
    PI_MAX_STATE = 13,  /* components with a name in a descriptor */
    PI_MAX_PARAMS = 16, /* parameters with those derived from them */
    PI_MAX_INVARIANTS = 9,
    PI_MAX_STAGES = 16,                                   /* stages of a Runge-Kutta method */
    PI_MAX_SUBSTEPS = 40,                                 /* kicks or drifts of a composition */
    PI_MAX_WEIGHTS = PI_MAX_STAGES * (PI_MAX_STAGES + 1), /* entries of a table */
    PI_MAX_FLIGHT = 8,                                    /* registers in flight */
    PI_MAX_NUMBER = 1 << 16, /* components, parameters of a user's system */
};

/* How a trajectory ended. */
typedef enum {
    PI_OK = 0,
    PI_NOT_FINITE = 1,
    PI_NOT_CONVERGED = 2,
    PI_SINGULAR = 3,
    PI_CANCELLED = 4,
    PI_OUT_OF_BOUNDS = 5,
    PI_STOPPED = 6, /* by an event that says so: no failure */
    PI_ZENO = 7,    /* more events in a step than it was told to bear */
    PI_TOO_MANY_STEPS = 8,
    PI_STEP_TOO_SMALL = 9 /* the tolerance asks for steps that time cannot resolve */
} PiStatus;

/* ---- systems --------------------------------------------------------------------------------- */
typedef enum {
    PI_FIRST_ORDER,  /* y' = f(t, y) */
    PI_SECOND_ORDER, /* x' = v, v' = a(t, x, v); positions first */
    PI_SEPARABLE,    /* q' = T_p(p), p' = -V_q(q); positions first */
    PI_RIGID_BODY,   /* position, unit quaternion, velocity, angular velocity; dof = 0 */
} PiStructure;

typedef struct {
    const char *name, *unit; /* "1": without a unit */
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
    int n_derived; /* rows past the parameters that PI_PREPARE fills in */
    /* 1 + the parameter, given or derived, that the rate of a component is a multiple of; 0: none.
     * The force sees it as this factor only, so that kernels may move it into their weights: once
     * a trajectory, not once a force. Where it is 1 the force gives the rates without it. */
    int scale[PI_MAX_STATE];
    int cheap;       /* without its scales the force costs nothing */
    int scratch;     /* rows that the force uses for itself */
    int no_jacobian; /* take differences of the right-hand side */
    int block;       /* lanes that the force wants at once (a call costs much); 0: as many as fit */
    int may_stop;    /* does the force call functions that may stop the run? */
    int64_t operations; /* of a force on rows, about, for each lane; 0: some a component */
    PiQuantity state[PI_MAX_STATE];
    PiQuantity params[PI_MAX_PARAMS]; /* an array has one for each element, of the same name */
    PiQuantity invariants[PI_MAX_INVARIANTS];
} PiSystem;

/* A system of any number of parts (bodies, springs), which adds to what `one` has without them. Its
 * state and params are named once: Python knows their shapes. */
typedef struct {
    PiSystem one;
    int dim, dof, n_params, n_derived, scratch; /* of each part */
    int pairs;                                  /* operations for each pair of parts */
} PiSizedSystem;
/* One of a known size. */
typedef struct {
    PiSystem system;
    int number; /* in contents.h */
    int64_t parts;
} PiSized;

/* ---- methods --------------------------------------------------------------------------------- */
/* Algorithms; run/families.c describes each. */
typedef enum {
    PI_EXPLICIT_RK,
    PI_COMPOSITION,
    PI_NYSTROM,
    PI_MULTISTEP,
    PI_IMPLICIT_RK,
    PI_RIGID_MOTION, /* "rigid_body" in Python */
    PI_FAMILIES
} PiFamily;

/* Rules of rigid motion (kernels/rows/rigid_motion.h). */
typedef enum { PI_VELOCITIES_FIRST, PI_QUATERNION_RK4, PI_FREE_TOP_SPLITTING } PiRigidRule;
/* The gyroscopic term: left out, w x I w before the step, the same after it by Newton's method, or
 * such that the rotation leaves the angular momentum as it is. */
typedef enum { PI_WHOLE_STEP, PI_VELOCITIES_ONLY, PI_POSITIONS_ONLY } PiPhase;
typedef enum { PI_LEFT_OUT, PI_EXPLICIT_TERM, PI_IMPLICIT_TERM, PI_KEPT_MOMENTUM } PiGyroscopic;

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
    int quadratic_kinetic; /* composition: has its order only if T is quadratic in the momenta */
    const char *written;   /* the descriptor as it stands in methods/: its numbers with all digits,
                              for exact arithmetic; run/catalogue.c fills it in */
    /* Runge-Kutta: k_s = f(t + c_s h, y + h sum_j a_sj k_j),  y += h sum_s b_s k_s;
     * Nystrom: k_s = a(t + c_s h, x + c_s h v + h^2 sum_j a_sj k_j),
     *          x += h v + h^2 sum_s b_s k_s,  v += h sum_s velocity_s k_s */
    double c[PI_MAX_STAGES], a[PI_MAX_STAGES][PI_MAX_STAGES], b[PI_MAX_STAGES];
    /* Runge-Kutta: weights of other orders, whose difference from b estimates the error; the second
     * serves an estimate that is put together of two. An order of 0: there are none. */
    int embedded_order, embedded2_order;
    double b_embedded[PI_MAX_STAGES], b_embedded2[PI_MAX_STAGES];
    /* composition: for each s  v += kick_s h a(x),  x += drift_s h v; a zero is left out */
    double kick[PI_MAX_SUBSTEPS], drift[PI_MAX_SUBSTEPS];
    /* multistep, k = stages, oldest first: sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j}, or
     * sum_j alpha_j x_{n+j} = h^2 sum_j beta_j a_{n+j} with derivative = 2, where
     * v_{n+k} = v_{n+k-1} + h sum_j velocity_j a_{n+j}, or without such weights v is a difference
     * of positions: central, or backward. With a predictor
     * y_{n+k} = y_{n+k-1} + h sum_j predictor_j f_{n+j} goes first, and f_{n+k} is taken there. */
    int derivative, backward;
    double alpha[PI_MAX_STAGES + 1], beta[PI_MAX_STAGES + 1], predictor[PI_MAX_STAGES];
    double velocity[PI_MAX_STAGES + 1];
    /* rigid motion: one step is `stages` of lengths b_s h */
    PiRigidRule rule;
    PiGyroscopic gyroscopic;
    PiPhase phase;
    int exponential; /* q = exp(h w / 2) q, instead of q += (h / 2) (0, w) q */
    int unnormalised;
} PiMethod;

/* A method as a table kernel wants it: one sparse row of weights for each linear combination.
 * Explicit Runge-Kutta: rows 0..stages-1 make the stages and row `stages` the step. On x'' = a(t,
 * x), and for Nystrom methods, the rows make positions from accelerations (A^2 and b'A, or their
 * own), and row stages + 1 makes the velocity.
 * Implicit Runge-Kutta: stages fall into groups, block lower triangular; one group after the other
 * is solved for z = h A_G k, and h k = inverse z. A group of one stage without a_ss is explicit. */
typedef struct {
    int stages, nystrom;
    double c[PI_MAX_STAGES];
    int start[PI_MAX_STAGES + 3]; /* row s: entries start[s] .. start[s + 1] - 1 */
    int index[PI_MAX_WEIGHTS];
    double weight[PI_MAX_WEIGHTS];
    int n_groups, group_end[PI_MAX_STAGES], largest_group;
    double inverse[PI_MAX_STAGES][PI_MAX_STAGES]; /* of A_G, in its place */
} PiTable;

/* ---- run/catalogue.c ------------------------------------------------------------------------- */
extern const PiSystem *const pi_systems[];
extern const PiSizedSystem *const pi_sized_systems[];
extern const PiMethod *const pi_methods[];
extern const char *const pi_structure_names[];
extern const int pi_n_systems, pi_n_sized_systems, pi_n_methods;

const PiMethod *pi_method_named(const char *name);

/* A file in methods/ begins with the family; METHOD(id, family, ...) is what each reader of
 * contents.h makes of it (run/catalogue.c, kernels/instances.h). */
#define EXPLICIT_RK(id, ...)  METHOD(id, PI_EXPLICIT_RK, __VA_ARGS__)
#define COMPOSITION(id, ...)  METHOD(id, PI_COMPOSITION, __VA_ARGS__)
#define NYSTROM(id, ...)      METHOD(id, PI_NYSTROM, __VA_ARGS__)
#define MULTISTEP(id, ...)    METHOD(id, PI_MULTISTEP, __VA_ARGS__)
#define IMPLICIT_RK(id, ...)  METHOD(id, PI_IMPLICIT_RK, __VA_ARGS__)
#define RIGID_MOTION(id, ...) METHOD(id, PI_RIGID_MOTION, __VA_ARGS__)

/* ---- run/tables.c, run/history.c, run/families.c --------------------------------------------- */
/* The table of a method for kernels on this system. */
void pi_make_table(const PiMethod *method, const PiSystem *system, PiTable *table);
/* Multistep methods: how many past states and forces each step needs; whether it adds up
 * differences of states; the one-step method that makes the first steps, and how many. */
void pi_remembered(const PiMethod *method, int *states, int *forces);
int pi_in_summed_form(const PiMethod *method, int compensated);
const PiMethod *pi_starter(const PiMethod *method);
int64_t pi_first_steps(const PiMethod *method);
/* Rows of the state past its components: the history of a multistep method; of a compensated run
 * what additions to each component round away, which are the last. */
int pi_history_rows(const PiMethod *method, const PiSystem *system, int compensated);
/* Can a run by this method be compensated? */
int pi_compensates(const PiMethod *method);
/* Rows that row kernels need for parameters, for all they do, and to answer a question. */
int64_t pi_parameter_rows(const PiSystem *system);
int64_t pi_workspace_rows(const PiMethod *method, const PiMethod *starter, const PiSystem *system,
                          int state_rows);
int64_t pi_sample_rows(const PiSystem *system, int64_t answers);
