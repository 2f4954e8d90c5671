/* The descriptors of everything in contents.h. */
#define PI_REAL_BITS    64
#define PI_VECTOR_BYTES 16
#include "../simd.h"
#include "../vmath/vmath.h"
#include "run.h"

#define METHOD(id, kind, ...) static const PiMethod id = {.name = #id, .family = kind, __VA_ARGS__};
#define SYSTEM(id, mathematics, ...) static const PiSystem id##_system = {.name = #id, __VA_ARGS__};
#define COMPACT_SYSTEM               SYSTEM
#define SIZED_SYSTEM(id, force, ...) static const PiSizedSystem id##_system = {__VA_ARGS__};
#include "../contents.h"
#undef METHOD
#undef SYSTEM
#undef SIZED_SYSTEM

#define SIZED_SYSTEM(id, ...)
#define METHOD(id, ...) &id,
#define SYSTEM(id, ...)
const PiMethod *const pi_methods[] = {
#include "../contents.h"
};
#undef METHOD
#undef SYSTEM

#define METHOD(id, ...)
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

const char *const pi_structure_names[] = {[PI_FIRST_ORDER] = "first_order",
                                          [PI_SECOND_ORDER] = "second_order",
                                          [PI_SEPARABLE] = "separable",
                                          [PI_RIGID_BODY] = "rigid_body"};
const char *const pi_question_names[PI_QUESTIONS] = {
    [PI_RHS] = "rhs",           [PI_ACCELERATION] = "acceleration",
    [PI_ENERGY] = "energy",     [PI_INVARIANTS] = "invariants",
    [PI_JACOBIAN] = "jacobian", [PI_VELOCITY] = "velocity",
    [PI_NEXT] = "next",         [PI_PREPARE] = "prepare"};

const PiMethod *pi_method_named(const char *name) {
    EACH_BELOW(i, pi_n_methods)
        if (!strcmp(pi_methods[i]->name, name)) return pi_methods[i];
    return NULL;
}

static const PiDense all_dense[] = {
#include "../methods/within/dense.h"
};
const PiDense *pi_dense_of(const PiMethod *m) {
    for (size_t i = 0; i < sizeof all_dense / sizeof *all_dense; i++)
        if (!strcmp(all_dense[i].name, m->name)) return &all_dense[i];
    return NULL;
}

PiSized pi_sized(int number, int parts) {
    const PiSizedSystem *s = pi_sized_systems[number];
    PiSized made = {.system = s->one, .number = number, .parts = parts};
    made.system.dim += parts * s->dim;
    made.system.dof += parts * s->dof;
    made.system.n_params += parts * s->n_params;
    made.system.n_derived += parts * s->n_derived;
    made.system.scratch += parts * s->scratch;
    made.system.operations = pi_product(s->pairs, pi_product(parts, parts) / 2);
    return made;
}
