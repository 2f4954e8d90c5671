/* Semi-implicit (symplectic) Euler, order 1.
 * de Vogelaere (1956), Univ. of Notre Dame Report 4; Cromer (1981), Am. J. Phys. 49, 455-459. */
COMPOSITION(semi_implicit_euler, .specialised = PI_SEMI_IMPLICIT_EULER, .order = 1, .stages = 1, .evaluations = 1, .symplectic = 1, .symmetric = 0,
            .title = "semi-implicit (symplectic) Euler", .formula = "v += h a(x), x += h v",
            .aliases = "symplectic_euler euler_cromer semi_implicit_euler_kick_drift symplectic_euler_VT",
            .reference = "de Vogelaere (1956), Univ. of Notre Dame Report 4; Cromer (1981), Am. J. Phys. 49, 455-459",
            .kick = {1},
            .drift = {1})
