/* Memory, threads and locks that the C core asks for, some of which are refused: linked into the
 * core of make sanitize by the linker's --wrap (REFUSED in the Makefile).
 * tests/stress/attack/memory.py says which. */
#include <stdatomic.h>
#include <stddef.h>

static _Atomic long long asked, first = -1, last = -1;

/* From now on requests number first to last - 1 are refused, counted from 0; how many there were
 * since the call before. */
__attribute__((visibility("default"))) long long pi_refuse(long long from, long long until);
long long pi_refuse(long long from, long long until) {
    first = from;
    last = until;
    return atomic_exchange(&asked, 0);
}
static int refused(void) {
    const long long number = atomic_fetch_add(&asked, 1);
    return number >= first && number < last;
}

#define WRAPPED(result, function, parameters, arguments, refusal)                                  \
    result __real_##function parameters;                                                           \
    result __wrap_##function parameters;                                                           \
    result __wrap_##function parameters {                                                          \
        return refused() ? refusal : __real_##function arguments;                                  \
    }
WRAPPED(void *, malloc, (size_t bytes), (bytes), NULL)
WRAPPED(void *, calloc, (size_t n, size_t bytes), (n, bytes), NULL)
WRAPPED(void *, realloc, (void *memory, size_t bytes), (memory, bytes), NULL)
WRAPPED(void *, aligned_alloc, (size_t unit, size_t bytes), (unit, bytes), NULL)
WRAPPED(void *, PyMem_Malloc, (size_t bytes), (bytes), NULL)
WRAPPED(void *, PyMem_Calloc, (size_t n, size_t bytes), (n, bytes), NULL)
WRAPPED(void *, PyMem_Realloc, (void *memory, size_t bytes), (memory, bytes), NULL)
WRAPPED(void *, PyThread_allocate_lock, (void), (), NULL)
WRAPPED(unsigned long, PyThread_start_new_thread, (void (*function)(void *), void *argument),
        (function, argument), (unsigned long)-1)
