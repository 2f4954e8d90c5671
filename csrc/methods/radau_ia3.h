/* Radau IA, order 3.
 * Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of
 * Waterloo CSRR 2010. */
IMPLICIT_RK(radau_ia3, .order = 3, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0,
            .title = "Radau IA, order 3", .formula = "two stages, the first at t",
            .aliases = "",
            .reference = "Ehle (1969), On Pade approximations to the exponential function and A-stable methods, Univ. of Waterloo CSRR 2010",
            .c = {0, 2/3.},
            .a = {{1/4., -1/4.},
                  {1/4., 5/12.}},
            .b = {1/4., 3/4.})
