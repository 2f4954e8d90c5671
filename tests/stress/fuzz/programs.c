/* libFuzzer target: byte code of users' forces. What the verifier accepts is asked every question
 * and run; a wrong acceptance is then a report of a sanitizer, or an answer that depends on what
 * happened to be in memory. Input: the sizes, the sections, the constants, the code. */
#include "../../../csrc/bytecode/bytecode.h"
#include "harness.h"

enum { MOST = 48 }; /* components that are run */
/* One of each kind of kernel. */
static const char *const methods[] = {"rk4",    "dormand_prince54",     "forest_ruth4",
                                      "gauss4", "runge_kutta_nystrom4", "bdf3",
                                      "trbdf2", "stormer_verlet",       "adams_bashforth_moulton4"};

static int32_t take_int(Bytes *in) {
    int32_t n;
    take(in, &n, sizeof n);
    return n;
}

/* Asks all lanes, in memory that is full of `garbage`; the answers go to out. */
static void ask(const PiKernelSet *set, const PiProgram *program, PiQuestion question, int garbage,
                void *out, int64_t answers) {
    const PiSystem *s = &program->system;
    const int bytes = set->real_bits / 8;
    const int64_t inputs = s->dim + s->n_params + 1,
                  workspace = pi_sample_rows(s, answers) * 8 * set->vector_bytes;
    char *values = aligned_or_die(inputs * LANES * bytes), *memory = aligned_or_die(workspace);
    memset(memory, garbage, workspace);
    PiRow *rows = malloc(inputs * sizeof *rows);
    for (int64_t i = 0; i < inputs; i++) {
        for (int64_t k = 0; k < LANES; k++)
            put(values, bytes, i * LANES + k, 0.7 + 0.1 * (double)(i % 7) - 0.05 * (double)k);
        rows[i] = (PiRow){values + i * LANES * bytes, 1};
    }
    const PiSample sample = {.system = s,
                             .force = set->program,
                             .context = program,
                             .lanes = LANES,
                             .t = rows[inputs - 1],
                             .y = rows,
                             .params = rows + s->dim,
                             .out = out,
                             .workspace = memory};
    if (set->evaluate(&sample, question)) abort();
    free(rows);
    free(values);
    free(memory);
}

static void ask_everything(const PiKernelSet *set, const PiProgram *program) {
    const PiSystem *s = &program->system;
    const int64_t answers[] = {s->dim, s->dof, 1, s->n_invariants, (int64_t)s->dim * s->dim};
    for (int question = PI_RHS; question <= PI_JACOBIAN; question++) {
        if (!pi_program_has(program, (PiQuestion)question) || answers[question] == 0) continue;
        const size_t size = answers[question] * LANES * (set->real_bits / 8);
        void *out[2] = {malloc(size), malloc(size)};
        for (int i = 0; i < 2; i++)
            ask(set, program, (PiQuestion)question, i ? 0xa5 : 0, out[i], answers[question]);
        if (memcmp(out[0], out[1], size)) abort(); /* it read what nobody wrote */
        free(out[0]);
        free(out[1]);
    }
}

/* In one of the precisions, by a third of the methods: the turn of each is in the input. */
static void use(const PiProgram *program, unsigned turn) {
    const PiSystem *s = &program->system;
    const PiKernelSet *const set = turn & 1 ? &pi_fuzz_f32 : &pi_fuzz_f64;
    ask_everything(set, program);
    for (size_t k = turn / 2 % 3; k < sizeof methods / sizeof *methods; k += 3) {
        const PiMethod *m = pi_method_named(methods[k]);
        const int solves = pi_families[m->family].jacobian;
        if (solves && s->dim > 8) continue; /* for the sake of time */
        run_some(set, s, NULL, set->program, program, m, 0.01, turn / 8 & 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bytes in = {data, size};
    unsigned turn = 0;
    for (size_t i = 0; i < size; i++) turn += data[i];
    PiProgramText text = {.dim = take_int(&in),
                          .dof = take_int(&in),
                          .n_params = take_int(&in),
                          .n_derived = take_int(&in),
                          .n_invariants = take_int(&in),
                          .n_registers = take_int(&in),
                          .n_constants = take_int(&in)};
    for (int i = 0; i < PI_QUESTIONS; i++) {
        text.first[i] = take_int(&in);
        text.last[i] = take_int(&in);
    }
    /* As many constants as there are, in the size that Python would find: none are claimed. */
    const int64_t room = (int64_t)(in.size / sizeof(double));
    if (text.n_constants < 0 || text.n_constants > room) return -1;
    double *constants = malloc(text.n_constants * sizeof(double));
    take(&in, constants, text.n_constants * sizeof(double));
    text.n_code = (int64_t)(in.size / (PI_WORDS * sizeof(int32_t)));
    int32_t *words = malloc(text.n_code * PI_WORDS * sizeof(int32_t));
    take(&in, words, text.n_code * PI_WORDS * sizeof(int32_t));
    text.words = words;
    text.constants = constants;
    char message[PI_MESSAGE] = "?";
    PiProgram *program = pi_program_make(&text, message);
    free(words); /* the program keeps what it needs */
    free(constants);
    if (!program && !message[0]) abort();
    const PiSystem *s = program ? &program->system : NULL;
    if (s && s->dim <= MOST && s->n_params + s->n_derived <= 256 && s->scratch <= 2048)
        use(program, turn);
    pi_program_free(program);
    return 0;
}
