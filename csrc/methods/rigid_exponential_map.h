/* Rigid body, velocities first, rotated by the exponential map, order 1.
 * Grassia (1998), J. Graphics Tools 3, 29-48. */
RIGID_MOTION(rigid_exponential_map, .order = 1, .stages = 1, .evaluations = 1, .rule = PI_VELOCITIES_FIRST, .gyroscopic = PI_EXPLICIT_TERM, .exponential = 1,
             .title = "velocities first, exponential map",
             .formula = "w += h B (T - w x I w), q = exp(h w/2) q",
             .aliases = "",
             .reference = "Grassia (1998), J. Graphics Tools 3, 29-48",
             .b = {1})
