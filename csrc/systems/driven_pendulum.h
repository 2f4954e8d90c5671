#ifndef DRIVEN_PENDULUM_H
#define DRIVEN_PENDULUM_H
/* Driven and damped pendulum.
 *     theta'' = -omega0^2 sin(theta) - damping theta' + amplitude cos(frequency t)
 * state theta [rad], omega [rad/s]    parameters omega0 [rad/s], damping [1/s], amplitude
 * [rad/s^2], frequency [rad/s]
 * Energy (per moment of inertia) of the pendulum alone, E = omega^2 / 2 + omega0^2 (1 -
 * cos(theta)), and dE/dt = -damping omega^2 + amplitude omega cos(frequency t). */
enum {
    DRIVEN_PENDULUM_OMEGA0,
    DRIVEN_PENDULUM_DAMPING,
    DRIVEN_PENDULUM_AMPLITUDE,
    DRIVEN_PENDULUM_FREQUENCY,
    DRIVEN_PENDULUM_OMEGA2
};

PREPARE(driven_pendulum) {
    p[DRIVEN_PENDULUM_OMEGA2] = p[DRIVEN_PENDULUM_OMEGA0] * p[DRIVEN_PENDULUM_OMEGA0];
}
ACCELERATION(driven_pendulum) {
    const vreal own =
        vfma(p[DRIVEN_PENDULUM_OMEGA2], vsin(x[0]), p[DRIVEN_PENDULUM_DAMPING] * v[0]);
    a[0] = vfma(p[DRIVEN_PENDULUM_AMPLITUDE], vcos(p[DRIVEN_PENDULUM_FREQUENCY] * t), -own);
}
/* 1 - cos(theta) = 2 sin(theta / 2)^2 keeps its digits near rest. */
ENERGY(driven_pendulum) {
    const vreal s = vsin(y[0] * 0.5);
    return vfma(y[1] * 0.5, y[1], p[DRIVEN_PENDULUM_OMEGA2] * s * s * 2);
}
JACOBIAN(driven_pendulum) {
    J[0][0] = -p[DRIVEN_PENDULUM_OMEGA2] * vcos(y[0]);
    J[0][1] = -p[DRIVEN_PENDULUM_DAMPING];
}
#endif
COMPACT_SYSTEM(
    driven_pendulum,
    MATHEMATICS(.acceleration = driven_pendulum_acceleration, .prepare = driven_pendulum_prepare,
                .energy = driven_pendulum_energy, .jacobian = driven_pendulum_jacobian),
    .title = "driven and damped pendulum",
    .equation = "theta'' = -omega0^2 sin(theta) - damping theta' + amplitude cos(frequency t)",
    .reference = "Baker, Gollub (1996), Chaotic Dynamics: an Introduction", .velocity_dependent = 1,
    .time_dependent = 1,
    SECOND_ORDER({"theta", "rad", 1, "angle from rest"}, {"omega", "rad/s", 0, "angular velocity"}),
    PARAMS({"omega0", "rad/s", 1, "angular frequency of small swings"},
           {"damping", "1/s", 0.1, "damping"},
           {"amplitude", "rad/s^2", 0.5, "amplitude of the drive"},
           {"frequency", "rad/s", 2 / 3., "angular frequency of the drive"}))
