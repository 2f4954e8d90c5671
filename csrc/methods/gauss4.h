/* Gauss, order 4.
 * Hammer, Hollingsworth (1955), MTAC 9, 92-96; Butcher (1964), Math. Comp. 18, 50-64.
 * Numbers in Q(sqrt 3), to 50 digits. */
IMPLICIT_RK(gauss4, .order = 4, .stages = 2, .evaluations = 2, .symplectic = 1, .symmetric = 1,
            .title = "Gauss, order 4", .formula = "collocation at the two Gauss nodes",
            .aliases = "gauss_legendre4 hammer_hollingsworth gl4",
            .reference = "Hammer, Hollingsworth (1955), MTAC 9, 92-96; Butcher (1964), Math. Comp. 18, 50-64",
            .c = {0.21132486540518711774542560974902127217619912436494, 0.78867513459481288225457439025097872782380087563506},
            .a = {{1/4., -0.03867513459481288225457439025097872782380087563506},
                  {0.53867513459481288225457439025097872782380087563506, 1/4.}},
            .b = {1/2., 1/2.})
