/* Semi-implicit Euler, drift first, order 1.
 * de Vogelaere (1956), Univ. of Notre Dame Report 4. */
COMPOSITION(semi_implicit_euler_drift_kick, .order = 1, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 0,
            .title = "semi-implicit Euler, drift first", .formula = "x += h v, v += h a(x)",
            .aliases = "symplectic_euler_b symplectic_euler_TV",
            .reference = "de Vogelaere (1956), Univ. of Notre Dame Report 4",
            .kick = {0, 1},
            .drift = {1, 0})
