#ifndef DUFFING_H
#define DUFFING_H
/* Duffing's oscillator.   x'' = -delta x' - alpha x - beta x^3 + gamma cos(omega t)
 * state x [m], v [m/s]    parameters alpha [1/s^2], beta [1/(m s)^2], delta [1/s], gamma [m/s^2],
 * omega [rad/s]
 * Energy (per mass) of the oscillator alone, E = v^2 / 2 + alpha x^2 / 2 + beta x^4 / 4, and
 * dE/dt = -delta v^2 + gamma v cos(omega t). Without drive it rests at 0 and, where alpha / beta <
 * 0, at +-sqrt(-alpha / beta). */
enum { DUFFING_ALPHA, DUFFING_BETA, DUFFING_DELTA, DUFFING_GAMMA, DUFFING_OMEGA };

ACCELERATION(duffing) {
    const vreal stiffness = vfma(p[DUFFING_BETA] * x[0], x[0], p[DUFFING_ALPHA]);
    const vreal own = vfma(stiffness, x[0], p[DUFFING_DELTA] * v[0]);
    a[0] = vfma(p[DUFFING_GAMMA], vcos(p[DUFFING_OMEGA] * t), -own);
}
ENERGY(duffing) {
    const vreal x2 = y[0] * y[0];
    return vfma(y[1], y[1], x2 * vfma(p[DUFFING_BETA] * 0.5, x2, p[DUFFING_ALPHA])) * 0.5;
}
JACOBIAN(duffing) {
    J[0][0] = -vfma(3 * p[DUFFING_BETA] * y[0], y[0], p[DUFFING_ALPHA]);
    J[0][1] = -p[DUFFING_DELTA];
}
#endif
COMPACT_SYSTEM(duffing,
               MATHEMATICS(.acceleration = duffing_acceleration, .energy = duffing_energy,
                           .jacobian = duffing_jacobian),
               .title = "Duffing oscillator",
               .equation = "x'' = -delta x' - alpha x - beta x^3 + gamma cos(omega t)",
               .reference = "Guckenheimer, Holmes (1983), Nonlinear Oscillations, section 2.2",
               .velocity_dependent = 1, .time_dependent = 1,
               SECOND_ORDER(METRES("x", 1), METRES_A_SECOND("v", 0)),
               PARAMS({"alpha", "1/s^2", -1, "linear stiffness"},
                      {"beta", "1/(m s)^2", 1, "cubic stiffness"}, {"delta", "1/s", 0.3, "damping"},
                      {"gamma", "m/s^2", 0.37, "amplitude of the drive"},
                      {"omega", "rad/s", 1.2, "angular frequency of the drive"}))
