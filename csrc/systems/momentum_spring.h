#ifndef MOMENTUM_SPRING_H
#define MOMENTUM_SPRING_H
/* Spring in momentum form.   x' = inverse_mass p,   p' = -k x - b inverse_mass p
 * An inverse mass of 0 is an immovable body: no division. Separable where b = 0; damping makes the
 * force see the velocity: compositions still integrate it, but are not symplectic.
 * state x [m], p [kg m/s]    parameters k [N/m], b [kg/s], inverse_mass [1/kg]
 * Energy E = inverse_mass p^2 / 2 + k x^2 / 2, and dE/dt = -b (inverse_mass p)^2. */
enum { MOMENTUM_SPRING_K, MOMENTUM_SPRING_B, MOMENTUM_SPRING_INVERSE_MASS, MOMENTUM_SPRING_B_M };

PREPARE(momentum_spring) {
    p[MOMENTUM_SPRING_B_M] = p[MOMENTUM_SPRING_B] * p[MOMENTUM_SPRING_INVERSE_MASS];
}
VELOCITY(momentum_spring) { v[0] = p[MOMENTUM_SPRING_INVERSE_MASS] * momentum[0]; }
ACCELERATION(momentum_spring) {
    a[0] = vfma(-p[MOMENTUM_SPRING_K], x[0], -p[MOMENTUM_SPRING_B_M] * v[0]);
}
ENERGY(momentum_spring) {
    return vfma(p[MOMENTUM_SPRING_INVERSE_MASS] * y[1], y[1], p[MOMENTUM_SPRING_K] * y[0] * y[0]) *
           0.5;
}
JACOBIAN(momentum_spring) {
    J[0][1] = p[MOMENTUM_SPRING_INVERSE_MASS];
    J[1][0] = -p[MOMENTUM_SPRING_K];
    J[1][1] = -p[MOMENTUM_SPRING_B_M];
}
#endif
COMPACT_SYSTEM(momentum_spring,
               MATHEMATICS(.acceleration = momentum_spring_acceleration,
                           .velocity = momentum_spring_velocity, .prepare = momentum_spring_prepare,
                           .energy = momentum_spring_energy, .jacobian = momentum_spring_jacobian),
               .title = "spring in momentum form",
               .equation = "x' = inverse_mass p, p' = -k x - b inverse_mass p",
               .reference = "Landau, Lifshitz (1976), Mechanics, section 40",
               .velocity_dependent = 1, .scale = {1 + MOMENTUM_SPRING_INVERSE_MASS},
               SEPARABLE(METRES("x", 1), {"p", "kg m/s", 0, "momentum"}),
               PARAMS({"k", "N/m", 15, "stiffness"}, {"b", "kg/s", 0, "damping"},
                      {"inverse_mass", "1/kg", 1, "0: immovable"}))
