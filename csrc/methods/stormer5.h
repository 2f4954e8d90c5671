/* Stormer, order 5.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10.
 * Velocities by the Adams-Moulton formula of order 5. */
MULTISTEP(stormer5, .order = 5, .stages = 5, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 2,
          .title = "Stormer, order 5", .formula = "x1 = 2 x - x-1 + h^2 (polynomial through the last five a, integrated twice)",
          .aliases = "",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10",
          .alpha = {0, 0, 0, 1, -2, 1},
          .beta = {19/240., -2/5., 97/120., -11/15., 299/240., 0},
          .velocity = {0, -19/720., 53/360., -11/30., 323/360., 251/720.})
