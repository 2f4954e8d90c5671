/* Renormalisation of tangents: see renormalise.h. */
#include "renormalise.h"
#include "../run/layout.h"

/* 2^e. */
static double power(int64_t e) {
    const int64_t bits = (e + 1023) * ((int64_t)1 << 52);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
/* e with 2^e <= a < 2^(e+1) of normal numbers a > 0; 1024 of infinity and NaN. */
static int64_t exponent(double a) {
    int64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (bits >> 52) - 1023;
}
/* log(a) for normal a: a = m 2^e with m from sqrt(1/2) on; log(m) = 2 artanh((m - 1) / (m + 1)), of
 * which ten terms leave an error of 1e-17. */
static double logarithm(double a) {
    if (!(a > 0)) return -HUGE_VAL;
    int64_t e = exponent(a);
    double m = a * power(-e);
    if (m > 0x1.6a09e667f3bcdp0) m *= 0.5, e++;
    const double f = (m - 1) / (m + 1), f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
    const double a0 = 1 + 1 / 3. * f2, a1 = 1 / 5. + 1 / 7. * f2;
    const double a2 = 1 / 9. + 1 / 11. * f2, a3 = 1 / 13. + 1 / 15. * f2;
    const double a4 = 1 / 17. + 1 / 19. * f2 + 1 / 21. * f4;
    const double sum = a0 + a1 * f4 + (a2 + a3 * f4 + a4 * f8) * f8;
    return e * 0x1.62e42fefa39efp-1 + 2 * f * sum;
}
static double dot(const double *a, const double *b, int n) {
    double sum = a[0] * b[0];
    EACH_FROM(d, 1, n) sum += a[d] * b[d];
    return sum;
}

/* The sums of the indicators, where |u_1|^2 = square 4^exponent. */
static void indicate(const PiRun *run, double *sums, double exponent, double square, double n) {
    double *largest = sums, *total = sums + run->stride, *y = total + run->stride;
    const double L = exponent * 0x1.62e42fefa39efp-1 + 0.5 * logarithm(square);
    if (L > *largest) *largest = L;
    *y += 2 * (L - *total / n);
    *total += L;
}

/* Lane `at` of the tile; u: room for all tangents and their squares; n: the number of this
 * evaluation of the indicators, from 1, or 0 if there is none. */
static void renormalise(const PiRenormalise *r, const PiRun *run, double *sums, char *rows,
                        int64_t stride, int64_t at, double n, double *u) {
    const int dim = r->dim;
    double *square = u + r->vectors * dim;
    EACH_BELOW(j, r->vectors) {
        const int64_t *row = r->row + j * dim;
        double *own = u + j * dim, most = 0, left = 0;
        EACH_BELOW(d, dim) {
            own[d] = number_at(run, rows, row[d] * stride + at);
            most = fabs(own[d]) > most ? fabs(own[d]) : most;
        }
        /* 2^-e is a normal number. */
        const int64_t e = most > 0 && most <= DBL_MAX ? smaller(exponent(most), 1022) : 0;
        EACH_BELOW(d, dim) own[d] *= power(-e);
        for (int pass = 0; r->orthogonal && pass < 2 && left < 0x1p-20; pass++) { /* of 1 or more */
            EACH_BELOW(i, j) {
                const double *other = u + i * dim;
                const double c = square[i] > 0 ? dot(own, other, dim) / square[i] : 0;
                EACH_BELOW(d, dim) own[d] -= c * other[d];
            }
            left = dot(own, own, dim);
        }
        square[j] = dot(own, own, dim);
        EACH_BELOW(d, dim) set_number(run, rows, row[d] * stride + at, own[d]);
        sums[j * run->stride] += e;
        if (j == 0 && n > 0) indicate(run, sums + r->vectors * run->stride, sums[0], square[0], n);
    }
}

static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    const PiRenormalise *r = self;
    const int64_t lanes = tile->registers * run->vector_bytes / run->real_bytes;
    const int64_t step = run->first + seen->step;
    const double n = r->indicators && step % r->every == 0 ? step / r->every : 0;
    EACH_BELOW(at, lanes)
        if (at >= seen->lanes || !is_frozen(&run->failures[seen->tile], at))
            renormalise(r, run, r->sums + seen->lane + at, tile->out, tile->out_stride, at, n,
                        seen->scratch);
    return 0;
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    const PiRenormalise *r = self;
    return pi_product(pi_product(r->vectors, r->dim + 1), sizeof(double));
}
PiObserver pi_renormalise_observer(PiRenormalise *r) {
    return (PiObserver){.self = r,
                        .every = r->every,
                        .alone = 1,
                        .intervene = intervene,
                        .scratch_bytes = scratch_bytes};
}
