/* Kutta-Merson, order 4.
 * Merson (1957), Proc. Symp. Data Processing, Weapons Research Establishment, Salisbury, 110-1 to 110-25.
 * Often labelled 4(5): the companion is of order 5 for linear problems only, of order 3
 * otherwise. */
EXPLICIT_RK(merson45, .order = 4, .stages = 5, .evaluations = 5,
            .title = "Kutta-Merson, order 4", .formula = "y += h/6 (k1 + 4 k4 + k5)",
            .aliases = "kutta_merson merson4 merson43",
            .reference = "Merson (1957), Proc. Symp. Data Processing, Weapons Research Establishment, Salisbury, 110-1 to 110-25",
            .c = {0, 1/3., 1/3., 1/2., 1},
            .a = {{0},
                  {1/3.},
                  {1/6., 1/6.},
                  {1/8., 0, 3/8.},
                  {1/2., 0, -3/2., 2}},
            .b = {1/6., 0, 0, 2/3., 1/6.},
            .embedded_order = 3,
            .b_embedded = {1/10., 0, 3/10., 2/5., 1/5.})
