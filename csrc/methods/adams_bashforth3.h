/* Adams-Bashforth, order 3.
 * Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer,
 * Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth3, .order = 3, .stages = 3, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth, order 3", .formula = "y += h (polynomial through the last three f, integrated)",
          .aliases = "ab3",
          .reference = "Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, -1, 1},
          .beta = {5/12., -4/3., 23/12., 0})
