/* Heun, order 3.
 * Heun (1900), Z. Math. Phys. 45, 23-38. */
EXPLICIT_RK(heun3, .order = 3, .stages = 3, .evaluations = 3,
            .title = "Heun, order 3", .formula = "y += h/4 (k1 + 3 k3), nodes 0, 1/3, 2/3",
            .aliases = "heun33",
            .reference = "Heun (1900), Z. Math. Phys. 45, 23-38",
            .c = {0, 1/3., 2/3.},
            .a = {{0},
                  {1/3.},
                  {0, 2/3.}},
            .b = {1/4., 0, 3/4.})
