/* Compositions of kicks and drifts (symplectic if the force does not depend on the velocity):
 *     kick  v += w a(t, x, v),     drift  x += w v  (or w T_p(p)),     w = h times the coefficient.
 *
 * A kick uses the current position and velocity and the time t_n + h (sum of the drifts so far),
 * which is t0 + (n + 1) h if that sum is 1. If a method both begins and ends with a kick, the
 * last force of a step is the first of the next, unless the force depends on the velocity: then it
 * is evaluated again. Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, II.4-5. */
#pragma once
#include "explicit_rk.h"
#include "kept_force.h"

/* Weights of kick and drift s: w[2 s] and w[2 s + 1]. */
INLINE void composition_weights(const PiMethod *m, vreal h, vreal *w) {
    EACH_BELOW(s, m->stages) {
        w[2 * s] = h * (real)m->kick[s];
        w[2 * s + 1] = h * (real)m->drift[s];
    }
}

/* y[d] += w k[d] for n components from d = `first` on. */
INLINE void accumulate_scaled(const Model *model, int first, int n, vreal w, const vreal *k, int u,
                              Flight *f) {
    EACH(i, n) {
        vreal *y = f->y[u] + first + i;
        *y = vfma(scaled(model, f, u, first + i, w), k[i], *y);
    }
}
INLINE void drift(const Model *model, vreal w, int u, Flight *f) {
    const int dof = model->system->dof;
    const vreal *v = f->y[u] + dof;
    vreal velocity[PI_MAX_DIM];
    if (model->velocity) model->velocity(v, f->p[u], velocity);
    accumulate_scaled(model, 0, dof, w, model->velocity ? velocity : v, u, f);
}
/* The time when the drifts of step n have this sum, in units of h. */
INLINE vreal time_of(double drifted, int64_t n, int u, const Flight *f) {
    const int ended = fabs(drifted - 1) < 1e-14;
    const vreal t = time_at(f->t0[u], f->h[u], n + ended);
    return ended ? t : vfma(vset(drifted), f->h[u], t);
}
/* The registers in flight go side by side through kicks and drifts. f->kept holds the force of the
 * step before (or of composition_start) if it is kept; fresh: it does not hold it yet. */
INLINE void composition_step(const Model *model, const PiMethod *m, int count, const vreal *w,
                             int64_t stride, int64_t n, int fresh, Flight *f) {
    const int dof = model->system->dof, keeps = keeps_force(m, model->system);
    vreal t[PI_MAX_FLIGHT];
    FLIGHT(u, 0, count, t[u] = time_at(f->t0[u], f->h[u], n););
    double drifted = 0;
    EACH_BELOW(s, m->stages) {
        if (m->kick[s] != 0) {
            FLIGHT(u, 0, count, {
                vreal *x = f->y[u], *v = x + dof, *a = f->kept[u];
                if (s > 0 || fresh || !keeps) model->acceleration(t[u], x, v, f->p[u], a);
                accumulate_scaled(model, dof, dof, w[u * stride + 2 * s], a, u, f);
            });
        }
        if (m->drift[s] != 0) {
            drifted += m->drift[s];
            FLIGHT(u, 0, count, {
                drift(model, w[u * stride + 2 * s + 1], u, f);
                t[u] = time_of(drifted, n, u, f);
            });
        }
    }
}
/* The same with a method that the compiler knows, one register after the other. */
INLINE void known_composition_step(const Model *model, const PiMethod *m, const vreal *w, int64_t n,
                                   int u, Flight *f) {
    const int dof = model->system->dof, keeps = keeps_force(m, model->system);
    vreal *x = f->y[u], *a = f->kept[u];
    vreal t = time_at(f->t0[u], f->h[u], n);
    double drifted = 0;
    EACH(s, m->stages) {
        if (m->kick[s] != 0) {
            if (s > 0 || !keeps) model->acceleration(t, x, x + dof, f->p[u], a);
            accumulate_scaled(model, dof, dof, w[2 * s], a, u, f);
        }
        if (m->drift[s] != 0) {
            drifted += m->drift[s];
            drift(model, w[2 * s + 1], u, f);
            t = time_of(drifted, n, u, f);
        }
    }
}
INLINE void composition_start(const Model *model, const PiMethod *m, int count, int64_t n,
                              Flight *f) {
    if (!keeps_force(m, model->system)) return;
    FLIGHT(u, 0, count, {
        model->acceleration(time_at(f->t0[u], f->h[u], n), f->y[u], f->y[u] + model->system->dof,
                            f->p[u], f->kept[u]);
    });
}
