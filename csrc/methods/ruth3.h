/* Ruth, order 3.
 * Ruth (1983), IEEE Trans. Nucl. Sci. NS-30, 2669-2671. */
COMPOSITION(ruth3, .order = 3, .stages = 3, .evaluations = 3, .symplectic = 1, .symmetric = 0,
            .title = "Ruth, order 3", .formula = "kicks 7/24, 3/4, -1/24; drifts 2/3, -2/3, 1",
            .aliases = "Ruth1983",
            .reference = "Ruth (1983), IEEE Trans. Nucl. Sci. NS-30, 2669-2671",
            .kick = {7/24., 3/4., -1/24.},
            .drift = {2/3., -2/3., 1})
