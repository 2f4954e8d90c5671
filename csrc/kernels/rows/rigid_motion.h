/* Methods of rigid motion: one register of bodies, all the steps of a call inside.
 *
 * Velocities first (forces, then torques with one of four gyroscopic terms), then positions:
 *     v += h v',   w += h w',   x += h v,   q += (h / 2) (0, w) q  or  q = exp(h w / 2) q.
 * Runge-Kutta on all 13 components. A symplectic splitting of the free top into rotations about
 * fixed axes of the body, and compositions of it.
 * Damping factors, and exp(-damping h), multiply the velocities once per step.
 *
 * McLachlan (1993), Phys. Rev. Lett. 71, 3043; Touma, Wisdom (1994), Astron. J. 107, 1189; Catto,
 * Numerical Methods (GDC 2015); Hairer, Lubich, Wanner (2006), VII.5. */
#pragma once
#include "chunk.h"
#include "newton.h"
#include "../../mechanics/rigid_body.h"
#include "../../vmath/vmath.h"

/* q = exp(a / 2) q: a rotation by |a| about the world axis a. */
INLINE void turn_exactly(const vreal *a, vreal *q) {
    const vreal angle = vsqrt(dot3(a, a)) * 0.5;
    vreal s[3];
    const vreal ratio = vselect(angle == 0, vone, vsin(angle) / angle);
    EACH(i, 3) s[i] = a[i] * (ratio * 0.5);
    turn(vcos(angle), s, q);
}

/* ---- velocities first ------------------------------------------------------------------------ */
/* w in body axes from I (w - w0) + h (w x I w - T) = 0 by Newton's method, each lane by itself.
 * Lanes that do not converge become NaN, with their status. */
static void rigid_implicit_term(const Rigid *b, vreal h, const vreal *torque, vreal *w,
                                vint *code) {
    vreal I[6], Iw[3], r[3], start[3], last = vzero;
    vint done = {0};
    rigid_vector(b, rigid_derived(b, RIGID_I), 6, I);
    /* In units of the power of two below its trace: the determinant has three factors I. */
    const vnatural size = (vnatural)((I[0] + I[1]) + I[2]) >> MANTISSA_BITS;
    const vreal unit = vpower_of_two((natural)EXPONENT_BIAS - size);
    EACH(i, 6) I[i] *= unit;
    symmetric3(I, w, start);
    EACH(i, 3) start[i] = vfma(h, torque[i] * unit, start[i]);
    EACH_BELOW(iteration, NEWTON_ITERATIONS) {
        symmetric3(I, w, Iw);
        cross3(w, Iw, r);
        EACH(i, 3) r[i] = vfma(h, r[i], Iw[i] - start[i]);
        /* Columns of I + h ([w] I - [Iw]). */
        vreal column[3][3], normal[3], step[3];
        EACH(k, 3) {
            const vreal e[3] = {vset(k == 0), vset(k == 1), vset(k == 2)};
            vreal Ie[3], first[3], second[3];
            symmetric3(I, e, Ie);
            cross3(w, Ie, first);
            cross3(Iw, e, second);
            EACH(i, 3) column[k][i] = vfma(h, first[i] - second[i], Ie[i]);
        }
        vreal determinant = vzero;
        EACH(k, 3) {
            cross3(column[(k + 1) % 3], column[(k + 2) % 3], normal);
            if (k == 0) determinant = dot3(column[0], normal);
            step[k] = dot3(r, normal) / determinant;
        }
        vreal change = vzero, size = vzero;
        EACH(i, 3) {
            w[i] = vselect(done, w[i], w[i] - step[i]);
            change = vmax(change, vabs(step[i]));
            size = vmax(size, vabs(w[i]));
        }
        const vint finite = (change <= REAL_MAX) & (size <= REAL_MAX),
                   small = change <= size * EPSILON,
                   stagnates = (change * 2 >= last) & (change <= size * STAGNATION) & (last > 0);
        done |= ~finite | small | stagnates;
        last = change;
        if (!vany(~done)) break;
    }
    *code = vselect_int(done | (*code != 0), *code, vset_int(PI_NOT_CONVERGED));
    EACH(i, 3) w[i] = vselect(done, w[i], vset(NAN));
}

/* Factors of v and w in one step: those that are given; exp(-damping part h). */
typedef struct {
    vreal v, w;
} Damping;
INLINE Damping rigid_factors(const Rigid *b) {
    return (Damping){*rigid_parameter(b, RIGID_LINEAR_FACTOR),
                     *rigid_parameter(b, RIGID_ANGULAR_FACTOR)};
}
INLINE Damping rigid_damping(const Rigid *b, vreal h, double part) {
    const vreal t = h * (real)-part;
    return (Damping){vexp(t * *rigid_parameter(b, RIGID_LINEAR_DAMPING)),
                     vexp(t * *rigid_parameter(b, RIGID_ANGULAR_DAMPING))};
}
INLINE void damp(Damping d, vreal *y) {
    EACH(i, 3) {
        y[RIGID_V + i] *= d.v;
        y[RIGID_W + i] *= d.w;
    }
}

/* drags: with drag? */
INLINE void rigid_velocity_phase(const Rigid *b, PiGyroscopic gyroscopic, int drags, vreal h,
                                 vreal *y, vint *code) {
    vreal M[3][3], a[3], torque[3], w[3], rate[3];
    rotation_matrix(y + RIGID_Q, M);
    rigid_loads(b, y, M, a, torque);
    if (drags) rigid_drag(b, y + RIGID_V, a);
    add3(h, a, y + RIGID_V);
    if (gyroscopic == PI_EXPLICIT_TERM) {
        to_body(M, y + RIGID_W, w);
        rigid_euler(b, torque, w, rate);
    } else if (gyroscopic == PI_IMPLICIT_TERM) {
        vreal before[3];
        to_body(M, y + RIGID_W, before);
        EACH(i, 3) w[i] = before[i];
        rigid_implicit_term(b, h, torque, w, code);
        EACH(i, 3) rate[i] = (w[i] - before[i]) / h;
    } else rigid_symmetric(b, RIGID_B, torque, rate);
    to_world(M, rate, w);
    add3(h, w, y + RIGID_W);
}
INLINE void rigid_position_phase(const Rigid *b, const PiMethod *m, vreal h, vreal *y) {
    vreal M[3][3], w[3], L[3], *q = y + RIGID_Q;
    add3(h, y + RIGID_V, y + RIGID_X);
    if (m->gyroscopic == PI_KEPT_MOMENTUM) {
        rotation_matrix(q, M);
        rigid_in_world(b, RIGID_I, M, y + RIGID_W, L);
    }
    if (m->exponential) {
        EACH(i, 3) w[i] = h * y[RIGID_W + i];
        turn_exactly(w, q);
    } else {
        vreal spun[4];
        spin(y + RIGID_W, q, spun);
        EACH(i, 4) q[i] = vfma(h * 0.5, spun[i], q[i]);
    }
    if (!m->unnormalised) normalise(q);
    if (m->gyroscopic == PI_KEPT_MOMENTUM) {
        rotation_matrix(q, M);
        rigid_angular_velocity(b, M, L, y + RIGID_W);
    }
}

/* ---- Runge-Kutta ----------------------------------------------------------------------------- */
/* k1 = f(y), k2 = f(y + h k1 / 2), k3 = f(y + h k2 / 2), k4 = f(y + h k3),
 * y += h (k1 + 2 k2 + 2 k3 + k4) / 6 */
INLINE void rigid_rk4_step(const Rigid *b, const PiMethod *m, vreal h, vreal *y) {
    vreal k[RIGID_DIM], at[RIGID_DIM], sum[RIGID_DIM];
    EACH(i, RIGID_DIM) at[i] = y[i], sum[i] = vzero;
    EACH_BELOW(stage, 4) {
        rigid_rhs(b, at, k);
        const vreal to_next = h * vset(stage == 2 ? 1 : 0.5),
                    weight = vset(stage == 0 || stage == 3 ? 1 : 2);
        EACH(i, RIGID_DIM) {
            at[i] = vfma(to_next, k[i], y[i]);
            sum[i] = vfma(weight, k[i], sum[i]);
        }
    }
    EACH(i, RIGID_DIM) y[i] = vfma(h / 6.0, sum[i], y[i]);
    if (!m->unnormalised) normalise(y + RIGID_Q);
    damp(rigid_factors(b), y);
}

/* ---- the splitting --------------------------------------------------------------------------- */
/* The free top for a time h. In H = sum over i of rate_i (n_i . L)^2 / 2 each term rotates the body
 * about its axis n_i, at a rate that is constant under this term; L is constant in world axes. */
static void rigid_free_top(const Rigid *b, vreal h, vreal *y) {
    vreal M[3][3], L[3], n[3], axis[3], *q = y + RIGID_Q;
    rotation_matrix(q, M);
    rigid_in_world(b, RIGID_I, M, y + RIGID_W, L);
    EACH_BELOW(s, 5) {
        const int i = s < 3 ? s : 4 - s;
        rotation_matrix(q, M);
        rigid_vector(b, rigid_derived(b, RIGID_AXES + 3 * i), 3, n);
        to_world(M, n, axis);
        const vreal turning = *rigid_derived(b, RIGID_RATES + i) * dot3(axis, L),
                    half = h * vset(s == 2 ? 0.5 : 0.25) * turning, sine = vsin(half);
        EACH(k, 3) axis[k] *= sine;
        turn(vcos(half), axis, q);
    }
    normalise(q);
    rotation_matrix(q, M);
    rigid_angular_velocity(b, M, L, y + RIGID_W);
}
/* Half of the damping, of the drag v' = -c |v| v, which gives v / (1 + c |v| h), and of the kick by
 * forces that depend only on the position; the drift and the free top; and the halves in reverse.
 * Backwards in time drag makes the velocity infinite, and there is none beyond that. */
static void rigid_slow_down(const Rigid *b, vreal h, vreal *y) {
    const vreal slower = vfma(h, rigid_drag_rate(b, y + RIGID_V), vone);
    EACH(i, 3) y[RIGID_V + i] /= vselect(slower > 0, slower, vset(NAN));
}
static void rigid_splitting_step(const Rigid *b, const PiMethod *m, vreal h, const Damping *damping,
                                 vreal *y) {
    EACH_BELOW(s, m->stages) {
        const vreal step = h * (real)m->b[s], half = step * 0.5;
        damp(damping[s], y);
        rigid_slow_down(b, half, y);
        rigid_velocity_phase(b, PI_LEFT_OUT, 0, half, y, NULL);
        add3(step, y + RIGID_V, y + RIGID_X);
        rigid_free_top(b, step, y);
        rigid_velocity_phase(b, PI_LEFT_OUT, 0, half, y, NULL);
        rigid_slow_down(b, half, y);
        damp(damping[s], y);
    }
    damp(rigid_factors(b), y);
}

/* ---- the loop -------------------------------------------------------------------------------- */
/* All steps of register u. */
static void rigid_steps(Chunk *c, int64_t u, const PiMethod *m) {
    const int64_t R = c->R;
    const Rigid b = {c->p + u, R, (c->tile->system->n_params - RIGID_SPRINGS) / RIGID_PER_SPRING};
    const vreal h = c->h[u];
    vreal y[RIGID_DIM];
    Damping damping[PI_MAX_STAGES];
    EACH(i, RIGID_DIM) y[i] = c->y[i * R + u];
    if (m->rule == PI_VELOCITIES_FIRST) {
        const Damping factors = rigid_factors(&b);
        damping[0] = rigid_damping(&b, h, 1);
        damping[0].v *= factors.v, damping[0].w *= factors.w;
    } else if (m->rule == PI_FREE_TOP_SPLITTING)
        EACH_BELOW(s, m->stages) damping[s] = rigid_damping(&b, h, m->b[s] / 2);
    EACH_BELOW(n, c->tile->steps) {
        if (stops(c)) return;
        if (m->rule == PI_VELOCITIES_FIRST) {
            if (m->phase != PI_POSITIONS_ONLY) {
                rigid_velocity_phase(&b, m->gyroscopic, 1, h, y, &c->code[u]);
                damp(damping[0], y);
            }
            if (m->phase != PI_VELOCITIES_ONLY) rigid_position_phase(&b, m, h, y);
        } else if (m->rule == PI_QUATERNION_RK4) rigid_rk4_step(&b, m, h, y);
        else rigid_splitting_step(&b, m, h, damping, y);
    }
    EACH(i, RIGID_DIM) c->y[i * R + u] = y[i];
}
static void rigid_motion(Chunk *c) {
    EACH_WHILE(u, c->R, !c->stopped) rigid_steps(c, u, c->tile->method);
}
