/* A system for register kernels: its mathematics, and the registers in flight. */
#pragma once
#include "../simd.h"
#include "../tiles.h"

/* A system's mathematics, one wide register for each component (tiles.h). */
typedef void Rhs RHS_ARGUMENTS;
typedef void Acceleration ACCELERATION_ARGUMENTS;
typedef void Velocity VELOCITY_ARGUMENTS;
typedef void Prepare(vreal *p);
typedef vreal Energy ENERGY_ARGUMENTS;
typedef void Invariants INVARIANTS_ARGUMENTS;
typedef void Jacobian JACOBIAN_ARGUMENTS;

typedef struct {
    const PiSystem *system;
    Rhs *rhs, *next; /* next: with the numbers of a step with noise after y */
    Acceleration *acceleration;
    Velocity *velocity;
    Prepare *prepare;
    Energy *energy;
    Invariants *invariants;
    Jacobian *jacobian;
    int compact;    /* few kernels, and small ones */
    int long_chain; /* a division or a sine: only many registers hide its latency */
} Model;

ALWAYS_INLINE void rhs(const Model *model, vreal t, const vreal *y, const vreal *p, vreal *dydt) {
    const int dof = model->system->dof;
    if (model->rhs) {
        model->rhs(t, y, p, dydt);
        return;
    }
    if (model->velocity) model->velocity(y + dof, p, dydt);
    else
        EACH(i, dof) dydt[i] = y[dof + i];
    model->acceleration(t, y, y + dof, p, dydt + dof);
}

/* A force of many instructions hides what a loop over the registers in flight costs, with their
 * states in memory: as fast as unrolled, and a fraction of the code. */
INLINE int rolled(const Model *model) { return model->compact; }
#define FLIGHT(u, from, to, ...)                                                                   \
    do {                                                                                           \
        if (rolled(model))                                                                         \
            for (int u = (from); u < (to); u++) {                                                  \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        else                                                                                       \
            EACH_BETWEEN(u, from, to) {                                                            \
                __VA_ARGS__                                                                        \
            }                                                                                      \
    } while (0)

/* Registers in flight: state, parameters, initial time and step of some trajectories, a force kept
 * from step to step, and scales taken out of the parameters. */
typedef struct {
    vreal y[PI_MAX_FLIGHT][PI_MAX_DIM], p[PI_MAX_FLIGHT][PI_MAX_PARAMS];
    vreal t0[PI_MAX_FLIGHT], h[PI_MAX_FLIGHT], kept[PI_MAX_FLIGHT][PI_MAX_DIM];
    vreal scale[PI_MAX_FLIGHT][PI_MAX_DIM];
} Flight;

/* Scaled weights: from here on the force of register u gives the rates without their scales
 * (PiSystem.scale), and the weights include them: w (s f) is (w s) f, where w s is computed once.
 * If scales are not taken out, they are 1 for the weights. */
INLINE void take_scales(const Model *model, int taken, Flight *f, int u) {
    const int *scale = model->system->scale;
    EACH(d, model->system->dim)
        if (scale[d]) f->scale[u][d] = taken ? f->p[u][scale[d] - 1] : vone;
    EACH(d, model->system->dim)
        if (scale[d] && taken) f->p[u][scale[d] - 1] = vone;
}
/* The weight of component d. */
INLINE vreal scaled(const Model *model, const Flight *f, int u, int d, vreal w) {
    return model->system->scale[d] ? w * f->scale[u][d] : w;
}
