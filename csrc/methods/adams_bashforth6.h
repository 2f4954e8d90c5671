/* Adams-Bashforth, order 6.
 * Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer,
 * Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth6, .order = 6, .stages = 6, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth, order 6", .formula = "y += h (polynomial through the last six f, integrated)",
          .aliases = "ab6",
          .reference = "Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, 0, 0, -1, 1},
          .beta = {-95/288., 959/480., -3649/720., 4991/720., -2641/480., 4277/1440., 0})
