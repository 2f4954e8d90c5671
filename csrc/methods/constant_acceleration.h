/* Constant acceleration, order 1.
 * Galilei (1638), Discorsi, third day.
 * Exact where the acceleration is constant. */
NYSTROM(constant_acceleration, .order = 1, .stages = 1, .evaluations = 1, .symplectic = 0, .symmetric = 0,
        .title = "constant acceleration", .formula = "x += h v + h^2/2 a(t, x, v), v += h a(t, x, v)",
        .aliases = "ballistic",
        .reference = "Galilei (1638), Discorsi, third day",
        .c = {0},
        .a = {{0}},
        .b = {1/2.},
        .velocity = {1})
