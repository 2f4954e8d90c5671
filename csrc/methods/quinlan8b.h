/* Quinlan 8B, order 8.
 * Quinlan (1999), Resonances and instabilities in symmetric multistep methods, arXiv:astro-
 * ph/9901136.
 * Velocities by the Adams-Moulton formula of order 8. */
MULTISTEP(quinlan8b, .order = 8, .stages = 8, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 2,
          .title = "Quinlan 8B, order 8", .formula = "symmetric: forwards and backwards the same in the positions",
          .aliases = "Q8b",
          .reference = "Quinlan (1999), Resonances and instabilities in symmetric multistep methods, arXiv:astro-ph/9901136",
          .alpha = {1, 0, 0, -1/2., -1, -1/2., 0, 0, 1},
          .beta = {0, 192481/120960., 1097/20160., 272261/40320., -39203/30240., 272261/40320., 1097/20160., 192481/120960., 0},
          .velocity = {0, 275/24192., -11351/120960., 1537/4480., -88547/120960., 123133/120960., -4511/4480., 139849/120960., 5257/17280.})
