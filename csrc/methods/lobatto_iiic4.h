/* Lobatto IIIC, order 4.
 * Chipman (1971), BIT 11, 384-388; Hairer, Wanner (1996), Solving Ordinary Differential Equations
 * II, table IV.5.12. */
IMPLICIT_RK(lobatto_iiic4, .order = 4, .stages = 3, .evaluations = 3, .symplectic = 0, .symmetric = 0,
            .title = "Lobatto IIIC, order 4", .formula = "three stages at the nodes 0, 1/2, 1",
            .aliases = "",
            .reference = "Chipman (1971), BIT 11, 384-388; Hairer, Wanner (1996), Solving Ordinary Differential Equations II, table IV.5.12",
            .c = {0, 1/2., 1},
            .a = {{1/6., -1/3., 1/6.},
                  {1/6., 5/12., -1/12.},
                  {1/6., 2/3., 1/6.}},
            .b = {1/6., 2/3., 1/6.})
