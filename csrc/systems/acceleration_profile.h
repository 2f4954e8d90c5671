#ifndef ACCELERATION_PROFILE_H
#define ACCELERATION_PROFILE_H
/* Prescribed acceleration.   x'' = accelerations[j] from times[j] until times[j + 1]
 * Zero before times[0]; the last value holds for ever; at a knot, and so in a kick or a stage that
 * falls on one, the new value. Times ascend; those not needed are inf.
 * state x [m], v [m/s]    parameters times [s], accelerations [m/s^2]
 * Energy (per mass) E = v^2 / 2, and dE/dt = a v. */
enum { ACCELERATION_PROFILE_KNOTS = 5 };

ACCELERATION(acceleration_profile) {
    const vreal *times = p, *accelerations = p + ACCELERATION_PROFILE_KNOTS;
    a[0] = vzero;
    EACH(j, ACCELERATION_PROFILE_KNOTS) TAKE(a[0], t >= times[j], accelerations[j]);
}
ENERGY(acceleration_profile) { return y[1] * y[1] * 0.5; }
JACOBIAN(acceleration_profile) { /* all zero */ }
#endif
COMPACT_SYSTEM(
    acceleration_profile,
    MATHEMATICS(.acceleration = acceleration_profile_acceleration,
                .energy = acceleration_profile_energy, .jacobian = acceleration_profile_jacobian),
    .title = "acceleration profile", .equation = "x'' = accelerations[j] from times[j] on",
    .reference = "Galilei (1638), Discorsi, third day", .time_dependent = 1,
    SECOND_ORDER(METRES("x", 0), METRES_A_SECOND("v", 0)),
    PARAMS({"times", "s", 0, "ascending times; inf where not needed"}, {"times", "s", 2, ""},
           {"times", "s", 4, ""}, {"times", "s", 6, ""}, {"times", "s", 8, ""},
           {"accelerations", "m/s^2", 0, "acceleration from each time on"},
           {"accelerations", "m/s^2", 2, ""}, {"accelerations", "m/s^2", 0, ""},
           {"accelerations", "m/s^2", -2, ""}, {"accelerations", "m/s^2", 0, ""}))
