/* Velocity-extended Forest-Ruth-like (VEFRL), order 4.
 * Omelyan, Mryglod, Folk (2002), Comput. Phys. Commun. 146, 188-202.
 * xi minimises the norm of the commutators of order 5. */
COMPOSITION(vefrl4, .order = 4, .stages = 5, .evaluations = 4, .symplectic = 1, .symmetric = 1,
            .title = "velocity-extended Forest-Ruth-like (VEFRL)", .formula = "kick xi, drift 1/2 - lambda, kick chi, drift lambda, kick 1 - 2 (chi + xi), and back",
            .aliases = "vefrl omelyan_vefrl EFRL_velocity",
            .reference = "Omelyan, Mryglod, Folk (2002), Comput. Phys. Commun. 146, 188-202",
            .kick = {0.16449865155757597122392642370593233039069114512361, 1.23569265113891692491465255413541702879142202307109, -1.8003826053929857922771579556826987183642263363894, 1.23569265113891692491465255413541702879142202307109, 0.16449865155757597122392642370593233039069114512361},
            .drift = {0.52094333910398988555442940164892792223133671696532, -0.02094333910398988555442940164892792223133671696532, -0.02094333910398988555442940164892792223133671696532, 0.52094333910398988555442940164892792223133671696532, 0})
