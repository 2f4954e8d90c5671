#ifndef PROJECTILE_H
#define PROJECTILE_H
#include "../mechanics/rotation.h"
/* Projectile in vacuum.   r'' = (0, 0, -g)
 * state x y z [m], vx vy vz [m/s]    parameter g [m/s^2]
 * Energy (per mass) E = |v|^2 / 2 + g z, and the horizontal velocity, are conserved. */
enum { PROJECTILE_G };

ACCELERATION(projectile) {
    a[0] = a[1] = vzero;
    a[2] = -p[PROJECTILE_G];
}
ENERGY(projectile) {
    const vreal *v = y + 3, v2 = dot3_from_last(v, v);
    return vfma(p[PROJECTILE_G], y[2], v2 * 0.5);
}
INVARIANTS(projectile) {
    values[0] = y[3];
    values[1] = y[4];
}
JACOBIAN(projectile) { /* all zero */ }
#endif
SYSTEM(projectile,
       MATHEMATICS(.acceleration = projectile_acceleration, .energy = projectile_energy,
                   .invariants = projectile_invariants, .jacobian = projectile_jacobian),
       .title = "projectile in vacuum", .equation = "r'' = (0, 0, -g)",
       .reference = "Galilei (1638), Discorsi, fourth day",
       SECOND_ORDER(METRES("x", 0), METRES("y", 0), {"z", "m", 0, "height"},
                    METRES_A_SECOND("vx", 10), METRES_A_SECOND("vy", 0), METRES_A_SECOND("vz", 10)),
       PARAMS({"g", "m/s^2", 9.81, "gravity, along -z"}),
       CONSERVED({"vx", "m/s", 0, "horizontal velocity"}, {"vy", "m/s", 0, "horizontal velocity"}))
