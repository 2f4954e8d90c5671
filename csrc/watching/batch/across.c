/* Statistics across the batch: see across.h. */
#include "across.h"
#include <sched.h>
#include "../../run/layout.h"
#include "density.h"

enum { MANTISSA = 52, NODE_BITS = 7, NODE = 1 << NODE_BITS };
/* The words of a window: its counts, those outside, its first cell; and how many there may be. */
enum { PLACED = PI_WINDOW + 1, WINDOW_ROOM = PI_WINDOW + 16, MOST_WINDOWS = 4096 };

#define EACH_VALUE(i, of) EACH_BELOW(i, (of)->count)

static uint64_t bits_of(double q) {
    uint64_t bits;
    memcpy(&bits, &q, sizeof bits);
    return bits;
}
/* |q| as a whole number of units of 2^(*place - 1074), below 2^53. */
static uint64_t whole_of(uint64_t bits, int *place) {
    const int exponent = bits >> MANTISSA & 2047;
    const uint64_t low = bits & pi_lowest_bits(MANTISSA);
    *place = exponent ? exponent - 1 : 0;
    return exponent ? low | (uint64_t)1 << MANTISSA : low;
}
/* Adds m 2^place, negated if `minus` is -1 instead of 0. */
static inline void add_whole(int64_t *limbs, uint64_t m, int place, int64_t minus) {
    const unsigned __int128 wide = (unsigned __int128)m << (place & 31);
    limbs += place >> 5;
    limbs[0] += ((int64_t)(wide & UINT32_MAX) ^ minus) - minus;
    limbs[1] += ((int64_t)(wide >> 32 & UINT32_MAX) ^ minus) - minus;
    limbs[2] += ((int64_t)(wide >> 64) ^ minus) - minus;
}
static void add_value(int64_t *limbs, double q) {
    int place;
    const uint64_t bits = bits_of(q), m = whole_of(bits, &place);
    add_whole(limbs, m, place, -(bits >> 63));
}
static void add_product(int64_t *limbs, double a, double b) {
    int i, j;
    const uint64_t x = bits_of(a), y = bits_of(b), m = whole_of(x, &i), n = whole_of(y, &j);
    const unsigned __int128 wide = (unsigned __int128)m * n;
    const int64_t minus = -((x ^ y) >> 63);
    add_whole(limbs, wide, i + j, minus);
    add_whole(limbs, wide >> 64, i + j + 64, minus);
}
/* Whole numbers in the order of the doubles, -0 before 0. */
static int64_t ordered(double q) {
    const int64_t bits = bits_of(q);
    return bits ^ ((uint64_t)(bits >> 63) >> 1);
}

/* ---- cells ----------------------------------------------------------------------------------- */
/* The number of the node that a word leads to, a new one if it is 0; 0 without memory. */
static uint32_t node_at(PiAcross *a, uint64_t word) {
    if (!a->words || (!a->words[word] && a->used == a->room)) {
        const int64_t least = a->rows * a->groups / NODE + 1; /* nodes of the rows */
        const int64_t room = a->room ? 2 * a->room : pi_sum(least, NODE);
        const int64_t bytes = pi_product(room, NODE * sizeof *a->words);
        uint32_t *wider = room >> 32 ? NULL : realloc(a->words, bytes);
        if (!wider) return 0;
        memset(wider + a->room * NODE, 0, (room - a->room) * NODE * sizeof *wider);
        if (!a->room) a->used = least;
        a->words = wider;
        a->room = room;
    }
    if (!a->words[word]) a->words[word] = a->used++;
    return a->words[word];
}
static uint64_t word_in(uint32_t node, int64_t place) {
    return (uint64_t)node << NODE_BITS | (uint64_t)(place & (NODE - 1));
}
static int count_cell(PiAcross *a, int64_t row, uint64_t cell, uint32_t count) {
    uint64_t word = row;
    for (int shift = 2 * NODE_BITS; shift >= 0; shift -= NODE_BITS) {
        const uint32_t node = node_at(a, word);
        if (!node) return -1;
        word = word_in(node, cell >> shift);
    }
    a->words[word] += count;
    return 0;
}
/* The counts of a window go to the tree. */
static int empty_window(PiAcross *a, int64_t row, uint32_t *w) {
    const uint32_t half = PI_WINDOW / 2, sign = 1u << (11 + PI_CELL_BITS);
    for (uint32_t i = 0; i < PI_WINDOW && w[PLACED]; i++)
        if (w[i] && count_cell(a, row, w[PLACED] + i % half + i / half * sign, w[i])) return -1;
    memset(w, 0, WINDOW_ROOM * sizeof *w);
    return 0;
}
/* A window of 16 octaves on either side, 3 of them above the largest value, begins in this cell; it
 * has no zeros and nothing infinite. */
static uint32_t place_window(uint64_t exponent) {
    const uint64_t octaves = PI_WINDOW / 2 >> PI_CELL_BITS, end = exponent + 3;
    const uint64_t first = end <= octaves ? 1 : (end < 2047 ? end : 2047) - octaves;
    return (uint32_t)first << PI_CELL_BITS;
}
/* Counts in a window by table, others in the tree. */
static int count_cells(PiAcross *a, int64_t row, PiSurvey *s, PiSurveyor *survey) {
    const int64_t rows = pi_product(a->rows, a->groups);
    if (!a->window && rows <= MOST_WINDOWS)
        a->window = calloc(pi_product(rows, WINDOW_ROOM), sizeof *a->window);
    uint32_t *w = a->window ? a->window + row * WINDOW_ROOM : NULL;
    const uint64_t low = bits_of(s->low - a->about) << 1, high = bits_of(s->high - a->about) << 1;
    const uint64_t exponent = (low > high ? low : high) >> (MANTISSA + 1);
    int64_t place[PI_TOGETHER], outside = s->count;
    if (w) {
        if (!w[PLACED]) w[PLACED] = place_window(exponent);
        s->about = a->about, s->from = w[PLACED], s->place = place;
        survey(PI_PLACES, s);
        EACH_VALUE(i, s) w[place[i]]++;
        outside = w[PI_WINDOW];
        w[PI_WINDOW] = 0;
    }
    if (outside)
        EACH_VALUE(i, s) {
            if (w && s->place[i] != PI_WINDOW) continue;
            const uint64_t cell = bits_of(s->q[i] - a->about) >> (MANTISSA - PI_CELL_BITS);
            const uint64_t power = cell >> PI_CELL_BITS & 2047;
            if (power < 2047 && count_cell(a, row, power ? cell : 0, 1)) return -1;
        }
    if (!w || outside <= s->count / 2) return 0;
    if (empty_window(a, row, w)) return -1;
    w[PLACED] = place_window(exponent);
    return 0;
}
/* Appends the cells below a node to n entries of `to` (NULL: only counts them), and returns their
 * number; cell: the bits of the numbers above this node, shift: how many lie below it. */
static int64_t walk(const PiAcross *a, int64_t row, uint32_t node, int shift, int64_t cell,
                    int64_t *to, int64_t n) {
    for (uint32_t i = 0; i < NODE; i++) {
        const uint32_t word = a->words[word_in(node, i)];
        const int64_t found[4] = {row / a->groups, row % a->groups, cell | i << shift, word};
        if (word && shift) n = walk(a, row, word, shift - NODE_BITS, found[2], to, n);
        else if (word && to) memcpy(to + 4 * n, found, sizeof found);
        n += word && !shift;
    }
    return n;
}
int64_t pi_across_cells(PiAcross *a, int64_t *to) {
    int64_t n = 0;
    if (a->window)
        EACH_BELOW(row, a->rows * a->groups)
            if (empty_window(a, row, a->window + row * WINDOW_ROOM)) return -1;
    if (a->words)
        EACH_BELOW(row, a->rows * a->groups)
            if (a->words[row]) n = walk(a, row, a->words[row], 2 * NODE_BITS, 0, to, n);
    return n;
}

/* ---- values of a group ----------------------------------------------------------------------- */
/* The sum of values that are finite, each below 2^E, the next power of two to the largest: it is
 * split into multiples of 2^(E - 42) and of 2^(E - 85), below 2^42 of them, so that no sum is
 * rounded. 0 if that is not all of every value. */
static int add_level(int64_t *limbs, PiSurvey *s, PiSurveyor *survey) {
    const double most = s->high > -s->low ? s->high : -s->low;
    const uint64_t exponent = bits_of(most) >> MANTISSA;
    if (exponent < 150 || exponent > 1990) return 0;
    for (uint64_t i = 0; i < 2; i++) { /* 3/2 2^52 units: what is added is rounded to a unit */
        const uint64_t bits = (exponent + 11 - 43 * i) << MANTISSA | (uint64_t)1 << (MANTISSA - 1);
        memcpy(s->shift + i, &bits, sizeof bits);
    }
    survey(PI_SUMS, s);
    EACH_WHILE(i, 2, !s->odd) add_value(limbs, s->sum[i]);
    return !s->odd;
}
static void widen(int64_t *item, const PiSurvey *s) {
    int64_t end[2] = {ordered(s->low), ordered(s->high)};
    if (s->low == 0 || s->high == 0)
        EACH_VALUE(i, s) {
            if (s->q[i] != 0) continue; /* of the zeros -0 is the smaller */
            const int64_t zero = ordered(s->q[i]);
            if (s->low == 0 && zero < end[0]) end[0] = zero;
            if (s->high == 0 && zero > end[1]) end[1] = zero;
        }
    item[0] = end[0] < item[0] ? end[0] : item[0];
    item[1] = end[1] > item[1] ? end[1] : item[1];
}
/* odd: are not all values finite? */
static int add_part(PiAcross *a, int64_t row, PiSurvey *s, const double *r, int odd,
                    PiSurveyor *survey) {
    int64_t *item = a->items + row * a->width, *tally = a->tally + row * PI_TALLY;
    const double *q = s->q;
    tally[0] += s->count;
    if (odd)
        EACH_VALUE(i, s)
            if (!isfinite(q[i])) tally[q[i] != q[i] ? 1 : q[i] > 0 ? 2 : 3]++;
    if (a->kind == PI_EXTREMES) widen(item, s);
    if (a->kind == PI_CELLS) return count_cells(a, row, s, survey);
    if (a->kind == PI_EXACT_SUM && !odd && add_level(item, s, survey)) return 0;
    if (a->kind == PI_EXACT_SUM)
        EACH_VALUE(i, s)
            if (isfinite(q[i])) add_value(item, q[i]);
    if (a->kind == PI_EXACT_PRODUCT)
        EACH_VALUE(i, s)
            if (isfinite(q[i]) && isfinite(r[i])) add_product(item, q[i], r[i]);
    if (a->kind == PI_BINS)
        EACH_VALUE(i, s) {
            const int64_t bin = pi_bin_of(a->edges, a->bins, q[i]);
            if (bin >= 0) item[bin]++;
        }
    return 0;
}
/* The values at some places, in their order; without a copy where that is all from the first on. */
static const double *pick(double *to, const PiSome *some, int quantity) {
    const double *from = some->quantities + quantity * some->apart;
    if (some->at)
        EACH_VALUE(i, some) to[i] = from[some->at[i]];
    return some->at ? to : from;
}
static int64_t lane_of(const PiSome *some, int64_t i) {
    return some->at ? some->lanes[i] : some->lane + i;
}
/* The groups of lanes one after the other; with a frame of its own, as both are large. */
static __attribute__((noinline)) int add_groups(PiAcross *a, int64_t row, const PiSome *some,
                                                const double *q, const double *r,
                                                PiSurveyor *survey) {
    int32_t label[PI_TOGETHER]; /* once, as others may write to them */
    int left[PI_TOGETHER], error = 0;
    double of[2][PI_TOGETHER];
    EACH_VALUE(i, some) left[i] = i, label[i] = a->label[lane_of(some, i)];
    for (int64_t count = some->count, others; count && !error; count = others) {
        const int32_t group = label[left[0]];
        PiSurvey s = {.q = of[0]};
        others = 0;
        EACH_BELOW(k, count) {
            const int i = left[k];
            if (label[i] != group) {
                left[others++] = i;
                continue;
            }
            of[0][s.count] = q[i];
            of[1][s.count++] = r[i];
        }
        if (group < 0 || group >= a->groups) continue;
        survey(PI_RANGE, &s);
        error = add_part(a, row * a->groups + group, &s, of[1], s.odd, survey);
    }
    return error;
}
int pi_across_add(PiAcross *all, int n, int64_t step, const PiSome *some, PiSurveyor *survey) {
    double picked[2][PI_TOGETHER];
    int error = 0, of = -1, odd = 0; /* of: the quantity that has been surveyed */
    PiSurvey s = {.count = some->count};
    for (PiAcross *a = all; a < all + n && some->count && !error; a++) {
        const int64_t row = step - a->first;
        if (row < 0 || row >= a->rows) continue;
        if (of != a->quantity[0]) {
            of = a->quantity[0];
            s.q = pick(picked[0], some, of);
            survey(PI_RANGE, &s);
            odd = s.odd;
        }
        const double *r = of == a->quantity[1] ? s.q : pick(picked[1], some, a->quantity[1]);
        if (a->kind == PI_VALUES)
            EACH_VALUE(i, some) a->values[row * a->stride + lane_of(some, i)] = s.q[i];
        while (atomic_flag_test_and_set_explicit(&a->busy, memory_order_acquire)) sched_yield();
        error = a->label ? add_groups(a, row, some, s.q, r, survey)
                         : add_part(a, row, &s, r, odd, survey);
        atomic_flag_clear_explicit(&a->busy, memory_order_release);
    }
    return error;
}
void pi_across_free(PiAcross *a) {
    free(a->words);
    free(a->window);
}
