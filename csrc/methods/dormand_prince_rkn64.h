/* Dormand-Prince Nystrom 6(4), order 6.
 * Dormand, El-Mikkawy, Prince (1987), Families of Runge-Kutta-Nystrom formulae, IMA J. Numer. Anal.
 * 7, 235-250, table 5: RKN6(4)6FM.
 * For x'' = a(t, x). */
NYSTROM(dormand_prince_rkn64, .order = 6, .stages = 6, .evaluations = 6, .symplectic = 0, .symmetric = 0,
        .title = "Dormand-Prince Nystrom 6(4)", .formula = "six stages of order 6",
        .aliases = "dprkn6fm rkn64 rkn64fm",
        .reference = "Dormand, El-Mikkawy, Prince (1987), IMA J. Numer. Anal. 7, 235-250, table 5, RKN6(4)6FM",
        .c = {0, 1/10., 3/10., 7/10., 17/25., 1},
        .a = {{0},
              {1/200.},
              {-1/2200., 1/22.},
              {637/6600., -7/110., 7/33.},
              {225437/1968750., -30073/281250., 65569/281250., -9367/984375.},
              {151/2142., 5/116., 385/1368., 55/168., -6250/28101.}},
        .b = {151/2142., 5/116., 385/1368., 55/168., -6250/28101.},
        .velocity = {151/2142., 25/522., 275/684., 275/252., -78125/112404., 1/12.},
        .embedded_order = 4,
        .b_embedded = {1349/157500., 7873/50000., 192199/900000., 521683/2100000., -16/125.},
        .velocity_embedded = {1349/157500., 7873/45000., 27457/90000., 521683/630000., -2/5., 1/12.})
