/* Hairer-Wanner SDIRK, order 4.
 * Hairer, Wanner (1996), Solving Ordinary Differential Equations II, table IV.6.5. */
IMPLICIT_RK(sdirk4, .order = 4, .stages = 5, .evaluations = 5, .symplectic = 0, .symmetric = 0,
            .title = "Hairer-Wanner SDIRK, order 4", .formula = "five stages of gamma = 1/4",
            .aliases = "sdirk54 hairer_wanner_sdirk4",
            .reference = "Hairer, Wanner (1996), Solving Ordinary Differential Equations II, table IV.6.5",
            .c = {1/4., 3/4., 11/20., 1/2., 1},
            .a = {{1/4.},
                  {1/2., 1/4.},
                  {17/50., -1/25., 1/4.},
                  {371/1360., -137/2720., 15/544., 1/4.},
                  {25/24., -49/48., 125/16., -85/12., 1/4.}},
            .b = {25/24., -49/48., 125/16., -85/12., 1/4.})
