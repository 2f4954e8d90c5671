/* Rigid body, velocities first, gyroscopic term implicit, order 1: it loses energy, and never explodes.
 * Catto (2015), Numerical Methods, GDC; Stewart, Trinkle (1996), Int. J. Numer. Methods Eng. 39, 2673-2691. */
RIGID_MOTION(rigid_implicit_gyroscopic, .order = 1, .stages = 1, .evaluations = 1, .rule = PI_VELOCITIES_FIRST, .gyroscopic = PI_IMPLICIT_TERM,
             .title = "velocities first, implicit gyroscopic term",
             .formula = "I (w1 - w) + h w1 x I w1 = h T in body axes by Newton, q += (h/2) (0, w) q, normalised",
             .aliases = "",
             .reference = "Catto (2015), Numerical Methods, GDC; Stewart, Trinkle (1996), Int. J. Numer. Methods Eng. 39, 2673-2691",
             .b = {1})
