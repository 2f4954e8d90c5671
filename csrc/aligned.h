/* Memory that begins at a cache line, as the widest registers require: Windows has its own
 * functions for it; and how a memory is divided. */
#pragma once
#include "sizes.h"

#ifdef _WIN32
#include <malloc.h>
static inline void *pi_aligned(int64_t bytes) { return _aligned_malloc(bytes, 64); }
static inline void pi_free_aligned(void *memory) { _aligned_free(memory); }
#else
static inline void *pi_aligned(int64_t bytes) { return aligned_alloc(64, bytes); }
static inline void pi_free_aligned(void *memory) { free(memory); }
#endif

/* Memory, of which a part is in use; NULL to compute only the size. Reserves bytes of it, or so
 * many items for a pointer, from a cache line on. */
typedef struct {
    char *at;
    int64_t used;
} PiMemory;
static inline void *pi_part_of(PiMemory *m, int64_t bytes) {
    char *here = m->at ? m->at + m->used : NULL;
    m->used = pi_sum(m->used, pi_rounded_up(bytes, 64));
    return here;
}
#define PLACE(memory, pointer, items)                                                              \
    ((pointer) = pi_part_of(memory, pi_product(items, sizeof *(pointer))))
