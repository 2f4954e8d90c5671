/* Wisdom and Holman's method for planets, order 2, in Jacobi coordinates: Kepler's motions first.
 * Wisdom, Holman (1991), Astron. J. 102, 1528-1538; Rein, Tamayo (2015), Mon. Not. R. Astron. Soc. 452, 376-388. */
WISDOM_HOLMAN(wisdom_holman_drift_first, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
              .title = "Wisdom and Holman's method, Kepler's motions first",
              .formula = "Kepler's motions for h/2, v += h (a(x) - Kepler's), Kepler's motions for h/2",
              .aliases = "",
              .reference = "Wisdom, Holman (1991), Astron. J. 102, 1528-1538; Rein, Tamayo (2015), Mon. Not. R. Astron. Soc. 452, 376-388",
              .kick = {0, 1},
              .drift = {1/2., 1/2.})
