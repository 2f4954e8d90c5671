/* Reductions over time: see reductions.h. */
#include "reductions.h"

#define DECLARED(kind, name, rows, again, ...) {name, rows, 0, {__VA_ARGS__}, again},
const PiDeclared pi_reductions[PI_REDUCTIONS] = {PI_EACH_REDUCTION(DECLARED)};
const PiDeclared pi_piece_reductions[PI_PIECE_KINDS] = {
    [PI_STATES] = {"states", 3, PI_NEED_NOTHING, {0, NAN, 0}, 0},
    [PI_MEAN] = {"mean", 7, PI_NEED_MEAN, {NAN, NAN, NAN}, 0},
    [PI_MOMENTS] = {"moments", 9, PI_NEED_SQUARE, {NAN, NAN, NAN}, 0},
    [PI_TIMED_MAXIMUM] = {"maximum", 3, PI_NEED_VALUE, {NAN, NAN}, 0},
    [PI_TIMED_MINIMUM] = {"minimum", 3, PI_NEED_VALUE, {NAN, NAN}, 0},
    [PI_TIMED_MAX_ABS] = {"max_abs", 3, PI_NEED_VALUE, {NAN, NAN}, 0},
    [PI_PASSAGES] = {"passages", 6, PI_NEED_VALUE, {0, NAN, NAN, NAN}, 0},
    [PI_TURNS] = {"turns", 4, PI_NEED_TURNS, {0, 0, NAN}, 0},
    [PI_TRUTH] = {"truth", 7, PI_NEED_TRUTH, {0, 0, 0, NAN, NAN}, 0},
};

/* The numbers of each kind. Of a quantity q with first value q_0 at t_0, d = q - q_0; sums have two
 * parts. The last number of all but PI_STATES is how far the quantity (or the times of passages and
 * truth values) may be off: the coefficients that were left out, and what the tolerance of a step
 * does to it. */
enum { COUNTED, FIRST_NAN, STATES }; /* the states that count; the number of the first NaN; all */
/* Of means, and of moments: q_0, t_0, the last t, the integral of d; NaN if it was unresolved; the
 * slope of the line of least squares, and the integral of the squares about it. */
enum { FIRST, BEGAN, ENDED, INTEGRAL, INTEGRAL_LOW, UNRESOLVED, SLOPE, SQUARES };
enum { EXTREME, EXTREME_TIME };
/* Rising zeros: how many; times; the first length, and the sum of squares of lengths minus it. */
enum { PASSAGES, FIRST_PASSAGE, LAST_PASSAGE, FIRST_LENGTH, LENGTH_SQUARES, PASSAGE_ERROR };
enum { ANGLE, ANGLE_LOW, LAST_ANGLE };
/* How often a condition begins to hold, and how long it does; its first time; its last value. */
enum { BEGINNINGS, DURATION, DURATION_LOW, FIRST_TIME, HOLDS, FIRST_ERROR, DURATION_ERROR };

/* A sum in two parts: Neumaier (1974), Z. angew. Math. Mech. 54, 39-51. */
static void add(double *sum, double term) {
    const double t = sum[0] + term, z = t - sum[0];
    sum[1] += (sum[0] - (t - z)) + (term - z);
    sum[0] = t;
}

/* The line of least squares through all so far joins that of a piece: with p and q the shares of
 * their times, and y the means of d, its slope is p^3 s_A + q^3 s_B + 6 p q (y_B - y_A) / T, and to
 * the squares that are left come those of the two lines about the new one: no differences. */
static void moments(int kind, int n, const double *f, double t_from, double t_to, double *m) {
    const double *w = cheb_weights(n), *minus_x = cheb_cosine;
    const int apart = CHEB_MOST / n;
    if (isnan(m[FIRST])) m[FIRST] = f[0], m[BEGAN] = t_from;
    const double piece = t_to - t_from, before = t_from - m[BEGAN], whole = before + piece;
    if (whole == 0) return;
    double mean = 0, rise = 0, left = 0;
    EACH_BELOW(i, n + 1) {
        const double part = 0.5 * w[i] * (f[i] - m[FIRST]);
        mean += part;
        rise -= 3 * part * minus_x[i * apart];
    }
    const double known = m[INTEGRAL] + m[INTEGRAL_LOW];
    add(&m[INTEGRAL], piece * mean);
    if (kind == PI_MEAN) return;
    EACH_BELOW(i, n + 1) {
        const double off = f[i] - m[FIRST] - mean + rise * minus_x[i * apart];
        left += 0.5 * w[i] * off * off;
    }
    const double p = before / whole, q = piece / whole;
    const double step = mean - (before == 0 ? 0 : known / before);
    const double own = piece == 0 ? 0 : 2 * rise / piece;
    const double slope = p * p * p * m[SLOPE] + q * q * q * own + 6 * p * q * step / whole;
    const double turned = p * p * p * (m[SLOPE] - slope) * (m[SLOPE] - slope) +
                          q * q * q * (own - slope) * (own - slope);
    const double apart_by = step - 0.5 * slope * whole;
    m[SLOPE] = slope;
    m[SQUARES] +=
        piece * left + whole * (whole * whole / 12 * turned + p * q * apart_by * apart_by);
}
static void extreme(int sign, double value, double t, double *m) {
    if (isnan(m[EXTREME_TIME]) || sign * value > sign * m[EXTREME])
        m[EXTREME] = value, m[EXTREME_TIME] = t;
}
/* By the values f on a piece; whole: f are the coefficients of a whole step, whose end is left out.
 */
static void extremes(int kind, int n, const double *f, int whole, double t_from, double t_to,
                     double *m) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        if (kind == (sign > 0 ? PI_TIMED_MINIMUM : PI_TIMED_MAXIMUM)) continue;
        double x;
        const double known = isnan(m[EXTREME_TIME])     ? -INFINITY
                             : kind == PI_TIMED_MAX_ABS ? m[EXTREME]
                                                        : sign * m[EXTREME];
        const double best =
            whole ? pi_largest_on_step(n, f, sign, &x) : pi_largest_value(n, f, sign, known, &x);
        const double t = between(t_from, t_to, whole ? 2 * x - 1 : x);
        if (kind == PI_TIMED_MAX_ABS) extreme(1, best, t, m);
        else extreme(sign, sign * best, t, m);
    }
}
static void passages(int n, const double *f, double t_from, double t_to, double off, double *m) {
    PiZeros zeros;
    pi_find_zeros(n, f, 0, 0, &zeros);
    EACH_BELOW(i, zeros.count) {
        if (!zeros.at[i].rises) continue;
        const double t = between(t_from, t_to, zeros.at[i].x);
        const double length = t - m[LAST_PASSAGE], change = length - m[FIRST_LENGTH];
        if (m[PASSAGES] == 0) m[FIRST_PASSAGE] = t;
        if (m[PASSAGES] == 1) m[FIRST_LENGTH] = length;
        if (m[PASSAGES] > 1) m[LENGTH_SQUARES] += change * change;
        m[LAST_PASSAGE] = t;
        m[PASSAGES] += 1;
        m[PASSAGE_ERROR] =
            fmax(m[PASSAGE_ERROR], off / fabs(zeros.at[i].slope) * fabs(0.5 * (t_to - t_from)));
    }
}
static void turns(int n, const double *f, double *m) {
    EACH_BELOW(i, n + 1) {
        add(&m[ANGLE], isnan(m[LAST_ANGLE]) ? 0 : without_turns(f[i] - m[LAST_ANGLE]));
        m[LAST_ANGLE] = f[i];
    }
}
static void truth_at(double holds, double t, double *m) {
    if (holds != 0) {
        if (m[HOLDS] == 0) m[BEGINNINGS] += 1;
        if (isnan(m[FIRST_TIME])) m[FIRST_TIME] = t;
    }
    m[HOLDS] = holds != 0;
}
static void truth(double before, double after, double t_from, double t_to, double late, double *m) {
    truth_at(before, t_from, m); /* one value, or a change on a very short piece */
    if (before != after) {
        late += fabs(t_to - t_from);
        m[DURATION_ERROR] += late;
        if (isnan(m[FIRST_TIME])) m[FIRST_ERROR] = late;
    }
    truth_at(after, t_to, m);
    add(&m[DURATION], (t_to - t_from) * (before == after ? before != 0 : 0.5));
}

/* It becomes NaN, and stays so. */
static void spoil(const PiPieceReduction *r, double t, double *m) {
    if (r->kind <= PI_MOMENTS) m[UNRESOLVED] = NAN;
    else if (r->kind <= PI_TIMED_MAX_ABS) m[EXTREME] = NAN, m[EXTREME_TIME] = t;
    else if (r->kind == PI_PASSAGES) m[FIRST_PASSAGE] = m[LAST_PASSAGE] = NAN;
    else if (r->kind == PI_TURNS) m[ANGLE] = m[ANGLE_LOW] = NAN;
    else m[BEGINNINGS] = m[DURATION] = NAN;
}
/* The largest so far; a NaN stays. */
static void farthest(double off, double *m) {
    if (!(off <= *m)) *m = off + 0 * *m;
}
/* Do the mean or the bounds of a piece tell all? Those of a whole step of a linear quantity do;
 * others lie as far beyond the values at its points as a wave that these resolve: at most by the
 * distance of two of degree 16, and half of that of degree 8. */
static int by_bounds(const PiPieceReduction *r, const Pieces *p, int64_t lane, double t_from,
                     double t_to, double *m) {
    const Piece *piece = &p->piece[lane];
    const int64_t at = r->quantity * p->lanes + lane;
    const double size = p->most[at] - p->least[at];
    const double beyond = p->linear ? 0 : size * piece->points / CHEB_MOST;
    const double most = p->most[at] + beyond, least = p->least[at] - beyond;
    if (p->linear && !(piece_is_whole(piece) && isfinite(p->mean[at]))) return 0;
    if (!p->linear && !(isfinite(p->tail[at]) && !piece_is_lost(p, lane, r->quantity))) return 0;
    if (p->linear && r->kind == PI_MEAN) {
        if (isnan(m[FIRST])) m[FIRST] = linear_row(p, r->quantity, 0)[lane], m[BEGAN] = t_from;
        add(&m[INTEGRAL], (t_to - t_from) * (p->mean[at] - m[FIRST]));
        m[ENDED] = t_to;
        return 1;
    }
    return (r->kind == PI_TIMED_MAXIMUM && most <= m[EXTREME]) ||
           (r->kind == PI_TIMED_MINIMUM && least >= m[EXTREME]) ||
           (r->kind == PI_TIMED_MAX_ABS && most <= m[EXTREME] && -least <= m[EXTREME]);
}
void pi_reduce_piece(const PiPieceReduction *r, const Pieces *p, int64_t lane, double t_from,
                     double t_to, double *numbers) {
    double f[CHEB_MOST + 1];
    double *m = numbers + r->first;
    const Piece *piece = &p->piece[lane];
    const int64_t at = r->quantity * p->lanes + lane;
    const double late = piece->late * p->off[piece->compared * p->lanes + lane];
    if (r->kind == PI_TRUTH && piece->points == PI_KNOWN) {
        const double before = piece_row(p, r->quantity, 0)[lane];
        truth(before, pi_piece_end(p, lane, r->quantity), t_from, t_to, late, m);
        return;
    }
    const double off = p->off[at] + (r->kind == PI_TURNS ? 0 : p->tail[at]);
    double *error = &m[pi_piece_reductions[r->kind].rows - 1];
    const int whole = r->kind >= PI_TIMED_MAXIMUM && r->kind <= PI_TIMED_MAX_ABS && p->linear &&
                      piece_is_whole(piece) && isfinite(p->mean[at]);
    if (whole) pi_reduce_value(r, pi_piece_end(p, lane, r->quantity), t_to, numbers);
    if (by_bounds(r, p, lane, t_from, t_to, m)) {
        farthest(off, error);
        return;
    }
    const int n = whole ? p->degree : pi_piece_values(p, lane, r->quantity, f);
    for (int i = 0; whole && i <= n; i++) f[i] = linear_row(p, r->quantity, i)[lane];
    int finite = !p->linear && isfinite(p->tail[at]) ? n + 1 : 0; /* a sum of all */
    for (int i = 0; finite <= n && i <= n; i++) finite += isfinite(f[i]) != 0;
    if (finite <= n) {
        if (!finite) spoil(r, t_from, m); /* else a single place without a value */
        return;
    }
    if (r->kind < PI_PASSAGES || r->kind == PI_TURNS) farthest(off, error);
    if (piece_is_lost(p, lane, r->quantity)) spoil(r, t_from, m);
    if (r->kind <= PI_MOMENTS) moments(r->kind, n, f, t_from, t_to, m);
    else if (r->kind <= PI_TIMED_MAX_ABS && !p->linear && piece_has_jump(p, at))
        EACH_BELOW(i, n + 1) /* what waves between the points is the polynomial alone */
            pi_reduce_value(r, f[i], between(t_from, t_to, cheb_point(n, i)), numbers);
    else if (r->kind <= PI_TIMED_MAX_ABS) extremes(r->kind, n, f, whole, t_from, t_to, m);
    else if (r->kind == PI_PASSAGES) passages(n, f, t_from, t_to, off, m);
    else if (r->kind == PI_TURNS) turns(n, f, m);
    else truth(f[0], f[n], t_from, t_to, late, m);
    if (r->kind <= PI_MOMENTS) m[ENDED] = t_to;
}
void pi_count_state(const PiPieceReduction *r, double value, int counts, double *numbers) {
    double *m = numbers + r->first;
    if (counts && isnan(value) && isnan(m[FIRST_NAN])) m[FIRST_NAN] = m[STATES];
    m[COUNTED] += counts;
    m[STATES] += 1;
}
void pi_reduce_value(const PiPieceReduction *r, double value, double t, double *numbers) {
    double *m = numbers + r->first;
    if (!isfinite(value)) spoil(r, t, m);
    else if (r->kind <= PI_MOMENTS && isnan(m[FIRST])) m[FIRST] = value, m[BEGAN] = m[ENDED] = t;
    else if (r->kind <= PI_MOMENTS) return;
    else if (r->kind <= PI_TIMED_MAX_ABS)
        extreme(r->kind == PI_TIMED_MINIMUM ? -1 : 1,
                r->kind == PI_TIMED_MAX_ABS ? fabs(value) : value, t, m);
    else if (r->kind == PI_TURNS) turns(0, &value, m);
    else if (r->kind == PI_TRUTH) truth_at(value, t, m);
}

void pi_count_sample(const PiPieceSamples *s, double first, double second, int64_t of) {
    const int64_t there = pi_place_in(&s->of, first, second);
    if (there >= 0) __atomic_fetch_add(&s->counts[of * s->stride + there], 1, __ATOMIC_RELAXED);
}
void pi_sample_piece(const PiPieceSamples *s, const Pieces *p, int64_t lane, double t_from,
                     double t_to, double t0, double t_end, double after, int64_t of) {
    const double most = s->count - 1, whole = t_end - t0;
    if (whole == 0) return;
    const int64_t last = (t_to - t0) / whole * most;
    int64_t k = (int64_t)((t_from - t0) / whole * most) + 1;
    if (k < 1) k = 1; /* that at t0 is known */
    double a[2][CHEB_MOST + 1] = {{0}}, f[CHEB_MOST + 1] = {0};
    int n = 0;
    for (int i = 0; k <= last && i < 2; i++) {
        n = pi_piece_values(p, lane, s->of.quantity[i], f);
        cheb_coefficients(n, f, a[i]);
    }
    for (; k <= last; k++) {
        const double t = t0 + whole * (k / most);
        const double x = clamped(2 * (t - t_from) / (t_to - t_from) - 1, -1, 1);
        if ((t - after) * whole >= 0)
            pi_count_sample(s, cheb_value(n, a[0], x), cheb_value(n, a[1], x), of);
    }
}
