/* Runge-Kutta-Fehlberg 4(5), advanced with order 5.
 * Fehlberg (1969), NASA TR R-315, table III.
 * Fehlberg himself advanced with the weights of order 4. */
EXPLICIT_RK(fehlberg45, .order = 5, .stages = 6, .evaluations = 6,
            .title = "Runge-Kutta-Fehlberg 4(5), advanced with order 5", .formula = "six stages of order 5",
            .aliases = "rkf45 fehlberg54",
            .reference = "Fehlberg (1969), NASA TR R-315, table III",
            .c = {0, 1/4., 3/8., 12/13., 1, 1/2.},
            .a = {{0},
                  {1/4.},
                  {3/32., 9/32.},
                  {1932/2197., -7200/2197., 7296/2197.},
                  {439/216., -8, 3680/513., -845/4104.},
                  {-8/27., 2, -3544/2565., 1859/4104., -11/40.}},
            .b = {16/135., 0, 6656/12825., 28561/56430., -9/50., 2/55.},
            .embedded_order = 4,
            .b_embedded = {25/216., 0, 1408/2565., 2197/4104., -1/5.})
