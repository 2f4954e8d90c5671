/* The core for the page: the files of csrc without Python and threads, in double precision. Called
 * from JavaScript (page/engine.js). */
#include <stdlib.h>
#include <string.h>
#include "../csrc/bytecode/bytecode.h"
#include "../csrc/run/run.h"

extern const PiKernelSet pi_baseline_f64;
/* The method of all programs with a step of their own. */
static const PiMethod step_with_noise = {.family = PI_NOISE, .stages = 1, .order = 1};
#define EXPORT __attribute__((visibility("default"), used))

/* The place of a name in the catalogue, or -1. */
EXPORT int lab_method(const char *name) {
    for (int i = 0; i < pi_n_methods; i++)
        if (!strcmp(pi_methods[i]->name, name)) return i;
    return -1;
}
/* Those of any size come last. */
EXPORT int lab_system(const char *name) {
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, name)) return i;
    for (int i = 0; i < pi_n_sized_systems; i++)
        if (!strcmp(pi_sized_systems[i]->one.name, name)) return pi_n_systems + i;
    return -1;
}

/* A verified program from what its maker says in numbers: `sizes` are the first fields of
 * PiProgramText, `sections` the first and last instruction of each question. NULL: refused. */
EXPORT PiProgram *lab_program(const int32_t *sizes, const int32_t *sections, const int32_t *words,
                              const double *constants) {
    char message[PI_MESSAGE];
    int64_t size[10];
    for (int i = 0; i < 10; i++) size[i] = sizes[i];
    PiProgramText text = {.words = words, .constants = constants};
    memcpy(&text, size, sizeof size);
    for (int i = 0; i < PI_QUESTIONS; i++) {
        text.first[i] = sections[2 * i];
        text.last[i] = sections[2 * i + 1];
    }
    return pi_program_make(&text, message);
}

/* A program, or else the system of a number; `sized` is the memory for one of any size, which has
 * parts. */
static ResolvedSystem resolved(const PiProgram *program, int number, int parts, PiSized *sized) {
    ResolvedSystem made = {.set = &pi_baseline_f64, .draw = pi_baseline_f64.draw};
    if (program) {
        made.system = &program->system;
        made.force = pi_baseline_f64.program;
        made.context = program;
    } else if (number < pi_n_systems) {
        made.system = pi_systems[number];
        made.kernels = pi_kernels(&pi_baseline_f64, number);
        made.force = made.kernels->force;
    } else {
        *sized = pi_sized(number - pi_n_systems, parts);
        made.system = &sized->system;
        made.force = pi_baseline_f64.sized[sized->number];
        made.context = sized;
    }
    return made;
}

/* Steps first + 1 .. first + n_steps, the first of all from time t0, of `lanes` trajectories: one,
 * or a multiple of 8. Every `every`-th state to out, (n_steps / every + 1, dim, lanes), and their
 * last. initial: (dim, lanes). params: a number for each parameter, elements of arrays one by one;
 * if own_params one for each trajectory, (n_params, lanes). The first step that the first
 * trajectory to fail has not completed; -1 where fine; -2 without memory; -3 for a method that does
 * not fit the system. method_number -1: the step of the program. */
EXPORT int lab_run(const PiProgram *program, int system_number, int parts, int method_number,
                   int lanes, const double *params, int own_params, const double *initial,
                   double t0, double dt, int first, int n_steps, int every, double *out) {
    PiSized sized;
    const ResolvedSystem found = resolved(program, system_number, parts, &sized);
    const PiSystem *system = found.system;
    const PiMethod *method = method_number < 0 ? &step_with_noise : pi_methods[method_number];
    const int stride = (lanes + 7) / 8 * 8;
    PiRun run = {.real_bytes = 8,
                 .lanes = lanes,
                 .stride = stride,
                 .same = lanes == 1,
                 .first = first,
                 .n_steps = n_steps,
                 .save_every = every,
                 .workers = 1,
                 .bound = 1e300 * 1e300,
                 .t0 = {&t0, 0},
                 .h = {&dt, 0}};
    const char *refusal = pi_run_choose(&run, &found, method, NULL);
    if (refusal || (method->derivative == 2 && system->velocity_dependent)) return -3;
    PiRow *rows = calloc(system->n_params + 1, sizeof *rows);
    int *saved = calloc(system->dim, sizeof *saved);
    const size_t size = (size_t)run.state_rows * stride * sizeof(double);
    char *memory = aligned_alloc(64, 3 * size);
    int64_t *steps = calloc(lanes, sizeof *steps);
    int8_t *status = calloc(lanes, 1);
    int failed = -2;
    if (rows && saved && memory && steps && status) {
        run.status = status;
        run.failed = steps;
        memset(memory, 0, 3 * size);
        memcpy(memory, initial, (size_t)system->dim * lanes * sizeof(double));
        run.initial = memory;
        run.state[0] = memory + size;
        run.state[1] = memory + 2 * size;
        for (int d = 0; d < system->dim; d++) saved[d] = d;
        for (int i = 0; i < system->n_params; i++)
            rows[i] = (PiRow){(void *)&params[i * (own_params ? lanes : 1)], own_params};
        run.params = rows;
        PiRecord record = {.data = out,
                           .every = every,
                           .save_stride = system->dim * lanes,
                           .component_stride = lanes,
                           .lane_stride = 1,
                           .room = lanes,
                           .n_saved = system->dim,
                           .saved = saved};
        if (!pi_run_observe(&run, pi_record_observer(&record)) && !pi_run_prepare(&run)) {
            pi_run_work(&run, NULL, NULL);
            failed = run.out_of_memory ? -2 : -1;
            for (int i = lanes; i-- && !run.out_of_memory;)
                if (status[i]) failed = (int)steps[i];
            pi_run_free(&run);
        }
    }
    free(rows);
    free(saved);
    free(memory);
    free(steps);
    free(status);
    return failed;
}

/* Answers to a question (csrc/tiles.h) at `lanes` states: y is (dim, lanes), out (answers, lanes).
 * The number of answers; 0 where there are none; -2 without memory. */
EXPORT int lab_ask(int system_number, int parts, int question, const double *params, int lanes,
                   const double *t, const double *y, double *out) {
    PiSized sized;
    const ResolvedSystem found = resolved(NULL, system_number, parts, &sized);
    const PiSystem *system = found.system;
    const int64_t answers = pi_answer_rows(system, (PiQuestion)question);
    PiSample sample = {.system = system,
                       .force = found.force,
                       .context = found.context,
                       .lanes = lanes,
                       .t = {(void *)t, 1},
                       .out = out};
    PiRow *rows = calloc(system->dim + system->n_params + 1, sizeof *rows);
    const size_t bytes = 8 * pi_baseline_f64.vector_bytes * pi_sample_rows(system, answers);
    sample.workspace = aligned_alloc(64, (bytes + 127) / 64 * 64);
    const int ready = rows && sample.workspace;
    if (ready) {
        for (int d = 0; d < system->dim; d++) rows[d] = (PiRow){(void *)(y + d * lanes), 1};
        for (int i = 0; i < system->n_params; i++)
            rows[system->dim + i] = (PiRow){(void *)&params[i], 0};
        sample.y = rows;
        sample.params = rows + system->dim;
        pi_baseline_f64.evaluate(&sample, (PiQuestion)question);
    }
    free(rows);
    free(sample.workspace);
    return ready ? (int)answers : -2;
}

/* Fowler, Noll, Vo 1a, going on from a hash. */
EXPORT uint64_t lab_hash(uint64_t hash, const unsigned char *bytes, int n) {
    for (int i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

#ifdef __wasm__ /* one rounding mode, nothing to keep */
uint32_t pi_enter_float_mode(void) { return 0; }
void pi_leave_float_mode(uint32_t mode) { (void)mode; }
void pi_keep_float_mode(void) {}
#endif
