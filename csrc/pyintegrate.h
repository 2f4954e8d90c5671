/* The contract of the C core: systems and methods. No Python here. The second part is tiles.h.
 *
 * Outside, arrays (..., dim); inside, rows: component d of all trajectories side by side, so that
 * one wide register holds one component of several trajectories ("lanes"). A tile is a window of
 * lanes. */
#pragma once
#include "sizes.h"

/* The version of the arithmetic of the integrators: it increases when the bits of results change.
 * 1 (version 0.1): positions of x'' = a(t, x) as alpha_j x_{n+j}, Newton's method from zero;
 * 2: these positions in summed form, Newton's method from an extrapolation;
 * 3: the scales of the rates (PiSystem.scale) in the weights of rk4 and of compositions;
 * 4: where events are located, and what lies between the steps of runs to a tolerance.
 * Files hold it. */
enum { PI_ARITHMETIC = 4 };

enum {
    PI_MAX_DIM = 12,    /* components that a kernel keeps in registers */
    PI_MAX_STATE = 13,  /* named components in a descriptor */
    PI_MAX_PARAMS = 16, /* parameters, including derived ones */
    PI_MAX_INVARIANTS = 9,
    PI_MAX_STAGES = 17,                                   /* stages of a Runge-Kutta method */
    PI_MAX_LINEAR = 8,                                    /* stages of a Rosenbrock method */
    PI_CORRECTIONS = 8,                                   /* kicks of a corrector, on each side */
    PI_MAX_SUBSTEPS = 40,                                 /* kicks or drifts of a composition */
    PI_MAX_WEIGHTS = PI_MAX_STAGES * (PI_MAX_STAGES + 1), /* entries of a table */
    PI_MAX_FLIGHT = 8,                                    /* registers in flight */
    PI_MAX_NUMBER = 1 << 16, /* components, parameters of a user-defined system */
};

/* The parts in which kernels are compiled: 0 for any force, the others for the systems that
 * contents.h gives them. Without PI_PART a file compiles all. */
enum { PI_PARTS = 5 };
#ifdef PI_PART
#define PI_HAS(part) (PI_PART == (part))
#else
#define PI_HAS(part) 1
#endif

/* How a trajectory ended: Status of pyintegrate/errors.py. */
typedef enum {
    PI_OK = 0,
    PI_NOT_FINITE = 1,
    PI_NOT_CONVERGED = 2,
    PI_SINGULAR = 3,
    PI_CANCELLED = 4,
    PI_OUT_OF_BOUNDS = 5,
    PI_STOPPED = 6, /* by an event with stop: no failure */
    PI_ZENO = 7,    /* more events in a step than allowed */
    PI_TOO_MANY_STEPS = 8,
    PI_STEP_TOO_SMALL = 9 /* the tolerance needs steps below the resolution of time */
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
#define METRES(name, value)          {name, "m", value, "position"}
#define METRES_A_SECOND(name, value) {name, "m/s", value, "velocity"}
/* For descriptors: what is named is counted. The components of a second-order or separable system
 * are positions, and as many velocities or momenta. */
#define HOW_MANY(...)     (sizeof((PiQuantity[]){__VA_ARGS__}) / sizeof(PiQuantity))
#define FIRST_ORDER(...)  .dim = HOW_MANY(__VA_ARGS__), .state = {__VA_ARGS__}
#define IN_HALVES(...)    FIRST_ORDER(__VA_ARGS__), .dof = HOW_MANY(__VA_ARGS__) / 2
#define SECOND_ORDER(...) IN_HALVES(__VA_ARGS__), .structure = PI_SECOND_ORDER
#define SEPARABLE(...)    IN_HALVES(__VA_ARGS__), .structure = PI_SEPARABLE
#define PARAMS(...)       .n_params = HOW_MANY(__VA_ARGS__), .params = {__VA_ARGS__}
#define CONSERVED(...)    .n_invariants = HOW_MANY(__VA_ARGS__), .invariants = {__VA_ARGS__}

/* None; integrals of the noises; their increments in the next step. */
typedef enum { PI_NO_SECOND, PI_INTEGRALS, PI_INCREMENTS_AHEAD } PiSecondNumbers;
typedef struct {
    const char *name, *title, *equation, *reference;
    PiStructure structure;
    int dim, dof;           /* dof = 0 for first order */
    int velocity_dependent; /* does the acceleration use v? */
    int time_dependent;     /* does the force, or the energy, use t? */
    int n_params, n_invariants;
    int n_derived; /* rows after the parameters, filled in by PI_PREPARE */
    /* 1 + the parameter, given or derived, of which the rate of a component is a multiple; 0: none.
     * The force uses it only as this factor, so that kernels may move it into their weights: once
     * per trajectory, not once per force. If it is 1 the force gives the rates without it. */
    int scale[PI_MAX_STATE];
    int planets; /* bodies that attract one another: g, masses, softening */
    int cheap;   /* without its scales the force costs nothing */
    int scratch; /* rows of scratch memory for the force */
    /* Does it make its own steps, with noise (PI_NEXT)? How many noises, and which numbers come
     * after their increments (kernels/rows/noise.h). */
    int noisy, noises;
    PiSecondNumbers second;
    int tangents;       /* whose components follow the motion's own, in each half of the state */
    int no_jacobian;    /* use differences of the right-hand side */
    int lanes_a_call;   /* of the force, if calls are expensive; 0: as many as fit */
    int may_stop;       /* does the force call functions that may stop the run? */
    int64_t operations; /* of a force on rows, approximately, per lane; 0: a few per component */
    PiQuantity state[PI_MAX_STATE];
    PiQuantity params[PI_MAX_PARAMS]; /* an array has one for each element, of the same name */
    PiQuantity invariants[PI_MAX_INVARIANTS];
} PiSystem;
/* x'' = a(t, x)? */
static inline int pi_sees_positions_only(const PiSystem *system) {
    return system->structure == PI_SECOND_ORDER && !system->velocity_dependent;
}

/* A system of any number of parts (bodies, springs), which add to the sizes of `one`. Its
 * state and parameters are named once: Python knows their shapes. */
typedef struct {
    PiSystem one;
    int dim, dof, n_params, n_derived, scratch; /* of each part */
    int pairs;                                  /* operations per pair of parts */
} PiSizedSystem;
/* A system of a known size. */
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
    PI_ROSENBROCK,
    PI_NOISE,
    PI_WISDOM_HOLMAN,
    PI_RIGID_MOTION, /* "rigid_body" in Python */
    PI_FAMILIES
} PiFamily;

/* Rules of rigid motion (kernels/rows/rigid_motion.h). */
typedef enum { PI_VELOCITIES_FIRST, PI_QUATERNION_RK4, PI_FREE_TOP_SPLITTING } PiRigidRule;
typedef enum { PI_WHOLE_STEP, PI_VELOCITIES_ONLY, PI_POSITIONS_ONLY } PiPhase;
/* The gyroscopic term: omitted, w x I w before the step, the same after it by Newton's method, or
 * such that the rotation conserves the angular momentum. */
typedef enum { PI_LEFT_OUT, PI_EXPLICIT_TERM, PI_IMPLICIT_TERM, PI_KEPT_MOMENTUM } PiGyroscopic;

/* Methods with kernels of their own, compiled for each system. */
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
    int evaluations; /* force evaluations per step; the stages after these serve only an error
                      * estimate
                      */
    int symplectic, symmetric;
    int quadratic_kinetic; /* composition: has its order only if T is quadratic in the momenta */
    int embedded_order, embedded2_order; /* of the error estimates below; 0: there is none */
    int derivative, backward;            /* multistep */
    /* rigid motion: one step consists of `stages` steps of lengths b_s h */
    PiRigidRule rule;
    PiGyroscopic gyroscopic;
    PiPhase phase;
    int exponential; /* q = exp(h w / 2) q, instead of q += (h / 2) (0, w) q */
    int unnormalised;
    /* Families share the memory of a union: read only what the family of the method has. */
    union {
        struct {
            /* Runge-Kutta: k_s = f(t + c_s h, y + h sum_j a_sj k_j),  y += h sum_s b_s k_s;
             * Nystrom: k_s = a(t + c_s h, x + c_s h v + h^2 sum_j a_sj k_j),
             *          x += h v + h^2 sum_s b_s k_s,  v += h sum_s velocity_s k_s */
            double c[PI_MAX_STAGES], b[PI_MAX_STAGES];
            /* Runge-Kutta: weights of other orders, whose difference from b estimates the error;
             * the second serves a combined estimate. Nystrom: those of the positions, and of the
             * velocities. */
            double b_embedded[PI_MAX_STAGES];
            union {
                double b_embedded2[PI_MAX_STAGES], velocity_embedded[PI_MAX_STAGES];
                /* Rosenbrock, with J = df/dy and df/dt at the beginning of the step:
                 * (inverse_ss - h J) u_s = h f(t + c_s h, y + sum_j a_sj u_j)
                 *                        - sum_j<s inverse_sj u_j + h^2 d_s df/dt,
                 * y += sum_s b_s u_s, where `inverse` is that of the matrix of the coefficients
                 * gamma_sj, u = gamma k, and d_s the sum of its row s */
                struct {
                    const double (*inverse)[PI_MAX_LINEAR];
                    double d[PI_MAX_LINEAR];
                };
            };
        };
        /* composition: for each s  v += kick_s h a(x),  x += drift_s h v; zeros are skipped */
        struct {
            double kick[PI_MAX_SUBSTEPS], drift[PI_MAX_SUBSTEPS];
        };
        /* multistep, k = stages, oldest first: sum_j alpha_j y_{n+j} = h sum_j beta_j f_{n+j}, or
         * sum_j alpha_j x_{n+j} = h^2 sum_j beta_j a_{n+j} with derivative = 2, where
         * v_{n+k} = v_{n+k-1} + h sum_j velocity_j a_{n+j}, or without such weights v is a
         * difference of positions: central, or backward. With a predictor, f_{n+k} is taken at
         * y_{n+k} = y_{n+k-1} + h sum_j predictor_j f_{n+j}. */
        struct {
            double alpha[PI_MAX_STAGES + 1], beta[PI_MAX_STAGES + 1], predictor[PI_MAX_STAGES];
        };
    };
    union {
        double velocity[PI_MAX_STAGES + 1]; /* Nystrom, multistep */
        /* Wisdom and Holman: kicks at the distances k sqrt(7/40) h (kernels/rows/wisdom_holman.h)
         */
        double corrector[PI_CORRECTIONS];
    };
    double a[][PI_MAX_STAGES]; /* as many rows as the file gives: one for each stage */
} PiMethod;
/* Is a multistep method's own formula solved, not only evaluated at a predicted state? */
static inline int pi_multistep_is_implicit(const PiMethod *m) {
    return m->beta[m->stages] != 0 && m->predictor[m->stages - 1] == 0;
}
/* Memory for a method of any number of stages. */
enum { PI_METHOD_BYTES = sizeof(PiMethod) + PI_MAX_STAGES * sizeof(double[PI_MAX_STAGES]) };

/* The states within a step of an embedded pair: y + sum_m beta_m B_m(theta), with the Bernstein
 * polynomials B_m of this degree. The first and the last two coefficients follow from the states
 * and slopes at both ends. Further stages, from the slopes of the pair and the one at the end of
 * the step (of its own if the last stage is not there), make the others: row m of b is beta_(m+2) /
 * h, of positions of Nystrom methods (beta_(m+2) - theta-linear part h v) / h^2; their velocities
 * have weights of their own. */
enum { PI_MAX_EXTRA = 8, PI_MAX_DEGREE = 12, PI_MAX_SLOPES = PI_MAX_STAGES + 1 + PI_MAX_EXTRA };
typedef const double PiSlopes[PI_MAX_SLOPES];
typedef struct {
    const char *name;
    int degree, extra;
    const double *c;
    PiSlopes *a, *b, *velocity;
} PiDense;

/* A method in the form for a table kernel: one sparse row of weights for each linear combination.
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
    double inverse[PI_MAX_STAGES][PI_MAX_STAGES]; /* of A_G, at its indices */
} PiTable;

/* ---- run/catalogue.c ------------------------------------------------------------------------- */
extern const PiSystem *const pi_systems[];
extern const PiSizedSystem *const pi_sized_systems[];
extern const PiMethod *const pi_methods[];
extern const char *const pi_structure_names[];
extern const int pi_n_systems, pi_n_sized_systems, pi_n_methods;

const PiMethod *pi_method_named(const char *name);
/* Of an explicit pair; NULL if the cubic Hermite polynomial is all that there is. */
const PiDense *pi_dense_of(const PiMethod *method);

/* A file in methods/ begins with the family; each reader of contents.h defines
 * METHOD(id, family, ...) for its purpose (run/catalogue.c, kernels/instances.h). */
#define EXPLICIT_RK(id, ...)   METHOD(id, PI_EXPLICIT_RK, __VA_ARGS__)
#define COMPOSITION(id, ...)   METHOD(id, PI_COMPOSITION, __VA_ARGS__)
#define NYSTROM(id, ...)       METHOD(id, PI_NYSTROM, __VA_ARGS__)
#define MULTISTEP(id, ...)     METHOD(id, PI_MULTISTEP, __VA_ARGS__)
#define IMPLICIT_RK(id, ...)   METHOD(id, PI_IMPLICIT_RK, __VA_ARGS__)
#define ROSENBROCK(id, ...)    METHOD(id, PI_ROSENBROCK, __VA_ARGS__)
#define WISDOM_HOLMAN(id, ...) METHOD(id, PI_WISDOM_HOLMAN, __VA_ARGS__)
#define RIGID_MOTION(id, ...)  METHOD(id, PI_RIGID_MOTION, __VA_ARGS__)

/* ---- run/tables.c, run/history.c, run/families.c --------------------------------------------- */
/* The table of a method for kernels of this system. */
void pi_make_table(const PiMethod *method, const PiSystem *system, PiTable *table);
/* Multistep methods: how many past states and forces each step needs; whether it sums
 * differences of states; the starter, and the number of its steps. */
void pi_remembered(const PiMethod *method, int *states, int *forces);
int pi_in_summed_form(const PiMethod *method, int compensated);
const PiMethod *pi_starter(const PiMethod *method);
int64_t pi_first_steps(const PiMethod *method);
/* Rows of the state past its components: the history of a multistep method; in a compensated run
 * the rounding errors of each component, which come last. */
int pi_history_rows(const PiMethod *method, const PiSystem *system, int compensated);
/* Can a run with this method be compensated? */
int pi_compensates(const PiMethod *method);
/* Rows of the parameters and of what is derived from them, as kernels have them. */
static inline int64_t pi_parameter_rows(const PiSystem *system) {
    const int rows = system->n_params + system->n_derived;
    return rows > PI_MAX_PARAMS ? rows : PI_MAX_PARAMS;
}
/* Rows that row kernels need in total, and to answer a question. */
int64_t pi_workspace_rows(const PiMethod *method, const PiMethod *starter, const PiSystem *system,
                          int state_rows);
int64_t pi_sample_rows(const PiSystem *system, int64_t answers);
