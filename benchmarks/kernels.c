/* The rate of the package's own kernels on tiles in L1, as the prototype measures its own: 64
 * registers, 20000 steps, best of five. Usage: kernels ISA. Prints a line `label rate` for each, in
 * 1e9 steps/s. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../csrc/tiles.h"

enum { REGISTERS = 64, STEPS = 20000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static int find_system(const char *name) {
    for (int i = 0; i < pi_n_systems; i++)
        if (!strcmp(pi_systems[i]->name, name)) return i;
    abort();
}
static const PiMethod *find_method(const char *name) {
    for (int i = 0; i < pi_n_methods; i++)
        if (!strcmp(pi_methods[i]->name, name)) return pi_methods[i];
    abort();
}

static double rate(const PiKernelSet *set, const char *system, const char *method, int general,
                   const double *y0, const double *p0) {
    static double y[PI_MAX_DIM * REGISTERS * 8] __attribute__((aligned(64)));
    static double p[PI_MAX_PARAMS * REGISTERS * 8] __attribute__((aligned(64)));
    static double t0[REGISTERS * 8], h[REGISTERS * 8];
    const int number = find_system(system), lanes = REGISTERS * set->vector_bytes / 8;
    const PiSystem *s = pi_systems[number];
    const PiMethod *m = find_method(method);
    const PiKernels *kernels = pi_kernels(set, number);
    PiKernel *kernel = m->specialised && !general ? kernels->specialised[m->specialised]
                                                  : kernels->family[m->family];
    PiTable table;
    pi_make_table(m, s, &table);
    PiRow params[PI_MAX_PARAMS];
    for (int d = 0; d < s->n_params; d++) params[d] = (PiRow){p + d * lanes, 1};
    PiTile tile = {.system = s,
                   .params = params,
                   .registers = REGISTERS,
                   .in = y,
                   .out = y,
                   .in_stride = lanes,
                   .out_stride = lanes,
                   .t0 = {t0, 1},
                   .h = {h, 1},
                   .steps = STEPS,
                   .bound = 1e300,
                   .method = m,
                   .table = &table};
    double best = 1e9;
    for (int repeat = 0; repeat < 5; repeat++) {
        for (int i = 0; i < lanes; i++) {
            for (int d = 0; d < s->dim; d++) y[d * lanes + i] = y0[d];
            for (int d = 0; d < s->n_params; d++) p[d * lanes + i] = p0[d];
            h[i] = 1e-3;
        }
        const double start = now();
        kernel(&tile);
        const double seconds = now() - start;
        if (seconds < best) best = seconds;
    }
    return 1e-9 * lanes * STEPS / best;
}

int main(int argc, char **argv) {
    const struct {
        const char *label, *system, *method;
        int general;
        double y0[4], p0[4];
    } rows[] = {
        {"semi_implicit_euler_oscillator", "oscillator", "semi_implicit_euler", 0, {1, 0}, {3.16}},
        {"semi_implicit_euler_oscillator_table",
         "oscillator",
         "semi_implicit_euler",
         1,
         {1, 0},
         {3.16}},
        {"velocity_verlet_oscillator", "oscillator", "velocity_verlet", 0, {1, 0}, {3.16}},
        {"forest_ruth4_oscillator", "oscillator", "forest_ruth4", 1, {1, 0}, {3.16}},
        {"semi_implicit_euler_pendulum", "pendulum", "semi_implicit_euler", 0, {1, 0}, {9.81, 1}},
        {"forest_ruth4_pendulum", "pendulum", "forest_ruth4", 1, {1, 0}, {9.81, 1}},
        {"forest_ruth4_kepler", "kepler", "forest_ruth4", 1, {1, 0, 0, 1.1}, {1}},
        {"rk4_oscillator", "oscillator", "rk4", 0, {1, 0}, {3.16}},
        {"rk4_pendulum", "pendulum", "rk4", 0, {1, 0}, {9.81, 1}},
        {"rk4_kepler", "kepler", "rk4", 0, {1, 0, 0, 1.1}, {1}},
        {"rk4_spring", "spring", "rk4", 0, {1, 0}, {10, 0.1, 1}},
        {"rk4_spring_table", "spring", "rk38", 1, {1, 0}, {10, 0.1, 1}},
        {"rk4_lorenz", "lorenz", "rk4", 0, {1, 0, 0}, {10, 28, 8 / 3.}},
        {"rk4_lorenz_table", "lorenz", "rk4", 1, {1, 0, 0}, {10, 28, 8 / 3.}},
        {"tsitouras54_lorenz", "lorenz", "tsitouras54", 0, {1, 0, 0}, {10, 28, 8 / 3.}},
        {"tsitouras54_lorenz_table", "lorenz", "tsitouras54", 1, {1, 0, 0}, {10, 28, 8 / 3.}},
    };
    for (int i = 0; pi_isa(i); i++) {
        if (argc > 1 && strcmp(argv[1], pi_isa(i)->name)) continue;
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            printf("%s %.4f\n", rows[r].label,
                   rate(pi_isa(i)->f64, rows[r].system, rows[r].method, rows[r].general, rows[r].y0,
                        rows[r].p0));
    }
    return 0;
}
