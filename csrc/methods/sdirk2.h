/* Alexander, order 2.
 * Alexander (1977), SIAM J. Numer. Anal. 14, 1006-1021. */
IMPLICIT_RK(sdirk2, .order = 2, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0,
            .title = "Alexander, order 2", .formula = "two stages of gamma = 1 - 1/sqrt 2",
            .aliases = "alexander2 sdirk22 sdirk21_alexander",
            .reference = "Alexander (1977), SIAM J. Numer. Anal. 14, 1006-1021",
            .c = {0.29289321881345247559915563789515096071516406231153, 1},
            .a = {{0.29289321881345247559915563789515096071516406231153},
                  {0.70710678118654752440084436210484903928483593768847, 0.29289321881345247559915563789515096071516406231153}},
            .b = {0.70710678118654752440084436210484903928483593768847, 0.29289321881345247559915563789515096071516406231153})
