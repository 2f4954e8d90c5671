/* Nystrom, order 5.
 * Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, II.14, table 14.1.
 * For x'' = a(t, x). */
NYSTROM(runge_kutta_nystrom5, .order = 5, .stages = 4, .evaluations = 4, .symplectic = 0, .symmetric = 0,
        .title = "Nystrom, order 5", .formula = "x += h v + h^2/336 (14 k1 + 100 k2 + 54 k3), v += h/336 (14 k1 + 125 k2 + 162 k3 + 35 k4)",
        .aliases = "rkn5",
        .reference = "Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, II.14, table 14.1",
        .c = {0, 1/5., 2/3., 1},
        .a = {{0},
              {1/50.},
              {-1/27., 7/27.},
              {3/10., -2/35., 9/35.}},
        .b = {1/24., 25/84., 9/56.},
        .velocity = {1/24., 125/336., 27/56., 5/48.})
