/* Conditions alone: the pieces of a step between the places where they change. Where all that they
 * compare is known to rounding, its zeros are these places (switches), and one value tells what
 * holds between two of them. */
#include "pieces.h"

static double *known_row(const Pieces *p, int64_t i, int64_t between) {
    return p->known + (i * (PI_MOST_SWITCHES + 1) + between) * p->count;
}
void pi_fill_known(Pieces *p, int64_t i) {
    Piece *piece = &p->piece[i];
    const Switch *s = piece->switches, *end = s + piece->n_switches;
    int64_t j = 0;
    for (; s < end && s->to <= piece->from; s++) j++;
    const int at = s < end && piece->from >= s->from, changes = at && piece->from == s->from;
    const double *before = known_row(p, i, j + (at && !changes));
    const double *after = known_row(p, i, j + at);
    EACH_QUANTITY(q, p) {
        EACH_BELOW(k, PI_KNOWN + 1)
            piece_row(p, q, k * (CHEB_MOST / PI_KNOWN))[i] = k < PI_KNOWN ? before[q] : after[q];
        p->rough[q * p->lanes + i] = 0;
    }
    if (at) piece->late = s->late, piece->compared = s->of;
    piece->points = PI_KNOWN;
}
/* Divides a known part of a step, up to `to`, into pieces that end before and after each switch. */
static void divide(Pieces *p, int64_t i, double to) {
    Piece *piece = &p->piece[i];
    piece->ends[piece->n_ends++] = to;
    for (int64_t j = piece->n_switches; j-- > 0;) {
        piece->ends[piece->n_ends++] = piece->switches[j].to;
        piece->ends[piece->n_ends++] = piece->switches[j].from;
    }
    piece->known_to = to;
    piece->to = piece->ends[--piece->n_ends];
    pi_fill_known(p, i);
}
/* Inserts a switch in order. 0: there are too many, or two are not apart. */
static int add_switch(Piece *piece, Switch this) {
    Switch *s = piece->switches;
    int k = piece->n_switches, n = k + 1;
    if (n > PI_MOST_SWITCHES) return 0;
    for (; k > 0 && s[k - 1].from > this.from; k--) s[k] = s[k - 1];
    s[k] = this;
    piece->n_switches = n;
    return (k == 0 || s[k - 1].to < this.from) && (k + 1 == n || this.to < s[k + 1].from);
}
/* On the piece of a lane, whose conditions change, all zeros of what they compare, if these are
 * known to rounding and a point between any two tells what holds there. */
static int find_switches(Pieces *p, int64_t i, int n) {
    Piece *piece = &p->piece[i];
    const double from = piece->from, to = piece->to, length = to - from;
    const Switch *s = piece->switches;
    EACH_QUANTITY(q, p) {
        const int64_t at = q * p->lanes + i;
        const double size = fmax(p->most[at], -p->least[at]);
        double f[CHEB_MOST + 1];
        if (p->need[q] != PI_NEED_APART) continue;
        if (!(p->tail[at] <= 0x1p-44 * size && isfinite(size))) return 0;
        if (cheb_is_clear(p->least[at], p->most[at], piece->resolution * size)) continue;
        EACH_BELOW(k, n + 1) f[k] = piece_row(p, q, k * (CHEB_MOST / n))[i];
        PiZeros zeros;
        pi_find_zeros(n, f, 0, 0, &zeros);
        if (zeros.near) return 0;
        EACH_BELOW(z, zeros.count) {
            const double slope = fabs(zeros.at[z].slope), rounding = 0x1p-50 * size;
            const double off = fmax(PI_CLOSE / length, 16 * (p->tail[at] + rounding) / slope);
            const Switch this = {piece_part(piece, zeros.at[z].x - off),
                                 piece_part(piece, zeros.at[z].x + off),
                                 0.5 * length * fabs(piece->h) / slope, q};
            if (!(off < 0x1p-20 && add_switch(piece, this))) return 0;
        }
    }
    const int64_t count = piece->n_switches;
    if (!count || piece->n_ends + 2 * count >= PI_MOST_ENDS) return 0;
    int64_t k = 0;
    EACH_BELOW(j, count + 1) { /* the points between two, and what holds at them */
        const double begin = j ? s[j - 1].to : from, end = j < count ? s[j].from : to;
        double *holds = known_row(p, i, j);
        int points = 0;
        if (!(begin < end)) return 0;
        for (; k <= n; k++) {
            const double at = piece_part(piece, cheb_point(n, k));
            if (at > end) break;
            if (at < begin) continue;
            EACH_QUANTITY(q, p) {
                const double value = piece_row(p, q, k * (CHEB_MOST / n))[i];
                if (p->need[q] != PI_NEED_TRUTH) holds[q] = value;
                else if (!points) holds[q] = value;
                else if (holds[q] != value) return 0;
            }
            points++;
        }
        if (!points) return 0;
    }
    return 1;
}
int pi_find_switches(Pieces *p, int64_t i, int n) {
    if (!p->conditions_only) return 0;
    const int known = find_switches(p, i, n);
    if (known) divide(p, i, p->piece[i].to);
    else p->piece[i].n_switches = 0;
    return known;
}
/* Adds as switches the zeros, on a lane's step, of a linear quantity that a condition compares;
 * begin and end: its values there. 0: the zeros are not known to rounding, or lie at an end. */
static int knows_zeros(Pieces *p, int64_t i, int64_t q, int degree, double begin, double end) {
    Piece *piece = &p->piece[i];
    const int64_t at = q * p->lanes + i;
    const double least = p->least[at], most = p->most[at], size = fmax(most, -least);
    if (least > 0x1p-12 * most || most < 0x1p-12 * least) return 1;
    if (!isfinite(size) || begin == 0 || end == 0) return 0;
    PiZeros zeros;
    pi_find_linear_zeros(p, i, q, degree, p->value, piece->resolution * size, 0, &zeros);
    EACH_BELOW(z, zeros.count) {
        const double slope = fabs(zeros.at[z].slope),
                     off = fmax(0.5 * PI_CLOSE, 0x1p-46 * size / slope);
        const double from = zeros.at[z].x - off, to = zeros.at[z].x + off;
        if (!(off < 0x1p-20 && from > 0 && to < 1)) return 0;
        if (!add_switch(piece, (Switch){from, to, fabs(piece->h) / slope, q})) return 0;
    }
    return !zeros.near;
}
/* What the conditions are between the switches of steps that are known. */
static int ask_between(Pieces *p, const PiSteps *s) {
    int more = 1;
    for (int64_t j = 1; more; j++) {
        more = 0;
        EACH_LANE(i, p) {
            const Switch *w = p->piece[i].switches;
            const int here = j < p->piece[i].n_switches;
            more |= here;
            p->theta[i] = here ? 0.5 * (w[j - 1].to + w[j].from) : 0;
        }
        if (!more) return 0;
        s->at(s, p->theta, p->rows.of->reads, p->rows.y);
        if (pi_answer_lanes(&p->rows)) return -1;
        EACH_LANE(i, p)
            EACH_WHILE(q, p->count, j < p->piece[i].n_switches)
                known_row(p, i, j)[q] = p->rows.answer[q * p->lanes + i];
    }
    return 0;
}
int pi_known_pieces(Pieces *p, const PiSteps *s, const double *begin, const double *end) {
    const int dim = p->rows.of->system.system->dim;
    int others = 0;
    EACH_LANE(i, p) p->piece[i].seeks = p->piece[i].n_ends != 1 || p->piece[i].ends[0] != 1;
    EACH_QUANTITY(q, p) {
        const int64_t at = q * p->lanes;
        if (p->need[q] != PI_NEED_APART) continue;
        s->combine(s, &(PiCombination){.factors = p->rows.of->borders + q * dim,
                                       .begin = begin + at,
                                       .end = end + at,
                                       .coefficients = p->value,
                                       .least = p->least + at,
                                       .most = p->most + at,
                                       .mean = p->tail + at,
                                       .zero = p->zero + at,
                                       .slope = p->slope + at});
        EACH_LANE(i, p)
            if (!p->piece[i].seeks)
                p->piece[i].seeks = !knows_zeros(p, i, q, s->degree, begin[at + i], end[at + i]);
    }
    memset(p->rough, 0, p->count * p->lanes);
    for (int k = 0; k <= CHEB_MOST; k += CHEB_MOST / PI_KNOWN) /* of steps without a switch */
        memcpy(piece_row(p, 0, k), begin, p->count * p->lanes * sizeof *begin);
    EACH_LANE(i, p) {
        Piece *piece = &p->piece[i];
        int same = 1;
        EACH_QUANTITY(q, p) {
            const double before = begin[q * p->lanes + i], after = end[q * p->lanes + i];
            same &= p->need[q] == PI_NEED_APART || before == after;
            if (!piece->n_switches) continue;
            known_row(p, i, 0)[q] = before;
            known_row(p, i, piece->n_switches)[q] = after;
        }
        piece->seeks |= !same && !piece->n_switches;
        others |= piece->n_ends && piece->seeks;
        if (piece->seeks) piece->n_switches = 0;
    }
    if (ask_between(p, s)) return -1;
    EACH_LANE(i, p) {
        Piece *piece = &p->piece[i];
        if (piece->seeks) continue;
        piece->from = piece->n_ends = 0;
        if (piece->n_switches) divide(p, i, 1);
        else piece->to = 1, piece->points = PI_KNOWN;
    }
    return others;
}
