/* Kutta, order 3.
 * Kutta (1901), Z. Math. Phys. 46, 435-453. */
EXPLICIT_RK(kutta3, .order = 3, .stages = 3, .evaluations = 3,
            .title = "Kutta, order 3", .formula = "y += h/6 (k1 + 4 k2 + k3), nodes 0, 1/2, 1",
            .aliases = "rk3",
            .reference = "Kutta (1901), Z. Math. Phys. 46, 435-453",
            .c = {0, 1/2., 1},
            .a = {{0},
                  {1/2.},
                  {-1, 2}},
            .b = {1/6., 2/3., 1/6.})
