/* Velocity Verlet, order 2.
 * Swope, Andersen, Berens, Wilson (1982), J. Chem. Phys. 76, 637-649. */
COMPOSITION(velocity_verlet, .specialised = PI_VELOCITY_VERLET, .order = 2, .stages = 2, .evaluations = 1, .symplectic = 1, .symmetric = 1,
            .title = "velocity Verlet", .formula = "v += h/2 a(x), x += h v, v += h/2 a(x)",
            .aliases = "leapfrog_kdk strang_kdk newton_stormer_verlet",
            .reference = "Swope, Andersen, Berens, Wilson (1982), J. Chem. Phys. 76, 637-649",
            .kick = {1/2., 1/2.},
            .drift = {1, 0})
