/* Adams-Bashforth-Moulton, order 4.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth_moulton4, .order = 4, .stages = 4, .evaluations = 2, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth-Moulton, order 4", .formula = "PECE: predict by adams_bashforth4, evaluate, correct by Adams-Moulton of order 4, evaluate",
          .aliases = "abm4 pece4",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, -1, 1},
          .beta = {0, 1/24., -5/24., 19/24., 3/8.},
          .predictor = {-3/8., 37/24., -59/24., 55/24.})
