/* Recording: kernels write directly to an array that has the layout of their rows; otherwise its
 * items are copied from the scratch. */
#include "layout.h"

/* to[l lane_stride + i component_stride] = rows[saved[i]][l], by lanes, as these are contiguous in
 * memory where components are. */
#define WRITE(type)                                                                                \
    EACH_BELOW(l, lanes)                                                                           \
        EACH_BELOW(i, r->n_saved)                                                                  \
            ((type *)to)[l * r->lane_stride + i * r->component_stride] =                           \
                ((const type *)rows)[r->saved[i] * stride + l];

/* The rows of a tile for one save. */
static void write_save(const PiRun *run, const PiRecord *r, int64_t save, int64_t lane,
                       int64_t lanes, const void *rows, int64_t stride) {
    char *to = (char *)r->data + (save * r->save_stride + lane * r->lane_stride) * run->real_bytes;
    if (r->lane_stride == 1)
        EACH_BELOW(i, r->n_saved)
            memmove(row_at(run, to, r->component_stride, i, 0), /* given apart, or one array */
                    row_at(run, rows, stride, r->saved[i], 0), lanes * run->real_bytes);
    else WITH_REAL(run, WRITE)
}

/* The index of the first saved step that is not before a step. */
static int64_t first_save(const PiRecord *r, int64_t step) {
    int64_t from = 0, to = r->listed;
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        if (r->steps[middle] < step) from = middle + 1;
        else to = middle;
    }
    return from;
}
static int observe(void *self, const PiRun *run, const PiSeen *seen) {
    const PiRecord *r = self;
    if (seen->writer == self) return 0; /* they were written directly */
    int64_t save = r->steps ? first_save(r, seen->step) : ceil_div(seen->step, r->every);
    EACH_BELOW(i, seen->count) {
        const int64_t step = smaller(seen->step + i * seen->every, run->n_steps);
        if (r->steps && (save == r->listed || r->steps[save] != step)) continue;
        write_save(run, r, save++, seen->lane, seen->lanes,
                   row_at(run, seen->rows, seen->next, i, 0), seen->stride);
    }
    return 0;
}
/* Kernels write all components, and whole registers. */
static PiPlace place(void *self, const PiRun *run, int64_t lane, int64_t step) {
    const PiRecord *r = self;
    int direct = r->lane_stride == 1 && r->room >= run->stride && r->n_saved == run->system->dim;
    for (int i = 0; direct && i < r->n_saved; i++) direct = r->saved[i] == i;
    if (!direct || r->steps) return (PiPlace){0};
    return (PiPlace){row_at(run, r->data, r->save_stride, ceil_div(step, r->every), lane),
                     r->component_stride, r->save_stride, r->stream};
}
PiObserver pi_record_observer(PiRecord *record) {
    return (PiObserver){.self = record, .every = record->every, .observe = observe, .place = place};
}
