/* McLachlan, order 4, four stages.
 * McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168.
 * Kicks (642 + sqrt 471)/3924, 121 (12 - sqrt 471)/3924, and what is left to 1. */
COMPOSITION(mclachlan4_4, .order = 4, .stages = 5, .evaluations = 4, .symplectic = 1, .symmetric = 1,
            .title = "McLachlan, order 4, four stages", .formula = "drifts 6/11, -1/22, -1/22, 6/11 between kicks",
            .aliases = "McLachlan1995S4",
            .reference = "McLachlan (1995), SIAM J. Sci. Comput. 16, 151-168",
            .kick = {0.16913927992207204517500246596517433521386913366802, -0.2991862039040507995086317151194278942114985071636, 1.26009384796395750866725849830850711799525874699116, -0.2991862039040507995086317151194278942114985071636, 0.16913927992207204517500246596517433521386913366802},
            .drift = {6/11., -1/22., -1/22., 6/11., 0})
