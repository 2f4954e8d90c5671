/* Nystrom, order 4.
 * Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, II.14.
 * For x'' = a(t, x). */
NYSTROM(runge_kutta_nystrom4, .order = 4, .stages = 3, .evaluations = 3, .symplectic = 0, .symmetric = 0,
        .title = "Nystrom, order 4", .formula = "x += h v + h^2/6 (k1 + 2 k2), v += h/6 (k1 + 4 k2 + k3)",
        .aliases = "rkn4 nystrom4",
        .reference = "Nystrom (1925), Acta Soc. Sci. Fenn. 50, 13; Hairer, Norsett, Wanner I, II.14",
        .c = {0, 1/2., 1},
        .a = {{0},
              {1/8.},
              {0, 1/2.}},
        .b = {1/6., 1/3.},
        .velocity = {1/6., 2/3., 1/6.})
