/* Lobatto IIIB, order 4.
 * Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of
 * Waterloo CSRR 2010. */
IMPLICIT_RK(lobatto_iiib4, .order = 4, .stages = 3, .evaluations = 3, .symplectic = 0, .symmetric = 1,
            .title = "Lobatto IIIB, order 4", .formula = "three stages at the nodes 0, 1/2, 1, the last one explicit",
            .aliases = "",
            .reference = "Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of Waterloo CSRR 2010",
            .c = {0, 1/2., 1},
            .a = {{1/6., -1/6.},
                  {1/6., 1/3.},
                  {1/6., 5/6.}},
            .b = {1/6., 2/3., 1/6.})
