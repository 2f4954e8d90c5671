/* Adams-Moulton, order 4.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_moulton4, .order = 4, .stages = 3, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Moulton, order 4", .formula = "y += h (polynomial through the new and the last three f, integrated)",
          .aliases = "am4",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, -1, 1},
          .beta = {1/24., -5/24., 19/24., 3/8.})
