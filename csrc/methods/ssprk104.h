/* Ten-stage strong stability preserving, order 4.
 * Ketcheson (2008), SIAM J. Sci. Comput. 30, 2113-2136.
 * A convex combination of explicit Euler steps; SSP coefficient 6. */
EXPLICIT_RK(ssprk104, .order = 4, .stages = 10, .evaluations = 10,
            .title = "ten-stage strong stability preserving, order 4", .formula = "y += h/10 (k1 + ... + k10)",
            .aliases = "ssp104",
            .reference = "Ketcheson (2008), SIAM J. Sci. Comput. 30, 2113-2136",
            .c = {0, 1/6., 1/3., 1/2., 2/3., 1/3., 1/2., 2/3., 5/6., 1},
            .a = {{0},
                  {1/6.},
                  {1/6., 1/6.},
                  {1/6., 1/6., 1/6.},
                  {1/6., 1/6., 1/6., 1/6.},
                  {1/15., 1/15., 1/15., 1/15., 1/15.},
                  {1/15., 1/15., 1/15., 1/15., 1/15., 1/6.},
                  {1/15., 1/15., 1/15., 1/15., 1/15., 1/6., 1/6.},
                  {1/15., 1/15., 1/15., 1/15., 1/15., 1/6., 1/6., 1/6.},
                  {1/15., 1/15., 1/15., 1/15., 1/15., 1/6., 1/6., 1/6., 1/6.}},
            .b = {1/10., 1/10., 1/10., 1/10., 1/10., 1/10., 1/10., 1/10., 1/10., 1/10.})
