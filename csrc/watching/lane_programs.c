/* Programs of byte code, run for lanes at their own steps and times. */
#include "lane_programs.h"
#include <string.h>

static int64_t most_scratch(const PiLaneProgram *of) {
    const int a = of->program.system->scratch, b = of->system.system->scratch;
    return a > b ? a : b;
}
static int ask(ProgramRows *r, const ResolvedSystem *system, PiQuestion question, double *p,
               double *out) {
    const int64_t registers = r->lanes * (int64_t)sizeof(double) / system->set->vector_bytes;
    const PiRows rows = {.registers = registers,
                         .t = r->t,
                         .y = r->y,
                         .v = r->y + system->system->dof * r->lanes,
                         .p = p,
                         .out = out,
                         .scratch = r->scratch};
    return system->force(system->context, question, &rows);
}
int pi_load_parameters(ProgramRows *r, const int64_t *id) {
    const PiLaneProgram *of = r->of;
    const ResolvedSystem *own = &of->system;
    const int n = of->program.system->n_params, n_own = own->system->n_params;
    if (!memcmp(r->holds, id, (size_t)r->lanes * sizeof *id)) return 0;
    int changed = 0;
    for (int64_t i = 0; i < r->lanes; i++) {
        if (id[i] < 0 || id[i] == r->holds[i]) continue;
        changed = 1;
        r->holds[i] = id[i];
        for (int k = 0; k < n; k++) {
            r->p[k * r->lanes + i] = pi_item(of->params[k], id[i]);
            if (k < n_own) r->own_p[k * r->lanes + i] = r->p[k * r->lanes + i];
        }
    }
    if (!changed) return 0;
    if (ask(r, &of->program, PI_PREPARE, r->p, r->p)) return -1;
    return of->asks & PI_WATCH_SYSTEM ? ask(r, own, PI_PREPARE, r->own_p, r->own_p) : 0;
}
int pi_run_program(ProgramRows *r) {
    const PiLaneProgram *of = r->of;
    double *row = r->y + (of->system.system->dim + 1) * r->lanes; /* past the index of the step */
    if (of->asks & PI_WATCH_ENERGY) {
        if (ask(r, &of->system, PI_ENERGY, r->own_p, row)) return -1;
        row += r->lanes;
    }
    if (of->asks & PI_WATCH_INVARIANTS && ask(r, &of->system, PI_INVARIANTS, r->own_p, row))
        return -1;
    return ask(r, &of->program, PI_INVARIANTS, r->p, r->answer);
}

void pi_place_program(char *memory, int64_t *used, const PiLaneProgram *of, ProgramRows *r,
                      int64_t lanes) {
    const PiSystem *program = of->program.system;
    const int64_t row = pi_product(lanes, sizeof(double)), n = pi_parameter_rows(program);
    const int64_t own = pi_parameter_rows(of->system.system), known = pi_sum(program->dim, n) + own;
    double *const y = pi_part_of(memory, used, pi_product(known + 1, row));
    double *const scratch = pi_part_of(memory, used, pi_product(most_scratch(of), row));
    double *const answer = pi_part_of(memory, used, pi_product(program->n_invariants, row));
    int64_t *const holds = pi_part_of(memory, used, row);
    if (!memory) return;
    *r = (ProgramRows){.of = of, .lanes = lanes, .y = y, .p = y + program->dim * lanes};
    r->own_p = r->p + n * lanes;
    r->t = y + known * lanes;
    r->scratch = scratch, r->answer = answer, r->holds = holds;
    memset(y, 0, (size_t)((known + 1) * row));
    memset(answer, 0, (size_t)(program->n_invariants * row));
    for (int64_t i = 0; i < lanes; i++) holds[i] = -1;
}
