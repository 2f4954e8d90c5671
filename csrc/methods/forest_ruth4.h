/* Forest-Ruth, order 4.
 * Forest, Ruth (1990), Physica D 43, 105-117; Yoshida (1990), Phys. Lett. A 150, 262-268. */
COMPOSITION(forest_ruth4, .order = 4, .stages = 4, .evaluations = 3, .symplectic = 1, .symmetric = 1,
            .title = "Forest-Ruth", .formula = "three velocity Verlet steps of w h, (1 - 2 w) h, w h with w = 1 / (2 - 2^(1/3))",
            .aliases = "yoshida4 neri4 candy_rozmus4 triple_jump4 FR suzuki_triple4",
            .reference = "Forest, Ruth (1990), Physica D 43, 105-117; Yoshida (1990), Phys. Lett. A 150, 262-268",
            .kick = {0.67560359597982881702384390448573041346099968810857, -0.17560359597982881702384390448573041346099968810857, -0.17560359597982881702384390448573041346099968810857, 0.67560359597982881702384390448573041346099968810857},
            .drift = {1.35120719195965763404768780897146082692199937621714, -1.70241438391931526809537561794292165384399875243428, 1.35120719195965763404768780897146082692199937621714, 0})
