/* The byte code of a user's force: what Python assembles, C verifies, and interpreter.h runs.
 *
 * An instruction is six words: operation, target, and four arguments; those not used are 0. A
 * target or argument is a bank and a number in it, `bank << 24 | number`. Each question has a
 * section of the code, a straight line without jumps. */
#pragma once
#include "../tiles.h"

typedef enum {
    PI_BANK_SCRATCH,
    PI_BANK_Y,        /* state; positions for the acceleration */
    PI_BANK_V,        /* velocities (momenta): the second half of the state */
    PI_BANK_P,        /* parameters, then those derived from them */
    PI_BANK_T,        /* the time */
    PI_BANK_CONSTANT, /* one value for all lanes */
    PI_BANK_OUT,      /* the result */
    PI_BANKS
} PiBank;

enum {
    PI_WORDS = 6,
    PI_ARGUMENTS = PI_WORDS - 2,
    PI_BANK_SHIFT = 24,
    PI_CONSTANT_BYTES = 64,     /* each constant fills the widest register */
    PI_MAX_CODE = 1 << 22,      /* instructions */
    PI_MAX_REGISTERS = 1 << 16, /* rows of scratch memory */
    PI_MAX_CONSTANTS = 1 << 16,
};

/* What differs from lane to lane. Constants do not; parameters do if they have one value per lane
 * (PI_OWN_PARAMETERS; if only some have, these bits are corrected at run time), the time if starts
 * or steps have (PI_OWN_TIMES); scratch rows if anything does from which they are computed. For
 * each combination, `varies` has a bit for each argument, set if it differs (or is not used), and
 * `once` a bit that is set if the result does not and one register of it suffices. in_place: the
 * result takes the row of an argument. */
enum { PI_OWN_PARAMETERS = 1, PI_OWN_TIMES = 2, PI_WAYS = 4 };
typedef struct {
    uint8_t operation, target_bank, bank[PI_ARGUMENTS], varies[PI_WAYS], once, in_place;
    int32_t target, argument[PI_ARGUMENTS];
} PiInstruction;

/* A verified program. Second-order and separable systems have sections for the acceleration, of
 * which kernels make the right-hand side: velocities first (or PI_VELOCITY), then the acceleration.
 */
typedef struct {
    PiSystem system;                                 /* only its numbers: it has no names */
    int32_t first[PI_QUESTIONS], last[PI_QUESTIONS]; /* instructions; first < 0: no answer */
    const uint64_t
        *needs; /* for each derived parameter: those that it depends on; all bits: past 64 */
    const PiInstruction *code;
    const char *constants[2]; /* 64-byte blocks, in float64 and in float32 */
} PiProgram;

/* The claims of the maker of a program; the verifier trusts none of them. */
typedef struct {
    long long dim, dof, n_params, n_derived, n_invariants, n_registers, n_constants, n_code;
    long long noises, second; /* of a step with noise */
    long long tangents;
    int32_t first[PI_QUESTIONS], last[PI_QUESTIONS];
    const int32_t *words;    /* n_code times PI_WORDS */
    const double *constants; /* n_constants */
} PiProgramText;

static inline int32_t pi_bank(int32_t word) { return word >> PI_BANK_SHIFT; }
static inline int32_t pi_number(int32_t word) { return word & ((1 << PI_BANK_SHIFT) - 1); }
/* How often the section of a question reads a word from `least` on, up to `end`. */
int64_t pi_reads(const PiProgramText *text, PiQuestion question, int64_t least, int64_t end);

enum { PI_MESSAGE = 160 };
/* Verifies byte code and makes a program from it; NULL with a message (or an empty one without
 * memory). Freed by pi_program_free. */
PiProgram *pi_program_make(const PiProgramText *text, char message[PI_MESSAGE]);
void pi_program_free(PiProgram *program);
/* The scales of the rates (PiSystem.scale): parameters by which the force multiplies a result
 * as its last operation, and which it does not read otherwise. */
void pi_find_scales(const PiProgramText *text, PiSystem *system);
/* Does the program answer the question? */
int pi_program_has(const PiProgram *program, PiQuestion question);

extern const char *const pi_bank_names[PI_BANKS];
/* The operations by number: name, arguments and result, as in operations.h; NULL past
 * the end. */
typedef struct {
    const char *name;
    int arguments;
    const char *text;
    int factors; /* of a product: 1 + the first argument by which all the rest is multiplied; or 0
                  */
} PiOperation;
const PiOperation *pi_operation(int64_t number);
