/* Kernels of contents.h, and those for any force: the smallest registers, one in flight. */
#define PI_VECTOR_BYTES    16
#define PI_IN_FLIGHT_SMALL 1
#define PI_IN_FLIGHT       1
#define PI_IN_FLIGHT_TABLE 1
#define PI_CONTENTS        "../../tests/stress/fuzz/contents.h"
#include "../../../csrc/bytecode/interpreter.h"
#include "../../../csrc/kernels/rows/loop.h"
#include "../../../csrc/kernels/instances.h"

static const PiKernelPart part = {sizeof systems / sizeof *systems, systems};
const PiKernelSet FUZZED_SET = {
    .real_bits = PI_REAL_BITS,
    .vector_bytes = PI_VECTOR_BYTES,
    .parts = {&part},
    .rows = rows_kernel,
    .evaluate = evaluate,
    .program = pi_run_program,
    .apart = run_program_apart,
    .complete = complete,
#if PI_REAL_BITS == 64
    .reduce = reduce,
    .draw = draw_pairs,
    .passage = first_passage,
#endif
};
