/* Beeman, order 2.
 * Beeman (1976), J. Comput. Phys. 20, 130-139; Schofield (1973), Comput. Phys. Commun. 5, 17-23.
 * The positions of Stormer and Verlet. */
MULTISTEP(beeman, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 2,
          .title = "Beeman", .formula = "x1 = 2 x - x-1 + h^2 a(t, x), v1 = v + h/6 (2 a1 + 5 a0 - a-1)",
          .aliases = "beeman_schofield",
          .reference = "Beeman (1976), J. Comput. Phys. 20, 130-139; Schofield (1973), Comput. Phys. Commun. 5, 17-23",
          .alpha = {1, -2, 1},
          .beta = {0, 1, 0},
          .velocity = {-1/6., 5/6., 1/3.})
