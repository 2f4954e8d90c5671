/* Classical Runge-Kutta, order 4.
 * Kutta (1901), Z. Math. Phys. 46, 435-453. */
EXPLICIT_RK(rk4, .specialised = PI_RK4, .order = 4, .stages = 4, .evaluations = 4,
            .title = "classical Runge-Kutta", .formula = "y += h/6 (k1 + 2 k2 + 2 k3 + k4)",
            .aliases = "runge_kutta4 classic_rk4 rk44",
            .reference = "Kutta (1901), Z. Math. Phys. 46, 435-453",
            .c = {0, 1/2., 1/2., 1},
            .a = {{0},
                  {1/2.},
                  {0, 1/2.},
                  {0, 0, 1}},
            .b = {1/6., 1/3., 1/3., 1/6.})
