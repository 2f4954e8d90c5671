/* Lobatto IIIA, order 4.
 * Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of
 * Waterloo CSRR 2010.
 * The first stage is explicit: the last of the step before. */
IMPLICIT_RK(lobatto_iiia4, .order = 4, .stages = 3, .evaluations = 2, .symplectic = 0, .symmetric = 1,
            .title = "Lobatto IIIA, order 4", .formula = "collocation at the nodes 0, 1/2, 1",
            .aliases = "hermite_simpson lobatto4",
            .reference = "Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of Waterloo CSRR 2010",
            .c = {0, 1/2., 1},
            .a = {{0},
                  {5/24., 1/3., -1/24.},
                  {1/6., 2/3., 1/6.}},
            .b = {1/6., 2/3., 1/6.})
