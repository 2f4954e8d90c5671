/* Stormer, order 6.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10.
 * Velocities by the Adams-Moulton formula of order 6. */
MULTISTEP(stormer6, .order = 6, .stages = 6, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 2,
          .title = "Stormer, order 6", .formula = "x1 = 2 x - x-1 + h^2 (polynomial through the last six a, integrated twice)",
          .aliases = "",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10",
          .alpha = {0, 0, 0, 0, 1, -2, 1},
          .beta = {-3/40., 109/240., -23/20., 187/120., -133/120., 317/240., 0},
          .velocity = {0, 3/160., -173/1440., 241/720., -133/240., 1427/1440., 95/288.})
