/* Wisdom and Holman's method for planets, order 2, with a corrector of order 17 in the step.
 * Wisdom, Holman, Touma (1996), Fields Inst. Commun. 10, 217-244; Wisdom (2006), Astron. J. 131, 2294-2298. */
WISDOM_HOLMAN(wisdom_holman17, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
              .title = "Wisdom and Holman's method with a corrector of order 17",
              .formula = "wisdom_holman from C(x, v), shown by C^-1: errors m h^2 .. m h^16 vanish",
              .aliases = "",
              .reference = "Wisdom, Holman, Touma (1996), Fields Inst. Commun. 10, 217-244; Wisdom (2006), Astron. J. 131, 2294-2298",
              .kick = {1/2., 1/2.},
              .drift = {1, 0},
              .corrector = {0.093056103771425958591541059067553547100903397724386, -0.065192863576377893658290760803725762027864651086787, 0.032422198864713580293681523029577130832258806467604, -0.012071760822342291062449751726959664253913904872527, 0.0033132577069380655655490196833451994080066801611459, -0.00063599983075817658983166881625078545864140848560259, 0.000076436355227935738363241846979413475106795392377415, -0.0000043347415473373580190650223498124944896789841432241})
