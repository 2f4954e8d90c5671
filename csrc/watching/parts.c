/* Parts of steps: see parts.h. */
#include "parts.h"
#include <math.h>
#include "../run/layout.h"

static int64_t whole_registers(const PiRun *run, int64_t lanes) {
    const int64_t width = run->vector_bytes / run->real_bytes;
    return ceil_div(lanes, width) * width;
}
static int64_t row_bytes(const PiRun *run, int64_t room) {
    return pi_rounded_up(pi_product(whole_registers(run, room), run->real_bytes), 64);
}
int64_t pi_parts_bytes(const PiRun *run, int64_t room) {
    const int64_t rows = 2 * (int64_t)run->state_rows + 2 + run->system->n_params;
    const int64_t bytes = pi_product(rows, row_bytes(run, room));
    const int64_t lists = pi_sum(pi_product(room, sizeof(int64_t)),
                                 pi_product(run->system->n_params + 1, sizeof(PiRow)));
    return pi_sum(bytes, pi_rounded_up(lists, 64));
}
PiParts pi_parts_make(const PiRun *run, const PiTile *tile, int64_t room, void *memory) {
    const int64_t row = row_bytes(run, room);
    PiParts p = {.run = run, .tile = tile, .room = room, .in = memory};
    p.out = p.in + run->state_rows * row;
    p.t = p.out + run->state_rows * row;
    p.h = p.t + row;
    p.own_params = p.h + row;
    p.params = (PiRow *)(p.own_params + run->system->n_params * row);
    p.lane = (int64_t *)(p.params + run->system->n_params + 1);
    return p;
}
void pi_parts_take(PiParts *p, const int64_t *lane, int64_t count) {
    const PiRun *run = p->run;
    const int64_t padded = whole_registers(run, count);
    memcpy(p->lane, lane, count * sizeof *lane);
    p->count = count;
    for (int i = 0; i < run->system->n_params; i++) {
        const PiRow row = p->tile->params[i];
        char *own = p->own_params + i * row_bytes(run, p->room);
        p->params[i] = row;
        if (!row.stride) continue;
        for (int64_t k = 0; k < padded; k++)
            pi_set_real(run, own, k, pi_real_at(run, row.data, lane[smaller(k, count - 1)]));
        p->params[i].data = own;
    }
}
int pi_parts_advance(const PiParts *p, const PiPart *part) {
    const PiRun *run = p->run;
    const int dim = run->system->dim, rows = run->state_rows;
    const int64_t padded = whole_registers(run, p->count), stride = whole_registers(run, p->room);
    for (int64_t k = 0; k < padded; k++) {
        const int64_t i = smaller(k, p->count - 1);
        const PiPart *one = &part[i];
        const double h = pi_real_at(run, p->tile->h.data, p->tile->h.stride * p->lane[i]);
        const double t0 = pi_real_at(run, p->tile->t0.data, p->tile->t0.stride * p->lane[i]);
        const int known = one->whole ? rows : dim;
        for (int d = 0; d < rows; d++)
            pi_set_real(run, p->in, d * stride + k, d < known ? one->from[d] : 0);
        const int64_t begun = one->whole ? 0 : one->n - 1;
        double t = run->real_bytes == 8 ? fma((double)begun, h, t0)
                                        : fmaf((float)begun, (float)h, (float)t0);
        if (one->passed != 0) t = pi_rounded(run, t + pi_rounded(run, one->passed));
        pi_set_real(run, p->t, k, t);
        pi_set_real(run, p->h, k, one->h);
    }
    PiTile tile = *p->tile;
    tile.registers = padded * run->real_bytes / run->vector_bytes;
    tile.in = p->in;
    tile.out = p->out;
    tile.in_stride = tile.out_stride = stride;
    tile.record = NULL;
    tile.stream = 0;
    tile.lane = 0;
    tile.t0 = (PiRow){p->t, 1};
    tile.h = (PiRow){p->h, 1};
    tile.params = p->params;
    tile.first = part->whole ? part->n - 1 : 0;
    tile.steps = 1;
    tile.frozen = NULL;
    tile.reach = NULL;
    tile.status = NULL;
    if (run->kernel(&tile) < 0) return -1;
    for (int64_t k = 0; k < p->count; k++)
        for (int d = 0; d < rows; d++) part[k].to[d] = pi_real_at(run, p->out, d * stride + k);
    return 0;
}
