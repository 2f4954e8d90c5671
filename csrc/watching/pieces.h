/* Quantities within accepted steps (pieces.c): each lane's step is divided into pieces, on each of
 * which a quantity is a polynomial of degree 8 or 16 (or 4, if that is first_degree), known by its
 * values at Chebyshev points of the piece, for states on the polynomial of the step. A piece is
 * halved until the coefficients have decayed, by each lane for itself: watches and events are
 * operations on these polynomials. Battles, Trefethen (2004), SIAM J. Sci. Comput. 25, 1743-1770.
 */
#pragma once
#include "../kernels/tolerance/chebyshev.h"
#include "lane_programs.h"

/* What must be resolved of a quantity: its mean; its polynomial; its square as well; its turns, as
 * an angle; where it changes, as a truth value. PI_NEED_APART: its zeros, at which pieces end;
 * PI_NEED_BRANCH: pieces on which it is constant, or short. */
typedef enum {
    PI_NEED_MEAN,
    PI_NEED_VALUE,
    PI_NEED_SQUARE,
    PI_NEED_TURNS,
    PI_NEED_TRUTH,
    PI_NEED_APART,
    PI_NEED_BRANCH,
    PI_NEED_NOTHING /* but the values at the ends */
} PiNeed;
enum { PI_MOST_ENDS = 64, PI_POINTS = CHEB_MOST + 2 };

/* A condition changes between these two parts of the step, where quantity `of`, which it compares,
 * is zero. late: as in Piece. */
typedef struct {
    double from, to, late;
    int64_t of;
} Switch;
enum { PI_MOST_SWITCHES = 8, PI_KNOWN = 2 }; /* the degree of pieces between them, or at one */

/* A lane's step, and the piece of it that is sought or known, in parts of the step. */
typedef struct __attribute__((aligned(64))) {
    double h, resolution; /* the step; how far coefficients must decay, relative */
    double from, to;
    int points;       /* the degree of the piece once it is known; 0 before, and if there is none */
    int8_t seeks;     /* is a piece sought, by this call of pi_next_pieces()? */
    int8_t fails;     /* is it not resolved by the degree that was tried last? */
    int8_t learns;    /* is `off` of Pieces a value, from which its first values are subtracted? */
    int made, n_ends; /* how many pieces there were; where the next ones end, the nearest last */
    double ends[PI_MOST_ENDS];
    double zero_from, zero_to; /* the piece of the last zero of what a condition compares */
    double late;  /* of conditions: how late one changes for each unit of what it compares, */
    int compared; /* and what that is */
    /* Of conditions alone: the known switches, their number, the end of what is known. */
    int n_switches;
    Switch switches[PI_MOST_SWITCHES];
    double known_to;
} Piece;

/* A point of a lane's piece, one of those of degree 16. */
typedef struct {
    int64_t lane;
    int node;
} PiecePoint;

typedef struct {
    ProgramRows rows;
    int count;                   /* quantities */
    int first_degree, ends_only; /* ends_only: nothing is needed within */
    int few, whole; /* do most lanes seek no piece? Do those that do seek their whole steps? */
    int asks_time;  /* does anything depend on it? */
    const PiSteps
        *steps; /* of the pieces that are sought; states at their ends, in this precision; */
    int real_bytes;
    const double *after; /* in double precision; or NULL */
    int conditions_only; /* are all quantities such, or compared in them? */
    const int8_t *need;
    int64_t lanes;
    Piece *piece;  /* of each lane */
    int8_t *rough; /* of each quantity and lane: is it not resolved on the piece? */
    double *theta, *value;
    PiecePoint *point; /* of few lanes, in the columns of: */
    ProgramRows apart;
    int64_t *id;             /* the trajectory of each column */
    double *noise, *loudest; /* the second largest and largest change of each by rounding, there */
    /* Of the values of each quantity and lane: their range, and the last three coefficients of the
     * polynomial and of that through their squares, together. */
    double *least, *most, *tail, *tail_squared;
    double *off;   /* how far each may be off since the states are, by their tolerance; while a lane
                    * `learns`: its value at the beginning if the state there is off so far */
    double *known; /* the conditions before the first switch, between them and after the last */
    /* Quantities that are linear in the components are polynomials as the steps are, and known by
     * their Bernstein coefficients, PI_MAX_DEGREE + 1 rows of each. */
    int degree;
    double *linear;                                /* NULL: they are not */
    double *mean;                                  /* over the steps */
    double *zero, *slope;                          /* as in PiCombination; or NULL */
    double at_point[PI_MAX_DEGREE + 1][PI_POINTS]; /* Bernstein's polynomials at the points */
} Pieces;

#define EACH_QUANTITY(q, p) EACH_BELOW(q, (p)->count)

/* Places them in a memory, for so many lanes. */
void pi_place_pieces(PiMemory *memory, const PiLaneProgram *program, const int8_t *need,
                     int64_t lanes, Pieces *pieces);
/* Begins the pieces of a lane's step of length h, up to its part `to`; adds a place where a piece
 * must end; ends the pieces. */
void pi_begin_pieces(Piece *piece, double h, double resolution, double to);
void pi_cut_pieces(Piece *piece, double at);
static inline void end_pieces(Piece *piece) { piece->n_ends = piece->points = 0; }
/* Finds the next piece of each lane that has one and whose last was taken: its values, and
 * `points`, which is 0 before. 1; 0: no lane has one; or -1. after: states at the ends of the
 * steps, in double precision, or NULL for those of `steps`. */
int pi_next_pieces(Pieces *pieces, const PiSteps *steps, int real_bytes, const double *after);
/* Is a piece unresolved, and not so short that it only encloses a jump? */
static inline int piece_is_lost(const Pieces *p, int64_t lane, int quantity) {
    const Piece *piece = &p->piece[lane];
    return p->rough[quantity * p->lanes + lane] && piece->to - piece->from > 0x1p-20;
}
/* Does a quantity jump on a piece, in this entry of `tail`, or is it noise? The least tail of a
 * jump, 0.006 of the range, is that of -1, 0, 1 with the 0 in the middle. */
static inline int piece_has_jump(const Pieces *p, int64_t at) {
    return p->tail[at] > 0.005 * (p->most[at] - p->least[at]);
}
static inline double clamped(double x, double from, double to) {
    return x < from ? from : x > to ? to : x;
}
/* An angle without whole turns, from -pi to pi. */
static inline double without_turns(double angle) {
    const double turn = 6.283185307179586477;
    return angle - turn * rint(angle / turn);
}
/* The quantities at both ends of the steps, with the states after them; 0, or -1. */
int pi_ask_steps(Pieces *pieces, const PiSteps *steps, int real_bytes, const double *after,
                 double *begin, double *end);
/* The coefficients of linear quantities on whole steps, from the values at both ends: these steps
 * need no pieces. */
void pi_linear_pieces(Pieces *pieces, const PiSteps *steps, const double *begin, const double *end);
static inline const double *linear_row(const Pieces *p, int quantity, int m) {
    return p->linear + (quantity * (PI_MAX_DEGREE + 1) + m) * p->lanes;
}
/* The values of a quantity at a point. */
static inline double *piece_row(const Pieces *p, int quantity, int point) {
    return p->value + (point * p->count + quantity) * p->lanes;
}
/* The degree of the piece of a linear quantity, for a step of this degree. */
static inline int linear_points(int degree) {
    return degree > CHEB_MOST / 2 ? CHEB_MOST : CHEB_MOST / 2;
}
/* Of linear quantities: a step of this degree is one piece. */
static inline void whole_piece(Piece *piece, int degree) {
    piece->from = 0, piece->to = 1;
    piece->points = linear_points(degree);
}
static inline int piece_is_whole(const Piece *piece) { return piece->from == 0 && piece->to == 1; }
/* The values of a quantity on the piece, n + 1 of them, returned. */
int pi_piece_values(const Pieces *pieces, int64_t lane, int quantity, double *f);
/* The value at its end. */
static inline double pi_piece_end(const Pieces *p, int64_t lane, int quantity) {
    return (p->linear ? linear_row(p, quantity, p->degree)
                      : piece_row(p, quantity, CHEB_MOST))[lane];
}
/* What lies at x, from -1 to 1, between these; the part of the step at x of the piece. */
static inline double between(double from, double to, double x) {
    return x <= -1 ? from : x >= 1 ? to : from + (to - from) * (0.5 * (1 + x));
}
static inline double piece_part(const Piece *piece, double x) {
    return between(piece->from, piece->to, x);
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
typedef struct {
    int count, near; /* near: does it come as close to another zero as `error`? */
    PiZero at[PI_MOST_ZEROS];
} PiZeros;
/* Where a polynomial with these values changes sign after -1, in order. begins: it is zero at -1
 * but for rounding, and that zero is divided out. */
void pi_find_zeros(int n, const double *f, int begins, double error, PiZeros *zeros);
/* Does a polynomial that begins at zero, up to this part of a step, move from there to a side, with
 * no speed at first? An impulse keeps its speed, and is on the other side at once; a body at rest
 * moves with the square of the time: the first 1/1024 of the step tells. slow: the answer where it
 * has a speed, but one that hardly counts. */
int pi_falls_through(double side, int n, const double *f, double to, int slow);
/* The only zero of a polynomial through five points, with values of different sign at the ends,
 * whose slope varies little (is_simple of pieces.c); none if the first value is 0. pi_quartic: the
 * coefficients c[0] ... c[4] of its powers. */
void pi_find_simple_zero(const double *f, PiZeros *zeros);
void pi_quartic(const double *f, double *c);
/* The same of a linear quantity on the whole step of a lane, with these rows of Bernstein
 * coefficients; places and slopes from 0 to 1; of those in a direction (0: in any). */
void pi_find_linear_zeros(const Pieces *pieces, int64_t lane, int quantity, int n,
                          const double *coefficients, double error, int direction, PiZeros *zeros);
/* The largest value before the end, and where, from 0 to 1; sign -1: of the negative. */
double pi_largest_on_step(int n, const double *c, int sign, double *x);
/* The largest value of a polynomial with these values, and where; sign -1: of its negative. A rough
 * value if that is below one that is known. */
double pi_largest_value(int n, const double *f, int sign, double known, double *x);
