/* Lobatto IIIC, order 6.
 * Chipman (1971), BIT 11, 384-388; Hairer, Wanner (1996), Solving Ordinary Differential Equations
 * II, table IV.5.12.
 * Numbers in Q(sqrt 5), to 50 digits. */
IMPLICIT_RK(lobatto_iiic6, .order = 6, .stages = 4, .evaluations = 4, .symplectic = 0, .symmetric = 0,
            .title = "Lobatto IIIC, order 6", .formula = "four stages at the Lobatto nodes",
            .aliases = "",
            .reference = "Chipman (1971), BIT 11, 384-388; Hairer, Wanner (1996), Solving Ordinary Differential Equations II, table IV.5.12",
            .c = {0, 0.27639320225002103035908263312687237645593816403885, 0.72360679774997896964091736687312762354406183596115, 1},
            .a = {{1/12., -0.18633899812498247470076447239427301962005152996763, 0.18633899812498247470076447239427301962005152996763, -1/12.},
                  {1/12., 1/4., -0.09420793070830879791440359468531556080140547528801, 0.03726779962499649494015289447885460392401030599353},
                  {1/12., 0.42754126404164213124773692801864889413473880862134, 1/4., -0.03726779962499649494015289447885460392401030599353},
                  {1/12., 5/12., 5/12., 1/12.}},
            .b = {1/12., 5/12., 5/12., 1/12.})
