/* Programs of byte code, run for lanes at their own steps and times. */
#include "lane_programs.h"
#include "../run/layout.h"

static int ask(ProgramRows *r, const ResolvedSystem *system, PiQuestion question, double *p,
               double *out) {
    const int64_t registers = r->lanes * sizeof(double) / system->set->vector_bytes;
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
    if (!memcmp(r->holds, id, r->lanes * sizeof *id)) return 0;
    int changed = 0;
    EACH_LANE(i, r) {
        if (id[i] < 0 || id[i] == r->holds[i]) continue;
        changed = 1;
        r->holds[i] = id[i];
        EACH_BELOW(k, n) {
            r->p[k * r->lanes + i] = pi_item(of->params[k], id[i]);
            if (k < n_own) r->own_p[k * r->lanes + i] = r->p[k * r->lanes + i];
        }
    }
    if (!changed) return 0;
    if (ask(r, &of->program, PI_PREPARE, r->p, r->p)) return -1;
    return of->asks & PI_WATCH_SYSTEM ? ask(r, own, PI_PREPARE, r->own_p, r->own_p) : 0;
}
/* The energy and the invariants of the system, in the rows of the program. */
static int ask_system(ProgramRows *r) {
    const PiLaneProgram *of = r->of;
    double *row = r->y + (of->system.system->dim + 1) * r->lanes; /* past the index of the step */
    if (of->asks & PI_WATCH_ENERGY) {
        if (ask(r, &of->system, PI_ENERGY, r->own_p, row)) return -1;
        row += r->lanes;
    }
    return of->asks & PI_WATCH_INVARIANTS ? ask(r, &of->system, PI_INVARIANTS, r->own_p, row) : 0;
}
int pi_answer_lanes(ProgramRows *r) {
    return ask_system(r) ? -1 : ask(r, &r->of->program, PI_INVARIANTS, r->p, r->answer);
}
int pi_answer_rounded(ProgramRows *r) {
    const ResolvedSystem *own = &r->of->program, *rounded = &r->of->rounded;
    if (!rounded->system) return pi_answer_lanes(r);
    if (ask_system(r) || ask(r, rounded, PI_PREPARE, r->p, r->p) ||
        ask(r, rounded, PI_INVARIANTS, r->p, r->answer))
        return -1;
    return ask(r, own, PI_PREPARE, r->p, r->p);
}

void pi_place_program(PiMemory *m, const PiLaneProgram *of, ProgramRows *r, int64_t lanes) {
    const PiSystem *program = of->program.system;
    const PiSystem *rounded = of->rounded.system ? of->rounded.system : program;
    const int64_t n = larger(pi_parameter_rows(program), pi_parameter_rows(rounded));
    const int64_t own = pi_parameter_rows(of->system.system);
    const int64_t scratch = pi_scratch_of_both(&of->program, &of->system);
    const int64_t rows = pi_product(pi_sum(program->dim, n) + own + 1, lanes);
    const int64_t answers = pi_product(program->n_invariants, lanes);
    ProgramRows made = {.of = of, .lanes = lanes};
    PLACE(m, made.y, rows);
    PLACE(m, made.scratch, pi_product(larger(scratch, rounded->scratch), lanes));
    PLACE(m, made.answer, answers);
    PLACE(m, made.holds, lanes);
    if (!m->at) return;
    made.p = made.y + program->dim * lanes;
    made.own_p = made.p + n * lanes;
    made.t = made.own_p + own * lanes;
    *r = made;
    memset(r->y, 0, rows * sizeof *r->y);
    memset(r->answer, 0, answers * sizeof *r->answer);
    EACH_LANE(i, r) r->holds[i] = -1;
}
