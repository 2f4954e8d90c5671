/* Implicit Euler, order 1.
 * Cauchy (1824); Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.1. */
IMPLICIT_RK(implicit_euler, .order = 1, .stages = 1, .evaluations = 1, .symplectic = 0, .symmetric = 0,
            .title = "implicit Euler", .formula = "y1 = y + h f(t + h, y1)",
            .aliases = "backward_euler radau_iia1 adams_moulton1 am1 bdf1 gear1",
            .reference = "Cauchy (1824); Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.1",
            .c = {1},
            .a = {{1}},
            .b = {1})
