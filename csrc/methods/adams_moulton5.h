/* Adams-Moulton, order 5.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_moulton5, .order = 5, .stages = 4, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Moulton, order 5", .formula = "y += h (polynomial through the new and the last four f, integrated)",
          .aliases = "am5",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, -1, 1},
          .beta = {-19/720., 53/360., -11/30., 323/360., 251/720.})
