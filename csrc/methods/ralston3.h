/* Ralston, order 3.
 * Ralston (1962), Math. Comp. 16, 431-437.
 * The first three stages of bogacki_shampine32. */
EXPLICIT_RK(ralston3, .order = 3, .stages = 3, .evaluations = 3,
            .title = "Ralston, order 3", .formula = "y += h/9 (2 k1 + 3 k2 + 4 k3), nodes 0, 1/2, 3/4",
            .aliases = "",
            .reference = "Ralston (1962), Math. Comp. 16, 431-437",
            .c = {0, 1/2., 3/4.},
            .a = {{0},
                  {1/2.},
                  {0, 3/4.}},
            .b = {2/9., 1/3., 4/9.})
