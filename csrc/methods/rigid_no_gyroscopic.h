/* Rigid body without the gyroscopic term: of order 1 where the principal moments are equal, else it solves another equation.
 * Baraff (1997), Rigid Body Simulation (SIGGRAPH); Catto (2015), Numerical Methods, GDC. */
RIGID_MOTION(rigid_no_gyroscopic, .order = 0, .stages = 1, .evaluations = 1, .rule = PI_VELOCITIES_FIRST, .gyroscopic = PI_LEFT_OUT,
             .title = "velocities first, no gyroscopic term",
             .formula = "w += h B T, q += (h/2) (0, w) q, normalised",
             .aliases = "",
             .reference = "Baraff (1997), Rigid Body Simulation (SIGGRAPH); Catto (2015), Numerical Methods, GDC",
             .b = {1})
