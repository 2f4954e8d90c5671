/* Bogacki-Shampine 3(2), order 3.
 * Bogacki, Shampine (1989), Appl. Math. Lett. 2, 321-325. */
EXPLICIT_RK(bogacki_shampine32, .order = 3, .stages = 4, .evaluations = 3,
            .title = "Bogacki-Shampine 3(2)", .formula = "y += h/9 (2 k1 + 3 k2 + 4 k3) (the fourth stage serves the error estimate)",
            .aliases = "bs3 ode23 rk23",
            .reference = "Bogacki, Shampine (1989), Appl. Math. Lett. 2, 321-325",
            .c = {0, 1/2., 3/4., 1},
            .a = {{0},
                  {1/2.},
                  {0, 3/4.},
                  {2/9., 1/3., 4/9.}},
            .b = {2/9., 1/3., 4/9.},
            .embedded_order = 2,
            .b_embedded = {7/24., 1/4., 1/3., 1/8.})
