/* Butcher, order 6.
 * Butcher (1964), J. Austral. Math. Soc. 4, 179-194. */
EXPLICIT_RK(butcher6, .order = 6, .stages = 7, .evaluations = 7,
            .title = "Butcher, order 6", .formula = "seven stages of order 6, nodes 0, 1/3, 2/3, 1/3, 1/2, 1/2, 1",
            .aliases = "rk6 rk65_butcher",
            .reference = "Butcher (1964), J. Austral. Math. Soc. 4, 179-194",
            .c = {0, 1/3., 2/3., 1/3., 1/2., 1/2., 1},
            .a = {{0},
                  {1/3.},
                  {0, 2/3.},
                  {1/12., 1/3., -1/12.},
                  {-1/16., 9/8., -3/16., -3/8.},
                  {0, 9/8., -3/8., -3/4., 1/2.},
                  {9/44., -9/11., 63/44., 18/11., 0, -16/11.}},
            .b = {11/120., 0, 27/40., 27/40., -4/15., -4/15., 11/120.})
