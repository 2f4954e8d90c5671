/* Statistics across the batch: see across.h. */
#include "across.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "density.h"

enum { MANTISSA = 52, CELL_BITS = 8, FIRST_PAGES = 64 };

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
    wider.slots = calloc((size_t)wider.room, 4 * sizeof *wider.slots);
    wider.counts = wider.slots ? realloc(a->counts, pi_product(wider.room, 8 * PI_PAGE)) : NULL;
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
static int count_cell(PiAcross *a, int64_t row, double q) {
    uint64_t cell = bits_of(q - a->about) >> (MANTISSA - CELL_BITS);
    if (!(cell >> CELL_BITS & 2047)) cell = 0; /* zero and subnormals */
    const int64_t key = row << 15 | (int64_t)(cell / PI_PAGE);
    if (a->pages == a->room && grow(a)) return -1;
    int64_t *slot = find_slot(a, key);
    if (!slot[0]) {
        slot[0] = key + 1;
        slot[1] = a->pages++;
        memset(a->counts + slot[1] * PI_PAGE, 0, PI_PAGE * sizeof *a->counts);
    }
    a->counts[slot[1] * PI_PAGE + (int64_t)(cell % PI_PAGE)]++;
    return 0;
}

/* ---- values of a group ----------------------------------------------------------------------- */
static int is_finite(double q) { return (bits_of(q) >> MANTISSA & 2047) != 2047; }
static double value_of(const PiAcross *a, const double *quantities, int64_t apart, int at) {
    const double q = quantities[a->quantity[0] * apart + at];
    if (a->kind != PI_EXACT_PRODUCT) return q;
    const double r = quantities[a->quantity[1] * apart + at];
    return is_finite(q) && is_finite(r) ? 0.0 : q * r; /* only for the tally */
}
/* The sums of a part are made apart, and enter the row at once. */
static void add_sums(const PiAcross *a, int64_t *item, const double *quantities, int64_t apart,
                     const int *at, int64_t count) {
    int64_t limbs[PI_PRODUCT_LIMBS] = {0};
    const double *const q = quantities + a->quantity[0] * apart;
    const double *const r = quantities + a->quantity[1] * apart;
    const int product = a->kind == PI_EXACT_PRODUCT;
    for (int64_t i = 0; i < count; i++) {
        if (!is_finite(q[at[i]]) || (product && !is_finite(r[at[i]]))) continue;
        if (product) add_product(limbs, q[at[i]], r[at[i]]);
        else add_value(limbs, q[at[i]]);
    }
    for (int64_t i = 0; i < a->width; i++) item[i] += limbs[i];
}
static int add_part(PiAcross *a, int64_t row, const double *quantities, int64_t apart,
                    const int *at, int64_t count) {
    int64_t *const tally = a->tally + row * PI_TALLY, *const item = a->items + row * a->width;
    const double *const q = quantities + a->quantity[0] * apart;
    tally[0] += count;
    for (int64_t i = 0; i < count; i++) {
        const double value = value_of(a, quantities, apart, at[i]);
        if (is_finite(value)) continue;
        tally[value != value ? 1 : value > 0 ? 2 : 3]++;
    }
    if (a->kind <= PI_EXACT_PRODUCT) add_sums(a, item, quantities, apart, at, count);
    for (int64_t i = 0; i < count && a->kind == PI_EXTREMES; i++) {
        const double value = q[at[i]];
        if (value != value) continue;
        const int64_t place = ordered(value);
        if (place < item[0]) item[0] = place;
        if (place > item[1]) item[1] = place;
    }
    for (int64_t i = 0; i < count && a->kind == PI_CELLS; i++)
        if (is_finite(q[at[i]]) && count_cell(a, row, q[at[i]])) return -1;
    for (int64_t i = 0; i < count && a->kind == PI_BINS; i++) {
        const int64_t bin = pi_bin_of(a->edges, a->bins, q[at[i]]);
        if (bin >= 0) item[bin]++;
    }
    return 0;
}
int pi_across_add(PiAcross *a, int64_t row, const double *quantities, int64_t apart, const int *at,
                  const int64_t *lanes, int64_t count) {
    if (row < a->first || row - a->first >= a->rows) return 0;
    row -= a->first;
    int error = 0;
    for (int64_t i = 0; i < count && a->kind == PI_VALUES; i++)
        a->values[row * a->stride + lanes[i]] = quantities[a->quantity[0] * apart + at[i]];
    while (atomic_flag_test_and_set_explicit(&a->busy, memory_order_acquire)) sched_yield();
    for (int64_t i = 0, end; i < count && !error; i = end) {
        const int32_t label = a->label ? a->label[lanes[i]] : 0; /* others may write to it */
        for (end = i + 1; end < count && (!a->label || a->label[lanes[end]] == label);) end++;
        if (label < 0 || label >= a->groups) continue;
        error = add_part(a, row * a->groups + label, quantities, apart, at + i, end - i);
    }
    atomic_flag_clear_explicit(&a->busy, memory_order_release);
    return error;
}
void pi_across_free(PiAcross *a) {
    free(a->slots);
    free(a->counts);
}
