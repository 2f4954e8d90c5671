/* Wisdom and Holman's method for planets, order 2, with a corrector of order 11 in the step.
 * Wisdom, Holman, Touma (1996), Fields Inst. Commun. 10, 217-244; Wisdom (2006), Astron. J. 131, 2294-2298. */
WISDOM_HOLMAN(wisdom_holman11, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
              .title = "Wisdom and Holman's method with a corrector of order 11",
              .formula = "wisdom_holman from C(x, v), shown by C^-1: errors m h^2 .. m h^10 vanish",
              .aliases = "",
              .reference = "Wisdom, Holman, Touma (1996), Fields Inst. Commun. 10, 217-244; Wisdom (2006), Astron. J. 131, 2294-2298",
              .kick = {1/2., 1/2.},
              .drift = {1, 0},
              .corrector = {0.072593394748842738674253180742744961827622366521517, -0.038121613681288650508647613260247372125243616270670, 0.012309078592019946317544564763237909911330686448336, -0.0023487215292295354188307328851055489876255097419754, 0.00020361579647854651301632818774633716473696537436847, 0, 0, 0})
