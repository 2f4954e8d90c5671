/* Kutta 3/8, order 4.
 * Kutta (1901), Z. Math. Phys. 46, 435-453. */
EXPLICIT_RK(rk38, .order = 4, .stages = 4, .evaluations = 4,
            .title = "Kutta 3/8", .formula = "y += h/8 (k1 + 3 k2 + 3 k3 + k4)",
            .aliases = "kutta38 rk4_38",
            .reference = "Kutta (1901), Z. Math. Phys. 46, 435-453",
            .c = {0, 1/3., 2/3., 1},
            .a = {{0},
                  {1/3.},
                  {-1/3., 1},
                  {1, -1, 1}},
            .b = {1/8., 3/8., 3/8., 1/8.})
