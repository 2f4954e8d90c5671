/* Symplectic splitting of the free top into rotations about its principal axes, order 2.
 * McLachlan (1993), Phys. Rev. Lett. 71, 3043-3046; Touma, Wisdom (1994), Astron. J. 107, 1189-1202. */
RIGID_MOTION(rigid_splitting2, .order = 2, .stages = 1, .evaluations = 2, .symplectic = 1, .symmetric = 1, .rule = PI_FREE_TOP_SPLITTING,
             .title = "splitting into rotations about principal axes",
             .formula = "kick h/2, rotations 1 2 3 2 1 about the axes, kick h/2",
             .aliases = "",
             .reference = "McLachlan (1993), Phys. Rev. Lett. 71, 3043-3046; Touma, Wisdom (1994), Astron. J. 107, 1189-1202",
             .b = {1})
