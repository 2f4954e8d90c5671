/* Verner 6(5) of DVERK, order 6.
 * Verner (1978), SIAM J. Numer. Anal. 15, 772-790; Hull, Enright, Jackson (1976), Univ. of
 * Toronto TR 100.
 * Stage 6 of the publication, which only the error estimate uses, stands last here. */
EXPLICIT_RK(verner65_dverk, .order = 6, .stages = 8, .evaluations = 7,
            .title = "Verner 6(5) of DVERK", .formula = "seven stages of order 6 (the eighth serves the error estimate)",
            .aliases = "dverk rkv56",
            .reference = "Verner (1978), SIAM J. Numer. Anal. 15, 772-790; Hull, Enright, Jackson (1976), Univ. of Toronto TR 100",
            .c = {0, 1/6., 4/15., 2/3., 5/6., 1/15., 1, 1},
            .a = {{0},
                  {1/6.},
                  {4/75., 16/75.},
                  {5/6., -8/3., 5/2.},
                  {-165/64., 55/6., -425/64., 85/96.},
                  {-8263/15000., 124/75., -643/680., -81/250., 2484/10625.},
                  {3501/1720., -300/43., 297275/52632., -319/2322., 24068/84065., 3850/26703.},
                  {12/5., -8, 4015/612., -11/36., 88/255.}},
            .b = {3/40., 0, 875/2244., 23/72., 264/1955., 125/11592., 43/616.},
            .embedded_order = 5,
            .b_embedded = {13/160., 0, 2375/5984., 5/16., 12/85., 0, 0, 3/44.})
