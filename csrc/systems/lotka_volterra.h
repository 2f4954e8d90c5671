#ifndef LOTKA_VOLTERRA_H
#define LOTKA_VOLTERRA_H
/* Predator and prey.   x' = a x - b x y,   y' = -c y + d x y
 * state prey x, predator y (numbers)    parameters a, c [1/s], b, d [1/s for each animal]
 * Invariant V = d x - c log(x) + b y - a log(y). */
enum { LOTKA_VOLTERRA_A, LOTKA_VOLTERRA_B, LOTKA_VOLTERRA_C, LOTKA_VOLTERRA_D };

RHS(lotka_volterra) {
    dydt[0] = y[0] * vfma(-p[LOTKA_VOLTERRA_B], y[1], p[LOTKA_VOLTERRA_A]);
    dydt[1] = y[1] * vfma(p[LOTKA_VOLTERRA_D], y[0], -p[LOTKA_VOLTERRA_C]);
}
INVARIANTS(lotka_volterra) {
    values[0] = vfma(p[LOTKA_VOLTERRA_D], y[0], -p[LOTKA_VOLTERRA_C] * vlog(y[0])) +
                vfma(p[LOTKA_VOLTERRA_B], y[1], -p[LOTKA_VOLTERRA_A] * vlog(y[1]));
}
JACOBIAN(lotka_volterra) {
    J[0][0] = vfma(-p[LOTKA_VOLTERRA_B], y[1], p[LOTKA_VOLTERRA_A]);
    J[0][1] = -p[LOTKA_VOLTERRA_B] * y[0];
    J[1][0] = p[LOTKA_VOLTERRA_D] * y[1];
    J[1][1] = vfma(p[LOTKA_VOLTERRA_D], y[0], -p[LOTKA_VOLTERRA_C]);
}
#endif
SYSTEM(
    lotka_volterra,
    MATHEMATICS(.rhs = lotka_volterra_rhs, .invariants = lotka_volterra_invariants,
                .jacobian = lotka_volterra_jacobian),
    .title = "predator and prey", .equation = "x' = a x - b x y, y' = -c y + d x y",
    .reference = "Lotka (1925), Elements of Physical Biology; Volterra (1926), Nature 118, 558-560",
    FIRST_ORDER({"prey", "1", 10, "number of prey"}, {"predator", "1", 5, "number of predators"}),
    PARAMS({"a", "1/s", 1.5, "growth of the prey"}, {"b", "1/s", 1, "predation"},
           {"c", "1/s", 3, "death of the predators"}, {"d", "1/s", 1, "growth by predation"}),
    CONSERVED({"V", "1/s", 0, "d x - c log x + b y - a log y"}))
