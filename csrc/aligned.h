/* Memory that begins at a cache line, as the widest registers require: Windows has its own
 * functions for it. */
#pragma once
#include <stdint.h>
#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
static inline void *pi_aligned(int64_t bytes) { return _aligned_malloc(bytes, 64); }
static inline void pi_free_aligned(void *memory) { _aligned_free(memory); }
#else
static inline void *pi_aligned(int64_t bytes) { return aligned_alloc(64, bytes); }
static inline void pi_free_aligned(void *memory) { free(memory); }
#endif
