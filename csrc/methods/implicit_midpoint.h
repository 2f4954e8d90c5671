/* Implicit midpoint, order 2.
 * Butcher (1964), Math. Comp. 18, 50-64.
 * The Gauss method of one stage. */
IMPLICIT_RK(implicit_midpoint, .order = 2, .stages = 1, .evaluations = 1, .symplectic = 1, .symmetric = 1,
            .title = "implicit midpoint", .formula = "y1 = y + h f(t + h/2, (y + y1)/2)",
            .aliases = "gauss2 gauss_legendre2",
            .reference = "Butcher (1964), Math. Comp. 18, 50-64",
            .c = {1/2.},
            .a = {{1/2.}},
            .b = {1})
