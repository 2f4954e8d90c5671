/* The mechanics of one rigid body, a register of bodies at a time. Its parameters stay in their
 * rows, since those of springs depend on the number of springs.
 *
 *     x' = v,   q' = (0, w) q / 2,   v' = g + F / m - c v,   w' = R B (T - (R'w) x I (R'w)) - c' w
 *
 * q rotates body axes to world axes by the matrix R; w is in world axes, the inertia I = B^-1 and
 * the torque T in body axes. A body of inverse mass 0 is not moved by forces or gravity, one of
 * inverse inertia 0 is not turned by torques: it then counts as a sphere without torques. */
#pragma once
#include "../tiles.h"
#include "rotation.h"

enum { RIGID_X = 0, RIGID_Q = 3, RIGID_V = 7, RIGID_W = 10, RIGID_DIM = 13 };
enum { /* rows of parameters; springs: anchors (3 each), attachments (3 each), stiffness, lengths */
       RIGID_GRAVITY = 0,
       RIGID_FORCE = 3,
       RIGID_TORQUE = 6,
       RIGID_TORQUE_BODY = 9,
       RIGID_DRAG = 12,
       RIGID_INVERSE_MASS,
       RIGID_INVERSE_INERTIA,
       RIGID_LINEAR_DAMPING = RIGID_INVERSE_INERTIA + 9,
       RIGID_ANGULAR_DAMPING,
       RIGID_LINEAR_FACTOR,
       RIGID_ANGULAR_FACTOR,
       RIGID_SPRINGS,
       RIGID_PER_SPRING = 8,
};
enum {                           /* derived rows, after those of the springs */
       RIGID_CONSTANT = 0,       /* gravity and force, as an acceleration */
       RIGID_MASS = 3,           /* 0 if the body does not move */
       RIGID_TURNS,              /* 1, or 0 */
       RIGID_I,                  /* inertia */
       RIGID_B = RIGID_I + 6,    /* its inverse */
       RIGID_AXES = RIGID_B + 6, /* B = sum over i of rate_i n_i n_i' */
       RIGID_RATES = RIGID_AXES + 9,
       RIGID_DERIVED = RIGID_RATES + 3
};

typedef struct {
    vreal *p; /* the first parameter */
    int64_t R, springs;
} Rigid;
INLINE vreal *rigid_parameter(const Rigid *b, int64_t i) { return b->p + i * b->R; }
INLINE vreal *rigid_derived(const Rigid *b, int64_t i) {
    return b->p + (RIGID_SPRINGS + RIGID_PER_SPRING * b->springs + i) * b->R;
}
INLINE void rigid_vector(const Rigid *b, const vreal *first, int n, vreal *to) {
    EACH(i, n) to[i] = first[i * b->R];
}

/* ---- derived parameters ---------------------------------------------------------------------- */
/* B = L D L' in unit vectors: the columns of L, and D times the squares of their lengths. If B
 * is diagonal they are the principal axes. */
INLINE void rigid_axes(const vreal *B, vreal n[3][3], vreal *rate) {
    const vreal l1 = B[3] / B[0], l2 = B[4] / B[0];
    const vreal d1 = vfma(-l1, B[3], B[1]), l3 = vfma(-l1, B[4], B[5]) / d1;
    n[0][0] = n[1][1] = n[2][2] = vone;
    n[1][0] = n[2][0] = n[2][1] = vzero;
    n[0][1] = l1, n[0][2] = l2, n[1][2] = l3;
    rate[0] = B[0];
    rate[1] = d1;
    rate[2] = vfma(-l3, l3 * d1, vfma(-l2, B[4], B[2]));
    EACH(i, 2) {
        const vreal square = dot3(n[i], n[i]), length = vsqrt(square);
        rate[i] *= square;
        EACH(k, 3) n[i][k] /= length;
    }
}
/* The inverse by cofactors. */
INLINE void symmetric_inverse(const vreal *S, vreal *to) {
    to[0] = vfma(S[1], S[2], -(S[5] * S[5]));
    to[1] = vfma(S[0], S[2], -(S[4] * S[4]));
    to[2] = vfma(S[0], S[1], -(S[3] * S[3]));
    to[3] = vfma(S[4], S[5], -(S[3] * S[2]));
    to[4] = vfma(S[3], S[5], -(S[4] * S[1]));
    to[5] = vfma(S[3], S[4], -(S[0] * S[5]));
    const vreal determinant = vfma(S[4], to[4], vfma(S[3], to[3], S[0] * to[0]));
    EACH(i, 6) to[i] /= determinant;
}
INLINE void rigid_prepare(const Rigid *b) {
    const vreal inverse_mass = *rigid_parameter(b, RIGID_INVERSE_MASS);
    const vint moves = ~(inverse_mass == vzero); /* NaN propagates */
    vreal B[6], I[6], n[3][3], rate[3], scale;
    const int upper[] = {0, 4, 8, 1, 2, 5}; /* of the rows of a matrix */
    EACH(i, 6) B[i] = *rigid_parameter(b, RIGID_INVERSE_INERTIA + upper[i]);
    vint turns = {0};
    EACH(i, 6) turns |= ~(B[i] == vzero);
    EACH(i, 6) B[i] = vselect(turns, B[i], i < 3 ? vone : vzero);
    /* In units of its trace, so that tiny and huge bodies neither underflow nor overflow. */
    scale = (B[0] + B[1]) + B[2];
    vreal unit[6];
    EACH(i, 6) unit[i] = B[i] / scale;
    symmetric_inverse(unit, I);
    rigid_axes(B, n, rate);
    EACH(i, 3)
        *rigid_derived(b, RIGID_CONSTANT + i) =
            vselect(moves,
                    vfma(inverse_mass, *rigid_parameter(b, RIGID_FORCE + i),
                         *rigid_parameter(b, RIGID_GRAVITY + i)),
                    vzero);
    *rigid_derived(b, RIGID_MASS) = vselect(moves, vone / inverse_mass, vzero);
    *rigid_derived(b, RIGID_TURNS) = vselect(turns, vone, vzero);
    EACH(i, 6) {
        *rigid_derived(b, RIGID_I + i) = I[i] / scale;
        *rigid_derived(b, RIGID_B + i) = B[i];
    }
    EACH(i, 9) *rigid_derived(b, RIGID_AXES + i) = n[i / 3][i % 3];
    EACH(i, 3) *rigid_derived(b, RIGID_RATES + i) = rate[i];
}

/* ---- springs --------------------------------------------------------------------------------- */
typedef struct {
    vreal arm[3], d[3]; /* from the centre to the attachment, from the anchor to the attachment */
    vreal stretch, stiffness, pull; /* |d| - length; the force is -pull d */
} Spring;
INLINE Spring rigid_spring(const Rigid *b, int64_t i, const vreal *x, vreal M[3][3]) {
    const int64_t n = b->springs;
    Spring s;
    vreal at[3];
    rigid_vector(b, rigid_parameter(b, RIGID_SPRINGS + 3 * n + 3 * i), 3, at);
    to_world(M, at, s.arm);
    EACH(k, 3) s.d[k] = (x[k] + s.arm[k]) - *rigid_parameter(b, RIGID_SPRINGS + 3 * i + k);
    s.stiffness = *rigid_parameter(b, RIGID_SPRINGS + 6 * n + i);
    const vreal length = *rigid_parameter(b, RIGID_SPRINGS + 7 * n + i);
    const vreal distance = vsqrt(dot3(s.d, s.d));
    s.stretch = distance - length;
    /* The direction is undefined if the ends coincide, and not needed without a rest length. */
    s.pull = s.stiffness * vselect(length == 0, vone, s.stretch / distance);
    return s;
}

/* ---- forces and torques ---------------------------------------------------------------------- */
/* v' without damping and drag in world axes, and the torque T in body axes. */
INLINE void rigid_loads(const Rigid *b, const vreal *y, vreal M[3][3], vreal *a, vreal *torque) {
    vreal world[3], body[3];
    rigid_vector(b, rigid_derived(b, RIGID_CONSTANT), 3, a);
    rigid_vector(b, rigid_parameter(b, RIGID_TORQUE), 3, world);
    rigid_vector(b, rigid_parameter(b, RIGID_TORQUE_BODY), 3, body);
    const vreal inverse_mass = *rigid_parameter(b, RIGID_INVERSE_MASS);
    EACH_BELOW(i, b->springs) {
        const Spring s = rigid_spring(b, i, y + RIGID_X, M);
        vreal moment[3];
        add3(-inverse_mass * s.pull, s.d, a);
        cross3(s.arm, s.d, moment);
        add3(-s.pull, moment, world);
    }
    to_body(M, world, torque);
    EACH(i, 3) torque[i] = (torque[i] + body[i]) * *rigid_derived(b, RIGID_TURNS);
}
/* drag |v| / m, or 0: the rate at which drag slows the body down. */
INLINE vreal rigid_drag_rate(const Rigid *b, const vreal *v) {
    const vreal drag = *rigid_parameter(b, RIGID_DRAG) * *rigid_parameter(b, RIGID_INVERSE_MASS);
    const vint there = ~(drag == 0);
    if (!vany(there)) return vzero;
    return vselect(there, drag * vsqrt(dot3(v, v)), vzero);
}
INLINE void rigid_drag(const Rigid *b, const vreal *v, vreal *a) {
    const vreal rate = rigid_drag_rate(b, v);
    EACH(i, 3) a[i] = vselect(rate == 0, a[i], vfma(-rate, v[i], a[i]));
}
/* S a, for the inertia (RIGID_I) or its inverse (RIGID_B). */
INLINE void rigid_symmetric(const Rigid *b, int which, const vreal *a, vreal *to) {
    vreal S[6];
    rigid_vector(b, rigid_derived(b, which), 6, S);
    symmetric3(S, a, to);
}
/* R S R' a, for a vector in world axes. */
INLINE void rigid_in_world(const Rigid *b, int which, vreal M[3][3], const vreal *a, vreal *to) {
    vreal body[3];
    to_body(M, a, body);
    rigid_symmetric(b, which, body, body);
    to_world(M, body, to);
}
/* w from L = R I R' w, with a correction of the rounding error: the product of I and its inverse is
 * never exactly 1, and the error has always the same sign, so that it would accumulate. */
INLINE void rigid_angular_velocity(const Rigid *b, vreal M[3][3], const vreal *L, vreal *w) {
    vreal left[3];
    rigid_in_world(b, RIGID_B, M, L, w);
    rigid_in_world(b, RIGID_I, M, w, left);
    EACH(i, 3) left[i] = L[i] - left[i];
    rigid_in_world(b, RIGID_B, M, left, left);
    EACH(i, 3) w[i] += left[i];
}
/* B (T - w x I w), all in body axes. */
INLINE void rigid_euler(const Rigid *b, const vreal *torque, const vreal *w, vreal *rate) {
    vreal momentum[3], left[3], gyroscopic[3];
    rigid_symmetric(b, RIGID_I, w, momentum);
    cross3(w, momentum, gyroscopic);
    EACH(i, 3) left[i] = torque[i] - gyroscopic[i];
    rigid_symmetric(b, RIGID_B, left, rate);
}
/* The time derivative of the state. */
INLINE void rigid_rhs(const Rigid *b, const vreal *y, vreal *dydt) {
    vreal M[3][3], torque[3], w[3], rate[3];
    rotation_matrix(y + RIGID_Q, M);
    rigid_loads(b, y, M, dydt + RIGID_V, torque);
    rigid_drag(b, y + RIGID_V, dydt + RIGID_V);
    to_body(M, y + RIGID_W, w);
    rigid_euler(b, torque, w, rate);
    to_world(M, rate, dydt + RIGID_W);
    add3(-*rigid_parameter(b, RIGID_LINEAR_DAMPING), y + RIGID_V, dydt + RIGID_V);
    add3(-*rigid_parameter(b, RIGID_ANGULAR_DAMPING), y + RIGID_W, dydt + RIGID_W);
    EACH(i, 3) dydt[RIGID_X + i] = y[RIGID_V + i];
    spin(y + RIGID_W, y + RIGID_Q, dydt + RIGID_Q);
    EACH(i, 4) dydt[RIGID_Q + i] *= 0.5;
}

/* ---- energy and invariants ------------------------------------------------------------------- */
/* R I R' w */
INLINE void rigid_spin_momentum(const Rigid *b, const vreal *y, vreal *L) {
    vreal M[3][3];
    rotation_matrix(y + RIGID_Q, M);
    rigid_in_world(b, RIGID_I, M, y + RIGID_W, L);
    EACH(i, 3) L[i] *= *rigid_derived(b, RIGID_TURNS);
}
/* m v^2 / 2 + w . L / 2 - (m g + F) . x + sum of k stretch^2 / 2 */
INLINE vreal rigid_energy(const Rigid *b, const vreal *y) {
    const vreal *v = y + RIGID_V, mass = *rigid_derived(b, RIGID_MASS);
    vreal M[3][3], L[3], load[3];
    rotation_matrix(y + RIGID_Q, M);
    rigid_spin_momentum(b, y, L);
    rigid_vector(b, rigid_derived(b, RIGID_CONSTANT), 3, load);
    vreal energy = vfma(mass, dot3(v, v), dot3(y + RIGID_W, L)) * 0.5;
    energy = vfma(-mass, dot3(load, y + RIGID_X), energy);
    EACH_BELOW(i, b->springs) {
        const Spring s = rigid_spring(b, i, y + RIGID_X, M);
        energy = vfma(s.stiffness * 0.5, s.stretch * s.stretch, energy);
    }
    return energy;
}
