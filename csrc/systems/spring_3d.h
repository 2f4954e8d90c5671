#ifndef SPRING_3D_H
#define SPRING_3D_H
#include "../mechanics/rotation.h"
/* Mass on a spring with a rest length, anchored at the origin, in space.
 *     m r'' = -k (|r| - rest_length) r / |r| - b r' + m gravity
 * At the anchor, where the direction is undefined, the force is 0 as without a rest length.
 * state x y z [m], vx vy vz [m/s]    parameters k [N/m], b [kg/s], m [kg], rest_length [m],
 * gravity [m/s^2]
 * Energy E = m |v|^2 / 2 + k (|r| - rest_length)^2 / 2 - m gravity . r, and dE/dt = -b |v|^2;
 * angular momentum m r x v, conserved where b and gravity are 0. */
enum {
    SPRING_3D_K,
    SPRING_3D_B,
    SPRING_3D_M,
    SPRING_3D_REST_LENGTH,
    SPRING_3D_GRAVITY,
    SPRING_3D_K_M = SPRING_3D_GRAVITY + 3,
    SPRING_3D_B_M
};

PREPARE(spring_3d) {
    p[SPRING_3D_K_M] = p[SPRING_3D_K] / p[SPRING_3D_M];
    p[SPRING_3D_B_M] = p[SPRING_3D_B] / p[SPRING_3D_M];
}
INLINE vreal spring_3d_length(const vreal *x) { return vsqrt(dot3_from_last(x, x)); }
/* 1 - rest_length / |r|; r - rest_length is exact near rest. */
INLINE vreal spring_3d_stretch(vreal r, const vreal *p) {
    return vselect(r == 0, vone, (r - p[SPRING_3D_REST_LENGTH]) / r);
}
ACCELERATION(spring_3d) {
    const vreal w = -p[SPRING_3D_K_M] * spring_3d_stretch(spring_3d_length(x), p);
    EACH(i, 3) a[i] = vfma(w, x[i], vfma(-p[SPRING_3D_B_M], v[i], p[SPRING_3D_GRAVITY + i]));
}
ENERGY(spring_3d) {
    const vreal *v = y + 3, *g = p + SPRING_3D_GRAVITY;
    const vreal stretch = spring_3d_length(y) - p[SPRING_3D_REST_LENGTH];
    const vreal v2 = dot3_from_last(v, v), fall = dot3_from_last(g, y);
    return vfma(p[SPRING_3D_M], vfma(v2, vset(0.5), -fall),
                p[SPRING_3D_K] * stretch * stretch * 0.5);
}
INVARIANTS(spring_3d) {
    EACH(i, 3) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        values[i] = p[SPRING_3D_M] * vfma(y[j], y[3 + k], -y[k] * y[3 + j]);
    }
}
/* With n = r / |r|:  da_i / dx_k = -(k / m) ((1 - rest_length / |r|) (delta_ik - n_i n_k) + n_i
 * n_k) */
JACOBIAN(spring_3d) {
    const vreal r = spring_3d_length(y), stretch = spring_3d_stretch(r, p);
    EACH(i, 3)
        EACH(k, 3) {
            const vreal along = vselect(r == 0, vzero, (y[i] / r) * (y[k] / r));
            const vreal across = vset(i == k) - along;
            J[i][k] = -p[SPRING_3D_K_M] * vfma(stretch, across, along);
            J[i][3 + k] = i == k ? -p[SPRING_3D_B_M] : vzero;
        }
}
#endif
COMPACT_SYSTEM(spring_3d,
               MATHEMATICS(.acceleration = spring_3d_acceleration, .prepare = spring_3d_prepare,
                           .energy = spring_3d_energy, .invariants = spring_3d_invariants,
                           .jacobian = spring_3d_jacobian),
               .title = "spring in space",
               .equation = "m r'' = -k (|r| - rest_length) r / |r| - b r' + m gravity",
               .reference = "Landau, Lifshitz (1976), Mechanics, section 14",
               .velocity_dependent = 1,
               SECOND_ORDER(METRES("x", 1.5), METRES("y", 0), METRES("z", 0),
                            METRES_A_SECOND("vx", 0), METRES_A_SECOND("vy", 1),
                            METRES_A_SECOND("vz", 0)),
               PARAMS({"k", "N/m", 15, "stiffness"}, {"b", "kg/s", 0, "damping"},
                      {"m", "kg", 1, "mass"}, {"rest_length", "m", 1, "length without force"},
                      {"gravity", "m/s^2", 0, "acceleration along x, y, z"},
                      {"gravity", "m/s^2", 0, ""}, {"gravity", "m/s^2", 0, ""}),
               CONSERVED({"angular_momentum_x", "kg m^2/s", 0, "without damping and gravity"},
                         {"angular_momentum_y", "kg m^2/s", 0, "without damping and gravity"},
                         {"angular_momentum_z", "kg m^2/s", 0, "without damping and gravity"}))
