#ifndef VAN_DER_POL_H
#define VAN_DER_POL_H
/* Van der Pol's oscillator.   x'' = mu (1 - x^2) x' - x        state x, v, parameter mu: all
 * without unit
 * Energy of the oscillator without its valve, E = v^2 / 2 + x^2 / 2, and dE/dt = mu (1 - x^2) v^2:
 * it feeds small swings and damps large ones. */
enum { VAN_DER_POL_MU };

ACCELERATION(van_der_pol) { a[0] = vfma(p[VAN_DER_POL_MU] * v[0], vfma(-x[0], x[0], vone), -x[0]); }
ENERGY(van_der_pol) { return vfma(y[1], y[1], y[0] * y[0]) * 0.5; }
JACOBIAN(van_der_pol) {
    J[0][0] = -vfma(2 * p[VAN_DER_POL_MU] * y[0], y[1], vone);
    J[0][1] = p[VAN_DER_POL_MU] * vfma(-y[0], y[0], vone);
}
#endif
SYSTEM(van_der_pol,
       MATHEMATICS(.acceleration = van_der_pol_acceleration, .energy = van_der_pol_energy,
                   .jacobian = van_der_pol_jacobian),
       .title = "van der Pol oscillator", .equation = "x'' = mu (1 - x^2) x' - x",
       .reference = "van der Pol (1926), Phil. Mag. 2, 978-992", .velocity_dependent = 1,
       SECOND_ORDER({"x", "1", 2, "position"}, {"v", "1", 0, "velocity"}),
       PARAMS({"mu", "1", 1, "strength of the valve"}))
