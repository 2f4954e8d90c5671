/* Adams-Moulton, order 6.
 * Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1. */
MULTISTEP(adams_moulton6, .order = 6, .stages = 5, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "Adams-Moulton, order 6", .formula = "y += h (polynomial through the new and the last five f, integrated)",
          .aliases = "am6",
          .reference = "Moulton (1926), New methods in exterior ballistics, Chicago; Hairer, Norsett, Wanner I, III.1",
          .alpha = {0, 0, 0, 0, -1, 1},
          .beta = {3/160., -173/1440., 241/720., -133/240., 1427/1440., 95/288.})
