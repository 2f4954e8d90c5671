/* Stormer, order 3.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10.
 * Velocities by the Adams-Moulton formula of order 3. */
MULTISTEP(stormer3, .order = 3, .stages = 3, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 2,
          .title = "Stormer, order 3", .formula = "x1 = 2 x - x-1 + h^2 (polynomial through the last three a, integrated twice)",
          .aliases = "beeman3 beeman_am3",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Hairer, Norsett, Wanner I, III.10",
          .alpha = {0, 1, -2, 1},
          .beta = {1/12., -1/6., 13/12., 0},
          .velocity = {0, -1/12., 2/3., 5/12.})
