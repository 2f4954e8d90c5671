/* Backward differentiation, order 2.
 * Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial
 * value problems.
 * A-stable. */
MULTISTEP(bdf2, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "backward differentiation, order 2", .formula = "derivative of the polynomial through the new and the last two y = f(t + h, y1)",
          .aliases = "gear2",
          .reference = "Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial value problems",
          .alpha = {1/3., -4/3., 1},
          .beta = {0, 0, 2/3.})
