/* Sizes that cannot wrap around: one that overflows, or began as a negative number, is as large as
 * possible; no memory is that large, and no array. And loops over so many items, and what the core
 * takes from C. */
#pragma once
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EACH_FROM(i, from, to)  for (int64_t i = (from); i < (to); i++)
#define EACH_BELOW(i, n)        EACH_FROM(i, 0, n)
#define EACH_WHILE(i, n, going) for (int64_t i = 0; i < (n) && (going); i++)

#define PI_TOO_LARGE INT64_MAX
static inline int64_t pi_product(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? PI_TOO_LARGE : product;
}
static inline int64_t pi_sum(int64_t a, int64_t b) {
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? PI_TOO_LARGE : sum;
}
/* The next multiple of a power of two. */
static inline int64_t pi_rounded_up(int64_t n, int64_t unit) {
    const int64_t sum = pi_sum(n, unit - 1);
    return sum == PI_TOO_LARGE ? sum : sum & ~(unit - 1);
}
/* As many bits as possible, the lowest n. */
static inline uint64_t pi_lowest_bits(int64_t n) {
    return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}
