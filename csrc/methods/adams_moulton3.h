/* Adams-Moulton, order 3.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_moulton3, .order = 3, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Moulton, order 3", .formula = "y += h (polynomial through the new and the last two f, integrated)",
          .aliases = "am3",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, -1, 1},
          .beta = {-1/12., 2/3., 5/12.})
