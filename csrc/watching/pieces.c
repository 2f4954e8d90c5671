/* Quantities within accepted steps: see pieces.h. */
#include "pieces.h"

enum { NODES = CHEB_MOST + 1, MOST_PIECES = 2048 };
/* A value of `fails`: not because of its conditions alone. */
enum { IS_NOISY = 2 };
/* A condition that changes so often on such a piece flickers by rounding, or is too fast. */
#define FLICKERS 6
#define SHORT    0x1p-16
#define INEXACT  0.02 /* how much that part is, of the resolution */
/* A piece, as parts of the step, of states in double and in single precision: the shortest; and one
 * of which the values within are a chord's, but for rounding. */
#define SHORTEST(p) ((p)->real_bytes == 4 ? 0x1p-21 : 0x1p-50)
#define STRAIGHT(p) ((p)->real_bytes == 4 ? 0x1p-12 : 0x1p-26)
#define ROUGH       0x1p-10 /* a piece so short that is not smooth has a jump, or rounding alone */

void pi_place_pieces(PiMemory *m, const PiLaneProgram *program, const int8_t *need, int64_t lanes,
                     Pieces *p) {
    const int64_t count = program->program.system->n_invariants, all = pi_product(count, lanes);
    *p = (Pieces){.count = count, .need = need, .lanes = lanes};
    pi_place_program(m, program, &p->rows, lanes);
    double **const numeric[] = {&p->noise, &p->loudest,      &p->least, &p->most,
                                &p->tail,  &p->tail_squared, &p->off};
    PLACE(m, p->piece, lanes);
    PLACE(m, p->theta, lanes);
    pi_place_program(m, program, &p->apart, lanes);
    PLACE(m, p->point, lanes);
    PLACE(m, p->id, lanes);
    EACH_BELOW(i, 7) {
        PLACE(m, *numeric[i], all);
        if (m->at) memset(*numeric[i], 0, all * sizeof **numeric[i]);
    }
    PLACE(m, p->rough, all);
    PLACE(m, p->known, pi_product(PI_MOST_SWITCHES + 1, all));
    if (program->linear) {
        PLACE(m, p->linear, pi_product(all, PI_MAX_DEGREE + 1));
        PLACE(m, p->mean, all);
    }
    if (program->linear || program->borders) {
        PLACE(m, p->zero, all);
        PLACE(m, p->slope, all);
    }
    PLACE(m, p->value, pi_product(all, NODES));
    if (!m->at) return;
    const int asks = program->asks;
    p->asks_time = pi_asks_time(asks, asks & PI_WATCH_SYSTEM, &program->system);
    p->first_degree = CHEB_MOST / 2;
    p->ends_only = 1;
    p->conditions_only = 1;
    EACH_QUANTITY(q, p) {
        p->ends_only &= need[q] == PI_NEED_NOTHING;
        p->conditions_only &= need[q] == PI_NEED_TRUTH || need[q] == PI_NEED_APART;
    }
    EACH_LANE(i, p) p->piece[i].learns = 0;
}
void pi_begin_pieces(Piece *piece, double h, double resolution, double to) {
    piece->h = h;
    piece->resolution = resolution;
    piece->late = NAN;
    piece->compared = 0;
    piece->to = piece->zero_from = piece->zero_to = 0;
    piece->ends[0] = to;
    piece->n_ends = 1;
    piece->made = piece->points = piece->n_switches = 0;
}
void pi_cut_pieces(Piece *piece, double at) {
    double *ends = piece->ends;
    int64_t k = piece->n_ends;
    if (!(at > 0) || k == PI_MOST_ENDS) return;
    for (; k > 0 && ends[k - 1] < at; k--) ends[k] = ends[k - 1];
    if (k == 0) { /* beyond the last */
        memmove(ends, ends + 1, piece->n_ends * sizeof *ends);
        return;
    }
    ends[k] = at;
    piece->n_ends++;
}

/* ---- values ---------------------------------------------------------------------------------- */
/* Two lanes at a time. */
typedef double Two __attribute__((vector_size(16)));
typedef int64_t TwoMasks __attribute__((vector_size(16)));
static inline Two choose(TwoMasks yes, Two a, Two b) {
    return (Two)((yes & (TwoMasks)a) | (~yes & (TwoMasks)b));
}
static inline Two magnitude(Two a) { return choose(a < 0, -a, a); }
static inline double real_of(const Pieces *p, const void *row, int64_t i) {
    return pi_real(row, i, p->real_bytes);
}
/* The time at a part of the step of lane i. */
static inline double time_at(const Pieces *p, int64_t i, double theta) {
    const PiSteps *s = p->steps;
    return real_of(p, s->t0, i) + (real_of(p, s->t0_low, i) + theta * p->piece[i].h);
}
/* Is a piece sought; noise: is it one that fails, on which that is asked for? */
static int is_asked(const Piece *piece, int noise) {
    return noise ? piece->fails : piece->seeks && !piece->points;
}
/* At an end of its step, where theta is 0 or 1, puts the accepted state of lane i into column c of
 * the rows. */
static void show_end(const Pieces *p, ProgramRows *r, int64_t c, int64_t i, double theta) {
    const PiSteps *s = p->steps;
    if (theta != 0 && theta != 1) return;
    if (theta == 1) r->t[c] = real_of(p, s->t, i) + real_of(p, s->t_low, i);
    EACH_BELOW(d, r->of->system.system->dim) {
        const int64_t at = d * p->lanes + i;
        const double after = p->after ? p->after[at] : real_of(p, s->after, at);
        r->y[d * p->lanes + c] = theta == 1 ? after : real_of(p, s->before, at);
    }
}
static void show_ends(Pieces *p) {
    ProgramRows *r = &p->rows;
    const PiSteps *s = p->steps;
    const int64_t numbers = r->of->system.system->dim * p->lanes;
    int begins = 1, ends = 1; /* all of them? */
    EACH_LANE(i, p) begins &= p->theta[i] == 0, ends &= p->theta[i] == 1;
    if (begins) pi_copy_row(r->y, s->before, numbers, p->real_bytes);
    else if (!ends) s->at(s, p->theta, r->of->reads, r->y);
    else if (p->after) memcpy(r->y, p->after, numbers * sizeof *r->y);
    else pi_copy_row(r->y, s->after, numbers, p->real_bytes);
    EACH_WHILE(i, p->lanes, ends) r->t[i] = real_of(p, s->t, i) + real_of(p, s->t_low, i);
    EACH_WHILE(i, p->lanes, !begins && !ends) show_end(p, r, i, i, p->theta[i]);
}
/* Moves the state and the time of lane i, in column c, slightly, in a pattern for each number. */
static void shift(const Pieces *p, ProgramRows *r, int64_t c, int64_t i, int number) {
    const PiSteps *s = p->steps;
    const Piece *piece = &p->piece[i];
    const double least = p->real_bytes == 8 ? 0x1p-51 : 0x1p-22;
    const double inexact = piece->fails == IS_NOISY ? INEXACT * piece->resolution : 0;
    /* What is added to a time near zero rounds more than that; it may be as large as a step. */
    const double late = 0x1p-52 * fmax(fabs(r->t[c]), fabs(piece->h));
    r->t[c] += number >> 1 & 1 ? late : -late;
    EACH_BELOW(d, r->of->system.system->dim) {
        const int64_t at = d * p->lanes + i;
        double *y = &r->y[d * p->lanes + c];
        const double size = /* of the terms of its polynomial, however small their sum is */
            fabs(*y) + fabs(real_of(p, s->before, at)) + fabs(real_of(p, s->after, at));
        const double off = fmax(least * size, inexact * fabs(*y));
        *y += number >> (d % 3 + 1) & 1 ? off : -off;
    }
}
/* All quantities at x of the pieces that the lanes seek, in p->rows.answer. The other lanes have
 * theta of x on a whole step, where equal ones cost less; or, if few lanes seek, 0, where a state
 * costs nothing. rounded: if not 0, the number of a pattern by which the states are slightly off,
 * and the times by their rounding. */
static int ask_at(Pieces *p, double x, int rounded) {
    const PiSteps *s = p->steps;
    ProgramRows *r = &p->rows;
    const double part = 0.5 * (1 + x), other = p->few ? 0 : part;
    if (p->whole) pi_fill_row(p->theta, part, p->lanes);
    else
        EACH_LANE(i, p) {
            const Piece *piece = &p->piece[i];
            p->theta[i] = is_asked(piece, 0) ? piece_part(piece, x) : other;
        }
    if (p->asks_time)
        EACH_LANE(i, p) r->t[i] = time_at(p, i, p->theta[i]);
    if (x <= -1 || x >= 1) show_ends(p);
    else s->at(s, p->theta, r->of->reads, r->y);
    if (rounded)
        EACH_LANE(i, p) shift(p, r, i, i, rounded);
    return rounded ? pi_answer_rounded(r) : pi_answer_lanes(r);
}
/* Values at point number `node` of the pieces, of degree 16; alone: no lane has a piece. */
static int ask_node(Pieces *p, int node, int alone) {
    if (ask_at(p, cheb_point(CHEB_MOST, node), 0)) return -1;
    double *value = piece_row(p, 0, node);
    const double *answer = p->rows.answer;
    if (alone) memcpy(value, answer, p->count * p->lanes * sizeof *value);
    else
        EACH_LANE(i, p)
            for (int64_t at = i; !p->piece[i].points && at < p->count * p->lanes; at += p->lanes)
                value[at] = answer[at];
    return 0;
}
/* What rounding does to a quantity, and on noisy pieces a small part of the tolerance of the
 * states: the second largest change, since a jump beside a point makes the largest. */
static void keep_noise(Pieces *p, int64_t at, double change) {
    const double off = 4 * fabs(change);
    if (off > p->loudest[at]) p->noise[at] = p->loudest[at], p->loudest[at] = off;
    else if (off > p->noise[at]) p->noise[at] = off;
}

/* ---- values of few lanes --------------------------------------------------------------------- */
/* Values, or noise, at the points listed, side by side. */
static int ask_points(Pieces *p, int64_t count, int noise) {
    const PiSteps *s = p->steps;
    ProgramRows *r = &p->apart;
    const int64_t lanes = p->lanes, sums = r->of->n_sums;
    EACH_LANE(c, p) {
        const PiecePoint *at = &p->point[c < count ? c : count - 1];
        p->id[c] = s->id[at->lane];
        p->theta[c] = piece_part(&p->piece[at->lane], cheb_point(CHEB_MOST, at->node));
        r->t[c] = time_at(p, at->lane, p->theta[c]);
        EACH_BELOW(k, sums)
            program_sums(r)[k * lanes + c] = program_sums(&p->rows)[k * lanes + at->lane];
    }
    if (pi_load_parameters(r, p->id)) return -1;
    for (int64_t c = 0, n; c < count; c += n) {
        for (n = 1; c + n < count && p->point[c + n].lane == p->point[c].lane;) n++;
        s->of_lane(s, p->point[c].lane, n, p->theta + c, r->of->reads, r->y + c);
    }
    EACH_BELOW(c, count) {
        const PiecePoint at = p->point[c];
        if (at.node % CHEB_MOST == 0) show_end(p, r, c, at.lane, p->theta[c]);
        if (noise) shift(p, r, c, at.lane, at.node);
    }
    if (noise ? pi_answer_rounded(r) : pi_answer_lanes(r)) return -1;
    EACH_BELOW(c, count)
        EACH_QUANTITY(q, p) {
            const PiecePoint at = p->point[c];
            double *value = piece_row(p, q, at.node) + at.lane;
            const double answer = r->answer[q * lanes + c];
            if (noise) keep_noise(p, q * lanes + at.lane, answer - *value);
            else *value = answer;
        }
    return 0;
}
/* Asks at each `by`-th point of the pieces that are sought, or for the noise on those that fail. */
static int ask_apart(Pieces *p, int from, int by, int noise) {
    int64_t count = 0;
    EACH_LANE(i, p) {
        const int asks = is_asked(&p->piece[i], noise);
        for (int node = from; asks && node <= CHEB_MOST; node += by) {
            p->point[count++] = (PiecePoint){i, node};
            if (count == p->lanes && ask_points(p, count, noise)) return -1;
            count %= p->lanes;
        }
    }
    return count ? ask_points(p, count, noise) : 0;
}
/* Are these lanes few? */
static int are_few(const Pieces *p, int noise) {
    int64_t count = 0;
    EACH_LANE(i, p) count += is_asked(&p->piece[i], noise) != 0;
    return p->steps->of_lane && 2 * count < p->lanes;
}
static int ask_noise(Pieces *p) {
    if (are_few(p, 1)) return ask_apart(p, 1, 2, 1);
    for (int node = 1; node < CHEB_MOST; node += 2) {
        if (ask_at(p, cheb_point(CHEB_MOST, node), node)) return -1;
        EACH_QUANTITY(q, p)
            EACH_LANE(i, p) {
                const int64_t at = q * p->lanes + i;
                if (p->piece[i].fails)
                    keep_noise(p, at, p->rows.answer[at] - piece_row(p, q, node)[i]);
            }
    }
    return 0;
}

int pi_ask_steps(Pieces *p, const PiSteps *s, int real_bytes, const double *after, double *begin,
                 double *end) {
    ProgramRows *r = &p->rows;
    const int64_t numbers = r->of->system.system->dim * p->lanes;
    const size_t answers = p->count * p->lanes * sizeof *r->answer;
    memcpy(r->y, after, numbers * sizeof *r->y);
    if (pi_load_parameters(r, s->id) || pi_answer_lanes(r)) return -1;
    memcpy(end, r->answer, answers);
    pi_copy_row(r->y, s->before, numbers, real_bytes);
    if (pi_answer_lanes(r)) return -1;
    memcpy(begin, r->answer, answers);
    return 0;
}

/* ---- linear quantities ----------------------------------------------------------------------- */
/* B_m(t), m = 0 to n, `apart` numbers apart. */
static void bernstein_at(int n, double t, double *b, int apart) {
    double power = 1, over = 1;
    for (int m = 0; m <= n; m++, power *= t) {
        b[m * apart] = over * power;
        over = over * (n - m) / (m + 1);
    }
    power = 1;
    for (int m = n; m >= 0; m--, power *= 1 - t) b[m * apart] *= power;
}
void pi_linear_pieces(Pieces *p, const PiSteps *s, const double *begin, const double *end) {
    const int dim = p->rows.of->system.system->dim, n = s->degree;
    const int points = linear_points(n);
    for (int i = 0; p->degree != n && i <= points; i++)
        bernstein_at(n, 0.5 * (1 + cheb_point(points, i)), *p->at_point + i, PI_POINTS);
    p->degree = n;
    EACH_QUANTITY(q, p) {
        const int64_t at = q * p->lanes;
        s->combine(s, &(PiCombination){.factors = p->rows.of->linear + q * dim,
                                       .begin = begin + at,
                                       .end = end + at,
                                       .coefficients = (double *)linear_row(p, q, 0),
                                       .least = p->least + at,
                                       .most = p->most + at,
                                       .mean = p->mean + at,
                                       .zero = p->zero ? p->zero + at : NULL,
                                       .slope = p->zero ? p->slope + at : NULL});
    }
}
int pi_piece_values(const Pieces *p, int64_t lane, int quantity, double *f) {
    const Piece *piece = &p->piece[lane];
    const int n = piece->points, step = CHEB_MOST / n, need = p->need[quantity];
    if (p->linear) {
        double own[PI_MAX_DEGREE + 1][PI_POINTS];
        const int whole = piece_is_whole(piece);
        for (int i = 0; !whole && i <= n; i++)
            bernstein_at(p->degree, piece_part(piece, cheb_point(n, i)), *own + i, PI_POINTS);
        const double (*const b)[PI_POINTS] = whole ? p->at_point : own;
        memset(f, 0, (n + 1) * sizeof *f);
        EACH_BELOW(m, p->degree + 1)
            EACH_BELOW(i, n + 1) f[i] += b[m][i] * linear_row(p, quantity, m)[lane];
    } else
        EACH_BELOW(i, n + 1) f[i] = piece_row(p, quantity, i * step)[lane];
    const int is_number = need != PI_NEED_TRUTH && need != PI_NEED_TURNS;
    const int64_t at = quantity * p->lanes + lane;
    const double length = piece->to - piece->from;
    const int jumps = length < ROUGH && piece_has_jump(p, at);
    for (int i = 1; i < n && is_number && (jumps || length < STRAIGHT(p)); i++)
        f[i] = f[0] + (f[n] - f[0]) * (0.5 + 0.5 * cheb_point(n, i)); /* but for rounding */
    return n;
}

/* ---- is it resolved? ------------------------------------------------------------------------ */
/* The range and the last coefficients of a quantity's values at n + 1 points, of lanes whose piece
 * is still sought. Only numbers have a finite tail. */
static void measure(Pieces *p, int q, int n) {
    const int apart = CHEB_MOST / n, squared = p->need[q] == PI_NEED_SQUARE;
    const double *degrees = p->rows.of->degrees;
    const double degree = degrees ? degrees[q] * p->steps->degree : INFINITY;
    const int64_t next = apart * p->count * p->lanes;
    double weight[3][NODES / 2 + 1];
    EACH_BELOW(k, 3) /* those of points j and n - j are alike but for the sign */
        for (int j = 0; 2 * j <= n; j++)
            weight[k][j] =
                cheb_cos(j * (n - k) * apart) / (j && 2 * j < n ? 1 : 2) * (k ? 2 : 1) / n;
    for (int64_t i = 0; i < p->lanes; i += 2) {
        const double *value = piece_row(p, q, 0) + i;
        if (!p->piece[i].fails && !p->piece[i + 1].fails) continue;
        Two least = *(const Two *)value, most = least, sum[3] = {{0}}, square[3] = {{0}};
        for (int j = 0; 2 * j <= n; j++) {
            const Two f = *(const Two *)(value + j * next);
            const Two g = *(const Two *)(value + (n - j) * next);
            const Two low = choose(f < g, f, g), high = choose(f < g, g, f);
            const Two even = f + g, odd = f - g, even2 = f * f + g * g, odd2 = f * f - g * g;
            least = choose(low < least, low, least);
            most = choose(high > most, high, most);
            EACH_BELOW(k, 3) sum[k] += weight[k][j] * (k % 2 ? odd : even);
            if (squared)
                EACH_BELOW(k, 3) square[k] += weight[k][j] * (k % 2 ? odd2 : even2);
        }
        const Two tail = magnitude(sum[0]) + magnitude(sum[1]) + magnitude(sum[2]);
        const Two of_squares = magnitude(square[0]) + magnitude(square[1]) + magnitude(square[2]);
        EACH_BELOW(e, 2) {
            const int64_t at = q * p->lanes + i + e;
            if (!p->piece[i + e].fails) continue;
            p->least[at] = least[e], p->most[at] = most[e];
            p->tail[at] = tail[e] * (degree > n); /* none is left out */
            p->tail_squared[at] = of_squares[e] * (2 * degree > n);
        }
    }
}
/* Are the turns between the points unambiguous: at most a quarter each, and the same in all if
 * every second point is left out? */
static int turns_are_clear(int n, const double *f) {
    double all[2] = {0, 0};
    EACH_FROM(step, 1, 3)
        for (int i = 0; i < n; i += step) {
            const double change = without_turns(f[i + step] - f[i]);
            if (step == 1 && fabs(change) > 1.5707963267948966) return 0;
            all[step - 1] += change;
        }
    return fabs(all[0] - all[1]) < 1;
}
/* Of degree 4, roughly known: has it no zero, or one that it passes without turning? */
static int is_simple(Pieces *p, int64_t i, int q) {
    double f[5], c[5], least = INFINITY, most = -INFINITY;
    EACH_BELOW(k, 5) {
        f[k] = piece_row(p, q, k * (CHEB_MOST / 4))[i];
        least = f[k] < least ? f[k] : least;
        most = f[k] > most ? f[k] : most;
    }
    const int64_t at = q * p->lanes + i;
    p->least[at] = least, p->most[at] = most, p->tail[at] = 0;
    pi_quartic(f, c); /* and of Chebyshev's polynomials: */
    const double rest = 0.25 * fabs(c[3]) + 0.125 * fabs(c[4]), two = 0.5 * fabs(c[2] + c[4]);
    const double one = fabs(c[1] + 0.75 * c[3]), none = fabs(c[0] + 0.5 * c[2] + 0.375 * c[4]);
    return (one > 4 * two + 32 * rest && rest < 0x1p-8 * one) || none > one + two + 4 * rest;
}
static int is_resolved(Pieces *p, int64_t i, int q, int n) {
    const Piece *piece = &p->piece[i];
    const int step = CHEB_MOST / n, need = p->need[q];
    if (need == PI_NEED_NOTHING) return 1;
    if (need == PI_NEED_BRANCH) {
        int same = 1;
        EACH_BELOW(k, n) same &= piece_row(p, q, k * step)[i] == piece_row(p, q, n * step)[i];
        return same || piece->to - piece->from <= ROUGH;
    }
    if (n == 4) return is_simple(p, i, q);
    const int64_t at = q * p->lanes + i;
    const double least = p->least[at], most = p->most[at];
    const double size = most > -least ? most : -least, enough = piece->resolution * size;
    const double off = 0.05 * p->off[at], noise = off > p->noise[at] ? off : p->noise[at];
    const int is_number = isfinite(p->tail[at]) && need != PI_NEED_TRUTH && need != PI_NEED_TURNS;
    if (is_number) {
        if (need == PI_NEED_MEAN && (piece->to - piece->from) * (most - least) <= enough) return 1;
        if (p->tail[at] > (enough > noise ? enough : noise)) return 0;
        if (need == PI_NEED_SQUARE)
            return !isfinite(p->tail_squared[at]) || /* their sum overflows, however divided */
                   p->tail_squared[at] <= fmax(enough * size, noise * (2 * size + noise));
        if (need <= PI_NEED_VALUE || cheb_is_clear(least, most, enough)) return 1;
    } else if (isfinite(p->tail[at]) && least == most) return 1;
    double f[NODES];
    int finite = 0, changes = 0;
    EACH_BELOW(k, n + 1) {
        f[k] = piece_row(p, q, k * step)[i];
        finite += isfinite(f[k]) != 0;
        changes += k && f[k] != f[k - 1];
    }
    if (!finite) return 1; /* nothing is known there */
    if (finite <= n) return need == PI_NEED_APART;
    if (need == PI_NEED_TRUTH)
        return !changes || (changes >= FLICKERS && piece->to - piece->from <= SHORT);
    if (need == PI_NEED_TURNS) return n == CHEB_MOST && turns_are_clear(n, f);
    if (!is_number) return 0; /* overflow */
    PiZeros zeros;
    pi_find_zeros(n, f, 0, 0, &zeros);
    return piece->to - piece->from <= PI_CLOSE || !zeros.count;
}
/* Is it the conditions alone that make a piece too long? */
static int only_switches(Pieces *p, int64_t i) {
    EACH_QUANTITY(q, p) {
        const int64_t at = q * p->lanes + i;
        const double size = fmax(p->most[at], -p->least[at]);
        if (p->need[q] == PI_NEED_APART
                ? !(p->tail[at] <= p->piece[i].resolution * size)
                : p->need[q] != PI_NEED_TRUTH && !is_resolved(p, i, q, CHEB_MOST))
            return 0;
    }
    return 1;
}
/* Are all quantities resolved by n + 1 points? Then the piece has these. closely: except conditions
 * and what they compare. */
static int decide(Pieces *p, int64_t i, int n, int closely) {
    Piece *piece = &p->piece[i];
    closely |= piece->from >= piece->zero_from && piece->to <= piece->zero_to;
    EACH_QUANTITY(q, p)
        if (!(closely && (p->need[q] == PI_NEED_TRUTH || p->need[q] == PI_NEED_APART)) &&
            !is_resolved(p, i, q, n))
            return 0;
    EACH_QUANTITY(q, p) p->rough[q * p->lanes + i] = 0;
    piece->points = n;
    return 1;
}

/* Where a condition changes something that it compares is zero: a piece is divided closely before
 * and after such a zero, as the noise allows, rather than in its middle. 0: there is none; -1: it
 * cannot be closer. */
static int divides_at_zero(Pieces *p, int64_t i) {
    Piece *piece = &p->piece[i];
    const double from = piece->from, to = piece->to, length = to - from;
    int noisy = 0, wide = 0; /* is what comes to zero noise? is some of it not? */
    EACH_WHILE(q, p->count, piece->n_ends + 2 < PI_MOST_ENDS) {
        const int64_t at = q * p->lanes + i;
        double f[NODES];
        if (p->need[q] != PI_NEED_APART) continue;
        const double range = p->most[at] - p->least[at];
        if (!(p->tail[at] < 0.01 * range)) {
            const int changes = p->least[at] <= 0 && p->most[at] >= 0 && range != 0;
            const int noise = range <= 8 * p->loudest[at] || length <= PI_CLOSE;
            noisy |= changes && noise, wide |= changes && !noise;
            continue;
        }
        EACH_BELOW(k, CHEB_MOST + 1) f[k] = piece_row(p, q, k)[i];
        PiZeros zeros;
        pi_find_zeros(CHEB_MOST, f, 0, 0, &zeros);
        if (!zeros.count) continue;
        const double x = zeros.at->x, slope = fabs(zeros.at->slope);
        const double least = fmax(PI_CLOSE / length, p->loudest[at] / slope);
        const double off = fmax(least, 4 * p->tail[at] / slope);
        piece->late = 0.5 * length * fabs(piece->h) / slope;
        piece->compared = q;
        if (least > 0.1) return -1;
        if (off > 0.1) continue;
        const double a = fmax(piece_part(piece, x - off), from);
        const double b = fmin(piece_part(piece, x + off), to);
        if (off == least && piece->fails != IS_NOISY) piece->zero_from = a, piece->zero_to = b;
        if (b < to) piece->ends[piece->n_ends++] = to;
        if (a > from) piece->ends[piece->n_ends++] = b;
        piece->to = a > from ? a : b;
        return 1;
    }
    return -(noisy && !wide);
}
/* A part of the step, of so few digits that differences to others are exact. */
static double shortened(double part) { return (part + 4) - 4; }
/* A short piece is divided beside a jump of most of a quantity's range, between two points: on a
 * long one there may be more. */
static int divides_at_jump(Piece *piece, const Pieces *p, int64_t i) {
    const double length = piece->to - piece->from;
    if (length > ROUGH || length < 0x1p10 * SHORTEST(p)) return 0;
    EACH_WHILE(q, p->count, piece->n_ends + 2 < PI_MOST_ENDS) {
        const int64_t at = q * p->lanes + i;
        if (p->need[q] >= PI_NEED_TURNS || !piece_has_jump(p, at)) continue;
        EACH_BELOW(k, CHEB_MOST) {
            const double change = piece_row(p, q, k + 1)[i] - piece_row(p, q, k)[i];
            if (!(fabs(change) > 0.75 * (p->most[at] - p->least[at]))) continue;
            const double a = shortened(piece_part(piece, cheb_point(CHEB_MOST, k)));
            const double b = shortened(piece_part(piece, cheb_point(CHEB_MOST, k + 1)));
            if (k + 1 < CHEB_MOST) piece->ends[piece->n_ends++] = piece->to;
            if (k) piece->ends[piece->n_ends++] = b;
            piece->to = k ? a : b;
            return 1;
        }
    }
    return 0;
}
/* How far the quantities are off: `off` holds what they were if the state was off, and becomes the
 * difference to the first values of the piece. */
static void learn(Pieces *p, int64_t i) {
    if (p->piece[i].learns)
        EACH_QUANTITY(q, p) {
            double *off = &p->off[q * p->lanes + i];
            *off = fabs(*off - piece_row(p, q, 0)[i]);
            if (p->need[q] == PI_NEED_TURNS) *off = fabs(without_turns(*off));
        }
    p->piece[i].learns = 0;
}
/* The first half of a piece that is not resolved comes next; 0: it is taken as it is. */
static int halves(Pieces *p, int64_t i) {
    if (decide(p, i, CHEB_MOST, 0)) return 0; /* but for its noise */
    Piece *piece = &p->piece[i];
    if (piece->to - piece->from <= SHORTEST(p) || ++piece->made >= MOST_PIECES ||
        piece->n_ends >= PI_MOST_ENDS) {
        EACH_QUANTITY(q, p) p->rough[q * p->lanes + i] = !is_resolved(p, i, q, CHEB_MOST);
        piece->points = CHEB_MOST;
        return 0;
    }
    const int divided = divides_at_zero(p, i);
    if (divided > 0) return 1;
    if (divided < 0 && decide(p, i, CHEB_MOST, 1)) return 0;
    if (divides_at_jump(piece, p, i)) return 1;
    piece->ends[piece->n_ends++] = piece->to;
    piece->to = piece->from + 0.5 * (piece->to - piece->from);
    return 1;
}
static void step_on(Pieces *p, int64_t i) {
    Piece *piece = &p->piece[i];
    piece->from = piece->to;
    piece->to = piece->ends[--piece->n_ends];
    if (piece->n_switches) {
        if (piece->to <= piece->known_to) pi_fill_known(p, i);
        else piece->n_switches = 0;
    }
}
int pi_next_pieces(Pieces *p, const PiSteps *s, int real_bytes, const double *after) {
    int any = 0, found = 0, alone = 1, whole = 1;
    p->steps = s, p->real_bytes = real_bytes, p->after = after;
    EACH_LANE(i, p) {
        Piece *piece = &p->piece[i];
        piece->seeks = !piece->points && piece->n_ends;
        if (piece->seeks) step_on(p, i), found = 1;
        if (piece->seeks && p->linear) piece->points = linear_points(p->degree);
        any |= piece->seeks && !piece->points;
        alone &= !piece->points;
        whole &= !piece->seeks || piece_is_whole(piece);
    }
    if (!any) return found;
    if (pi_load_parameters(&p->rows, s->id)) return -1;
    /* Steps of the pairs of high order are so long that 8 hardly ever do, but for what changes by
     * little more than the tolerance. */
    const int level = p->rows.of->asks & PI_WATCH_ENERGY;
    const int least = s->degree > 6 && !level ? CHEB_MOST : p->first_degree;
    for (; any; alone = 0) {
        EACH_LANE(i, p) {
            Piece *piece = &p->piece[i];
            piece->fails = is_asked(piece, 0);
            for (int64_t at = i; piece->fails && at < p->count * p->lanes; at += p->lanes)
                p->noise[at] = p->loudest[at] = 0;
        }
        for (int n = least; any && n <= CHEB_MOST; n *= 2) {
            const int first = n == least, apart = CHEB_MOST / n;
            p->few = !alone || !first || n < CHEB_MOST / 2;
            p->whole = whole && !p->few;
            const int from = first ? 0 : apart, by = first ? apart : 2 * apart, few = are_few(p, 0);
            if (few && ask_apart(p, from, by, 0)) return -1;
            for (int node = from; !few && node <= CHEB_MOST; node += by)
                if ((!p->ends_only || node % CHEB_MOST == 0) && ask_node(p, node, alone)) return -1;
            if (n > 4)
                EACH_QUANTITY(q, p) measure(p, q, n);
            any = 0;
            EACH_LANE(i, p) {
                if (!p->piece[i].fails) continue;
                learn(p, i);
                any |= p->piece[i].fails = !decide(p, i, n, 0) && !pi_find_switches(p, i, n);
            }
        }
        EACH_LANE(i, p)
            if (p->piece[i].fails && !only_switches(p, i)) p->piece[i].fails = IS_NOISY;
        p->whole = 0;
        if (any && ask_noise(p)) return -1;
        any = 0;
        EACH_LANE(i, p) any |= p->piece[i].fails && halves(p, i);
    }
    return 1;
}
