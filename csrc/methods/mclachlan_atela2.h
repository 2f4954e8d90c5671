/* McLachlan-Atela, order 2.
 * McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2. */
COMPOSITION(mclachlan_atela2, .order = 2, .stages = 2, .evaluations = 2, .symplectic = 1, .symmetric = 0,
            .title = "McLachlan-Atela, order 2", .formula = "kicks 1 - 1/sqrt(2), 1/sqrt(2); drifts 1/sqrt(2), 1 - 1/sqrt(2)",
            .aliases = "McAte2 ma2 pseudo_verlet_optimal",
            .reference = "McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2",
            .kick = {0.29289321881345247559915563789515096071516406231153, 0.70710678118654752440084436210484903928483593768847},
            .drift = {0.70710678118654752440084436210484903928483593768847, 0.29289321881345247559915563789515096071516406231153})
