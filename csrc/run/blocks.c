/* Blocks of time: how a run is divided, and the length of its blocks. */
#include "layout.h"

enum { BLOCK_STEPS = 256 }; /* at most */

/* Short intervals between the states that are shown are grouped into a block, long ones are divided
 * into several. If kernels write directly to the destination of the states, a block fits the
 * caches. */
static int64_t intervals_per_block(const PiRun *run) {
    if (run->cut >= run->block_steps) return 1;
    const int64_t some = run->block_steps / run->cut;
    return run->writer ? smaller(PI_BLOCK_SAVES, some) : some;
}
static int64_t blocks_per_interval(const PiRun *run) {
    return run->cut < run->block_steps ? 1 : ceil_div(run->cut, run->block_steps);
}
int64_t pi_steps_after(const PiRun *run, int64_t b) {
    const int64_t pieces = blocks_per_interval(run);
    int64_t steps;
    if (pieces == 1) steps = b * intervals_per_block(run) * run->cut;
    else steps = b / pieces * run->cut + smaller(b % pieces * run->block_steps, run->cut);
    return smaller(steps, run->n_steps);
}
int64_t pi_count_blocks(const PiRun *run) {
    if (run->n_steps == 0) return 0;
    const int64_t whole = run->n_steps / run->cut, rest = run->n_steps % run->cut;
    if (blocks_per_interval(run) == 1)
        return ceil_div(whole + (rest > 0), intervals_per_block(run));
    return pi_sum(pi_product(whole, blocks_per_interval(run)), ceil_div(rest, run->block_steps));
}
double pi_lanes_worked(const PiRun *run) {
    enum { FEWEST = 16 };
    return run->lanes < FEWEST ? FEWEST : run->lanes;
}
double pi_step_operations(const PiRun *run) {
    const PiSystem *s = run->system;
    const double force = s->operations ? s->operations : 4.0 * s->dim + s->n_params;
    const PiMethod *m = run->method;
    const int one =
        (m->family == PI_MULTISTEP && pi_multistep_is_implicit(m)) || m->family == PI_ROSENBROCK;
    const double unknowns = (double)(one ? 1 : run->table->largest_group) * s->dim;
    return (m->evaluations + 1) * force + 4 * unknowns * unknowns * unknowns / 3;
}
/* A block of a slow force lasts about 50 ms, since an interrupt leaves complete blocks only, unless
 * the loads and stores of a tile would then dominate. Except for Runge-Kutta, a call of a kernel
 * repeats a force that the call before computed. */
int64_t pi_steps_of_block(const PiRun *run) {
    const double all = 1e8, tile = 1e6; /* operations: 50 ms of them; half a millisecond */
    const double step = pi_step_operations(run);
    const PiFamily family = run->method->family;
    const int repeats_no_force = family == PI_EXPLICIT_RK || family == PI_IMPLICIT_RK ||
                                 family == PI_NYSTROM || family == PI_ROSENBROCK;
    if (!run->force) return BLOCK_STEPS; /* in registers */
    double steps = fmax(all / (step * pi_lanes_worked(run)), tile / (step * run->tile_lanes));
    steps = fmin(fmax(steps, repeats_no_force ? 1 : PI_STEPS_SHOWN), BLOCK_STEPS);
    return steps < PI_STEPS_SHOWN ? steps : (int64_t)steps / PI_STEPS_SHOWN * PI_STEPS_SHOWN;
}
