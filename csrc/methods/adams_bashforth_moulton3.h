/* Adams-Bashforth-Moulton, order 3.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth_moulton3, .order = 3, .stages = 3, .evaluations = 2, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth-Moulton, order 3", .formula = "PECE: predict by adams_bashforth3, evaluate, correct by Adams-Moulton of order 3, evaluate",
          .aliases = "abm3 pece3",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, -1, 1},
          .beta = {0, -1/12., 2/3., 5/12.},
          .predictor = {5/12., -4/3., 23/12.})
