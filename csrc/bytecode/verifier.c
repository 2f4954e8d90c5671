/* Untrusted byte code becomes a program here, or is refused: there are no checks after this. */
#include "bytecode.h"
#include <stdarg.h>
#include <stdio.h>
#include "../aligned.h"

static const PiOperation operations[] = {
#define PRODUCT(name, arguments, from, ...) {#name, arguments, #__VA_ARGS__, 1 + from},
#define OPERATION(name, arguments, ...)     {#name, arguments, #__VA_ARGS__, 0},
#define CHEAP                               OPERATION
#include "operations.h"
#undef CHEAP
#undef PRODUCT
#undef OPERATION
};
const PiOperation *pi_operation(int64_t number) {
    return number >= 0 && number < (int64_t)(sizeof operations / sizeof *operations)
               ? &operations[number]
               : NULL;
}

int pi_program_has(const PiProgram *program, PiQuestion question) {
    return program->first[question == PI_RHS && program->system.dof ? PI_ACCELERATION : question] >=
           0;
}

/* The rows of the numbers of a step with noise. */
static int64_t numbers_of(const PiProgramText *x) { return x->noises * (x->second ? 2 : 1); }

/* ---- the verifier ---------------------------------------------------------------------------- */
/* Which rows of a bank a section may read, and which it has written so far. */
typedef struct {
    long long readable[PI_BANKS];
    char *written[PI_BANKS]; /* scratch, answers, and in the preparation the derived parameters */
} Section;

static int refuse(char *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PI_MESSAGE, format, arguments);
    va_end(arguments);
    return -1;
}

const char *const pi_bank_names[PI_BANKS] = {[PI_BANK_SCRATCH] = "scratch",
                                             [PI_BANK_Y] = "y",
                                             [PI_BANK_V] = "v",
                                             [PI_BANK_P] = "p",
                                             [PI_BANK_T] = "t",
                                             [PI_BANK_CONSTANT] = "constant",
                                             [PI_BANK_OUT] = "out"};

static int check_argument(const Section *s, long long at, int32_t word, char *message) {
    const int32_t bank = pi_bank(word), number = pi_number(word);
    if (word < 0 || bank >= PI_BANKS)
        return refuse(message, "instruction %lld: no bank %d", at, bank);
    if (number >= s->readable[bank])
        return refuse(message, "instruction %lld reads %s[%d] of %lld", at, pi_bank_names[bank],
                      number, s->readable[bank]);
    if (s->written[bank] && !s->written[bank][number])
        return refuse(message, "instruction %lld reads %s[%d], which is not written yet", at,
                      pi_bank_names[bank], number);
    return 0;
}
static int check_target(const Section *s, const PiProgramText *x, long long at, int32_t word,
                        char *message) {
    const int32_t bank = pi_bank(word), number = pi_number(word);
    const int writable = word >= 0 && bank < PI_BANKS && s->written[bank] &&
                         number < s->readable[bank] && !(bank == PI_BANK_P && number < x->n_params);
    if (!writable)
        return refuse(message, "instruction %lld writes where it must not (%d)", at, word);
    s->written[bank][number] = 1;
    return 0;
}
static int check_instruction(const Section *s, const PiProgramText *x, long long at,
                             char *message) {
    const int32_t *word = x->words + at * PI_WORDS;
    const PiOperation *operation = pi_operation(word[0]);
    if (!operation) return refuse(message, "instruction %lld: no operation %d", at, word[0]);
    EACH_BELOW(i, PI_ARGUMENTS) {
        if (i >= operation->arguments && word[2 + i] != 0)
            return refuse(message, "instruction %lld: %s takes %d arguments", at, operation->name,
                          operation->arguments);
        if (i < operation->arguments && check_argument(s, at, word[2 + i], message)) return -1;
    }
    return check_target(s, x, at, word[1], message);
}

/* A section reads what its question provides and writes the whole result. */
static int check_section(const PiProgramText *x, PiQuestion question, const int64_t answers,
                         char *memory, char *message) {
    const int32_t first = x->first[question], last = x->last[question];
    if (first < 0 || last < first || last > x->n_code)
        return refuse(message, "question %d: no section %d to %d of %lld instructions", question,
                      first, last, x->n_code);
    const int prepare = question == PI_PREPARE, velocity = question == PI_VELOCITY;
    Section s = {.readable = {[PI_BANK_SCRATCH] = x->n_registers,
                              [PI_BANK_Y] = x->dim,
                              [PI_BANK_V] = x->dof,
                              [PI_BANK_P] = x->n_params + x->n_derived,
                              [PI_BANK_T] = 1,
                              [PI_BANK_CONSTANT] = x->n_constants,
                              [PI_BANK_OUT] = answers}};
    if (question == PI_ACCELERATION) s.readable[PI_BANK_Y] = x->dof;
    if (question == PI_NEXT) s.readable[PI_BANK_V] = numbers_of(x);
    if (velocity || prepare) s.readable[PI_BANK_Y] = s.readable[PI_BANK_T] = 0;
    if (prepare) s.readable[PI_BANK_V] = 0;
    const int64_t rows = x->n_registers + answers + x->n_params + x->n_derived;
    memset(memory, 0, rows);
    s.written[PI_BANK_SCRATCH] = memory;
    s.written[PI_BANK_OUT] = memory + x->n_registers;
    if (prepare) {
        s.written[PI_BANK_P] = memory + x->n_registers + answers;
        memset(s.written[PI_BANK_P], 1, x->n_params);
    }
    for (long long at = first; at < last; at++)
        if (check_instruction(&s, x, at, message)) return -1;
    for (long long i = x->n_registers; i < rows - (prepare ? 0 : x->n_params + x->n_derived); i++)
        if (!memory[i])
            return refuse(message, "question %d: row %lld of the answer is never written", question,
                          i - x->n_registers);
    return 0;
}

static int check_sizes(const PiProgramText *x, char *message) {
    const struct {
        const char *name;
        long long value, least, most;
    } sizes[] = {
        {"dim", x->dim, 1, PI_MAX_NUMBER},
        {"dof", x->dof, 0, PI_MAX_NUMBER},
        {"n_params", x->n_params, 0, PI_MAX_NUMBER},
        {"n_derived", x->n_derived, 0, PI_MAX_NUMBER},
        {"n_invariants", x->n_invariants, 0, PI_MAX_NUMBER},
        {"n_registers", x->n_registers, 0, PI_MAX_REGISTERS},
        {"n_constants", x->n_constants, 0, PI_MAX_CONSTANTS},
        {"n_code", x->n_code, 0, PI_MAX_CODE},
        {"noises", x->noises, 0, PI_MAX_NUMBER / 2},
        {"second", x->second, PI_NO_SECOND, PI_INCREMENTS_AHEAD},
        {"tangents", x->tangents, 0, PI_MAX_NUMBER},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < sizes[i].least || sizes[i].value > sizes[i].most)
            return refuse(message, "%s is %lld, expected %lld to %lld", sizes[i].name,
                          sizes[i].value, sizes[i].least, sizes[i].most);
    if (x->dof && x->dim != 2 * x->dof)
        return refuse(message, "dim is %lld and dof %lld: expected half of it, or 0", x->dim,
                      x->dof);
    if ((x->dof ? x->dof : x->dim) % (1 + x->tangents))
        return refuse(message, "%lld tangents and their motion do not share the components",
                      x->tangents);
    const PiQuestion foreign[] = {PI_ACCELERATION, PI_VELOCITY};
    EACH_BELOW(i, 2)
        if (!x->dof && x->first[foreign[i]] >= 0)
            return refuse(message, "first order, and a section for question %d", foreign[i]);
    if (x->dof && x->first[PI_RHS] >= 0)
        return refuse(message, "the right-hand side follows from the acceleration");
    if (x->first[PI_NEXT] >= 0 && x->n_params < PI_OF_RUN)
        return refuse(message, "steps with noise without the parameters of the run");
    if (x->n_derived && x->first[PI_PREPARE] < 0)
        return refuse(message, "derived parameters, and no section for them");
    return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */
/* alike: for each scratch row, as bits, the ways in which it has one value for all lanes. */
static PiInstruction decode(const int32_t *word, uint8_t *alike) {
    enum { ALL_WAYS = (1 << PI_WAYS) - 1 };
    /* The ways in which what a bank holds has one value. */
    static const uint8_t same_of[PI_BANKS] = {[PI_BANK_CONSTANT] = ALL_WAYS,
                                              [PI_BANK_P] = 1 | 1 << PI_OWN_TIMES,
                                              [PI_BANK_T] = 1 | 1 << PI_OWN_PARAMETERS};
    const int arguments = pi_operation(word[0])->arguments;
    unsigned once = ALL_WAYS;
    PiInstruction i = {
        .operation = word[0], .target_bank = pi_bank(word[1]), .target = pi_number(word[1])};
    EACH_BELOW(a, PI_ARGUMENTS) {
        i.bank[a] = pi_bank(word[2 + a]);
        i.argument[a] = pi_number(word[2 + a]);
        unsigned same = 0; /* the ways in which the argument has one value */
        if (a < arguments) {
            same = i.bank[a] == PI_BANK_SCRATCH ? alike[i.argument[a]] : same_of[i.bank[a]];
            once &= same;
            i.in_place |= word[2 + a] == word[1];
        }
        EACH_BELOW(way, PI_WAYS) i.varies[way] |= (~same >> way & 1) << a;
    }
    if (i.target_bank == PI_BANK_SCRATCH) i.once = alike[i.target] = once;
    return i;
}

int64_t pi_reads(const PiProgramText *x, PiQuestion question, int64_t least, int64_t end) {
    int64_t n = 0;
    for (int64_t at = x->first[question]; at >= 0 && at < x->last[question]; at++) {
        const int32_t *word = x->words + at * PI_WORDS;
        EACH_BELOW(i, pi_operation(word[0])->arguments)
            n += word[2 + i] >= least && word[2 + i] < end;
    }
    return n;
}
static int reads(const PiProgramText *x, PiQuestion question, int64_t bank) {
    return pi_reads(x, question, bank << PI_BANK_SHIFT, (bank + 1) << PI_BANK_SHIFT) > 0;
}
static PiSystem describe(const PiProgramText *x) {
    const int noisy = x->first[PI_NEXT] >= 0;
    const PiQuestion force = noisy ? PI_NEXT : x->dof ? PI_ACCELERATION : PI_RHS;
    return (PiSystem){
        .name = "",
        .structure = !x->dof                      ? PI_FIRST_ORDER
                     : x->first[PI_VELOCITY] >= 0 ? PI_SEPARABLE
                                                  : PI_SECOND_ORDER,
        .dim = x->dim,
        .dof = x->dof,
        .velocity_dependent = x->dof && reads(x, force, PI_BANK_V),
        .time_dependent = reads(x, force, PI_BANK_T) || reads(x, PI_ENERGY, PI_BANK_T),
        .n_params = x->n_params,
        .n_derived = x->n_derived,
        .n_invariants = x->n_invariants,
        .scratch = x->n_registers,
        .noisy = noisy,
        .noises = x->noises,
        .second = x->second,
        .tangents = x->tangents,
        .operations = x->last[force] - x->first[force] + 32 * numbers_of(x),
        .no_jacobian = x->first[PI_JACOBIAN] < 0,
    };
}

/* The parameters on which each derived one depends, as bits; all bits if that is not known. */
static void find_needs(const PiProgramText *x, uint64_t *scratch, uint64_t *needs) {
    for (int64_t at = x->first[PI_PREPARE]; at >= 0 && at < x->last[PI_PREPARE]; at++) {
        const int32_t *word = x->words + at * PI_WORDS;
        uint64_t all = 0;
        EACH_BELOW(i, pi_operation(word[0])->arguments) {
            const int32_t bank = pi_bank(word[2 + i]), number = pi_number(word[2 + i]);
            if (bank == PI_BANK_SCRATCH) all |= scratch[number];
            else if (bank == PI_BANK_P && number >= x->n_params) all |= needs[number - x->n_params];
            else if (bank == PI_BANK_P) all |= number < 64 ? (uint64_t)1 << number : UINT64_MAX;
        }
        const int32_t target = pi_number(word[1]);
        if (pi_bank(word[1]) == PI_BANK_SCRATCH) scratch[target] = all;
        else needs[target - x->n_params] = all;
    }
}

PiProgram *pi_program_make(const PiProgramText *x, char message[PI_MESSAGE]) {
    message[0] = 0;
    if (check_sizes(x, message)) return NULL;
    const PiSystem sizes = {.dim = x->dim, .dof = x->dof, .n_invariants = x->n_invariants};
    EACH_BELOW(question, PI_QUESTIONS) {
        const int64_t answers = pi_answer_rows(&sizes, question);
        if (x->first[question] == -1 && x->last[question] == -1) continue;
        if (answers > x->n_code + 1) {
            refuse(message, "question %d: more answers than instructions", question);
            return NULL;
        }
        char *memory = malloc(1 + x->n_registers + answers + x->n_params + x->n_derived);
        const int error = !memory || check_section(x, question, answers, memory, message);
        free(memory);
        if (error) return NULL;
    }
    PiProgram shape = {.system = describe(x)};
    pi_find_scales(x, &shape.system);
    memcpy(shape.first, x->first, sizeof shape.first);
    memcpy(shape.last, x->last, sizeof shape.last);
    /* One block: the program, its constants in both precisions, its code. */
    const int64_t table = pi_product(PI_CONSTANT_BYTES, x->n_constants);
    PiInstruction *instructions;
    uint64_t *derived, *scratch = calloc(x->n_registers + 1, sizeof *scratch);
    char *constants;
    PiProgram *program;
    PiMemory block = {NULL, 0};
    EACH_BELOW(placed, 2) {
        if (placed) block = (PiMemory){pi_aligned(block.used), 0};
        PLACE(&block, program, 1);
        PLACE(&block, constants, pi_product(2, table));
        PLACE(&block, instructions, x->n_code);
        PLACE(&block, derived, x->n_derived);
    }
    if (!program || !scratch) {
        pi_free_aligned(program);
        free(scratch);
        return NULL;
    }
    EACH_BELOW(i, x->n_constants) {
        double *wide = (double *)(constants + i * PI_CONSTANT_BYTES);
        float *narrow = (float *)(constants + table + i * PI_CONSTANT_BYTES);
        for (size_t k = 0; k < PI_CONSTANT_BYTES / sizeof *wide; k++) wide[k] = x->constants[i];
        for (size_t k = 0; k < PI_CONSTANT_BYTES / sizeof *narrow; k++) narrow[k] = x->constants[i];
    }
    /* A section reads no row that it has not written; what is in none is not verified. */
    EACH_BELOW(question, PI_QUESTIONS)
        for (int64_t i = x->first[question]; i >= 0 && i < x->last[question]; i++)
            instructions[i] = decode(x->words + i * PI_WORDS, (uint8_t *)scratch);
    memset(scratch, 0, x->n_registers * sizeof *scratch);
    find_needs(x, scratch, derived);
    free(scratch);
    shape.needs = derived;
    shape.code = instructions;
    shape.constants[0] = constants;
    shape.constants[1] = constants + table;
    *program = shape;
    return program;
}
void pi_program_free(PiProgram *program) { pi_free_aligned(program); }
