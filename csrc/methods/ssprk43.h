/* Four-stage strong stability preserving, order 3.
 * Kraaijevanger (1991), BIT 31, 482-528; Spiteri, Ruuth (2002), SIAM J. Numer. Anal. 40, 469-491.
 * A convex combination of explicit Euler steps; SSP coefficient 2. */
EXPLICIT_RK(ssprk43, .order = 3, .stages = 4, .evaluations = 4,
            .title = "four-stage strong stability preserving, order 3", .formula = "y += h/6 (k1 + k2 + k3 + 3 k4), nodes 0, 1/2, 1, 1/2",
            .aliases = "ssp43",
            .reference = "Kraaijevanger (1991), BIT 31, 482-528; Spiteri, Ruuth (2002), SIAM J. Numer. Anal. 40, 469-491",
            .c = {0, 1/2., 1, 1/2.},
            .a = {{0},
                  {1/2.},
                  {1/2., 1/2.},
                  {1/6., 1/6., 1/6.}},
            .b = {1/6., 1/6., 1/6., 1/2.})
