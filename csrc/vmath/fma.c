/* fma(a, b, c) = a b + c with one rounding, where the C library has none that can be relied on: the
 * core takes that of the library wherever there is no instruction. WebAssembly has neither;
 * Windows' rounds twice now and then. In whole numbers; rounds to nearest, ties to even; subnormal
 * numbers, zeros with their signs, infinities and NaN as IEEE 754 has them. */
#if defined(_WIN32) || defined(__wasm__) || defined(PI_SOFTWARE_FMA)
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 Wide;
typedef double Two __attribute__((vector_size(16)));
typedef int64_t TwoBits __attribute__((vector_size(16)));

/* |x| = fraction 2^exponent, the fraction with its highest bit at 52 where x is not 0. */
typedef struct {
    uint64_t fraction;
    int exponent, negative;
} Parts;

enum { LEAST = -1074, BITS = 53 };

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static Parts take_apart(double x) {
    const uint64_t bits = bits_of(x), fraction = bits & (((uint64_t)1 << 52) - 1);
    const int biased = (int)(bits >> 52 & 0x7ff), negative = (int)(bits >> 63);
    if (biased) return (Parts){fraction | (uint64_t)1 << 52, biased - 1075, negative};
    if (!fraction) return (Parts){0, 0, negative};
    const int shift = __builtin_clzll(fraction) - 11;
    return (Parts){fraction << shift, LEAST - shift, negative};
}

/* The place of the highest bit that is set, from 0; the number is not 0. */
static int highest(Wide x) {
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

/* x 2^-shift; what is shifted out leaves its trace in the lowest bit. */
static Wide shifted_down(Wide x, int shift) {
    if (shift <= 0) return x << -shift;
    if (shift > 127) return x != 0;
    return x >> shift | ((x & (((Wide)1 << shift) - 1)) != 0);
}

/* The double nearest to x 2^exponent. */
static double put_together(Wide x, int exponent, int negative) {
    const uint64_t sign = (uint64_t)negative << 63;
    int down = highest(x) + 1 - BITS;
    if (exponent + down < LEAST) down = LEAST - exponent; /* a subnormal number has fewer bits */
    uint64_t fraction;
    if (down <= 0) fraction = (uint64_t)(x << -down);
    else {
        const Wide with_two = shifted_down(x, down - 2); /* two more bits: a half, and the trace */
        const unsigned rest = (unsigned)with_two & 3;
        fraction = (uint64_t)(with_two >> 2);
        fraction += rest > 2 || (rest == 2 && (fraction & 1));
    }
    exponent += down;
    if (fraction >> BITS) fraction >>= 1, exponent++;
    if (!(fraction >> (BITS - 1))) return of_bits(sign | fraction); /* subnormal: exponent LEAST */
    const int biased = exponent + 1075;
    if (biased >= 0x7ff) return of_bits(sign | (uint64_t)0x7ff << 52);
    return of_bits(sign | (uint64_t)biased << 52 | (fraction & (((uint64_t)1 << 52) - 1)));
}

/* a + b = sum + error, exactly (Knuth). */
static Two two_sum(Two a, Two b, Two *error) {
    const Two sum = a + b, of_b = sum - a;
    *error = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* a b = product + error, exactly (Dekker, with Veltkamp's halves of 26 bits). */
static Two two_product(Two a, Two b, Two *error) {
    const Two product = a * b, ta = (0x1p27 + 1) * a, tb = (0x1p27 + 1) * b;
    const Two ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
    *error = al * bl - (((product - ah * bh) - al * bh) - ah * bl);
    return product;
}

static double in_whole_numbers(double a, double b, double c) {
    const uint64_t special = (uint64_t)0x7ff << 52;
    if ((bits_of(a) & special) == special || (bits_of(b) & special) == special) return a * b + c;
    if ((bits_of(c) & special) == special)
        return c + 0.0 * a * b; /* a b is finite, however large */
    const Parts p = take_apart(a), q = take_apart(b), r = take_apart(c);
    if (!p.fraction || !q.fraction) return a * b + c;
    Wide product = (Wide)p.fraction * q.fraction; /* 105 or 106 bits */
    int exponent = p.exponent + q.exponent;
    const int negative = p.negative ^ q.negative;
    if (!r.fraction) return put_together(product, exponent, negative);
    /* With the highest bits below 126 a sum fits. What is smaller is shifted to the other; beyond
     * the bits that count, its trace in the lowest bit decides all roundings. */
    Wide addend = (Wide)r.fraction << 71; /* its highest bit at 123 */
    int addend_exponent = r.exponent - 71;
    const int up = 123 - highest(product);
    product <<= up, exponent -= up;
    if (exponent >= addend_exponent) {
        addend = shifted_down(addend, exponent - addend_exponent);
    } else {
        product = shifted_down(product, addend_exponent - exponent);
        exponent = addend_exponent;
    }
    if (negative == r.negative) return put_together(product + addend, exponent, negative);
    if (product == addend) return 0.0; /* +0: rounding to nearest */
    return product > addend ? put_together(product - addend, exponent, negative)
                            : put_together(addend - product, exponent, r.negative);
}

static Two size(Two a) { return (Two)((TwoBits)a & INT64_MAX); }
/* Two lanes, in doubles where nothing overflows, and a product so small that its error would be
 * subnormal is nothing beside c. Of the exact sum of three, the small parts are added with rounding
 * to odd, which a second rounding cannot spoil (Boldo and Melquiond, 2008, IEEE Trans. Comput. 57,
 * 462-471): where their sum is rounded, it is far below v. */
Two pi_fma(Two a, Two b, Two c) {
    Two low, v_low, error;
    const Two high = two_product(a, b, &low);
    const TwoBits ok = (size(a) + size(b) + size(c) + size(high) < 0x1p900) &
                       ((size(high) >= 0x1p-800) | (size(c) >= 0x1p-500));
    if (!(ok[0] & ok[1]))
        return (Two){in_whole_numbers(a[0], b[0], c[0]), in_whole_numbers(a[1], b[1], c[1])};
    const Two v = two_sum(high, c, &v_low), rest = two_sum(low, v_low, &error);
    /* To the neighbour on the side of the error, which is odd: one bit up, or down. */
    const TwoBits way = ((error > 0) ^ (rest > 0)) | 1, odd = -((TwoBits)rest & 1);
    return v + (Two)((TwoBits)rest + (way & (error != 0) & ~odd));
}
double fma(double a, double b, double c) {
    return pi_fma((Two){a, a}, (Two){b, b}, (Two){c, c})[0];
}
#else
typedef int PiNoSoftwareFma; /* a file has to have something */
#endif
