/* Adams-Bashforth, order 5.
 * Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer,
 * Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth5, .order = 5, .stages = 5, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth, order 5", .formula = "y += h (polynomial through the last five f, integrated)",
          .aliases = "ab5",
          .reference = "Bashforth, Adams (1883), An attempt to test the theories of capillary action, Cambridge; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, 0, -1, 1},
          .beta = {251/720., -637/360., 109/30., -1387/360., 1901/720., 0})
