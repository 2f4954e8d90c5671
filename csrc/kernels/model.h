/* A system as register kernels see it: its mathematics, and the registers in flight. */
#pragma once
#include "../simd.h"
#include "../tiles.h"

/* A system's mathematics, one wide register for each component. p: parameters, then those derived.
 */
typedef void Rhs(vreal t, const vreal *y, const vreal *p, vreal *dydt);
typedef void Acceleration(vreal t, const vreal *x, const vreal *v, const vreal *p, vreal *a);
/* v += w a, for forces that cost less so than kept from one step to the next. */
typedef void Kick(vreal w, vreal t, const vreal *x, const vreal *p, vreal *v);
typedef void Velocity(const vreal *momentum, const vreal *p, vreal *v); /* T_p */
typedef void Prepare(vreal *p);
typedef vreal Energy(vreal t, const vreal *y, const vreal *p);
typedef void Invariants(vreal t, const vreal *y, const vreal *p, vreal *values);
/* Second order: J[i][k] = da_i / dx_k, and da_i / dv_k from k = dof on. Otherwise df_i / dy_k. */
typedef void Jacobian(vreal t, const vreal *y, const vreal *p, vreal J[PI_MAX_DIM][PI_MAX_DIM]);

typedef struct {
    const PiSystem *system;
    Rhs *rhs;
    Acceleration *acceleration;
    Kick *kick;
    Velocity *velocity;
    Prepare *prepare;
    Energy *energy;
    Invariants *invariants;
    Jacobian *jacobian;
    int heavy;      /* so costly that specialised kernels gain nothing */
    int long_chain; /* a division or a sine: only many registers hide its latency */
} Model;

INLINE void rhs(const Model *model, vreal t, const vreal *y, const vreal *p, vreal *dydt) {
    const int dof = model->system->dof;
    if (model->rhs) {
        model->rhs(t, y, p, dydt);
        return;
    }
    if (model->velocity) model->velocity(y + dof, p, dydt);
    else
        EACH(i, 0, dof) dydt[i] = y[dof + i];
    model->acceleration(t, y, y + dof, p, dydt + dof);
}

/* Registers in flight: state, parameters, first time and step of some trajectories, and a force
 * kept from step to step. */
typedef struct {
    vreal y[PI_MAX_FLIGHT][PI_MAX_DIM], p[PI_MAX_FLIGHT][PI_MAX_PARAMS];
    vreal t0[PI_MAX_FLIGHT], h[PI_MAX_FLIGHT], kept[PI_MAX_FLIGHT][PI_MAX_DIM];
} Flight;
