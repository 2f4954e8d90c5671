/* Milne-Simpson, order 4.
 * Milne (1926), Amer. Math. Monthly 33, 455-460.
 * Weakly stable: the root -1 of rho grows on decaying motions. */
MULTISTEP(milne_simpson4, .order = 4, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 1,
          .title = "Milne-Simpson, order 4", .formula = "y1 = y-1 + h/3 (f1 + 4 f0 + f-1)",
          .aliases = "milne_simpson simpson_corrector",
          .reference = "Milne (1926), Amer. Math. Monthly 33, 455-460",
          .alpha = {-1, 0, 1},
          .beta = {1/3., 4/3., 1/3.})
