/* Radau IIA, order 3.
 * Butcher (1964), Math. Comp. 18, 233-244; Axelsson (1969), BIT 9, 185-199. */
IMPLICIT_RK(radau_iia3, .order = 3, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0,
            .title = "Radau IIA, order 3", .formula = "collocation at the nodes 1/3, 1",
            .aliases = "radau3",
            .reference = "Butcher (1964), Math. Comp. 18, 233-244; Axelsson (1969), BIT 9, 185-199",
            .c = {1/3., 1},
            .a = {{5/12., -1/12.},
                  {3/4., 1/4.}},
            .b = {3/4., 1/4.})
