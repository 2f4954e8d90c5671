/* McLachlan-Omelyan, order 2.
 * McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168; Omelyan, Mryglod, Folk (2002), Phys. Rev. E
 * 65, 056706.
 * l = 1/2 - t/12 + 1/(6 t), t = (2 sqrt(326) + 36)^(1/3), minimises the norm of the two
 * commutators of order 3. */
COMPOSITION(mclachlan2, .order = 2, .stages = 3, .evaluations = 2, .symplectic = 1, .symmetric = 1,
            .title = "McLachlan-Omelyan, order 2", .formula = "kick l, drift 1/2, kick 1 - 2 l, drift 1/2, kick l with l = 0.19318332750378",
            .aliases = "McLachlan1995S2 omelyan2 OMF2 minimum_norm2 M2",
            .reference = "McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168; Omelyan, Mryglod, Folk (2002), Phys. Rev. E 65, 056706",
            .kick = {0.19318332750378357396289976502683403564812072494941, 0.61363334499243285207420046994633192870375855010118, 0.19318332750378357396289976502683403564812072494941},
            .drift = {1/2., 1/2., 0})
