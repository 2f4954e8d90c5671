/* Shu-Osher, strong stability preserving, order 3.
 * Shu, Osher (1988), J. Comput. Phys. 77, 439-471.
 * A convex combination of explicit Euler steps; SSP coefficient 1. */
EXPLICIT_RK(ssprk3, .order = 3, .stages = 3, .evaluations = 3,
            .title = "Shu-Osher, strong stability preserving, order 3", .formula = "y += h/6 (k1 + k2 + 4 k3), nodes 0, 1, 1/2",
            .aliases = "ssp33 ssprk33 tvd_rk3 fehlberg32_main",
            .reference = "Shu, Osher (1988), J. Comput. Phys. 77, 439-471",
            .c = {0, 1, 1/2.},
            .a = {{0},
                  {1},
                  {1/4., 1/4.}},
            .b = {1/6., 1/6., 2/3.})
