/* Runge-Kutta-Fehlberg 7(8), advanced with order 8.
 * Fehlberg (1968), NASA TR R-287.
 * Fehlberg himself advanced with the weights of order 7. Stage 11 of the publication, which only
 * the error estimate uses, stands last here. */
EXPLICIT_RK(fehlberg78, .order = 8, .stages = 13, .evaluations = 12,
            .title = "Runge-Kutta-Fehlberg 7(8), advanced with order 8", .formula = "twelve stages of order 8 (the thirteenth serves the error estimate)",
            .aliases = "rkf78 rkf8 fehlberg87",
            .reference = "Fehlberg (1968), NASA TR R-287",
            .c = {0, 2/27., 1/9., 1/6., 5/12., 1/2., 5/6., 1/6., 2/3., 1/3., 0, 1, 1},
            .a = {{0},
                  {2/27.},
                  {1/36., 1/12.},
                  {1/24., 0, 1/8.},
                  {5/12., 0, -25/16., 25/16.},
                  {1/20., 0, 0, 1/4., 1/5.},
                  {-25/108., 0, 0, 125/108., -65/27., 125/54.},
                  {31/300., 0, 0, 0, 61/225., -2/9., 13/900.},
                  {2, 0, 0, -53/6., 704/45., -107/9., 67/90., 3},
                  {-91/108., 0, 0, 23/108., -976/135., 311/54., -19/60., 17/6., -1/12.},
                  {3/205., 0, 0, 0, 0, -6/41., -3/205., -3/41., 3/41., 6/41.},
                  {-1777/4100., 0, 0, -341/164., 4496/1025., -289/82., 2193/4100., 51/82., 33/164., 12/41., 1},
                  {2383/4100., 0, 0, -341/164., 4496/1025., -301/82., 2133/4100., 45/82., 45/164., 18/41.}},
            .b = {0, 0, 0, 0, 0, 34/105., 9/35., 9/35., 9/280., 9/280., 41/840., 41/840.},
            .embedded_order = 7,
            .b_embedded = {41/840., 0, 0, 0, 0, 34/105., 9/35., 9/35., 9/280., 9/280., 0, 0, 41/840.})
