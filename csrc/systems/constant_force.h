#ifndef CONSTANT_FORCE_H
#define CONSTANT_FORCE_H
/* Constant force: the car that accelerates.   m x'' = F
 * state x [m], v [m/s]    parameters force [N], mass [kg]
 * Energy E = m v^2 / 2 - F x, conserved. */
enum { CONSTANT_FORCE_FORCE, CONSTANT_FORCE_MASS, CONSTANT_FORCE_A };

PREPARE(constant_force) { p[CONSTANT_FORCE_A] = p[CONSTANT_FORCE_FORCE] / p[CONSTANT_FORCE_MASS]; }
ACCELERATION(constant_force) { a[0] = p[CONSTANT_FORCE_A]; }
ENERGY(constant_force) {
    return vfma(p[CONSTANT_FORCE_MASS] * y[1] * 0.5, y[1], -p[CONSTANT_FORCE_FORCE] * y[0]);
}
JACOBIAN(constant_force) { /* all zero */ }
#endif
COMPACT_SYSTEM(constant_force,
               MATHEMATICS(.acceleration = constant_force_acceleration,
                           .prepare = constant_force_prepare, .energy = constant_force_energy,
                           .jacobian = constant_force_jacobian),
               .title = "constant force", .equation = "mass x'' = force",
               .reference = "Galilei (1638), Discorsi, third day",
               SECOND_ORDER(METRES("x", 0), METRES_A_SECOND("v", 0)),
               PARAMS({"force", "N", 10, "force"}, {"mass", "kg", 1, "mass"}))
