/* Trapezoidal rule, order 2.
 * Crank, Nicolson (1947), Proc. Cambridge Philos. Soc. 43, 50-67.
 * Lobatto IIIA of two stages; not symplectic, but conjugate to the implicit midpoint rule. */
IMPLICIT_RK(trapezoidal, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 0, .symmetric = 1,
            .title = "trapezoidal rule", .formula = "y1 = y + h/2 (f(t, y) + f(t + h, y1))",
            .aliases = "crank_nicolson lobatto_iiia2 adams_moulton2 am2",
            .reference = "Crank, Nicolson (1947), Proc. Cambridge Philos. Soc. 43, 50-67",
            .c = {0, 1},
            .a = {{0},
                  {1/2., 1/2.}},
            .b = {1/2., 1/2.})
