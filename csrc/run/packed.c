/* Lanes apart: see layout.h. */
#include "layout.h"

static int own_rows(const PiRun *run) { return 2 + run->system->n_params; }
/* A cache line more than the lanes: multiples of 4 KiB would share few sets of the cache. */
int64_t pi_packed_row(const PiRun *run, int64_t room) {
    return pi_sum(64, pi_rounded_up(pi_product(room, run->real_bytes), 64));
}
int64_t pi_packed_bytes(const PiRun *run, int64_t room) {
    const int64_t rows = 2 * (int64_t)run->state_rows + own_rows(run);
    const int64_t lists = pi_sum(pi_product(room, sizeof(int64_t)),
                                 pi_product(run->system->n_params + 1, sizeof(PiRow)));
    return pi_sum(pi_product(rows, pi_packed_row(run, room)), pi_rounded_up(lists, 64));
}
PiPacked pi_packed_in(const PiRun *run, const PiTile *tile, int64_t room, void *memory) {
    const int64_t row = pi_packed_row(run, room);
    PiPacked p = {.run = run, .tile = tile, .stride = row / run->real_bytes, .in = memory};
    p.out = p.in + run->state_rows * row;
    p.own = p.out + run->state_rows * row;
    p.params = (PiRow *)(p.own + own_rows(run) * row);
    p.at = (int64_t *)(p.params + run->system->n_params + 1);
    return p;
}
/* Row i of the data of the tile's lanes. */
static PiRow row_of(const PiTile *tile, int i) {
    return i == 0 ? tile->t0 : i == 1 ? tile->h : tile->params[i - 2];
}
#define COPY_LANE(real)                                                                            \
    for (int64_t d = 0; d < run->state_rows; d++)                                                  \
        ((real *)to_rows)[d * stride + i] = ((const real *)rows)[d * from->stride + j];            \
    for (int64_t d = 0; d < own_rows(run); d++)                                                    \
        if (row_of(to->tile, d).stride)                                                            \
            ((real *)to->own)[d * stride + i] = ((const real *)from->own)[d * from->stride + j];
void pi_packed_copy(PiPacked *to, char *to_rows, int64_t i, const PiPacked *from, const char *rows,
                    int64_t j) {
    const PiRun *run = to->run;
    const int64_t stride = to->stride;
    WITH_REAL(run, COPY_LANE)
    to->at[i] = from->at[j];
}
void pi_packed_own(PiPacked *p) {
    const PiRun *run = p->run;
    for (int64_t i = 0; i < own_rows(run); i++) {
        const PiRow row = row_of(p->tile, i);
        if (row.stride)
            gather(run, row_at(run, row.data, 0, 0, p->tile->lane), p->at, p->count,
                   row_at(run, p->own, p->stride, i, 0));
    }
}
void pi_packed_collect(PiPacked *p, const void *rows, int64_t stride, char *to) {
    for (int64_t d = 0; d < p->run->state_rows; d++)
        gather(p->run, row_at(p->run, rows, stride, d, 0), p->at, p->count,
               row_at(p->run, to, p->stride, d, 0));
    pi_packed_own(p);
}
void pi_packed_spread(const PiPacked *p, const char *rows, void *to) {
    for (int64_t d = 0; d < p->run->state_rows; d++)
        scatter(p->run, row_at(p->run, rows, p->stride, d, 0), p->at, p->count,
                row_at(p->run, to, p->run->stride, d, 0));
}
PiTile pi_packed_tile(PiPacked *p, int64_t first, int64_t steps) {
    const PiRun *run = p->run;
    const int64_t width = run->vector_bytes / run->real_bytes;
    for (int64_t i = p->count; i % width; i++) pi_packed_copy(p, p->in, i, p, p->in, p->count - 1);
    PiTile tile = *p->tile;
    for (int64_t i = 0; i < own_rows(run); i++) {
        PiRow *const to = i == 0 ? &tile.t0 : i == 1 ? &tile.h : &p->params[i - 2];
        *to = row_of(p->tile, i);
        if (to->stride) to->data = row_at(run, p->own, p->stride, i, 0);
    }
    tile.registers = ceil_div(p->count, width);
    tile.in = p->in;
    tile.out = p->out;
    tile.in_stride = tile.out_stride = p->stride;
    tile.record = NULL;
    tile.stream = 0;
    tile.frozen = NULL;
    tile.reach = NULL;
    tile.status = NULL;
    tile.lane = 0;
    tile.params = p->params;
    tile.first = first;
    tile.steps = steps;
    return tile;
}
