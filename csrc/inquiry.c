/* Questions to any force for a whole batch: rows are gathered in chunks, the answer scattered. */
#include "bytecode.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK_REGISTERS = 16 };

/* `items` lanes of a row from number `lane` on; past the last lane, copies of it. */
static void gather(const PiInquiry *q, PiRow row, int64_t lane, int64_t items, char *to) {
    const int bytes = q->real_bytes;
    const char *data = (const char *)row.data;
    const int64_t there = row.step ? (items < q->lanes - lane ? items : q->lanes - lane) : 0;
    if (there) memcpy(to, data + lane * bytes, there * bytes);
    for (int64_t i = there; i < items; i++)
        memcpy(to + i * bytes, data + row.step * (q->lanes - 1) * bytes, bytes);
}

int pi_inquire(const PiInquiry *q, PiQuestion question) {
    const int64_t vector = q->vector_bytes / q->real_bytes, most = CHUNK_REGISTERS * vector;
    const int64_t chunk = q->lanes < most ? (q->lanes + vector - 1) / vector * vector : most;
    const int64_t bytes = chunk * q->real_bytes;
    const int64_t rows = 1 + q->dim + q->n_params + q->n_derived + q->answers + q->scratch;
    char *memory = aligned_alloc(64, (rows * bytes + 63) / 64 * 64);
    if (!memory) return -1;
    int error = 0;
    for (int64_t lane = 0; lane < q->lanes && !error; lane += chunk) {
        const int64_t left = q->lanes - lane < chunk ? q->lanes - lane : chunk;
        const int64_t registers = (left + vector - 1) / vector, items = registers * vector;
        const int64_t row = items * q->real_bytes;
        char *t = memory, *y = t + row, *p = y + q->dim * row,
             *out = p + (q->n_params + q->n_derived) * row, *scratch = out + q->answers * row;
        gather(q, q->t, lane, items, t);
        for (int64_t d = 0; d < q->dim; d++) gather(q, q->y[d], lane, items, y + d * row);
        for (int64_t d = 0; d < q->n_params; d++) gather(q, q->params[d], lane, items, p + d * row);
        const PiRows given = {registers, t, y, y + q->dof * row, p, out, scratch};
        error = q->force(q->context, PI_PREPARE, &given);
        if (!error) error = q->force(q->context, question, &given);
        for (int64_t i = 0; i < q->answers && !error; i++)
            memcpy((char *)q->out + (i * q->lanes + lane) * q->real_bytes, out + i * row,
                   left * q->real_bytes);
    }
    free(memory);
    return error;
}
