/* Heun, order 2, order 2.
 * Heun (1900), Z. Math. Phys. 45, 23-38. */
EXPLICIT_RK(heun2, .order = 2, .stages = 2, .evaluations = 2,
            .title = "Heun, order 2", .formula = "k1 = f(t, y), k2 = f(t + h, y + h k1), y += h/2 (k1 + k2)",
            .aliases = "explicit_trapezoid improved_euler ssprk2 ssp22 heun_euler21",
            .reference = "Heun (1900), Z. Math. Phys. 45, 23-38",
            .c = {0, 1},
            .a = {{0},
                  {1}},
            .b = {1/2., 1/2.},
            .embedded_order = 1,
            .b_embedded = {1})
