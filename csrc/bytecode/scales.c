/* Factors of the rates that are constants of the trajectory, found in verified byte code. */
#include "bytecode.h"
#include <string.h>

/* The sections of the force; for a first-order system the second has no instructions. */
typedef struct {
    const PiProgramText *text;
    int32_t first[2], last[2];
    int component[2]; /* of the first answer */
} Force;
static Force force_of(const PiProgramText *x) {
    const PiQuestion question = x->dof ? PI_ACCELERATION : PI_RHS;
    return (Force){.text = x,
                   .first = {x->first[question], x->first[PI_VELOCITY]},
                   .last = {x->last[question], x->last[PI_VELOCITY]},
                   .component = {(int)x->dof, 0}};
}
static int32_t word_of(PiBank bank, int64_t number) {
    return (int32_t)((int64_t)bank << PI_BANK_SHIFT | number);
}

/* How often the force reads it. */
static int64_t reads(const Force *f, int32_t operand) {
    int64_t n = 0;
    for (int section = 0; section < 2; section++)
        for (int64_t at = f->first[section]; at >= 0 && at < f->last[section]; at++) {
            const int32_t *word = f->text->words + at * PI_WORDS;
            for (int i = 0; i < pi_operation(word[0])->arguments; i++) n += word[2 + i] == operand;
        }
    return n;
}

/* 1 + the parameter by which an instruction multiplies everything else; or 0. */
static int factor(const int32_t *word) {
    const PiOperation *operation = pi_operation(word[0]);
    const char *const name = operation->name, *const then = strstr(name, "_multiply");
    const int product = !strncmp(name, "multiply", 8) && (!name[8] || then || name[9] == 'n');
    const int from = product ? 0 : then ? operation->arguments - 1 : PI_ARGUMENTS;
    for (int i = from; i < operation->arguments; i++)
        if (word[2 + i] >> PI_BANK_SHIFT == PI_BANK_P)
            return 1 + (word[2 + i] & ((1 << PI_BANK_SHIFT) - 1));
    return 0;
}

void pi_find_scales(const PiProgramText *x, PiSystem *system) {
    const Force f = force_of(x);
    int found[PI_MAX_STATE] = {0};
    for (int section = 0; section < 2; section++)
        for (int64_t at = f.first[section]; at >= 0 && at < f.last[section]; at++) {
            const int32_t *word = x->words + at * PI_WORDS;
            const int64_t answer = word[1] - word_of(PI_BANK_OUT, 0);
            const int64_t d = answer + f.component[section];
            if (answer < 0 || d >= PI_MAX_STATE) continue;
            found[d] = reads(&f, word[1]) ? 0 : factor(word); /* the last one counts */
        }
    for (int d = 0; d < PI_MAX_STATE; d++) {
        int64_t uses = 0;
        for (int e = 0; e < PI_MAX_STATE; e++) uses += found[e] == found[d];
        if (found[d] && reads(&f, word_of(PI_BANK_P, found[d] - 1)) == uses)
            system->scale[d] = found[d];
    }
}
