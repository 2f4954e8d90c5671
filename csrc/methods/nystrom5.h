/* Kutta-Nystrom, order 5.
 * Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13.
 * Corrects the table of order 5 in Kutta (1901); Hairer, Norsett, Wanner I, II.5. */
EXPLICIT_RK(nystrom5, .order = 5, .stages = 6, .evaluations = 6,
            .title = "Kutta-Nystrom, order 5", .formula = "y += h/192 (23 k1 + 125 k3 - 81 k5 + 125 k6)",
            .aliases = "kutta_nystrom5",
            .reference = "Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13",
            .c = {0, 1/3., 2/5., 1, 2/3., 4/5.},
            .a = {{0},
                  {1/3.},
                  {4/25., 6/25.},
                  {1/4., -3, 15/4.},
                  {2/27., 10/9., -50/81., 8/81.},
                  {2/25., 12/25., 2/15., 8/75.}},
            .b = {23/192., 0, 125/192., 0, -27/64., 125/192.})
