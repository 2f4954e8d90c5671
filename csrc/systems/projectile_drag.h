#ifndef PROJECTILE_DRAG_H
#define PROJECTILE_DRAG_H
#include "../mechanics/rotation.h"
/* Projectile with quadratic drag.   m r'' = -c |r'| r' - (0, 0, m g)
 * state x y z [m], vx vy vz [m/s]    parameters g [m/s^2], c [kg/m], m [kg]
 * Energy E = m |v|^2 / 2 + m g z, and dE/dt = -c |v|^3. It falls at sqrt(m g / c) in the end. */
enum { PROJECTILE_DRAG_G, PROJECTILE_DRAG_C, PROJECTILE_DRAG_M, PROJECTILE_DRAG_C_M };

PREPARE(projectile_drag) { p[PROJECTILE_DRAG_C_M] = p[PROJECTILE_DRAG_C] / p[PROJECTILE_DRAG_M]; }
ACCELERATION(projectile_drag) {
    const vreal w = -p[PROJECTILE_DRAG_C_M] * vsqrt(dot3_from_last(v, v));
    a[0] = w * v[0];
    a[1] = w * v[1];
    a[2] = vfma(w, v[2], -p[PROJECTILE_DRAG_G]);
}
ENERGY(projectile_drag) {
    const vreal *v = y + 3, v2 = dot3_from_last(v, v);
    return p[PROJECTILE_DRAG_M] * vfma(p[PROJECTILE_DRAG_G], y[2], v2 * 0.5);
}
/* da_i / dv_k = -(c / m) (|v| delta_ik + v_i v_k / |v|), and 0 at rest */
JACOBIAN(projectile_drag) {
    const vreal *v = y + 3, speed = vsqrt(dot3_from_last(v, v));
    EACH(i, 3)
        EACH(k, 3) {
            const vreal along = vselect(speed == 0, vzero, v[i] / speed * v[k]);
            J[i][3 + k] = -p[PROJECTILE_DRAG_C_M] * (i == k ? speed + along : along);
        }
}
#endif
COMPACT_SYSTEM(
    projectile_drag,
    MATHEMATICS(.acceleration = projectile_drag_acceleration, .prepare = projectile_drag_prepare,
                .energy = projectile_drag_energy, .jacobian = projectile_drag_jacobian),
    .title = "projectile with quadratic drag", .equation = "m r'' = -c |r'| r' - (0, 0, m g)",
    .reference = "Newton (1687), Principia, book II, section 2", .velocity_dependent = 1,
    SECOND_ORDER(METRES("x", 0), METRES("y", 0), {"z", "m", 0, "height"}, METRES_A_SECOND("vx", 10),
                 METRES_A_SECOND("vy", 0), METRES_A_SECOND("vz", 10)),
    PARAMS({"g", "m/s^2", 9.81, "gravity, along -z"}, {"c", "kg/m", 0.1, "drag"},
           {"m", "kg", 1, "mass"}))
