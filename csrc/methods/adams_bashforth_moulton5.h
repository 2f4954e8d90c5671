/* Adams-Bashforth-Moulton, order 5.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_bashforth_moulton5, .order = 5, .stages = 5, .evaluations = 2, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Bashforth-Moulton, order 5", .formula = "PECE: predict by adams_bashforth5, evaluate, correct by Adams-Moulton of order 5, evaluate",
          .aliases = "abm5 pece5",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, 0, -1, 1},
          .beta = {0, -19/720., 53/360., -11/30., 323/360., 251/720.},
          .predictor = {251/720., -637/360., 109/30., -1387/360., 1901/720.})
