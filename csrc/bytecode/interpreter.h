/* The interpreter of byte code (bytecode.h): each instruction runs over a row of registers, which
 * fits the first-level cache. Compiled for each instruction set by kernels/; no allocation, no
 * jumps.
 */
#pragma once
#include "bytecode.h"
#include "../simd.h"
#include "../vmath/vmath.h"

/* Where the rows of each bank begin, their distance, and what has one value for all lanes, so that
 * one register suffices. */
typedef struct {
    const char *base[PI_BANKS];
    int64_t stride[PI_BANKS];
    int way;         /* of PI_WAYS */
    uint64_t single; /* those that all lanes share, as bits, if some parameters differ */
} Banks;

enum {
#define CHEAP(name, ...) OPERATION_##name,
#define PRODUCT          CHEAP
#define OPERATION        CHEAP
#include "operations.h"
#undef CHEAP
#undef PRODUCT
#undef OPERATION
};

INLINE vreal *row_of(const Banks *banks, int bank, int64_t number) {
    return (vreal *)(banks->base[bank] + number * banks->stride[bank]);
}

/* Which arguments differ from lane to lane, as bits. */
INLINE unsigned what_varies(const PiInstruction *at, const Banks *banks) {
    unsigned varies = at->varies[banks->way];
    for (int i = 0; banks->single && i < PI_ARGUMENTS; i++)
        if (at->bank[i] == PI_BANK_P && banks->single >> (at->argument[i] & 63) & 1)
            varies &= ~(1u << i);
    return varies;
}

/* to = f(a, b, c, d), n registers, in blocks without a branch. An operand shared by all lanes is
 * loaded once, before the loop: memory traffic dominates. With two or more such operands the
 * generic loop REST runs, each with its own stride (0 or 1).
 *
 * `strides` has a bit for each operand: set where it differs from lane to lane. */
enum { ABREAST = 2, ALL_VARY = (1 << PI_ARGUMENTS) - 1 };
#define OPERANDS(A, B, C, D)                                                                       \
    const vreal a = A, b = B, c = C, d = D;                                                        \
    (void)a, (void)b, (void)c, (void)d;
/* shared: 1 + the only operand that is; 0 for none. */
#define OR_ONE(k) (shared == k + 1 ? one : p[k][i + u])
#define BLOCKS(number, arguments, ...)                                                             \
    if (number <= arguments && strides == (ALL_VARY & ~(1u << number >> 1))) {                     \
        enum { shared = number };                                                                  \
        const vreal one = *p[shared ? shared - 1 : 0];                                             \
        for (; i + ABREAST <= n; i += ABREAST) {                                                   \
            vreal result[ABREAST];                                                                 \
            EACH(u, ABREAST) {                                                                     \
                OPERANDS(OR_ONE(0), OR_ONE(1), OR_ONE(2), OR_ONE(3))                               \
                result[u] = __VA_ARGS__;                                                           \
            }                                                                                      \
            EACH(u, ABREAST) to[i + u] = result[u];                                                \
        }                                                                                          \
    }
#define ITEM(k) p[k][i * (strides >> k & 1)]
#define REST(...)                                                                                  \
    for (; i < n; i++) {                                                                           \
        OPERANDS(ITEM(0), ITEM(1), ITEM(2), ITEM(3))                                               \
        to[i] = __VA_ARGS__;                                                                       \
    }                                                                                              \
    break;
#define OPERATION(name, arguments, ...)                                                            \
    case OPERATION_##name: REST(__VA_ARGS__)
#ifdef PI_ROWS_ONLY /* size before speed */
#define CHEAP OPERATION
#else
#define CHEAP(name, arguments, ...)                                                                \
    case OPERATION_##name:                                                                         \
        BLOCKS(0, arguments, __VA_ARGS__)                                                          \
        BLOCKS(1, arguments, __VA_ARGS__)                                                          \
        BLOCKS(2, arguments, __VA_ARGS__)                                                          \
        BLOCKS(3, arguments, __VA_ARGS__)                                                          \
        BLOCKS(4, arguments, __VA_ARGS__)                                                          \
        REST(__VA_ARGS__)
#endif
#define PRODUCT(name, arguments, from, ...) CHEAP(name, arguments, __VA_ARGS__)

static void run_section(const PiInstruction *at, const PiInstruction *end, const Banks *banks,
                        int64_t registers) {
    for (; at < end; at++) {
        const int64_t n = at->once >> banks->way & 1 ? 1 : registers;
        vreal *to = row_of(banks, at->target_bank, at->target);
        const unsigned strides = what_varies(at, banks);
        /* held: what all lanes share, if the first result overwrites it */
        vreal held[PI_ARGUMENTS];
        const vreal *p[PI_ARGUMENTS];
        int64_t i = 0;
        EACH(k, PI_ARGUMENTS) {
            p[k] = row_of(banks, at->bank[k], at->argument[k]);
            if (at->in_place && !(strides >> k & 1)) held[k] = *p[k], p[k] = &held[k];
        }
        switch (at->operation) {
#include "operations.h"
        default: __builtin_unreachable(); /* guaranteed by the verifier */
        }
    }
}
#undef OPERANDS
#undef OR_ONE
#undef BLOCKS
#undef ITEM
#undef REST
#undef CHEAP
#undef PRODUCT
#undef OPERATION

/* The section of a question, with pauses in a long one. */
static int run_pieces(const PiProgram *program, PiQuestion question, const Banks *banks,
                      const PiRows *rows) {
    enum { PIECE = 128 };
    if (program->first[question] < 0) return 0;
    const PiInstruction *at = program->code + program->first[question],
                        *end = program->code + program->last[question];
    for (; end - at > PIECE; at += PIECE) {
        run_section(at, at + PIECE, banks, rows->registers);
        if (pi_pause(rows->pause)) return -1;
    }
    run_section(at, end, banks, rows->registers);
    return 0;
}

/* Which parameters have one value for all lanes, with the derived ones that depend only on such.
 * None if they are more than the bits. */
INLINE uint64_t single_parameters(const PiProgram *program, uint64_t uniform, uint64_t all) {
    const int n = program->system.n_params, derived = program->system.n_derived;
    const uint64_t own = pi_lowest_bits(n);
    if (n + derived > 64 || !(uniform &= own)) return 0;
    if (uniform == own) return all;
    EACH_BELOW(i, derived)
        if (!(program->needs[i] & ~uniform)) uniform |= (uint64_t)1 << (n + i);
    return uniform;
}

static Banks banks_of(const PiProgram *program, PiQuestion question, const PiRows *rows) {
    const int64_t bytes = rows->registers * PI_VECTOR_BYTES;
    const int halves =
        question == PI_ACCELERATION || question == PI_VELOCITY || question == PI_NEXT;
    Banks banks;
    EACH_BELOW(bank, PI_BANKS) banks.stride[bank] = bytes;
    banks.base[PI_BANK_SCRATCH] = rows->scratch;
    banks.base[PI_BANK_Y] = rows->y;
    banks.base[PI_BANK_V] = halves ? rows->v : banks.base[PI_BANK_Y] + program->system.dof * bytes;
    banks.base[PI_BANK_P] = rows->p;
    banks.base[PI_BANK_T] = rows->t;
    banks.base[PI_BANK_OUT] = rows->out;
    banks.base[PI_BANK_CONSTANT] = program->constants[PI_REAL_BITS == 32];
    banks.stride[PI_BANK_CONSTANT] = PI_CONSTANT_BYTES;
    const uint64_t all = pi_lowest_bits(program->system.n_params + program->system.n_derived);
    banks.single = single_parameters(program, rows->uniform, all);
    banks.way =
        (banks.single != all || !all ? PI_OWN_PARAMETERS : 0) | (rows->one_time ? 0 : PI_OWN_TIMES);
    if (!(banks.way & PI_OWN_PARAMETERS)) banks.single = 0; /* known beforehand */
    return banks;
}
/* A PiForce: context is a PiProgram. */
static int pi_run_program(const void *context, PiQuestion question, const PiRows *rows) {
    const Banks banks = banks_of(context, question, rows);
    return run_pieces(context, question, &banks, rows);
}
/* A PiApart. */
static int run_program_apart(const void *context, PiQuestion question, const PiApartRows *apart) {
    const PiProgram *program = context;
    Banks banks = banks_of(program, question, &apart->rows);
    banks.stride[PI_BANK_Y] = banks.stride[PI_BANK_V] = apart->y * PI_VECTOR_BYTES;
    banks.stride[PI_BANK_P] = apart->p * PI_VECTOR_BYTES;
    banks.stride[PI_BANK_OUT] = apart->out * PI_VECTOR_BYTES;
    banks.base[PI_BANK_V] = banks.base[PI_BANK_Y] + program->system.dof * banks.stride[PI_BANK_Y];
    return run_pieces(program, question, &banks, &apart->rows);
}
