/* Backward differentiation, order 4.
 * Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial
 * value problems.
 * A(alpha)-stable, alpha = 73.35 degrees. */
MULTISTEP(bdf4, .order = 4, .stages = 4, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "backward differentiation, order 4", .formula = "derivative of the polynomial through the new and the last four y = f(t + h, y1)",
          .aliases = "gear4",
          .reference = "Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial value problems",
          .alpha = {3/25., -16/25., 36/25., -48/25., 1},
          .beta = {0, 0, 0, 0, 12/25.})
