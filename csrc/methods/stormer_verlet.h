/* Stormer-Verlet on positions, order 2.
 * Stormer (1907), Arch. Sci. Phys. Nat. 24; Verlet (1967), Phys. Rev. 159, 98-103.
 * The positions and the velocities of velocity Verlet. */
MULTISTEP(stormer_verlet, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1, .derivative = 2,
          .title = "Stormer-Verlet on positions", .formula = "x1 = 2 x - x-1 + h^2 a(t, x), v = (x1 - x-1)/(2 h)",
          .aliases = "stormer2 verlet_two_step leapfrog_two_step",
          .reference = "Stormer (1907), Arch. Sci. Phys. Nat. 24; Verlet (1967), Phys. Rev. 159, 98-103",
          .alpha = {1, -2, 1},
          .beta = {0, 1, 0})
