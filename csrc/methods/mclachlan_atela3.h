/* McLachlan-Atela, order 3.
 * McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2. */
COMPOSITION(mclachlan_atela3, .order = 3, .stages = 3, .evaluations = 3, .symplectic = 1, .symmetric = 0,
            .title = "McLachlan-Atela, order 3", .formula = "three kicks and drifts of the smallest error",
            .aliases = "McAte3 ma3",
            .reference = "McLachlan, Atela (1992), Nonlinearity 5, 541-562, table 2",
            .kick = {0.26833009578175992495695522992549913948119267347512, -0.18799161879915978200785286807888192904447219188292, 0.9196615230173998570508976381533827895632795184078},
            .drift = {0.9196615230173998570508976381533827895632795184078, -0.18799161879915978200785286807888192904447219188292, 0.26833009578175992495695522992549913948119267347512})
