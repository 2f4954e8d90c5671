/* Qin-Zhang, symplectic, diagonally implicit, order 2.
 * Qin, Zhang (1992), J. Comput. Math. Suppl., 205-215. */
IMPLICIT_RK(qin_zhang2, .order = 2, .stages = 2, .evaluations = 2, .symplectic = 1, .symmetric = 1,
            .title = "Qin-Zhang, symplectic, diagonally implicit, order 2", .formula = "two implicit midpoint steps of h/2",
            .aliases = "symplectic_dirk2",
            .reference = "Qin, Zhang (1992), J. Comput. Math. Suppl., 205-215",
            .c = {1/4., 3/4.},
            .a = {{1/4.},
                  {1/2., 1/4.}},
            .b = {1/2., 1/2.})
