/* The threads of a batch that goes to a tolerance, and the steps that they keep. */
#include "solve.h"
#include "../kernels/tolerance/rows.h"
#include "../run/layout.h"
#include "../run/pace.h"
#include "observation.h"

enum {
    MOST_REGISTERS = 8,            /* processed together, if their rows fit: */
    WORKSPACE_BYTES = 28 << 10,    /* most of the first-level cache; */
    INTERPRETED_BYTES = 256 << 10, /* for byte code, whose instructions cost more than misses, */
    ROUNDS = 4,                    /* in a batch of so many times that: few lanes end last */
    FIRST_ROOM = 1 << 16
};

const char *pi_adaptive_choose(PiAdaptiveRun *run, const ResolvedSystem *resolved,
                               const PiMethod *method) {
    const PiQuestion force = resolved->system->dof ? PI_ACCELERATION : PI_RHS;
    if (resolved->unanswered >> force & 1) return "a program without a force moves nothing";
    if (!method->embedded_order) return "the method has no error estimate";
    if (method->family == PI_NYSTROM && !pi_sees_positions_only(resolved->system))
        return "the method needs x'' = a(t, x)";
    run->solve.system = resolved->system;
    run->solve.force = resolved->force;
    run->solve.context = resolved->context;
    run->interpreted = resolved->force == resolved->set->program;
    run->kernel = resolved->set->solve;
    run->method = method;
    const int implicit = method->family == PI_IMPLICIT_RK || method->family == PI_ROSENBROCK;
    if (implicit) {
        run->solve.implicit = method;
        pi_make_table(method, resolved->system, &run->solve.table);
    }
    run->vector_bytes = resolved->set->vector_bytes;
    run->real_bytes = resolved->set->real_bits / 8;
    pi_make_pair(method, resolved->system, &run->solve.pair);
    if (resolved->kernels && !implicit && !run->solve.pair.branches)
        run->solve.trial = resolved->kernels->trial;
    return NULL;
}

int pi_numbers_of_step(const PiSolve *solve) { return within_rows(solve); }
int64_t pi_rows_onward(const PiSolve *solve) { return rows_onward(solve); }
void pi_adaptive_prepare(PiAdaptiveRun *run) {
    PiSolve *s = &run->solve;
    int whole = run->keep && s->n_saved == s->system->dim;
    EACH_BELOW(d, s->n_saved) whole &= s->saved[d] == d;
    s->n_within = whole ? within_rows(s) : 0;
    const int within = s->record || s->asked;
    if (within && !s->implicit) pi_make_dense(run->method, &s->pair);
    const int64_t width = run->vector_bytes / run->real_bytes;
    const int64_t lanes_a_call = s->system->lanes_a_call;
    const int64_t bytes = pi_product(pi_solve_hot_rows(s), run->vector_bytes);
    const int64_t share = ceil_div(s->lanes, run->workers);
    const int64_t all = ceil_div(share, width);
    int64_t n = lanes_a_call ? lanes_a_call / width : WORKSPACE_BYTES / bytes;
    const int64_t more = smaller(all / ROUNDS, INTERPRETED_BYTES / bytes);
    if (run->interpreted && n < more) n = more;
    if (!lanes_a_call && n > MOST_REGISTERS) n = MOST_REGISTERS;
    if (n > all) n = all;
    if (n > 1 && !lanes_a_call)
        n -= n % (n < 4 ? 2 : 4); /* kernels in registers process two or four */
    s->registers = n < 1 ? 1 : n;
}

/* ---- a thread -------------------------------------------------------------------------------- */
typedef struct {
    PiSolver solver; /* first: the part that the kernel sees */
    PiAdaptiveRun *run;
    PiKept *kept;
} Thread;

/* Takes trajectories, fewer at a time towards the end, so that no thread has much left when the
 * others have finished. 0: there are no more. */
static int take(PiSolver *solver, int64_t most, int64_t *first, int64_t *count) {
    PiAdaptiveRun *run = ((Thread *)solver)->run;
    const int64_t lanes = run->solve.lanes;
    int64_t begun = run->next;
    do {
        if (begun >= lanes) return 0;
        const int64_t share = ceil_div(lanes - begun, 2 * run->workers);
        *count = run->workers == 1 || share > most ? most : share;
        if (*count > lanes - begun) *count = lanes - begun;
    } while (!atomic_compare_exchange_weak(&run->next, &begun, begun + *count));
    *first = begun;
    return 1;
}
static int64_t entry_bytes(const PiAdaptiveRun *run) {
    const int64_t bytes = pi_kept_numbers(&run->solve) * run->real_bytes;
    return sizeof(int64_t) + (bytes + 7) / 8 * 8;
}
static void *keep(PiSolver *solver, int64_t lane) {
    Thread *thread = (Thread *)solver;
    PiKept *kept = thread->kept;
    const int64_t size = entry_bytes(thread->run);
    if (kept->room - kept->bytes < size) {
        const int64_t room = kept->room ? 2 * kept->room : FIRST_ROOM + size;
        char *data = realloc(kept->data, room);
        if (!data) {
            thread->run->out_of_memory = thread->run->cancelled = 1;
            return NULL;
        }
        kept->data = data;
        kept->room = room;
    }
    char *entry = kept->data + kept->bytes;
    kept->bytes += size;
    memcpy(entry, &lane, sizeof lane);
    return entry + sizeof lane;
}

static int64_t trajectories_done(const void *run) { return ((const PiAdaptiveRun *)run)->done; }

void pi_adaptive_work(void *of, PiPoll *poll, void *context) {
    PiAdaptiveRun *run = of;
    const int64_t row = run->solve.registers * run->vector_bytes;
    const int64_t bytes = pi_product(pi_solve_rows(&run->solve), row);
    Pace pace = make_pace(run, trajectories_done, &run->cancelled, poll, context);
    Thread thread = {.run = run,
                     .solver = {.solve = &run->solve,
                                .pause = &pace.pause,
                                .take = take,
                                .arrived = &run->done,
                                .keep = run->keep ? keep : NULL,
                                .begin = pi_step_observer_begin,
                                .locate = pi_step_observer_locate,
                                .accept = pi_step_observer_accept,
                                .marked = pi_step_observer_mark}};
    void *workspace = thread.solver.workspace = pi_aligned(pi_rounded_up(bytes, 64));
    if (run->keep && (thread.kept = calloc(1, sizeof *thread.kept))) {
        thread.kept->next = run->kept;
        while (!atomic_compare_exchange_weak(&run->kept, &thread.kept->next, thread.kept)) {
        }
    }
    if (run->observation) thread.solver.observer = pi_step_observer_new(run->observation, run);
    const uint32_t mode = pi_enter_float_mode();
    if (!workspace || (run->keep && !thread.kept) || (run->observation && !thread.solver.observer))
        run->out_of_memory = run->cancelled = 1;
    else if (run->kernel(&thread.solver) && !run->cancelled) run->stopped = run->cancelled = 1;
    /* The polling thread polls until all have arrived: signals reach no other. */
    while (poll && !run->cancelled && run->done < run->solve.lanes) {
        if (look_at_clock(&pace.pause)) break;
        const struct timespec moment = {0, 200000};
        nanosleep(&moment, NULL);
    }
    pi_leave_float_mode(mode);
    if (thread.solver.observer) pi_step_observer_free(thread.solver.observer);
    pi_free_aligned(workspace);
}

/* ---- the kept steps -------------------------------------------------------------------------- */
int64_t pi_adaptive_gather(const PiAdaptiveRun *run, int64_t *counts, void *record) {
    const int64_t size = entry_bytes(run), item = run->real_bytes, lanes = run->solve.lanes;
    const int numbers = pi_kept_numbers(&run->solve);
    int64_t most = 0;
    memset(counts, 0, lanes * sizeof *counts);
    for (const PiKept *kept = run->kept; kept; kept = kept->next)
        for (int64_t from = 0; from < kept->bytes; from += size) {
            int64_t lane;
            memcpy(&lane, kept->data + from, sizeof lane);
            const int64_t to = (counts[lane]++ * numbers * lanes + lane) * item;
            if (counts[lane] > most) most = counts[lane];
            if (record)
                copy_rows(numbers, item, kept->data + from + sizeof lane, item, (char *)record + to,
                          lanes * item);
        }
    return most;
}
void pi_adaptive_free(PiAdaptiveRun *run) {
    for (PiKept *kept = run->kept, *next; kept; kept = next) {
        next = kept->next;
        free(kept->data);
        free(kept);
    }
    run->kept = NULL;
}
