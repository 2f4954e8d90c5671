/* The kernels of every system in contents.h, and those for any force: what isa/ compiles for each
 * instruction set and precision, in parts (PI_PART) or all at once. */
#pragma once
#include "../vmath/vmath.h"
#include "loop.h"
#include "on_rows.h"
#include "tolerance/in_registers.h"
/* A traced system that is compiled (pyintegrate/trace/compiler.py) has its own table of contents,
 * and takes the kernels for any force from the package. */
#ifndef PI_ONE_SYSTEM
#define PI_CONTENTS "../contents.h"
#if PI_HAS(0)
#include "../bytecode/interpreter.h"
#include "rows/loop.h"
#include "tolerance/loop.h"
#endif
#endif

/* contents.h is read four times. Each file in it is one call of a macro, which each reading
 * expands differently. With `systems/spring.h`, SYSTEM(spring, MATHEMATICS(...), .title = ...):
 *   1. static const PiSystem spring_system = {.name = "spring", .title = "...", ...};
 *      static const Model spring_model = {.system = &spring_system, .acceleration = ...};
 *   2. static int spring_any_explicit_rk(const PiTile *tile) {...}, and spring_rk4 and others: the
 *      loop of loop.h with spring_model and the family as constants; and
 *      static int spring_on_rows(...) {...}, the same system as a force on rows;
 *   3. {.system = "spring", .family = {[PI_EXPLICIT_RK] = spring_any_explicit_rk, ...}, ...}, its
 *      line in the table `systems`;
 *   4. nothing; here systems of any size give the name of their force.
 *
 * First reading of contents.h: the methods and systems themselves. A COMPACT_SYSTEM has no
 * specialised kernels, and its registers in flight go through loops: where the force takes most of
 * the time nothing is lost. Specialised kernels of Tsitouras' method are for first-order systems.
 */
#define METHOD(id, kind, ...)                                                                      \
    static const PiMethod id __attribute__((unused)) = {.name = #id, .family = kind, __VA_ARGS__};
#define MATHEMATICS(...) __VA_ARGS__
#define SYSTEM(id, mathematics, ...)                                                               \
    static const PiSystem id##_system = {.name = #id, __VA_ARGS__};                                \
    static const Model id##_model = {.system = &id##_system, mathematics};
#define COMPACT_SYSTEM(id, mathematics, ...)                                                       \
    SYSTEM(id, MATHEMATICS(.compact = 1, mathematics), __VA_ARGS__)
#define SIZED_SYSTEM(id, ...)
#ifdef PI_PART
#include "../methods/rk4.h"
#include "../methods/semi_implicit_euler.h"
#include "../methods/tsitouras54.h"
#include "../methods/velocity_verlet.h"
#endif
#include PI_CONTENTS

/* Second reading: a kernel for each system and family, and for each specialised method. */
#undef METHOD
#undef SYSTEM
#undef COMPACT_SYSTEM
#define METHOD(id, kind, ...)
#define KERNEL(id, label, ...)                                                                     \
    static int id##_##label(const PiTile *tile) {                                                  \
        const KernelChoice choice = {__VA_ARGS__, 0};                                              \
        return advance(&choice, tile, &id##_model);                                                \
    }
#define ANSWER(id, question)                                                                       \
    case question: return answer_rows(&id##_model, question, rows);
/* Kernels that are compiled in double precision only, only where there are kernels in registers, or
 * only for wide registers; elsewhere rows do the same, with the same bits. */
#if PI_REAL_BITS == 64
#define IN_DOUBLE(...) __VA_ARGS__
#else
#define IN_DOUBLE(...)
#endif
#ifdef PI_ROWS_ONLY
#define IN_REGISTERS(...)
#else
#define IN_REGISTERS(...) __VA_ARGS__
#endif
#if PI_VECTOR_BYTES > 16
#define IN_WIDE_REGISTERS IN_REGISTERS
#else
#define IN_WIDE_REGISTERS(...)
#endif
#define GENERAL(id)                                                                                \
    IN_REGISTERS(IN_DOUBLE(KERNEL(id, any_explicit_rk, PI_EXPLICIT_RK, PI_GENERAL, tile->method))  \
                     KERNEL(id, any_composition, PI_COMPOSITION, PI_GENERAL, tile->method)         \
                         KERNEL(id, rk4, PI_EXPLICIT_RK, PI_RK4, &rk4))                            \
    IN_WIDE_REGISTERS(IN_DOUBLE(static void id##_trial(const PiTrialRows *rows) {                  \
        trial_in_registers(&id##_model, rows);                                                     \
    }))                                                                                            \
    IN_DOUBLE(                                                                                     \
        static void id##_energies(const PiEnergyRows *rows) { energy_rows(&id##_model, rows); })   \
    static int id##_on_rows(const void *context, PiQuestion question, const PiRows *rows) {        \
        switch (question) {                                                                        \
            ANSWER(id, PI_RHS)                                                                     \
            ANSWER(id, PI_ACCELERATION)                                                            \
            ANSWER(id, PI_ENERGY)                                                                  \
            ANSWER(id, PI_INVARIANTS)                                                              \
            ANSWER(id, PI_JACOBIAN)                                                                \
            ANSWER(id, PI_VELOCITY)                                                                \
            ANSWER(id, PI_NEXT)                                                                    \
            ANSWER(id, PI_PREPARE)                                                                 \
        }                                                                                          \
        return 0;                                                                                  \
    }
#define SPECIALISED(id)                                                                            \
    IN_DOUBLE(KERNEL(id, tsitouras, PI_EXPLICIT_RK, PI_TSITOURAS54,                                \
                     &tsitouras54) static int id##_tsitouras54(const PiTile *tile) {               \
        return id##_system.dof ? id##_any_explicit_rk(tile) : id##_tsitouras(tile);                \
    })                                                                                             \
    KERNEL(id, semi_implicit_euler, PI_COMPOSITION, PI_SEMI_IMPLICIT_EULER, &semi_implicit_euler)  \
    KERNEL(id, velocity_verlet, PI_COMPOSITION, PI_VELOCITY_VERLET, &velocity_verlet)
#if defined PI_PART && PI_PART == 0
#define SYSTEM(id, ...)                                                                            \
    _Static_assert(0, #id ": contents.h has it outside the parts of systems (PI_HAS)");
#define COMPACT_SYSTEM SYSTEM
#else
#define SYSTEM(id, ...)         GENERAL(id) IN_WIDE_REGISTERS(SPECIALISED(id))
#define COMPACT_SYSTEM(id, ...) GENERAL(id)
#endif
#include PI_CONTENTS

/* Third reading: their table. Compact systems, and the baseline, have few specialised kernels; the
 * general ones, which take their place, give the same bits. */
#undef SYSTEM
#undef COMPACT_SYSTEM
#define ROW(id, ...)                                                                               \
    {.system = #id,                                                                                \
     .force = id##_on_rows,                                                                        \
     IN_REGISTERS(.family = {IN_DOUBLE([PI_EXPLICIT_RK] = id##_any_explicit_rk,                    \
                                       [PI_NYSTROM] = id##_any_explicit_rk, )[PI_COMPOSITION] =    \
                                 id##_any_composition},                                            \
                  .specialised = {[PI_RK4] = id##_rk4, __VA_ARGS__}, .changes = REDUCES_CHANGES, ) \
         IN_WIDE_REGISTERS(IN_DOUBLE(.trial = id##_trial, ))                                       \
             IN_DOUBLE(.energies = id##_energies)},
#define COMPACT_SYSTEM(id, ...) ROW(id)
#define SYSTEM(id, ...)                                                                            \
    ROW(id, IN_WIDE_REGISTERS(                                                                     \
                IN_DOUBLE([PI_TSITOURAS54] = id##_tsitouras54, )[PI_SEMI_IMPLICIT_EULER] =         \
                    id##_semi_implicit_euler,                                                      \
                [PI_VELOCITY_VERLET] = id##_velocity_verlet))
#if defined PI_ONE_SYSTEM || !defined PI_PART || PI_PART > 0
static const PiKernels systems[] = {
#include PI_CONTENTS
};
#endif
#ifdef PI_ONE_SYSTEM
__attribute__((visibility("default"))) const PiKernels *PI_ONE_SYSTEM(uint64_t layout);
const PiKernels *PI_ONE_SYSTEM(uint64_t layout) { return layout == PI_LAYOUT ? systems : NULL; }
#else
/* The parts find each other by name: pi_avx2_f64_part1. */
#define JOINED(set, part)  set##_part##part
#define PART_OF(set, part) JOINED(set, part)
#define ALL_SYSTEMS        {sizeof systems / sizeof *systems, systems}
#if defined PI_PART && PI_PART > 0
extern const PiKernelPart PART_OF(PI_KERNEL_SET, PI_PART);
const PiKernelPart PART_OF(PI_KERNEL_SET, PI_PART) = ALL_SYSTEMS;
#else
#ifdef PI_PART
extern const PiKernelPart PART_OF(PI_KERNEL_SET, 1), PART_OF(PI_KERNEL_SET, 2),
    PART_OF(PI_KERNEL_SET, 3), PART_OF(PI_KERNEL_SET, 4);
#define THE_PARTS                                                                                  \
    {&PART_OF(PI_KERNEL_SET, 1), &PART_OF(PI_KERNEL_SET, 2), &PART_OF(PI_KERNEL_SET, 3),           \
     &PART_OF(PI_KERNEL_SET, 4)}
#else
static const PiKernelPart all_systems = ALL_SYSTEMS;
#define THE_PARTS {&all_systems}
#endif
/* Fourth reading: systems of any size are forces on rows. */
#undef SYSTEM
#undef COMPACT_SYSTEM
#undef SIZED_SYSTEM
#define SYSTEM(id, ...)
#define COMPACT_SYSTEM(id, ...)
#define SIZED_SYSTEM(id, force, ...) force,
static PiForce *const sized_forces[] = {
#include PI_CONTENTS
};
const PiKernelSet PI_KERNEL_SET = {
    .real_bits = PI_REAL_BITS,
    .vector_bytes = PI_VECTOR_BYTES,
    .parts = THE_PARTS,
    .sized = sized_forces,
    .rows = rows_kernel,
    .evaluate = evaluate,
    .program = pi_run_program,
    .apart = run_program_apart,
    .complete = complete,
#if PI_REAL_BITS == 64
    .reduce = reduce,
    .survey = survey,
    .draw = draw_pairs,
    .passage = first_passage,
#endif
#ifndef PI_FIXED_STEPS_ONLY /* the page of the lab */
    .solve = solve_on_rows,
#endif
};
#endif
#endif
