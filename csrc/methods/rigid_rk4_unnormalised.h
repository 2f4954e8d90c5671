/* Rigid body by the classical Runge-Kutta method on quaternions as they come, order 4.
 * Kutta (1901), Z. Math. Phys. 46, 435-453; Diebel (2006), Representing attitude. */
RIGID_MOTION(rigid_rk4_unnormalised, .order = 4, .stages = 1, .evaluations = 4, .rule = PI_QUATERNION_RK4, .unnormalised = 1,
             .title = "classical Runge-Kutta, not normalised",
             .formula = "rk4 on x, q, v, w",
             .aliases = "",
             .reference = "Kutta (1901), Z. Math. Phys. 46, 435-453; Diebel (2006), Representing attitude",
             .b = {1})
