/* Lobatto IIIC, order 2.
 * Chipman (1971), BIT 11, 384-388; Axelsson (1972), BIT 12, 455-464. */
IMPLICIT_RK(lobatto_iiic2, .order = 2, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0,
            .title = "Lobatto IIIC, order 2", .formula = "two stages at the nodes 0, 1",
            .aliases = "",
            .reference = "Chipman (1971), BIT 11, 384-388; Axelsson (1972), BIT 12, 455-464",
            .c = {0, 1},
            .a = {{1/2., -1/2.},
                  {1/2., 1/2.}},
            .b = {1/2., 1/2.})
