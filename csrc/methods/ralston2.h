/* Ralston, order 2.
 * Ralston (1962), Math. Comp. 16, 431-437.
 * The smallest bound of the error among two stages of order 2. */
EXPLICIT_RK(ralston2, .order = 2, .stages = 2, .evaluations = 2,
            .title = "Ralston, order 2", .formula = "k1 = f(t, y), k2 = f(t + 2h/3, y + 2h/3 k1), y += h/4 (k1 + 3 k2)",
            .aliases = "mte22",
            .reference = "Ralston (1962), Math. Comp. 16, 431-437",
            .c = {0, 2/3.},
            .a = {{0},
                  {2/3.}},
            .b = {1/4., 3/4.})
