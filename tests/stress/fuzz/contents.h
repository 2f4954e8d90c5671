/* A small table of contents for the fuzzers: the four methods with kernels of their own, and a
 * system of each structure. */
#include "../../../csrc/methods/rk4.h"
#include "../../../csrc/methods/tsitouras54.h"
#include "../../../csrc/methods/semi_implicit_euler.h"
#include "../../../csrc/methods/velocity_verlet.h"

#include "../../../csrc/systems/duffing.h"
#include "../../../csrc/systems/lorenz.h"
#include "../../../csrc/systems/momentum_spring.h"
#include "../../../csrc/systems/pendulum.h"
