/* libFuzzer target: tables of coefficients, of Runge-Kutta methods, Nystrom methods, compositions
 * and multistep methods. Whatever has a shape that a method can have is run. Input: family,
 * stages, evaluations, derivative, whether to record, 1 / step, and the place of the run
 * (precision, kernel, system); then the numbers row by row. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Bytes in = {data, size};
    int8_t shape[7];
    take(&in, shape, sizeof shape);
    _Alignas(PiMethod) char memory[PI_METHOD_BYTES] = {0};
    PiMethod *const m = (PiMethod *)memory;
    *m = (PiMethod){.name = "",
                    .family = (PiFamily)shape[0],
                    .stages = shape[1],
                    .order = shape[1],
                    .evaluations = shape[2],
                    .derivative = shape[3]};
    const int rows = pi_method_rows(m);
    if (rows < 0) return -1;
    for (int i = 0; i < rows; i++) {
        int n, optional;
        double *row = pi_method_row(m, i, &n, &optional);
        take(&in, row, n * sizeof *row);
    }
    const double h = shape[5] ? 1.0 / shape[5] : 1e300;
    const unsigned where = (uint8_t)shape[6];
    const PiKernelSet *set = where & 1 ? &pi_fuzz_f32 : &pi_fuzz_f64;
    const PiKernels *kernels = pi_kernels(set, where / 4 % (unsigned)set->parts[0]->n);
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, kernels->system))
            run_some(set, pi_systems[i], where & 2 ? NULL : kernels, kernels->force, NULL, m, h,
                     shape[4]);
    return 0;
}
