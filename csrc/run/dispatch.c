/* The instruction sets, and which of them this machine and its operating system
 * support. */
#include "run.h"

extern const PiKernelSet pi_baseline_f64, pi_baseline_f32;
#if defined(__x86_64__)
extern const PiKernelSet pi_avx2_f64, pi_avx2_f32, pi_avx512_f64, pi_avx512_f32;
#endif

/* A build for one machine leaves out the sets that it does not use (setup.py). */
static const PiIsa isas[] = {
    {"baseline", &pi_baseline_f64, &pi_baseline_f32},
#if defined(__x86_64__)
#ifdef PI_WITHOUT_AVX2
    {"avx2", NULL, NULL},
#else
    {"avx2", &pi_avx2_f64, &pi_avx2_f32},
#endif
#ifdef PI_WITHOUT_AVX512
    {"avx512", NULL, NULL},
#else
    {"avx512", &pi_avx512_f64, &pi_avx512_f32},
#endif
#endif
};

const PiIsa *pi_isa(int number) {
    return number >= 0 && number < (int)(sizeof isas / sizeof *isas) ? &isas[number] : NULL;
}

#if defined(__x86_64__)
/* cpuid gives the features of the processor, xgetbv the registers that the operating system saves.
 */
#include <cpuid.h>
static int has_registers(int number) {
    enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX2 = 1 << 5 };
    const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 31; /* F, DQ, VL */
    const unsigned saved = number == 1 ? 0x06 : 0xe6;       /* of 256 bits, of 512 bits and masks */
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !(c & FMA)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & saved) == saved && (number == 1 || (b & avx512) == avx512);
}
#endif

/* Is the C library's fma, which the baseline uses, exact? (1 + e)(1 - e) - 1 = -e^2 is lost if the
 * product is rounded before the sum. */
static int fma_is_exact(void) {
    volatile double e = 0x1p-30;
    volatile float f = 0x1p-14f;
    return fma(1 + e, 1 - e, -1.0) == -0x1p-60 && fmaf(1 + f, 1 - f, -1.0f) == -0x1p-28f;
}
static int machine_has(int number) {
    if (number == 0) return fma_is_exact();
#if defined(__x86_64__)
    return has_registers(number);
#else
    return 0;
#endif
}
int pi_isa_supported(int number) { return isas[number].f64 && machine_has(number); }
const char *pi_isa_missing(void) {
    for (int i = sizeof isas / sizeof *isas - 1; i >= 0; i--)
        if (machine_has(i)) return isas[i].f64 ? NULL : isas[i].name;
    return NULL;
}

/* Other libraries change the rounding mode and flush subnormals to zero; the bits of a run depend
 * on neither. */
#if defined(__x86_64__)
#include <xmmintrin.h>
uint32_t pi_enter_float_mode(void) {
    const uint32_t mode = _mm_getcsr();
    _mm_setcsr(0x1f80);
    return mode;
}
void pi_leave_float_mode(uint32_t mode) { _mm_setcsr(mode); }
/* Reading is cheap; the lowest six bits are flags that operations raise. */
void pi_keep_float_mode(void) {
    if ((_mm_getcsr() & ~0x3fu) != 0x1f80) _mm_setcsr(0x1f80);
}
#elif defined(__aarch64__)
uint32_t pi_enter_float_mode(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return (uint32_t)mode;
}
void pi_leave_float_mode(uint32_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
void pi_keep_float_mode(void) { pi_enter_float_mode(); }
#else
uint32_t pi_enter_float_mode(void) { return 0; }
void pi_leave_float_mode(uint32_t mode) {}
void pi_keep_float_mode(void) {}
#endif
