#ifndef PENDULUM_H
#define PENDULUM_H
/* Plane pendulum.   theta'' = -(g / length) sin(theta)
 * state theta [rad], omega [rad/s]    parameters g [m/s^2], length [m]
 * Energy (per mass) E = (length omega)^2 / 2 + g length (1 - cos(theta)), conserved. */
enum { PENDULUM_G, PENDULUM_LENGTH, PENDULUM_SCALE }; /* -g / length */

PREPARE(pendulum) { p[PENDULUM_SCALE] = -p[PENDULUM_G] / p[PENDULUM_LENGTH]; }

ACCELERATION(pendulum) { a[0] = p[PENDULUM_SCALE] * vsin(x[0]); }
/* 1 - cos(theta) = 2 sin(theta / 2)^2 keeps its digits near rest. */
ENERGY(pendulum) {
    const vreal s = vsin(y[0] * 0.5), speed = p[PENDULUM_LENGTH] * y[1];
    return vfma(speed * 0.5, speed, p[PENDULUM_G] * p[PENDULUM_LENGTH] * s * s * 2);
}
JACOBIAN(pendulum) { J[0][0] = p[PENDULUM_SCALE] * vcos(y[0]); }
#endif
SYSTEM(pendulum,
       MATHEMATICS(.long_chain = 1, .acceleration = pendulum_acceleration,
                   .prepare = pendulum_prepare, .energy = pendulum_energy,
                   .jacobian = pendulum_jacobian),
       .title = "plane pendulum", .equation = "theta'' = -(g / length) sin(theta)",
       .reference = "Landau, Lifshitz (1976), Mechanics, section 11, problem 1",
       SECOND_ORDER({"theta", "rad", 1, "angle from rest"},
                    {"omega", "rad/s", 0, "angular velocity"}),
       .scale = {[1] = 1 + PENDULUM_SCALE},
       PARAMS({"g", "m/s^2", 9.81, "gravity"}, {"length", "m", 1, "length of the rod"}))
