/* Wisdom and Holman's method for planets, order 2, in Jacobi coordinates.
 * Wisdom, Holman (1991), Astron. J. 102, 1528-1538; Kinoshita, Yoshida, Nakai (1991), Celest. Mech. 50, 59-71. */
WISDOM_HOLMAN(wisdom_holman, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
              .title = "Wisdom and Holman's method",
              .formula = "v += h/2 (a(x) - Kepler's), Kepler's motions for h, v += h/2 (a(x) - Kepler's)",
              .aliases = "mixed_variable_symplectic whfast",
              .reference = "Wisdom, Holman (1991), Astron. J. 102, 1528-1538",
              .kick = {1/2., 1/2.},
              .drift = {1, 0})
