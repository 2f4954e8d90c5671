/* Quinlan-Tremaine, order 8.
 * Quinlan, Tremaine (1990), Astron. J. 100, 1694-1700.
 * Velocities by the Adams-Moulton formula of order 8. */
MULTISTEP(quinlan_tremaine8, .order = 8, .stages = 8, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 2,
          .title = "Quinlan-Tremaine, order 8", .formula = "symmetric: forwards and backwards the same in the positions",
          .aliases = "QT8",
          .reference = "Quinlan, Tremaine (1990), Astron. J. 100, 1694-1700",
          .alpha = {1, -2, 2, -1, 0, -1, 2, -2, 1},
          .beta = {0, 17671/12096., -3937/2016., 20483/4032., -12629/3024., 20483/4032., -3937/2016., 17671/12096., 0},
          .velocity = {0, 275/24192., -11351/120960., 1537/4480., -88547/120960., 123133/120960., -4511/4480., 139849/120960., 5257/17280.})
