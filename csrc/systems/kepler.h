#ifndef KEPLER_H
#define KEPLER_H
/* Kepler's problem in its plane.   r'' = -mu r / |r|^3
 * state x y [m], vx vy [m/s]    parameter mu [m^3/s^2]
 * Energy (per mass) E = |v|^2 / 2 - mu / |r|, angular momentum L = x vy - y vx and the eccentricity
 * vector e = v x L / mu - r / |r| are conserved. */
enum { KEPLER_MU };

INLINE vreal kepler_r2(const vreal *x) { return vfma(x[0], x[0], x[1] * x[1]); }

ACCELERATION(kepler) {
    const vreal r2 = kepler_r2(x), w = vdivide_by_cube(-p[KEPLER_MU], r2);
    a[0] = w * x[0];
    a[1] = w * x[1];
}
ENERGY(kepler) {
    return vfma(y[2], y[2], y[3] * y[3]) * 0.5 - vdivide(p[KEPLER_MU], vsqrt(kepler_r2(y)));
}
INVARIANTS(kepler) {
    const vreal r = vsqrt(kepler_r2(y)), L = vfma(y[0], y[3], -y[1] * y[2]);
    values[0] = L;
    values[1] = y[3] * L / p[KEPLER_MU] - y[0] / r;
    values[2] = -y[2] * L / p[KEPLER_MU] - y[1] / r;
}
/* da_i / dx_k = mu (3 x_i x_k / r^2 - delta_ik) / r^3 */
JACOBIAN(kepler) {
    const vreal r2 = kepler_r2(y), w = vdivide_by_cube(p[KEPLER_MU], r2), s = vdivide(3 * w, r2);
    EACH(i, 2)
        EACH(k, 2) J[i][k] = i == k ? vfma(s * y[i], y[k], -w) : s * y[i] * y[k];
}
#endif
SYSTEM(kepler,
       MATHEMATICS(.long_chain = 1, .acceleration = kepler_acceleration, .energy = kepler_energy,
                   .invariants = kepler_invariants, .jacobian = kepler_jacobian),
       .title = "Kepler's problem", .equation = "r'' = -mu r / |r|^3",
       .reference = "Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, I.2",
       SECOND_ORDER(METRES("x", 0.7), METRES("y", 0), METRES_A_SECOND("vx", 0),
                    {"vy", "m/s", 1.3627702877384937, "velocity, sqrt(1.3 / 0.7)"}),
       PARAMS({"mu", "m^3/s^2", 1, "gravitational parameter"}),
       CONSERVED({"angular_momentum", "m^2/s", 0, "x vy - y vx"},
                 {"eccentricity_x", "1", 0, "eccentricity vector"},
                 {"eccentricity_y", "1", 0, "eccentricity vector"}))
