/* Gauss, order 6.
 * Kuntzmann (1961), Z. Angew. Math. Mech. 41, T28-T31; Butcher (1964), Math. Comp. 18, 50-64.
 * Numbers in Q(sqrt 15), to 50 digits. */
IMPLICIT_RK(gauss6, .order = 6, .stages = 3, .evaluations = 3, .symplectic = 1, .symmetric = 1,
            .title = "Gauss, order 6", .formula = "collocation at the three Gauss nodes",
            .aliases = "gauss_legendre6 gl6 kuntzmann_butcher6",
            .reference = "Kuntzmann (1961), Z. Angew. Math. Mech. 41, T28-T31; Butcher (1964), Math. Comp. 18, 50-64",
            .c = {0.11270166537925831148207346002176003891670782947084, 1/2., 0.88729833462074168851792653997823996108329217052916},
            .a = {{5/36., -0.03597666752493890345639547109660441849997255813055, 0.0097894440153083260495800422294755685277914987125},
                  {0.30026319498086459243802494721315553934026062660937, 2/9., -0.02248541720308681466024716943537776156248284883159},
                  {0.26798833376246945172819773554830220924998627906528, 0.48042111196938334790083991554104886294441700257499, 5/36.}},
            .b = {5/18., 4/9., 5/18.})
