#ifndef HENON_HEILES_H
#define HENON_HEILES_H
/* Henon and Heiles' star in a galaxy.
 *     x'' = -x - 2 coupling x y,   y'' = -y - coupling (x^2 - y^2)
 * state x y, vx vy, parameter coupling: all without unit
 * Energy E = |v|^2 / 2 + (x^2 + y^2) / 2 + coupling (x^2 y - y^3 / 3), conserved; below 1 / (6
 * coupling^2) the motion is bounded. */
enum { HENON_HEILES_COUPLING };

ACCELERATION(henon_heiles) {
    const vreal coupling = p[HENON_HEILES_COUPLING];
    a[0] = -vfma(2 * coupling * x[0], x[1], x[0]);
    a[1] = -vfma(coupling * (x[0] - x[1]), x[0] + x[1], x[1]);
}
ENERGY(henon_heiles) {
    const vreal x2 = y[0] * y[0], y2 = y[1] * y[1];
    const vreal cubic = y[1] * vfma(y2, vset(-1 / 3.), x2);
    const vreal sum = vfma(y[2], y[2], y[3] * y[3]) + (x2 + y2);
    return vfma(p[HENON_HEILES_COUPLING], cubic, sum * 0.5);
}
JACOBIAN(henon_heiles) {
    const vreal twice = 2 * p[HENON_HEILES_COUPLING];
    J[0][0] = -vfma(twice, y[1], vone);
    J[0][1] = J[1][0] = -twice * y[0];
    J[1][1] = vfma(twice, y[1], vset(-1));
}
#endif
SYSTEM(henon_heiles,
       MATHEMATICS(.acceleration = henon_heiles_acceleration, .energy = henon_heiles_energy,
                   .jacobian = henon_heiles_jacobian),
       .title = "Henon and Heiles' galaxy",
       .equation = "x'' = -x - 2 coupling x y, y'' = -y - coupling (x^2 - y^2)",
       .reference = "Henon, Heiles (1964), Astron. J. 69, 73-79",
       SECOND_ORDER({"x", "1", 0.3, "position"}, {"y", "1", 0, "position"},
                    {"vx", "1", 0, "velocity"}, {"vy", "1", 0.4, "velocity"}),
       PARAMS({"coupling", "1", 1, "strength of the cubic terms"}))
