/* Stormer-Verlet, backward velocities, order 1.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Verlet (1967), Phys. Rev. 159, 98-103.
 * Positions of order 2; velocities of order 1, which are those of half a step before. */
MULTISTEP(stormer_verlet_backward, .order = 1, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 0, .derivative = 2, .backward = 1,
          .title = "Stormer-Verlet, backward velocities", .formula = "x1 = 2 x - x-1 + h^2 a(t, x), v1 = (x1 - x)/h",
          .aliases = "",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Verlet (1967), Phys. Rev. 159, 98-103",
          .alpha = {1, -2, 1},
          .beta = {0, 1, 0})
