#ifndef RIGID_BODY_SYSTEM_H
#define RIGID_BODY_SYSTEM_H
/* A rigid body in space; mechanics/rigid_body.h has its mechanics.
 * state position [m], unit quaternion w x y z from body to world axes, velocity [m/s], angular
 * velocity in world axes [rad/s]: forces, torques r x F, contacts and the velocities of points
 * v + w x r all are in world axes, and q' = (0, w) q / 2 then stands as games write it
 * Energy E = m v^2 / 2 + w . I w / 2 - (m g + F) . x + springs; torques have no potential here. */
#include "../mechanics/rigid_body.h"

static __attribute__((unused)) int rigid_body_force(const void *context, PiQuestion question,
                                                    const PiRows *rows) {
    const int64_t R = rows->registers;
    vreal *out = rows->out;
    const vreal *y_rows = rows->y;
    EACH_BELOW(u, R) {
        const Rigid b = {(vreal *)rows->p + u, R, ((const PiSized *)context)->parts};
        vreal y[RIGID_DIM], answer[RIGID_DIM] = {{0}};
        int n = 0;
        if (question == PI_PREPARE) {
            rigid_prepare(&b);
            continue;
        }
        EACH(i, RIGID_DIM) y[i] = y_rows[i * R + u];
        if (question == PI_RHS) rigid_rhs(&b, y, answer), n = RIGID_DIM;
        if (question == PI_ENERGY) answer[0] = rigid_energy(&b, y), n = 1;
        if (question == PI_INVARIANTS) {
            answer[0] = length4(y + RIGID_Q);
            EACH(i, 3) answer[1 + i] = y[RIGID_V + i] * *rigid_derived(&b, RIGID_MASS);
            rigid_spin_momentum(&b, y, answer + 4);
            n = 7;
        }
        EACH_BELOW(i, n) out[i * R + u] = answer[i];
    }
    return 0;
}
#endif
SIZED_SYSTEM(rigid_body, rigid_body_force, .n_params = RIGID_PER_SPRING,
             .one = {
                 .name = "rigid_body",
                 .title = "rigid body",
                 .equation = "x' = v, q' = (0, w) q / 2, m v' = F, (I w)' = T",
                 .reference = "Landau, Lifshitz (1976), Mechanics, sections 31-36",
                 .structure = PI_RIGID_BODY,
                 .dim = RIGID_DIM,
                 .velocity_dependent = 1,
                 .no_jacobian = 1,
                 .n_params = RIGID_SPRINGS,
                 .n_derived = RIGID_DERIVED,
                 .state = {METRES("x", 0),
                           METRES("y", 0),
                           METRES("z", 0),
                           {"qw", "1", 1, "orientation"},
                           {"qx", "1", 0, "orientation"},
                           {"qy", "1", 0, "orientation"},
                           {"qz", "1", 0, "orientation"},
                           METRES_A_SECOND("vx", 0),
                           METRES_A_SECOND("vy", 0),
                           METRES_A_SECOND("vz", 0),
                           {"wx", "rad/s", 0, "angular velocity, world axes"},
                           {"wy", "rad/s", 0, "angular velocity, world axes"},
                           {"wz", "rad/s", 0, "angular velocity, world axes"}},
                 .params = {{"gravity", "m/s^2", 0, "acceleration, world axes"},
                            {"force", "N", 0, "constant, at the centre, world axes"},
                            {"torque", "N m", 0, "constant, world axes"},
                            {"torque_body", "N m", 0, "constant, body axes"},
                            {"drag", "kg/m", 0, "force -drag |v| v"},
                            {"inverse_mass", "1/kg", 1, "0: not moved by forces"},
                            {"inverse_inertia", "1/(kg m^2)", 1,
                             "body axes: matrix (3, 3) or diagonal (3,); 0: not turned"},
                            {"linear_damping", "1/s", 0, "v' has -linear_damping v"},
                            {"angular_damping", "1/s", 0, "w' has -angular_damping w"},
                            {"linear_factor", "1", 1, "multiplies v each step"},
                            {"angular_factor", "1", 1, "multiplies w each step"},
                            {"anchors", "m", 0, "of springs, world axes, (n, 3)"},
                            {"attachments", "m", 0, "of springs, body axes, (n, 3)"},
                            {"stiffness", "N/m", 1, "of springs, (n,)"},
                            {"rest_lengths", "m", 0, "of springs, (n,)"}},
                 CONSERVED({"quaternion_norm", "1", 0, "1"}, {"momentum_x", "kg m/s", 0, "m vx"},
                           {"momentum_y", "kg m/s", 0, "m vy"}, {"momentum_z", "kg m/s", 0, "m vz"},
                           {"angular_momentum_x", "kg m^2/s", 0, "about the centre"},
                           {"angular_momentum_y", "kg m^2/s", 0, "about the centre"},
                           {"angular_momentum_z", "kg m^2/s", 0, "about the centre"})})
