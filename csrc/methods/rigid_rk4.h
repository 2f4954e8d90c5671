/* Rigid body by the classical Runge-Kutta method on quaternions, normalised after each step, order 4.
 * Kutta (1901), Z. Math. Phys. 46, 435-453; Diebel (2006), Representing attitude. */
RIGID_MOTION(rigid_rk4, .order = 4, .stages = 1, .evaluations = 4, .rule = PI_QUATERNION_RK4,
             .title = "classical Runge-Kutta, normalised",
             .formula = "rk4 on x, q, v, w; q / |q| after each step",
             .aliases = "",
             .reference = "Kutta (1901), Z. Math. Phys. 46, 435-453; Diebel (2006), Representing attitude",
             .b = {1})
