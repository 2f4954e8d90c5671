/* Whether a method can integrate a system, and with which kernel. */
#include "families.h"
#include "run.h"

/* A kernel compiled for the two; for the system and the method's family; or for any force. */
static void choose_kernel(PiRun *run, const ResolvedSystem *resolved) {
    const PiSystem *system = resolved->system;
    const PiMethod *m = run->method;
    const int in_registers = resolved->kernels && !run->use_row_kernels && !run->compensated &&
                             (m->family != PI_NYSTROM || pi_sees_positions_only(system));
    if (in_registers) {
        run->kernel = resolved->kernels->specialised[m->specialised];
        if (!run->kernel) run->kernel = resolved->kernels->family[m->family];
        if (run->kernel) return;
    }
    run->kernel = resolved->set->rows;
    run->force = resolved->force;
    run->context = resolved->context;
}

const char *pi_run_choose(PiRun *run, const ResolvedSystem *resolved, const PiMethod *method,
                          const PiMethod *starter) {
    const PiMethod *first = pi_starter(method);
    if (starter) {
        if (!first || (starter->family != PI_EXPLICIT_RK && starter->family != PI_IMPLICIT_RK))
            return "starter must be a Runge-Kutta method, for a multistep method";
        first = starter;
    }
    const PiQuestion force = resolved->system->dof ? PI_ACCELERATION : PI_RHS;
    if (method->family == PI_NOISE) {
        if (!resolved->system->noisy) return "the method needs a system with noise";
    } else if (resolved->unanswered >> force & 1) return "a program without a force moves nothing";
    const PiRequirement *requirement = pi_requirement(method);
    if (!(requirement->structures >> resolved->system->structure & 1) ||
        requirement->planets > resolved->system->planets)
        return requirement->refusal;
    if (run->compensated && !pi_compensates(method))
        return "the rules of the method's family carry no rounding: leave compensated out";
    run->system = resolved->system;
    run->vector_bytes = resolved->set->vector_bytes;
    run->complete = resolved->set->complete;
    run->method = method;
    run->starter = first;
    run->starter_until = run->has_history ? 0 : pi_first_steps(method);
    run->state_rows =
        resolved->system->dim + pi_history_rows(method, resolved->system, run->compensated);
    run->draw = resolved->draw;
    choose_kernel(run, resolved);
    return NULL;
}
