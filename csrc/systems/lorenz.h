#ifndef LORENZ_H
#define LORENZ_H
/* Lorenz' convection model.   x' = sigma (y - x),   y' = x (rho - z) - y,   z' = x y - beta z
 * state x y z, parameters sigma rho beta: all without unit. No energy; volumes shrink at the rate
 * sigma + 1 + beta. */
enum { LORENZ_SIGMA, LORENZ_RHO, LORENZ_BETA };

RHS(lorenz) {
    dydt[0] = p[LORENZ_SIGMA] * (y[1] - y[0]);
    dydt[1] = vfma(y[0], p[LORENZ_RHO] - y[2], -y[1]);
    dydt[2] = vfma(y[0], y[1], -p[LORENZ_BETA] * y[2]);
}
JACOBIAN(lorenz) {
    J[0][0] = -p[LORENZ_SIGMA];
    J[0][1] = p[LORENZ_SIGMA];
    J[1][0] = p[LORENZ_RHO] - y[2];
    J[1][1] = vset(-1);
    J[1][2] = -y[0];
    J[2][0] = y[1];
    J[2][1] = y[0];
    J[2][2] = -p[LORENZ_BETA];
}
#endif
SYSTEM(lorenz, MATHEMATICS(.rhs = lorenz_rhs, .jacobian = lorenz_jacobian),
       .title = "Lorenz attractor",
       .equation = "x' = sigma (y - x), y' = x (rho - z) - y, z' = x y - beta z",
       .reference = "Lorenz (1963), J. Atmos. Sci. 20, 130-141",
       FIRST_ORDER({"x", "1", 1, "intensity of convection"},
                   {"y", "1", 1, "temperature difference"},
                   {"z", "1", 1, "distortion of the temperature profile"}),
       .scale = {1 + LORENZ_SIGMA},
       PARAMS({"sigma", "1", 10, "Prandtl number"}, {"rho", "1", 28, "relative Rayleigh number"},
              {"beta", "1", 8 / 3., "shape of the cell"}))
