/* McLachlan, order 4, five stages.
 * McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168.
 * Kicks (14 - sqrt 19)/108, (20 - 7 sqrt 19)/108, and what is left to 1/2. */
COMPOSITION(mclachlan4, .order = 4, .stages = 6, .evaluations = 5, .symplectic = 1, .symmetric = 1,
            .title = "McLachlan, order 4, five stages", .formula = "drifts 2/5, -1/10, 2/5, -1/10, 2/5 between kicks",
            .aliases = "mclachlan4_5 McLachlan1995S5 M4",
            .reference = "McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168",
            .kick = {0.08926945422647524488669461126055911426724996365526, -0.09733604263689550801535994339830842235147247663544, 0.50806658841042026312866533213774930808422251298018, 0.50806658841042026312866533213774930808422251298018, -0.09733604263689550801535994339830842235147247663544, 0.08926945422647524488669461126055911426724996365526},
            .drift = {2/5., -1/10., 2/5., -1/10., 2/5., 0})
