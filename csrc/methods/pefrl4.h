/* Position-extended Forest-Ruth-like (PEFRL), order 4.
 * Omelyan, Mryglod, Folk (2002), Comput. Phys. Commun. 146, 188-202.
 * xi minimises the norm of the commutators of order 5; solved anew, as the published digits are
 * off from the 16th on. */
COMPOSITION(pefrl4, .order = 4, .stages = 5, .evaluations = 4, .symplectic = 1, .symmetric = 1,
            .title = "position-extended Forest-Ruth-like (PEFRL)", .formula = "drift xi, kick 1/2 - lambda, drift chi, kick lambda, drift 1 - 2 (chi + xi), and back",
            .aliases = "pefrl omelyan_pefrl EFRL_position",
            .reference = "Omelyan, Mryglod, Folk (2002), Comput. Phys. Commun. 146, 188-202",
            .kick = {0, 0.71234183106260558040799708852626434348883854365908, -0.21234183106260558040799708852626434348883854365908, -0.21234183106260558040799708852626434348883854365908, 0.71234183106260558040799708852626434348883854365908},
            .drift = {0.17861789584480907522458748788370902717076996492066, -0.06626458266981843134112230912463166752002939642783, 0.77529337365001871223306964248184528069851886301434, -0.06626458266981843134112230912463166752002939642783, 0.17861789584480907522458748788370902717076996492066})
