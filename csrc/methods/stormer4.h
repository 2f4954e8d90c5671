/* Stormer, order 4.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10.
 * Velocities by the Adams-Moulton formula of order 4. */
MULTISTEP(stormer4, .order = 4, .stages = 4, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 2,
          .title = "Stormer, order 4", .formula = "x1 = 2 x - x-1 + h^2 (polynomial through the last four a, integrated twice)",
          .aliases = "",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10",
          .alpha = {0, 0, 1, -2, 1},
          .beta = {-1/12., 1/3., -5/12., 7/6., 0},
          .velocity = {0, 1/24., -5/24., 19/24., 3/8.})
