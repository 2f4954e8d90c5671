/* Dormand-Prince 5(4), order 5.
 * Dormand, Prince (1980), J. Comput. Appl. Math. 6, 19-26. */
EXPLICIT_RK(dormand_prince54, .order = 5, .stages = 7, .evaluations = 6,
            .title = "Dormand-Prince 5(4)", .formula = "six stages of order 5 (the seventh serves the error estimate)",
            .aliases = "dopri5 dp5 ode45 rk45",
            .reference = "Dormand, Prince (1980), J. Comput. Appl. Math. 6, 19-26",
            .c = {0, 1/5., 3/10., 4/5., 8/9., 1, 1},
            .a = {{0},
                  {1/5.},
                  {3/40., 9/40.},
                  {44/45., -56/15., 32/9.},
                  {19372/6561., -25360/2187., 64448/6561., -212/729.},
                  {9017/3168., -355/33., 46732/5247., 49/176., -5103/18656.},
                  {35/384., 0, 500/1113., 125/192., -2187/6784., 11/84.}},
            .b = {35/384., 0, 500/1113., 125/192., -2187/6784., 11/84.},
            .embedded_order = 4,
            .b_embedded = {5179/57600., 0, 7571/16695., 393/640., -92097/339200., 187/2100., 1/40.})
