/* Adams-Bashforth, order 4.
 * Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer,
 * Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth4, .order = 4, .stages = 4, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth, order 4", .formula = "y += h (polynomial through the last four f, integrated)",
          .aliases = "ab4",
          .reference = "Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, -1, 1},
          .beta = {-3/8., 37/24., -59/24., 55/24., 0})
