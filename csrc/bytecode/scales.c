/* Factors of the rates that are constants of the trajectory, found in verified byte code. */
#include "bytecode.h"

/* The sections of the force; for a first-order system the second has no instructions. */
typedef struct {
    const PiProgramText *text;
    PiQuestion section[2];
} Force;

/* How often the force reads an operand. */
static int64_t reads(const Force *f, int64_t operand) {
    return pi_reads(f->text, f->section[0], operand, operand + 1) +
           pi_reads(f->text, f->section[1], operand, operand + 1);
}

/* 1 + the parameter by which an instruction multiplies everything else; or 0. */
static int factor(const int32_t *word) {
    const PiOperation *operation = pi_operation(word[0]);
    const int first = operation->factors ? operation->factors - 1 : PI_ARGUMENTS;
    EACH_FROM(i, first, operation->arguments)
        if (pi_bank(word[2 + i]) == PI_BANK_P) return 1 + pi_number(word[2 + i]);
    return 0;
}

void pi_find_scales(const PiProgramText *x, PiSystem *system) {
    const Force f = {x, {x->dof ? PI_ACCELERATION : PI_RHS, PI_VELOCITY}};
    int found[PI_MAX_STATE] = {0};
    EACH_BELOW(half, 2)
        for (int64_t at = x->first[f.section[half]]; at >= 0 && at < x->last[f.section[half]];
             at++) {
            const int32_t *word = x->words + at * PI_WORDS;
            const int64_t d = pi_number(word[1]) + (half ? 0 : x->dof);
            if (pi_bank(word[1]) != PI_BANK_OUT || d >= PI_MAX_STATE) continue;
            found[d] = reads(&f, word[1]) ? 0 : factor(word); /* the last one counts */
        }
    EACH_BELOW(d, PI_MAX_STATE) {
        int64_t uses = 0;
        EACH_BELOW(e, PI_MAX_STATE) uses += found[e] == found[d];
        const int64_t operand = ((int64_t)PI_BANK_P << PI_BANK_SHIFT) + found[d] - 1;
        if (found[d] && reads(&f, operand) == uses) system->scale[d] = found[d];
    }
}
