/* Crouzeix-Norsett, order 3.
 * Crouzeix (1975), thesis, Univ. Paris VI; Norsett (1974), Report 6/74, Univ. of Trondheim. */
IMPLICIT_RK(crouzeix3, .order = 3, .stages = 2, .evaluations = 2, .symplectic = 0, .symmetric = 0,
            .title = "Crouzeix-Norsett, order 3", .formula = "two stages of gamma = (3 + sqrt 3)/6",
            .aliases = "norsett3 sdirk23 dirk23",
            .reference = "Crouzeix (1975), thesis, Univ. Paris VI; Norsett (1974), Report 6/74, Univ. of Trondheim",
            .c = {0.78867513459481288225457439025097872782380087563506, 0.21132486540518711774542560974902127217619912436494},
            .a = {{0.78867513459481288225457439025097872782380087563506},
                  {-0.57735026918962576450914878050195745564760175127013, 0.78867513459481288225457439025097872782380087563507}},
            .b = {1/2., 1/2.})
