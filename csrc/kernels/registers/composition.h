/* Compositions of kicks and drifts (symplectic where the force does not see the velocity):
 *     kick  v += w a(t, x, v),     drift  x += w v  (or w T_p(p)),     w = h times the coefficient.
 *
 * A kick sees the current position and velocity and the time t_n + h (sum of the drifts so far),
 * which is t0 + (n + 1) h where that sum is 1. Where a method both begins and ends with a kick, the
 * last force of a step is the first of the next, unless the force sees the velocity: then it is
 * evaluated anew. Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, II.4-5. */
#pragma once
#include "explicit_rk.h"

/* Is the last force of a step kept for the next one? A system with an accumulating kick needs no
 * keeping. */
INLINE int keeps_force(const Model *model, const PiMethod *m) {
    return !model->kick && !model->system->velocity_dependent && m->kick[0] != 0 &&
           m->drift[m->stages - 1] == 0;
}

/* Weights of kick and drift s: w[2 s] and w[2 s + 1]. */
INLINE void composition_weights(const PiMethod *m, vreal h, vreal *w) {
    for (int s = 0; s < m->stages; s++) {
        w[2 * s] = h * (real)m->kick[s];
        w[2 * s + 1] = h * (real)m->drift[s];
    }
}

/* The registers in flight go side by side through kicks and drifts; kept: the force from the step
 * before (or from composition_start), where it is kept. */
INLINE void composition_step(const Model *model, const PiMethod *m, int count, const vreal *w,
                             int64_t stride, int64_t n, Flight *f) {
    const int dof = model->system->dof, keeps = keeps_force(model, m);
    vreal t[PI_MAX_FLIGHT], velocity[PI_MAX_DIM];
    EACH(u, 0, count) t[u] = time_at(f->t0[u], f->h[u], n);
    double drifted = 0;
    for (int s = 0; s < m->stages; s++) {
        if (m->kick[s] != 0) {
            EACH(u, 0, count) {
                vreal *x = f->y[u], *v = x + dof, *a = f->kept[u];
                if (model->kick) model->kick(w[u * stride + 2 * s], t[u], x, f->p[u], v);
                else {
                    if (s > 0 || !keeps) model->acceleration(t[u], x, v, f->p[u], a);
                    accumulate(dof, w[u * stride + 2 * s], a, v);
                }
            }
        }
        if (m->drift[s] != 0) {
            drifted += m->drift[s];
            const int ended = fabs(drifted - 1) < 1e-14;
            EACH(u, 0, count) {
                vreal *x = f->y[u], *v = x + dof;
                if (model->velocity) {
                    model->velocity(v, f->p[u], velocity);
                    accumulate(dof, w[u * stride + 2 * s + 1], velocity, x);
                } else accumulate(dof, w[u * stride + 2 * s + 1], v, x);
                t[u] = time_at(f->t0[u], f->h[u], n + ended);
                if (!ended) t[u] = vfma(vset((real)drifted), f->h[u], t[u]);
            }
        }
    }
}
INLINE void composition_start(const Model *model, const PiMethod *m, int count, int64_t n,
                              Flight *f) {
    if (!keeps_force(model, m)) return;
    EACH(u, 0, count)
        model->acceleration(time_at(f->t0[u], f->h[u], n), f->y[u], f->y[u] + model->system->dof,
                            f->p[u], f->kept[u]);
}
