/* Quantities within accepted steps (pieces.c): each lane's step is divided into pieces, on each of
 * which a quantity is a polynomial of degree 8 or 16 (4 if that is first_degree), known by its
 * values at Chebyshev points of the polynomial of the step. A piece is halved until the
 * coefficients have decayed, by each lane for itself: watches and events are operations on these
 * polynomials. Battles, Trefethen (2004), SIAM J. Sci. Comput. 25, 1743-1770. */
#pragma once
#include "../kernels/tolerance/chebyshev.h"
#include <math.h>
#include "lane_programs.h"

/* What must be resolved of a quantity: its mean; its polynomial; its square as well; its turns, as
 * an angle; where it changes, as a truth value. PI_NEED_APART: its zeros, at which pieces end. */
typedef enum {
    PI_NEED_MEAN,
    PI_NEED_VALUE,
    PI_NEED_SQUARE,
    PI_NEED_TURNS,
    PI_NEED_TRUTH,
    PI_NEED_APART,
    PI_NEED_NOTHING /* but the values at the ends */
} PiNeed;
enum { PI_MOST_ENDS = 64, PI_POINTS = CHEB_MOST + 2 };

/* Where something changes that conditions compare: between two places, `of` its number. */
typedef struct {
    double from, to, late;
    int64_t of;
} Switch;
enum { PI_MOST_SWITCHES = 8 };

typedef struct {
    ProgramRows rows;
    int count;                   /* quantities */
    int first_degree, ends_only; /* ends_only: nothing is needed within */
    int few, whole; /* do most lanes seek no piece? Do those that do seek their whole steps? */
    const PiSteps
        *steps; /* of the pieces that are sought; states at their ends, in this precision; */
    int real_bytes;
    const double *after; /* in double precision; or NULL */
    int conditions_only; /* are all quantities such, or compared in them? */
    const int8_t *need;
    int64_t lanes;
    double *h, *resolution; /* of each lane: its step; how far coefficients must decay, relative */
    double *from, *to;      /* its piece, as parts of the step */
    double *zero_from, *zero_to; /* that of the last zero of what a condition compares */
    double *ends;                /* PI_MOST_ENDS: where its next pieces end, the nearest last */
    int64_t *n_ends, *made;      /* how many these are, and how many pieces there were; */
    int64_t *points;             /* the degree of its piece; 0: none */
    int64_t *seeks;              /* -1: its piece is not found yet; or 0 */
    int8_t *rough;               /* of each quantity and lane: is it not resolved on the piece? */
    int8_t *learns;
    int8_t *fails; /* of each lane: was its piece too long? */
    double *theta, *value;
    double *noise, *loudest; /* the second largest and largest change of each by rounding, there */
    /* Of the values of each quantity and lane: their range, and the last three coefficients of the
     * polynomial and of that through their squares, together. */
    double *least, *most, *tail, *tail_squared;
    double *off; /* how far each may be off, as the states are; while a lane `learns`: its value
                  * where they are, at the beginning */
    /* Of each lane: how late a condition changes for each unit of what it compares, and which. */
    double *late;
    int64_t *compared;
    double *t0, *t0_low; /* where the steps begin */
    /* Of conditions alone: each lane's known switches, their number, the end of what is known; and
     * the conditions before the first, between them and after the last. */
    Switch *switches;
    int64_t *n_switches;
    double *known_to, *known;
    /* Quantities that are linear in the components are polynomials as the steps are, and known by
     * their Bernstein coefficients, PI_MAX_DEGREE + 1 rows of each. */
    int degree;
    double *linear;                                /* NULL: they are not */
    double *mean;                                  /* over the steps */
    double *zero, *slope;                          /* as in PiCombination; or NULL */
    double at_point[PI_MAX_DEGREE + 1][PI_POINTS]; /* Bernstein's polynomials at the points */
} Pieces;

#define EACH_QUANTITY(q, p) for (int q = 0; q < (p)->count; q++)

/* In a part of a memory. */
void pi_place_pieces(PiMemory *memory, const PiLaneProgram *program, const int8_t *need,
                     int64_t lanes, Pieces *pieces);
/* A lane's step, of length h, up to a part of it; more places where a piece must end; that it has
 * no further piece. */
void pi_begin_pieces(Pieces *pieces, int64_t lane, double h, double resolution, double to);
void pi_cut_pieces(Pieces *pieces, int64_t lane, double at);
static inline void end_pieces(Pieces *p, int64_t lane) { p->n_ends[lane] = p->points[lane] = 0; }
/* The next piece of each lane that has one and whose last was taken: values, and `points` other
 * than 0. 1; 0: there is none; or -1. after: states at the ends of the steps, in double precision,
 * or NULL for those of `steps`. */
int pi_next_pieces(Pieces *pieces, const PiSteps *steps, int real_bytes, const double *after);
/* The piece of a lane is done with. */
static inline void take_piece(Pieces *p, int64_t lane) { p->points[lane] = 0; }
/* Is a piece unresolved, and not so short that it only encloses a jump? */
static inline int piece_is_lost(const Pieces *p, int64_t lane, int quantity) {
    return p->rough[quantity * p->lanes + lane] && p->to[lane] - p->from[lane] > 0x1p-20;
}
static inline double clamped(double x, double from, double to) {
    return x < from ? from : x > to ? to : x;
}
/* An angle without whole turns, from -pi to pi. */
static inline double without_turns(double angle) {
    const double turn = 6.283185307179586477;
    return angle - turn * rint(angle / turn);
}
/* Of linear quantities: the coefficients of whole steps, from the values at their beginning and
 * end, and that these need no pieces. */
void pi_linear_pieces(Pieces *pieces, const PiSteps *steps, const double *begin, const double *end);
static inline const double *linear_row(const Pieces *p, int quantity, int m) {
    return p->linear + (quantity * (PI_MAX_DEGREE + 1) + m) * p->lanes;
}
/* The values of a quantity at a point. */
static inline double *piece_row(const Pieces *p, int quantity, int point) {
    return p->value + (point * p->count + quantity) * p->lanes;
}
/* That of linear quantities: at the points of a polynomial of that degree. */
static inline int linear_points(int degree) {
    return degree > CHEB_MOST / 2 ? CHEB_MOST : CHEB_MOST / 2;
}
/* Of linear quantities: a lane's step, of this degree, is one piece. */
static inline void whole_piece(Pieces *p, int64_t lane, int degree) {
    p->from[lane] = 0, p->to[lane] = 1;
    p->points[lane] = linear_points(degree);
}
static inline int piece_is_whole(const Pieces *p, int64_t lane) {
    return p->from[lane] == 0 && p->to[lane] == 1;
}
/* The values of a quantity on the piece, n + 1 of them, returned. */
int pi_piece_values(const Pieces *pieces, int64_t lane, int quantity, double *f);
/* The value at its end. */
static inline double pi_piece_end(const Pieces *p, int64_t lane, int quantity) {
    return (p->linear ? linear_row(p, quantity, p->degree)
                      : piece_row(p, quantity, CHEB_MOST))[lane];
}
/* The part of the step at x of the piece. */
static inline double piece_part(const Pieces *p, int64_t lane, double x) {
    const double from = p->from[lane], to = p->to[lane];
    return x <= -1 ? from : x >= 1 ? to : from + (to - from) * (0.5 * (1 + x));
}

/* ---- switches.c ------------------------------------------------------------------------------ */
#define PI_CLOSE 0x1p-44 /* to a zero of what a condition compares */
/* The pieces of whole steps, of conditions alone that compare linear quantities, with these values
 * at both ends, if the zeros of what is compared are known to rounding. 1: some lanes have none
 * yet; or -1. */
int pi_known_pieces(Pieces *pieces, const PiSteps *steps, const double *begin, const double *end);
/* Divides a lane's piece, known at n + 1 points, where its conditions change; 0: not known there.
 */
int pi_find_switches(Pieces *pieces, int64_t lane, int n);
/* A piece that is known: one value of each condition, or a change at its end. */
void pi_fill_known(Pieces *pieces, int64_t lane);

/* ---- zeros.c --------------------------------------------------------------------------------- */
typedef struct {
    double x, slope; /* from -1 to 1 */
    int rises;
} PiZero;
enum { PI_MOST_ZEROS = 2 * CHEB_MOST };
/* Where a polynomial with these values changes sign after -1, in order; their number. begins: it is
 * zero at -1 but for rounding, and that zero is divided out. near: set if it comes as close to
 * another zero as `error`. */
int pi_find_zeros(int n, const double *f, int begins, double error, PiZero *zeros, int *near);
/* The only one of a polynomial through five points whose slope varies little (pieces.c), with
 * values of different sign at the ends: 1. The coefficients of its powers. */
int pi_find_simple_zero(const double *f, PiZero *zero);
void pi_quartic(const double *f, double *c);
/* The same of a linear quantity on the whole step of a lane, with these rows of Bernstein
 * coefficients; places and slopes from 0 to 1; of those in a direction (0: in any). */
int pi_find_linear_zeros(const Pieces *pieces, int64_t lane, int quantity, int n,
                         const double *coefficients, double error, int direction, PiZero *zeros,
                         int *near);
/* The largest value before the end, and where, from 0 to 1; sign -1: of the negative. */
double pi_largest_on_step(int n, const double *c, int sign, double *x);
/* The largest value of a polynomial with these values, and where; sign -1: of its negative. A rough
 * value if that is below one that is known. */
double pi_largest_value(int n, const double *f, int sign, double known, double *x);
