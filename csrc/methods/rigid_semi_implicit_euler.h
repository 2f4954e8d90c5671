/* Rigid body, velocities first, order 1: the rule of most games.
 * Baraff, Witkin (1997), Physically Based Modeling (SIGGRAPH); Catto (2015), Numerical Methods, GDC. */
RIGID_MOTION(rigid_semi_implicit_euler, .order = 1, .stages = 1, .evaluations = 1, .rule = PI_VELOCITIES_FIRST, .gyroscopic = PI_EXPLICIT_TERM,
             .title = "velocities first, explicit gyroscopic term",
             .formula = "w += h B (T - w x I w), q += (h/2) (0, w) q, normalised",
             .aliases = "",
             .reference = "Baraff, Witkin (1997), Physically Based Modeling (SIGGRAPH); Catto (2015), Numerical Methods, GDC",
             .b = {1})
