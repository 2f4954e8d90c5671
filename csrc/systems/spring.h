#ifndef SPRING_H
#define SPRING_H
/* Damped spring.   m x'' = -k x - b v        state x [m], v [m/s]
 * parameters k [N/m], b [kg/s], m [kg]
 * Energy E = m v^2 / 2 + k x^2 / 2, and dE/dt = -b v^2. */
enum { SPRING_K, SPRING_B, SPRING_M, SPRING_K_M, SPRING_B_M };

PREPARE(spring) {
    p[SPRING_K_M] = p[SPRING_K] / p[SPRING_M];
    p[SPRING_B_M] = p[SPRING_B] / p[SPRING_M];
}
ACCELERATION(spring) { a[0] = vfma(-p[SPRING_K_M], x[0], -p[SPRING_B_M] * v[0]); }
ENERGY(spring) { return vfma(p[SPRING_M] * y[1], y[1], p[SPRING_K] * y[0] * y[0]) * 0.5; }
JACOBIAN(spring) {
    J[0][0] = -p[SPRING_K_M];
    J[0][1] = -p[SPRING_B_M];
}
#endif
SYSTEM(spring,
       MATHEMATICS(.acceleration = spring_acceleration, .prepare = spring_prepare,
                   .energy = spring_energy, .jacobian = spring_jacobian),
       .title = "damped spring", .equation = "m x'' = -k x - b v",
       .reference = "Landau, Lifshitz (1976), Mechanics, section 25", .velocity_dependent = 1,
       SECOND_ORDER(METRES("x", 1), METRES_A_SECOND("v", 0)),
       PARAMS({"k", "N/m", 15, "stiffness"}, {"b", "kg/s", 0.1, "damping"}, {"m", "kg", 1, "mass"}))
