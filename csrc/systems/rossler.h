#ifndef ROSSLER_H
#define ROSSLER_H
/* Rossler's attractor.   x' = -y - z,   y' = x + a y,   z' = b + z (x - c)
 * state x y z, parameters a b c: all without unit. No energy. Fixed points (a s, -s, s) with
 * s = (c +- sqrt(c^2 - 4 a b)) / (2 a). */
enum { ROSSLER_A, ROSSLER_B, ROSSLER_C };

RHS(rossler) {
    dydt[0] = -(y[1] + y[2]);
    dydt[1] = vfma(p[ROSSLER_A], y[1], y[0]);
    dydt[2] = vfma(y[2], y[0] - p[ROSSLER_C], p[ROSSLER_B]);
}
JACOBIAN(rossler) {
    J[0][1] = J[0][2] = vset(-1);
    J[1][0] = vone;
    J[1][1] = p[ROSSLER_A];
    J[2][0] = y[2];
    J[2][2] = y[0] - p[ROSSLER_C];
}
#endif
SYSTEM(rossler, MATHEMATICS(.rhs = rossler_rhs, .jacobian = rossler_jacobian),
       .title = "Rossler attractor", .equation = "x' = -y - z, y' = x + a y, z' = b + z (x - c)",
       .reference = "Rossler (1976), Phys. Lett. A 57, 397-398",
       FIRST_ORDER({"x", "1", 1, "turns with y"}, {"y", "1", 1, "turns with x"},
                   {"z", "1", 1, "folds back"}),
       PARAMS({"a", "1", 0.2, "growth of the spiral"}, {"b", "1", 0.2, "feed of z"},
              {"c", "1", 5.7, "where the spiral folds"}))
