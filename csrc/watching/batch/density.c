/* Densities: see density.h. */
#include "density.h"

/* An estimate, corrected by the edges. */
int64_t pi_bin_of(const double *edges, int64_t bins, double q) {
    if (!(q >= edges[0] && q <= edges[bins])) return -1;
    const double guess = (q - edges[0]) / (edges[bins] - edges[0]) * bins;
    int64_t i = guess >= 0 && guess < bins ? (int64_t)guess : bins - 1; /* also of 0 / 0 */
    while (i > 0 && q < edges[i]) i--;
    while (i < bins - 1 && q >= edges[i + 1]) i++;
    return i;
}
int64_t pi_place_in(const PiBins *b, double first, double second) {
    const int64_t there = pi_bin_of(b->edges[0], b->bins[0], first);
    if (there < 0 || b->axes == 1) return there;
    const int64_t column = pi_bin_of(b->edges[1], b->bins[1], second);
    return column < 0 ? -1 : there * b->bins[1] + column;
}
enum { AT_ONCE = 64 };
static void note(const PiDensity *d, int parity, const int64_t *place, int64_t count) {
    const int64_t from = atomic_fetch_add(&d->state[PI_NOTED + parity], count);
    int64_t *list = d->list + parity * d->room;
    int64_t *pending = d->pending + parity * d->of.bins[0] * d->of.bins[1];
    EACH_BELOW(i, count)
        if (i < d->room - from) list[from + i] = place[i];
        else __atomic_fetch_add(&pending[place[i]], 1, __ATOMIC_RELAXED);
}
void pi_density_add(const PiDensity *d, int64_t block, const double *quantities, int64_t lanes,
                    const int *at, int64_t count) {
    int64_t place[AT_ONCE], n = 0;
    EACH_BELOW(i, count) {
        const int64_t there = pi_place_in(&d->of, quantities[d->of.quantity[0] * lanes + at[i]],
                                          quantities[d->of.quantity[1] * lanes + at[i]]);
        if (there < 0) continue;
        place[n++] = there;
        if (n < AT_ONCE) continue;
        note(d, block & 1, place, n);
        n = 0;
    }
    if (n) note(d, block & 1, place, n);
}
void pi_density_open(const PiDensity *d, int64_t block) {
    int64_t before = block - 2;
    if (!atomic_compare_exchange_strong(&d->state[PI_MERGED], &before, block - 1)) return;
    const int parity = (block - 1) & 1;
    const int64_t bins = d->of.bins[0] * d->of.bins[1], noted = d->state[PI_NOTED + parity];
    const int64_t *list = d->list + parity * d->room;
    int64_t *pending = d->pending + parity * bins;
    EACH_WHILE(i, noted, i < d->room) d->image[list[i]]++;
    if (noted > d->room)
        EACH_BELOW(i, bins) d->image[i] += pending[i];
    if (noted > d->room) memset(pending, 0, bins * sizeof *pending);
    d->state[PI_NOTED + parity] = 0;
}
