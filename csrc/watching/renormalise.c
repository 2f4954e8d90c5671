/* Renormalisation of tangents: see renormalise.h. Two lanes at a time, in registers that every
 * processor has. */
#include "renormalise.h"
#include "../run/layout.h"

enum { TWO = 2 };
typedef double Lanes __attribute__((vector_size(TWO * sizeof(double))));
typedef int64_t Bits __attribute__((vector_size(TWO * sizeof(int64_t))));

static inline Lanes all(double value) { return value - (Lanes){0}; }
static inline Lanes pick(Bits mask, Lanes a, Lanes b) {
    return (Lanes)((mask & (Bits)a) | (~mask & (Bits)b));
}
static inline Lanes magnitude(Lanes a) { return (Lanes)((Bits)a & INT64_MAX); }
/* e with 2^e <= |a| < 2^(e+1), if 2^-e is a normal number; 0 for 0, infinity and NaN. */
static inline Bits exponent(Lanes a) {
    const Bits e = ((Bits)a >> 52 & 2047) - 1023;
    const Bits none = (a == 0) | (e == 1024);
    const Bits small = e > 1022;
    return ~none & ((small & 1022) | (~small & e));
}
static inline Lanes as_number(Bits integer) { return __builtin_convertvector(integer, Lanes); }

/* log(a) for normal a: a = m 2^e with m from sqrt(1/2) on; log(m) = 2 artanh((m - 1) / (m + 1)), of
 * which ten terms leave an error of 1e-17. */
static Lanes logarithm(Lanes a) {
    Bits e = ((Bits)a >> 52) - 1023;
    Lanes m = (Lanes)(((Bits)a & 0xfffffffffffff) | 0x3ff0000000000000);
    const Bits high = m > 0x1.6a09e667f3bcdp0;
    m = pick(high, m * 0.5, m);
    e -= high; /* -1 if true */
    const Lanes f = (m - 1) / (m + 1), f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
    const Lanes a0 = 1 + 1 / 3. * f2, a1 = 1 / 5. + 1 / 7. * f2;
    const Lanes a2 = 1 / 9. + 1 / 11. * f2, a3 = 1 / 13. + 1 / 15. * f2;
    const Lanes a4 = 1 / 17. + 1 / 19. * f2 + 1 / 21. * f4;
    const Lanes sum = a0 + a1 * f4 + (a2 + a3 * f4 + a4 * f8) * f8;
    const Lanes number = as_number(e) * 0x1.62e42fefa39efp-1 + 2 * f * sum;
    return pick(a > 0, number, all(-HUGE_VAL));
}

static inline Lanes load(const PiRun *run, const char *rows, int64_t stride, int64_t row,
                         int64_t at) {
    const char *from = rows + (row * stride + at) * run->real_bytes;
    Lanes out = {0};
    if (run->real_bytes == 8) memcpy(&out, from, sizeof out);
    else
        for (int64_t i = 0; i < TWO; i++) out[i] = ((const float *)from)[i];
    return out;
}
static inline void store(const PiRun *run, char *rows, int64_t stride, int64_t row, int64_t at,
                         Lanes value, Bits still) {
    char *to = rows + (row * stride + at) * run->real_bytes;
    value = pick(still, load(run, rows, stride, row, at), value);
    if (run->real_bytes == 8) memcpy(to, &value, sizeof value);
    else
        for (int64_t i = 0; i < TWO; i++) ((float *)to)[i] = (float)value[i];
}
/* The mask of frozen lanes: all ones. */
static Bits frozen(const PiRun *run, int64_t tile, int64_t at) {
    const PiFailures *f = &run->failures[tile];
    Bits still = {0};
    if (f->count)
        for (int64_t i = 0; i < TWO; i++)
            still[i] = at + i < run->tile_lanes && f->step[at + i] >= 0 ? -1 : 0;
    return still;
}
static Lanes dot(const Lanes *a, const Lanes *b, int n) {
    Lanes sum = a[0] * b[0];
    for (int d = 1; d < n; d++) sum += a[d] * b[d];
    return sum;
}

/* The sums of the indicators, where |u_1|^2 = square 4^exponent. */
static void indicate(const PiRun *run, double *sums, Lanes exponent, Lanes square, double n,
                     Bits still) {
    Lanes row[PI_INDICATORS];
    for (int64_t i = 0; i < PI_INDICATORS; i++)
        memcpy(&row[i], sums + i * run->stride, sizeof *row);
    const Lanes L = exponent * 0x1.62e42fefa39efp-1 + 0.5 * logarithm(square);
    const Lanes now[] = {pick(L > row[0], L, row[0]), row[1] + L, row[2] + 2 * (L - row[1] / n)};
    for (int64_t i = 0; i < PI_INDICATORS; i++) {
        row[i] = pick(still, row[i], now[i]);
        memcpy(sums + i * run->stride, &row[i], sizeof *row);
    }
}

/* Two lanes from `at` of the tile on; u: room for all tangents and their squares; n: the number of
 * this evaluation of the indicators, from 1, or 0 if there is none. */
static void renormalise(const PiRenormalise *r, const PiRun *run, const PiSeen *seen, char *rows,
                        int64_t stride, int64_t at, double n, Lanes *u) {
    const Bits still = frozen(run, seen->tile, at);
    const int dim = r->dim;
    double *sums = r->sums + seen->lane + at;
    Lanes *square = u + (int64_t)r->vectors * dim;
    for (int64_t j = 0; j < r->vectors; j++) {
        Lanes *own = u + j * dim, most = {0}, count;
        for (int64_t d = 0; d < dim; d++) {
            own[d] = load(run, rows, stride, r->row[j * dim + d], at);
            const Lanes size = magnitude(own[d]);
            most = pick(size > most, size, most);
        }
        const Bits e = exponent(most);
        const Lanes scale = (Lanes)((1023 - e) << 52); /* 2^-e */
        for (int64_t d = 0; d < dim; d++) own[d] *= scale;
        Bits due = {-1, -1};
        for (int pass = 0; r->orthogonal && pass < 2 && (due[0] | due[1]); pass++) {
            for (int i = 0; i < j; i++) {
                const Lanes *other = u + i * dim;
                const Lanes part = dot(own, other, dim) / square[i];
                const Lanes c = pick(due & (square[i] > 0), part, all(0));
                for (int64_t d = 0; d < dim; d++) own[d] -= c * other[d];
            }
            due = dot(own, own, dim) < 0x1p-20; /* of 1 or more */
        }
        square[j] = dot(own, own, dim);
        for (int64_t d = 0; d < dim; d++)
            store(run, rows, stride, r->row[j * dim + d], at, own[d], still);
        memcpy(&count, sums + j * run->stride, sizeof count);
        count = pick(still, count, count + as_number(e));
        memcpy(sums + j * run->stride, &count, sizeof count);
        if (j == 0 && n > 0)
            indicate(run, sums + r->vectors * run->stride, count, square[0], n, still);
    }
}

static int intervene(void *self, PiRun *run, const PiSeen *seen, const PiTile *tile) {
    const PiRenormalise *r = self;
    const int64_t lanes = padded(run, seen->lanes), step = run->first + seen->step;
    const double n = r->indicators && step % r->every == 0 ? step / r->every : 0;
    for (int64_t at = 0; at < lanes; at += TWO)
        renormalise(r, run, seen, tile->out, tile->out_stride, at, n, seen->scratch);
    return 0;
}
static int64_t scratch_bytes(const void *self, const PiRun *run) {
    const PiRenormalise *r = self;
    return pi_product(pi_product(r->vectors, r->dim + 1), sizeof(Lanes));
}
PiObserver pi_renormalise_observer(PiRenormalise *r) {
    return (PiObserver){.self = r,
                        .every = r->every,
                        .alone = 1,
                        .intervene = intervene,
                        .scratch_bytes = scratch_bytes};
}
