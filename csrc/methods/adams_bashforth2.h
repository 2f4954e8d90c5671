/* Adams-Bashforth, order 2.
 * Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer,
 * Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth2, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth, order 2", .formula = "y += h (polynomial through the last two f, integrated)",
          .aliases = "ab2",
          .reference = "Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, -1, 1},
          .beta = {-1/2., 3/2., 0})
