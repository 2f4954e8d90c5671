/* Programs of byte code, run for lanes at their own steps and times. */
#include "lane_programs.h"
#include <string.h>

static int64_t most_scratch(const PiLaneProgram *of) {
    const int a = of->program.system->scratch, b = of->system.system->scratch;
    return a > b ? a : b;
}
int64_t pi_program_bytes(const PiLaneProgram *of, int64_t lanes) {
    const PiSystem *program = of->program.system;
    const int64_t rows = (int64_t)program->dim + pi_parameter_rows(program) +
                         pi_parameter_rows(of->system.system) + program->n_invariants +
                         most_scratch(of) + 2;
    return pi_product(rows, pi_product(lanes, sizeof(double)));
}
void pi_open_program(ProgramRows *r, const PiLaneProgram *of, int64_t lanes, char *memory) {
    const PiSystem *program = of->program.system;
    *r = (ProgramRows){.of = of, .lanes = lanes, .y = (double *)memory};
    r->p = r->y + program->dim * lanes;
    r->own_p = r->p + pi_parameter_rows(program) * lanes;
    r->t = r->own_p + pi_parameter_rows(of->system.system) * lanes;
    r->scratch = r->t + lanes;
    r->answer = r->scratch + most_scratch(of) * lanes;
    r->holds = (int64_t *)(r->answer + program->n_invariants * lanes);
    memset(memory, 0, (size_t)pi_program_bytes(of, lanes));
    for (int64_t i = 0; i < lanes; i++) r->holds[i] = -1;
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
    int changed = 0;
    for (int64_t i = 0; i < r->lanes; i++) {
        if (id[i] < 0 || id[i] == r->holds[i]) continue;
        changed = 1;
        r->holds[i] = id[i];
        for (int k = 0; k < n; k++) {
            const PiRow row = of->params[k];
            r->p[k * r->lanes + i] = ((const double *)row.data)[row.stride * id[i]];
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

void *pi_part_of(char *memory, int64_t *used, int64_t bytes) {
    char *here = memory ? memory + *used : NULL;
    *used = pi_sum(*used, pi_rounded_up(bytes, 64));
    return here;
}
void pi_place_program(char *memory, int64_t *used, const PiLaneProgram *of, ProgramRows *rows,
                      int64_t lanes) {
    char *here = pi_part_of(memory, used, pi_program_bytes(of, lanes));
    if (here && rows) pi_open_program(rows, of, lanes, here);
}
