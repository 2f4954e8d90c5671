/* Two-step midpoint (leapfrog) rule, order 2.
 * Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, III.1.
 * Weakly stable: the root -1 of rho grows on decaying motions. */
MULTISTEP(leapfrog_midpoint, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 1, .derivative = 1,
          .title = "two-step midpoint (leapfrog) rule", .formula = "y1 = y-1 + 2 h f(t, y)",
          .aliases = "two_step_midpoint explicit_midpoint_two_step",
          .reference = "Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, III.1",
          .alpha = {-1, 0, 1},
          .beta = {0, 2, 0})
