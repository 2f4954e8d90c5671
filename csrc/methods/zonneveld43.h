/* Zonneveld 4(3), order 4.
 * Zonneveld (1964), Automatic numerical integration, Math. Centre Tracts 8; Hairer, Norsett,
 * Wanner I, table II.4.2.
 * Advances with rk4. */
EXPLICIT_RK(zonneveld43, .order = 4, .stages = 5, .evaluations = 4,
            .title = "Zonneveld 4(3)", .formula = "classical Runge-Kutta (the fifth stage serves the error estimate)",
            .aliases = "",
            .reference = "Zonneveld (1964), Automatic numerical integration, Math. Centre Tracts 8; Hairer, Norsett, Wanner I, table II.4.2",
            .c = {0, 1/2., 1/2., 1, 3/4.},
            .a = {{0},
                  {1/2.},
                  {0, 1/2.},
                  {0, 0, 1},
                  {5/32., 7/32., 13/32., -1/32.}},
            .b = {1/6., 1/3., 1/3., 1/6.},
            .embedded_order = 3,
            .b_embedded = {-1/2., 7/3., 7/3., 13/6., -16/3.})
