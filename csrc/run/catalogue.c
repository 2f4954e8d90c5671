/* The descriptors of everything in contents.h. */
#define PI_REAL_BITS    64
#define PI_VECTOR_BYTES 16
#include <string.h>
#include "../pyintegrate.h"
#include "../simd.h"
#include "../tiles.h"
#include "../vmath/vmath.h"

#define DESCRIBE(id, kind, ...)                                                                    \
    static const PiMethod id = {.name = #id, .family = kind, .written = #__VA_ARGS__, __VA_ARGS__};
#define EXPLICIT_RK(id, ...)         DESCRIBE(id, PI_EXPLICIT_RK, __VA_ARGS__)
#define COMPOSITION(id, ...)         DESCRIBE(id, PI_COMPOSITION, __VA_ARGS__)
#define NYSTROM(id, ...)             DESCRIBE(id, PI_NYSTROM, __VA_ARGS__)
#define MULTISTEP(id, ...)           DESCRIBE(id, PI_MULTISTEP, __VA_ARGS__)
#define IMPLICIT_RK(id, ...)         DESCRIBE(id, PI_IMPLICIT_RK, __VA_ARGS__)
#define RIGID_MOTION(id, ...)        DESCRIBE(id, PI_RIGID_MOTION, __VA_ARGS__)
#define SYSTEM(id, mathematics, ...) static const PiSystem id##_system = {.name = #id, __VA_ARGS__};
#define HEAVY_SYSTEM                 SYSTEM
#define SIZED_SYSTEM(id, force, ...) static const PiSizedSystem id##_system = {__VA_ARGS__};
#include "../contents.h"
#undef DESCRIBE
#undef SYSTEM
#undef SIZED_SYSTEM

#define SIZED_SYSTEM(id, ...)
#define DESCRIBE(id, ...) &id,
#define SYSTEM(id, ...)
const PiMethod *const pi_methods[] = {
#include "../contents.h"
};
#undef DESCRIBE
#undef SYSTEM

#define DESCRIBE(id, ...)
#define SYSTEM(id, ...) &id##_system,
const PiSystem *const pi_systems[] = {
#include "../contents.h"
};
#undef SYSTEM
#undef SIZED_SYSTEM

#define SYSTEM(id, ...)
#define SIZED_SYSTEM(id, ...) &id##_system,
const PiSizedSystem *const pi_sized_systems[] = {
#include "../contents.h"
};
const int pi_n_methods = sizeof pi_methods / sizeof *pi_methods;
const int pi_n_systems = sizeof pi_systems / sizeof *pi_systems;
const int pi_n_sized_systems = sizeof pi_sized_systems / sizeof *pi_sized_systems;

const PiMethod *pi_method_named(const char *name) {
    for (int i = 0; i < pi_n_methods; i++)
        if (!strcmp(pi_methods[i]->name, name)) return pi_methods[i];
    return NULL;
}
