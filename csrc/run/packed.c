/* Lanes apart: see layout.h. */
#include "layout.h"

static int own_rows(const PiRun *run) { return 2 + run->system->n_params; }
PiPacked pi_place_packed(PiMemory *m, const PiRun *run, const PiTile *tile, int64_t room) {
    /* A cache line more than the lanes: multiples of 4 KiB would share few sets of the cache. */
    const int64_t row = pi_sum(64, pi_rounded_up(pi_product(room, run->real_bytes), 64));
    PiPacked p = {.run = run, .tile = tile, .stride = row / run->real_bytes};
    PLACE(m, p.in, pi_product(run->state_rows, row));
    PLACE(m, p.out, pi_product(run->state_rows, row));
    PLACE(m, p.own, pi_product(own_rows(run), row));
    PLACE(m, p.params, run->system->n_params);
    PLACE(m, p.at, room);
    PLACE(m, p.list, room);
    return p;
}
/* Row i of the data of the tile's lanes. */
static PiRow row_of(const PiTile *tile, int i) {
    return i == 0 ? tile->t0 : i == 1 ? tile->h : tile->params[i - 2];
}
void pi_packed_own(PiPacked *p) {
    const PiRun *run = p->run;
    EACH_BELOW(i, own_rows(run)) {
        const PiRow row = row_of(p->tile, i);
        if (row.stride)
            gather(run, row_at(run, row.data, 0, 0, p->tile->lane), p->at, p->count,
                   row_at(run, p->own, p->stride, i, 0));
    }
}
/* Gathers states at places `at` of the rows, and t0, h and parameters of the lanes p->at. */
static void collect(PiPacked *p, const void *rows, int64_t stride, const int64_t *at, char *to) {
    EACH_ROW(d, p->run)
        gather(p->run, row_at(p->run, rows, stride, d, 0), at, p->count,
               row_at(p->run, to, p->stride, d, 0));
    pi_packed_own(p);
}
void pi_packed_take(PiPacked *p, const PiPacked *from, int64_t n) {
    p->count = n;
    EACH_BELOW(i, n) p->at[i] = from->at[from->list[i]];
    collect(p, from->in, from->stride, from->list, p->in);
}
void pi_packed_collect(PiPacked *p, const void *rows, int64_t stride, char *to) {
    collect(p, rows, stride, p->at, to);
}
#define DROP(real)                                                                                 \
    for (int64_t i = n; i--;) ((real *)row)[list[i]] = ((real *)row)[p->count - n + i];
static void drop(const PiPacked *p, void *row, int64_t n) {
    const int64_t *list = p->list;
    WITH_REAL(p->run, DROP)
}
void pi_packed_drop(PiPacked *p, char *rows, int64_t n) {
    const PiRun *run = p->run;
    EACH_ROW(d, run) drop(p, row_at(run, rows, p->stride, d, 0), n);
    EACH_BELOW(i, own_rows(run))
        if (row_of(p->tile, i).stride) drop(p, row_at(run, p->own, p->stride, i, 0), n);
    for (int64_t i = n; i--;) p->at[p->list[i]] = p->at[--p->count];
}
void pi_packed_spread(const PiPacked *p, const char *rows, void *to) {
    EACH_ROW(d, p->run)
        scatter(p->run, row_at(p->run, rows, p->stride, d, 0), p->at, p->count,
                row_at(p->run, to, p->run->stride, d, 0));
}
static void fill_register(const PiPacked *p, void *row) {
    const int64_t width = p->run->vector_bytes / p->run->real_bytes;
    for (int64_t i = p->count; i % width; i++)
        set_number(p->run, row, i, number_at(p->run, row, p->count - 1));
}
PiTile pi_packed_tile(PiPacked *p, int64_t first, int64_t steps) {
    const PiRun *run = p->run;
    const int64_t width = run->vector_bytes / run->real_bytes;
    PiTile tile = *p->tile;
    EACH_ROW(d, run) fill_register(p, row_at(run, p->in, p->stride, d, 0));
    EACH_BELOW(i, own_rows(run)) {
        PiRow *to = i == 0 ? &tile.t0 : i == 1 ? &tile.h : &p->params[i - 2];
        *to = row_of(p->tile, i);
        if (!to->stride) continue;
        void *row = row_at(run, p->own, p->stride, i, 0);
        fill_register(p, row);
        to->data = row;
    }
    tile.registers = ceil_div(p->count, width);
    tile.in = p->in;
    tile.out = p->out;
    tile.in_stride = tile.out_stride = p->stride;
    tile.frozen = NULL;
    tile.lane = 0;
    tile.params = p->params;
    tile.first = first;
    tile.steps = steps;
    return tile;
}
