/* Backward differentiation, order 3.
 * Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial
 * value problems.
 * A(alpha)-stable, alpha = 86.03 degrees. */
MULTISTEP(bdf3, .order = 3, .stages = 3, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "backward differentiation, order 3", .formula = "derivative of the polynomial through the new and the last three y = f(t + h, y1)",
          .aliases = "gear3",
          .reference = "Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial value problems",
          .alpha = {-2/11., 9/11., -18/11., 1},
          .beta = {0, 0, 0, 6/11.})
