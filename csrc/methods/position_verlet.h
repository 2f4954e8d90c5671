/* Position Verlet, order 2.
 * Tuckerman, Berne, Martyna (1992), J. Chem. Phys. 97, 1990-2001. */
COMPOSITION(position_verlet, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
            .title = "position Verlet", .formula = "x += h/2 v, v += h a(x), x += h/2 v",
            .aliases = "leapfrog_dkd strang_dkd",
            .reference = "Tuckerman, Berne, Martyna (1992), J. Chem. Phys. 97, 1990-2001",
            .kick = {0, 1},
            .drift = {1/2., 1/2.})
