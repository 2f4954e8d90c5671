/* Adams-Bashforth-Moulton, order 2.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth_moulton2, .order = 2, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth-Moulton, order 2", .formula = "PECE: predict by adams_bashforth2, evaluate, correct by Adams-Moulton of order 2, evaluate",
          .aliases = "abm2 pece2",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, -1, 1},
          .beta = {0, 1/2., 1/2.},
          .predictor = {-1/2., 3/2.})
