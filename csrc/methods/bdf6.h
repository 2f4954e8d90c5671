/* Backward differentiation, order 6.
 * Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial
 * value problems.
 * A(alpha)-stable, alpha = 17.84 degrees. */
MULTISTEP(bdf6, .order = 6, .stages = 6, .evaluations = 1, .symplectic = 0, .symmetric = 0, .derivative = 1,
          .title = "backward differentiation, order 6", .formula = "derivative of the polynomial through the new and the last six y = f(t + h, y1)",
          .aliases = "gear6",
          .reference = "Curtiss, Hirschfelder (1952), Proc. Nat. Acad. Sci. 38, 235-243; Gear (1971), Numerical initial value problems",
          .alpha = {10/147., -24/49., 75/49., -400/147., 150/49., -120/49., 1},
          .beta = {0, 0, 0, 0, 0, 0, 20/49.})
