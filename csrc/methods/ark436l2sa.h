/* Kennedy-Carpenter ARK4(3)6L[2]SA, implicit part, order 4.
 * Kennedy, Carpenter (2003), Appl. Numer. Math. 44, 139-181. */
IMPLICIT_RK(ark436l2sa, .order = 4, .stages = 6, .evaluations = 5, .symplectic = 0, .symmetric = 0,
            .title = "Kennedy-Carpenter ARK4(3)6L[2]SA, implicit part", .formula = "an explicit stage and five of gamma = 1/4",
            .aliases = "kencarp4 esdirk43_ark ARK436L2SA_DIRK",
            .reference = "Kennedy, Carpenter (2003), Appl. Numer. Math. 44, 139-181",
            .c = {0, 1/2., 83/250., 31/50., 17/20., 1},
            .a = {{0},
                  {1/4., 1/4.},
                  {8611/62500., -1743/31250., 1/4.},
                  {5012029/34652500., -654441/2922500., 174375/388108., 1/4.},
                  {15267082809/155376265600., -71443401/120774400., 730878875/902184768., 2285395/8070912., 1/4.},
                  {82889/524892., 0, 15625/83664., 69875/102672., -2260/8211., 1/4.}},
            .b = {82889/524892., 0, 15625/83664., 69875/102672., -2260/8211., 1/4.},
            .embedded_order = 3,
            .b_embedded = {4586570599/29645900160., 0, 178811875/945068544., 814220225/1159782912., -3700637/11593932., 61727/225920.})
