/* Quinlan 8A, order 8.
 * Quinlan (1999), Resonances and instabilities in symmetric multistep methods, arXiv:astro-
 * ph/9901136.
 * Velocities by the Adams-Moulton formula of order 8. */
MULTISTEP(quinlan8a, .order = 8, .stages = 8, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 2,
          .title = "Quinlan 8A, order 8", .formula = "symmetric: forwards and backwards the same in the positions",
          .aliases = "Q8a",
          .reference = "Quinlan (1999), Resonances and instabilities in symmetric multistep methods, arXiv:astro-ph/9901136",
          .alpha = {1, -2, 2, -2, 2, -2, 2, -2, 1},
          .beta = {0, 22081/15120., -4903/2520., 25061/5040., -18803/3780., 25061/5040., -4903/2520., 22081/15120., 0},
          .velocity = {0, 275/24192., -11351/120960., 1537/4480., -88547/120960., 123133/120960., -4511/4480., 139849/120960., 5257/17280.})
