/* The interpreter of byte code (bytecode.h): each instruction runs over a row of registers, which
 * lie in the first cache. Compiled for each instruction set by kernels.h; no allocation, no jumps. */
#pragma once
#include "bytecode.h"
#include "simd.h"
#include "vmath/vmath.h"

/* Where the rows of each bank begin, how far they are apart, and whether a row has a register for
 * each lane (step 1) or one for all (step 0, constants). */
typedef struct {
    char *base[PI_BANKS];
    int64_t stride[PI_BANKS], step[PI_BANKS];
} Banks;

enum {
#define CHEAP(name, ...)     OPERATION_##name,
#define OPERATION(name, ...) OPERATION_##name,
#include "operations.h"
#undef CHEAP
#undef OPERATION
};

INLINE vreal *row_of(const Banks *banks, int bank, int64_t number) {
    return (vreal *)(banks->base[bank] + number * banks->stride[bank]);
}

/* to = f(a, b, c, d), n registers. Most instructions have a register for each lane: blocks of eight
 * without a branch. On constants (step 0) the loop has the steps of all arguments. */
#define ARGUMENTS(sa, sb, sc, sd)                                                                  \
    const vreal a = pa[i * (sa)], b = pb[i * (sb)], c = pc[i * (sc)], d = pd[i * (sd)];            \
    (void)a, (void)b, (void)c, (void)d;
#define CHEAP(name, arguments, ...)                                                                \
    case OPERATION_##name: {                                                                       \
        int64_t i = 0;                                                                             \
        if (sa & sb & sc & sd)                                                                     \
            for (; i + 8 <= n; i += 8) {                                                           \
                vreal result[8];                                                                   \
                EACH(u, 0, 8) {                                                                    \
                    const vreal a = pa[i + u], b = pb[i + u], c = pc[i + u], d = pd[i + u];        \
                    (void)a, (void)b, (void)c, (void)d;                                            \
                    result[u] = __VA_ARGS__;                                                       \
                }                                                                                  \
                EACH(u, 0, 8) to[i + u] = result[u];                                               \
            }                                                                                      \
        _Pragma("GCC unroll 4") for (; i < n; i++) {                                               \
            ARGUMENTS(sa, sb, sc, sd)                                                              \
            to[i] = __VA_ARGS__;                                                                   \
        }                                                                                          \
        break;                                                                                     \
    }
#define OPERATION(name, arguments, ...)                                                            \
    case OPERATION_##name:                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                          \
            ARGUMENTS(sa, sb, sc, sd)                                                              \
            to[i] = __VA_ARGS__;                                                                   \
        }                                                                                          \
        break;

static void run_section(const PiInstruction *at, const PiInstruction *end, const Banks *banks,
                        int64_t n) {
    for (; at < end; at++) {
        vreal *to = row_of(banks, at->target_bank, at->target);
        const vreal *pa = row_of(banks, at->bank[0], at->argument[0]),
                    *pb = row_of(banks, at->bank[1], at->argument[1]),
                    *pc = row_of(banks, at->bank[2], at->argument[2]),
                    *pd = row_of(banks, at->bank[3], at->argument[3]);
        const int64_t sa = banks->step[at->bank[0]], sb = banks->step[at->bank[1]],
                      sc = banks->step[at->bank[2]], sd = banks->step[at->bank[3]];
        switch (at->operation) {
#include "operations.h"
        }
    }
}
#undef ARGUMENTS
#undef CHEAP
#undef OPERATION

/* A PiForce: context is a PiProgram. */
static int run_program(const void *context, PiQuestion question, const PiRows *rows) {
    const PiProgram *q = (const PiProgram *)context;
    const int dof = q->system.dof;
    const int64_t n = rows->registers, bytes = n * PI_VECTOR_BYTES;
    const int halves = question == PI_ACCELERATION || question == PI_VELOCITY;
    Banks banks;
    for (int bank = 0; bank < PI_BANKS; bank++) {
        banks.stride[bank] = bytes;
        banks.step[bank] = 1;
    }
    banks.base[PI_BANK_SCRATCH] = (char *)rows->scratch;
    banks.base[PI_BANK_Y] = (char *)rows->y;
    banks.base[PI_BANK_V] = halves ? (char *)rows->v : (char *)rows->y + dof * bytes;
    banks.base[PI_BANK_P] = (char *)rows->p;
    banks.base[PI_BANK_T] = (char *)rows->t;
    banks.base[PI_BANK_CONSTANT] = (char *)q->constants[PI_REAL_BITS == 32];
    banks.stride[PI_BANK_CONSTANT] = PI_CONSTANT_BYTES;
    banks.step[PI_BANK_CONSTANT] = 0;
    banks.base[PI_BANK_OUT] = (char *)rows->out;
    if (question == PI_RHS && dof) { /* x' = v or T_p, then v' */
        if (q->first[PI_VELOCITY] >= 0)
            run_section(q->code + q->first[PI_VELOCITY], q->code + q->last[PI_VELOCITY], &banks, n);
        else memcpy(rows->out, banks.base[PI_BANK_V], dof * bytes);
        banks.base[PI_BANK_OUT] += dof * bytes;
        question = PI_ACCELERATION;
    }
    if (q->first[question] >= 0)
        run_section(q->code + q->first[question], q->code + q->last[question], &banks, n);
    return 0;
}
