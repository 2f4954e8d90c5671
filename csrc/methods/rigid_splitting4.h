/* Three steps of the splitting of the free top, order 4.
 * McLachlan (1993), Phys. Rev. Lett. 71, 3043-3046; Yoshida (1990), Phys. Lett. A 150, 262-268. */
RIGID_MOTION(rigid_splitting4, .order = 4, .stages = 3, .evaluations = 6, .symplectic = 1, .symmetric = 1, .rule = PI_FREE_TOP_SPLITTING,
             .title = "triple jump of the splitting",
             .formula = "three steps of rigid_splitting2 of w h, (1 - 2 w) h, w h with w = 1 / (2 - 2^(1/3))",
             .aliases = "",
             .reference = "McLachlan (1993), Phys. Rev. Lett. 71, 3043-3046; Yoshida (1990), Phys. Lett. A 150, 262-268",
             .b = {1.35120719195965763404768780897146082692199937621714, -1.70241438391931526809537561794292165384399875243428, 1.35120719195965763404768780897146082692199937621714})
