/* Rigid body, velocities first; the rotation keeps the angular momentum, order 1.
 * Buss (2000), J. Comput. Phys. 164, 377-406. */
RIGID_MOTION(rigid_angular_momentum, .order = 1, .stages = 1, .evaluations = 1, .rule = PI_VELOCITIES_FIRST, .gyroscopic = PI_KEPT_MOMENTUM, .exponential = 1,
             .title = "velocities first, angular momentum kept",
             .formula = "w += h B T, q = exp(h w/2) q, w such that L is what it was",
             .aliases = "",
             .reference = "Buss (2000), J. Comput. Phys. 164, 377-406",
             .b = {1})
