/* Statistics across the batch: see across.h. */
#include "across.h"
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "density.h"

enum { MANTISSA = 52, CELL_BITS = 8, FIRST_PAGES = 64, KNOWN = 128 };

static uint64_t bits_of(double q) {
    uint64_t bits;
    memcpy(&bits, &q, sizeof bits);
    return bits;
}
/* |q| as a whole number of units of 2^(*place - 1074), below 2^53. */
static uint64_t whole_of(uint64_t bits, int *place) {
    const int exponent = (int)(bits >> MANTISSA & 2047);
    const uint64_t low = bits & (((uint64_t)1 << MANTISSA) - 1);
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
    add_whole(limbs, m, place, -(int64_t)(bits >> 63));
}
static void add_product(int64_t *limbs, double a, double b) {
    int i, j;
    const uint64_t x = bits_of(a), y = bits_of(b), m = whole_of(x, &i), n = whole_of(y, &j);
    const unsigned __int128 wide = (unsigned __int128)m * n;
    const int64_t minus = -(int64_t)((x ^ y) >> 63);
    add_whole(limbs, (uint64_t)wide, i + j, minus);
    add_whole(limbs, (uint64_t)(wide >> 64), i + j + 64, minus);
}
/* Whole numbers in the order of the doubles, -0 before 0. */
static int64_t ordered(double q) {
    const int64_t bits = (int64_t)bits_of(q);
    return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}

/* ---- cells ----------------------------------------------------------------------------------- */
static uint64_t slot_of(int64_t key, int64_t room) {
    return ((uint64_t)key * 0x9e3779b97f4a7c15u >> 32) & (uint64_t)(2 * room - 1);
}
static int64_t *find_slot(const PiAcross *a, int64_t key) {
    uint64_t at = slot_of(key, a->room);
    while (a->slots[2 * at] && a->slots[2 * at] != key + 1)
        at = (at + 1) & (uint64_t)(2 * a->room - 1);
    return a->slots + 2 * at;
}
/* Room for twice as many pages; half of the slots are empty. */
static int grow(PiAcross *a) {
    PiAcross wider = *a;
    wider.room = a->room ? 2 * a->room : FIRST_PAGES;
    const size_t table = (size_t)pi_product(wider.room, 4 * sizeof *a->slots);
    const size_t bytes = (size_t)pi_product(wider.room, PI_PAGE * sizeof *a->counts);
    wider.slots = calloc(1, table);
    wider.counts = wider.slots ? realloc(a->counts, bytes) : NULL;
    if (!wider.counts) {
        free(wider.slots);
        return -1;
    }
    for (int64_t i = 0; i < 2 * a->room; i++)
        if (a->slots[2 * i]) memcpy(find_slot(&wider, a->slots[2 * i] - 1), a->slots + 2 * i, 16);
    free(a->slots);
    a->room = wider.room;
    a->slots = wider.slots;
    a->counts = wider.counts;
    return 0;
}
/* Counts cells of one row; `known` remembers the pages of some. */
static int count_cells(PiAcross *a, int64_t row, const double *q, int64_t count) {
    struct {
        int32_t page, place;
    } known[KNOWN];
    memset(known, -1, sizeof known);
    for (int64_t i = 0; i < count; i++) {
        uint64_t cell = bits_of(q[i] - a->about) >> (MANTISSA - CELL_BITS);
        const int exponent = (int)(cell >> CELL_BITS & 2047);
        if (exponent == 2047) continue;
        if (!exponent) cell = 0; /* zero and subnormals */
        const int32_t page = (int32_t)(cell / PI_PAGE);
        const int at = page & (KNOWN - 1);
        if (known[at].page != page) {
            if (a->pages == a->room && grow(a)) return -1;
            int64_t *slot = find_slot(a, row << 15 | page);
            if (!slot[0]) {
                slot[0] = (row << 15 | page) + 1;
                slot[1] = a->pages++;
                memset(a->counts + slot[1] * PI_PAGE, 0, PI_PAGE * sizeof *a->counts);
            }
            known[at].page = page;
            known[at].place = (int32_t)slot[1];
        }
        a->counts[(int64_t)known[at].place * PI_PAGE + (int64_t)(cell % PI_PAGE)]++;
    }
    return 0;
}

/* ---- values of a group ----------------------------------------------------------------------- */
typedef double Two __attribute__((vector_size(16)));
typedef int64_t TwoBits __attribute__((vector_size(16)));
static const uint64_t SIGN = (uint64_t)1 << 63, INFINITE = (uint64_t)2047 << MANTISSA;

static int is_finite(double q) { return (bits_of(q) & INFINITE) != INFINITE; }
/* The bits of the largest magnitude. */
static uint64_t count_special(int64_t *tally, const double *q, int64_t count) {
    uint64_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most = (bits_of(q[i]) & ~SIGN) > most ? bits_of(q[i]) & ~SIGN : most;
    for (int64_t i = 0; most >= INFINITE && i < count; i++)
        if (!is_finite(q[i])) tally[q[i] != q[i] ? 1 : q[i] > 0 ? 2 : 3]++;
    tally[0] += count;
    return most;
}
/* The sum of the first n values, at most PI_TOGETHER, n even: each below 2^E, the next power
 * of two to `most`, is split into multiples of 2^(E - 42) and of 2^(E - 85), below 2^42 of them, so
 * that no sum is rounded. 0 if that is not all of every value. */
static int add_level(int64_t *limbs, const double *q, int64_t n, uint64_t most) {
    const uint64_t exponent = most >> MANTISSA;
    if (exponent < 150 || exponent > 1990) return 0;
    double shift[2]; /* 3/2 2^52 units: what is added to it is rounded to a unit */
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t bits = (exponent + 11 - 43 * i) << MANTISSA | (uint64_t)1 << (MANTISSA - 1);
        memcpy(shift + i, &bits, sizeof bits);
    }
    Two high = {0}, low = {0};
    TwoBits rest = {0};
    for (int64_t i = 0; i < n; i += 2) {
        Two x;
        memcpy(&x, q + i, sizeof x);
        const Two a = (x + shift[0]) - shift[0], r = x - a, b = (r + shift[1]) - shift[1];
        high += a;
        low += b;
        rest |= (TwoBits)(r - b);
    }
    if ((uint64_t)(rest[0] | rest[1]) & ~SIGN) return 0;
    add_value(limbs, high[0] + high[1]);
    add_value(limbs, low[0] + low[1]);
    return 1;
}
/* The sums of a part are made apart, and enter the row at once. */
static void add_sums(const PiAcross *a, int64_t *item, const double *q, const double *r,
                     int64_t count, uint64_t most) {
    int64_t limbs[PI_PRODUCT_LIMBS];
    const int product = a->kind == PI_EXACT_PRODUCT;
    memset(limbs, 0, (size_t)a->width * sizeof *limbs);
    const int64_t level = count & ~(int64_t)1;
    for (int64_t i = !product && add_level(limbs, q, level, most) ? level : 0; i < count; i++)
        if (product && is_finite(q[i]) && is_finite(r[i])) add_product(limbs, q[i], r[i]);
        else if (!product && is_finite(q[i])) add_value(limbs, q[i]);
    for (int64_t i = 0; i < a->width; i++) item[i] += limbs[i];
}
/* Two at a time by the comparison of doubles, which leaves NaN out and takes the zeros for one. */
static void widen(int64_t *item, const double *q, int64_t count) {
    const double inf = INFINITY;
    Two low = {inf, inf}, high = -low;
    int64_t i = 0;
    for (; i + 2 <= count; i += 2) {
        Two x;
        memcpy(&x, q + i, sizeof x);
        const TwoBits below = (x < low), above = (x > high);
        low = (Two)((below & (TwoBits)x) | (~below & (TwoBits)low));
        high = (Two)((above & (TwoBits)x) | (~above & (TwoBits)high));
    }
    const TwoBits zero = (low == 0) | (high == 0);
    if (zero[0] | zero[1]) i = 0;
    for (int k = 0; i && k < 2; k++) {
        const int64_t least = ordered(low[k]), most = ordered(high[k]);
        item[0] = least < item[0] ? least : item[0];
        item[1] = most > item[1] ? most : item[1];
    }
    for (; i < count; i++) {
        if (q[i] != q[i]) continue;
        const int64_t place = ordered(q[i]);
        item[0] = place < item[0] ? place : item[0];
        item[1] = place > item[1] ? place : item[1];
    }
}
static int add_part(PiAcross *a, int64_t row, const double *q, const double *r, int64_t count) {
    int64_t *const item = a->items + row * a->width;
    const uint64_t most = count_special(a->tally + row * PI_TALLY, q, count);
    if (a->kind <= PI_EXACT_PRODUCT) add_sums(a, item, q, r, count, most);
    else if (a->kind == PI_EXTREMES) widen(item, q, count);
    else if (a->kind == PI_CELLS) return count_cells(a, row, q, count);
    for (int64_t i = 0; i < count && a->kind == PI_BINS; i++) {
        const int64_t bin = pi_bin_of(a->edges, a->bins, q[i]);
        if (bin >= 0) item[bin]++;
    }
    return 0;
}
/* The values at some places, in their order; without a copy where that is all from the first on. */
static const double *pick(double *to, const double *from, const int *at, int64_t count) {
    if (!count || at[count - 1] == count - 1) return from;
    for (int64_t i = 0; i < count; i++) to[i] = from[at[i]];
    return to;
}
int pi_across_add(PiAcross *a, int64_t row, const double *quantities, int64_t apart, const int *at,
                  const int64_t *lanes, int64_t count) {
    if (row < a->first || row - a->first >= a->rows) return 0;
    row -= a->first;
    int error = 0;
    double picked[2][PI_TOGETHER];
    const double *q = pick(picked[0], quantities + a->quantity[0] * apart, at, count);
    const double *r = pick(picked[1], quantities + a->quantity[1] * apart, at, count);
    for (int64_t i = 0; i < count && a->kind == PI_VALUES; i++)
        a->values[row * a->stride + lanes[i]] = q[i];
    while (atomic_flag_test_and_set_explicit(&a->busy, memory_order_acquire)) sched_yield();
    for (int64_t i = 0, end; i < count && !error; i = end) {
        const int32_t label = a->label ? a->label[lanes[i]] : 0; /* others may write to it */
        end = a->label ? i + 1 : count;
        while (end < count && a->label[lanes[end]] == label) end++;
        if (label < 0 || label >= a->groups) continue;
        error = add_part(a, row * a->groups + label, q + i, r + i, end - i);
    }
    atomic_flag_clear_explicit(&a->busy, memory_order_release);
    return error;
}
void pi_across_free(PiAcross *a) {
    free(a->slots);
    free(a->counts);
}
