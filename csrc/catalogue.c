/* The descriptors of everything in contents.h, and the tables that general kernels take. */
#define PI_REAL_BITS    64
#define PI_VECTOR_BYTES 16
#include "families/nystrom_weight.h"
#include "pyintegrate.h"
#include "simd.h"
#include "vmath/vmath.h"

#define EXPLICIT_RK(id, ...)                                                                       \
    static const PiMethod id = {                                                                   \
        .name = #id, .family = PI_EXPLICIT_RK, .written = #__VA_ARGS__, __VA_ARGS__};
#define COMPOSITION(id, ...)                                                                       \
    static const PiMethod id = {                                                                   \
        .name = #id, .family = PI_COMPOSITION, .written = #__VA_ARGS__, __VA_ARGS__};
#define SYSTEM(id, mathematics, ...) static const PiSystem id##_system = {.name = #id, __VA_ARGS__};
#define HEAVY_SYSTEM                 SYSTEM
#include "contents.h"
#undef EXPLICIT_RK
#undef COMPOSITION
#undef SYSTEM

#define EXPLICIT_RK(id, ...) &id,
#define COMPOSITION(id, ...) &id,
#define SYSTEM(id, ...)
const PiMethod *const pi_methods[] = {
#include "contents.h"
};
#undef EXPLICIT_RK
#undef COMPOSITION
#undef SYSTEM

#define EXPLICIT_RK(id, ...)
#define COMPOSITION(id, ...)
#define SYSTEM(id, ...) &id##_system,
const PiSystem *const pi_systems[] = {
#include "contents.h"
};
const int pi_n_methods = sizeof pi_methods / sizeof *pi_methods;
const int pi_n_systems = sizeof pi_systems / sizeof *pi_systems;

static int append(PiTable *table, int n, int index, double weight) {
    if (weight == 0) return n;
    table->index[n] = index;
    table->weight[n] = weight;
    return n + 1;
}

void pi_make_table(const PiMethod *method, const PiSystem *system, PiTable *table) {
    *table = (PiTable){.stages = method->evaluations};
    if (method->family != PI_EXPLICIT_RK) return;
    const int stages = method->evaluations;
    const int nystrom = system->structure == PI_SECOND_ORDER && !system->velocity_dependent;
    int n = 0;
    table->nystrom = nystrom;
    for (int s = 0; s <= stages; s++) {
        table->start[s] = n;
        if (s < stages) table->c[s] = method->c[s];
        for (int j = 0; j < s; j++)
            n = append(table, n, j,
                       nystrom      ? nystrom_weight(method, s, j)
                       : s < stages ? method->a[s][j]
                                    : method->b[j]);
    }
    table->start[stages + 1] = n;
    for (int j = 0; nystrom && j < stages; j++) n = append(table, n, j, method->b[j]);
    table->start[stages + 2] = n;
}
