/* Milne predictor, order 4.
 * Milne (1926), Amer. Math. Monthly 33, 455-460.
 * Weakly stable: all four roots of rho lie on the unit circle. */
MULTISTEP(milne4, .order = 4, .stages = 4, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 1,
          .title = "Milne predictor, order 4", .formula = "y1 = y-3 + 4 h/3 (2 f0 - f-1 + 2 f-2)",
          .aliases = "milne_predictor",
          .reference = "Milne (1926), Amer. Math. Monthly 33, 455-460",
          .alpha = {-1, 0, 0, 0, 1},
          .beta = {0, 8/3., -4/3., 8/3., 0})
