/* McLachlan-Atela, order 4.
 * McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2.
 * Order 4 where the kinetic energy is quadratic, else order 3; order 3 with the drift
 * first. */
COMPOSITION(mclachlan_atela4, .order = 4, .stages = 4, .evaluations = 4, .symplectic = 1, .symmetric = 0, .quadratic_kinetic = 1,
            .title = "McLachlan-Atela, order 4", .formula = "four kicks and drifts, kick first",
            .aliases = "McAte4 ma4",
            .reference = "McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2",
            .kick = {0.13449619927743108920504944396388442872377173587428, -0.22481980307942080580582413589410431817182777469319, 0.75632000051566829109903455512128579804217185403847, 0.33400360328632142550174013680893409140588418478044},
            .drift = {0.51535283743112293640340316867043491931714793807927, -0.08578201941297364607475543233269242251943485244568, 0.44158302361646652425331550106349628722015217698544, 0.12884615836538418541803676259876121598213473738097})
