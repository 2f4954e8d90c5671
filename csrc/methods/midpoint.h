/* Explicit midpoint, order 2.
 * Runge (1895), Math. Ann. 46, 167-178. */
EXPLICIT_RK(midpoint, .order = 2, .stages = 2, .evaluations = 2,
            .title = "explicit midpoint", .formula = "y += h f(t + h/2, y + h/2 f(t, y))",
            .aliases = "rk2 modified_euler explicit_midpoint runge2",
            .reference = "Runge (1895), Math. Ann. 46, 167-178",
            .c = {0, 1/2.},
            .a = {{0},
                  {1/2.}},
            .b = {0, 1})
