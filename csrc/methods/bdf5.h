/* Backward differentiation, order 5.
 * Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial
 * value problems.
 * A(alpha)-stable, alpha = 51.84 degrees. */
MULTISTEP(bdf5, .order = 5, .stages = 5, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "backward differentiation, order 5", .formula = "derivative of the polynomial through the new and the last five y = f(t + h, y1)",
          .aliases = "gear5",
          .reference = "Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial value problems",
          .alpha = {-12/137., 75/137., -200/137., 300/137., -300/137., 1},
          .beta = {0, 0, 0, 0, 0, 60/137.})
