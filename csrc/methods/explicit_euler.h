/* Explicit Euler, order 1.
 * Euler (1768), Institutionum calculi integralis I. */
EXPLICIT_RK(explicit_euler, .order = 1, .stages = 1, .evaluations = 1,
            .title = "explicit Euler", .formula = "y += h f(t, y)",
            .aliases = "forward_euler rk1 euler adams_bashforth1 ab1",
            .reference = "Euler (1768), Institutionum calculi integralis I",
            .c = {0},
            .a = {{0}},
            .b = {1})
