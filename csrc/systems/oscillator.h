#ifndef OSCILLATOR_H
#define OSCILLATOR_H
/* Harmonic oscillator.   x'' = -omega^2 x        state x [m], v [m/s]    parameter omega [rad/s]
 * Energy (per mass) E = v^2 / 2 + omega^2 x^2 / 2, conserved. */
enum { OSCILLATOR_OMEGA, OSCILLATOR_SCALE }; /* -omega^2 */

PREPARE(oscillator) { p[OSCILLATOR_SCALE] = -p[OSCILLATOR_OMEGA] * p[OSCILLATOR_OMEGA]; }

ACCELERATION(oscillator) { a[0] = p[OSCILLATOR_SCALE] * x[0]; }
ENERGY(oscillator) { return vfma(y[1], y[1], -p[OSCILLATOR_SCALE] * y[0] * y[0]) * 0.5; }
JACOBIAN(oscillator) { J[0][0] = p[OSCILLATOR_SCALE]; }
#endif
SYSTEM(oscillator,
       MATHEMATICS(.acceleration = oscillator_acceleration, .prepare = oscillator_prepare,
                   .energy = oscillator_energy, .jacobian = oscillator_jacobian),
       .title = "harmonic oscillator", .equation = "x'' = -omega^2 x",
       .reference = "Landau, Lifshitz (1976), Mechanics, section 21",
       SECOND_ORDER(METRES("x", 1), METRES_A_SECOND("v", 0)), .scale = {[1] = 1 + OSCILLATOR_SCALE},
       .cheap = 1, PARAMS({"omega", "rad/s", 1, "angular frequency"}))
