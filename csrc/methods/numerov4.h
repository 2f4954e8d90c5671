/* Numerov, order 4.
 * Noumerov (1924), Mon. Not. R. Astron. Soc. 84, 592-602.
 * Two steps for the positions; the velocities, by the Adams-Moulton formula of order 4, see three. */
MULTISTEP(numerov4, .order = 4, .stages = 3, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 2,
          .title = "Numerov, order 4", .formula = "x1 = 2 x - x-1 + h^2/12 (a1 + 10 a0 + a-1)",
          .aliases = "numerov cowell4 noumerov",
          .reference = "Noumerov (1924), Mon. Not. R. Astron. Soc. 84, 592-602",
          .alpha = {0, 1, -2, 1},
          .beta = {0, 1/12., 5/6., 1/12.},
          .velocity = {1/24., -5/24., 19/24., 3/8.})
