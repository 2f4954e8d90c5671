// Boost.odeint as an expert writes it: a wide register for each component, fast-math.
// Each function advances n trajectories, rows y[d * n + i], parameters p[i].
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstring>

namespace odeint = boost::numeric::odeint;
constexpr int lanes = 16;
typedef double lane __attribute__((vector_size(8 * lanes)));

static lane sines(lane x) {
    for (int i = 0; i < lanes; i++) x[i] = std::sin(x[i]);
    return x;
}
template <int dim, class Force>
static void rk4(double *y, const double *p, long n, double h, long steps, Force force) {
    typedef std::array<lane, dim> state;
    for (long i = 0; i + lanes <= n; i += lanes) {
        state s;
        lane q;
        for (int d = 0; d < dim; d++) std::memcpy(&s[d], y + d * n + i, sizeof(lane));
        std::memcpy(&q, p + i, sizeof(lane));
        odeint::runge_kutta4<state, double, state, double, odeint::array_algebra> stepper;
        auto system = [&](const state &a, state &f, double) { force(a, f, q); };
        for (long k = 0; k < steps; k++) stepper.do_step(system, s, k * h, h);
        for (int d = 0; d < dim; d++) std::memcpy(y + d * n + i, &s[d], sizeof(lane));
    }
}
extern "C" void oscillator(double *y, const double *p, long n, double h, long steps) {
    rk4<2>(y, p, n, h, steps, [](const auto &a, auto &f, lane q) { f[0] = a[1], f[1] = -q * a[0]; });
}
extern "C" void pendulum(double *y, const double *p, long n, double h, long steps) {
    rk4<2>(y, p, n, h, steps,
           [](const auto &a, auto &f, lane q) { f[0] = a[1], f[1] = -q * sines(a[0]); });
}
extern "C" void lorenz(double *y, const double *p, long n, double h, long steps) {
    rk4<3>(y, p, n, h, steps, [](const auto &a, auto &f, lane q) {
        f[0] = 10.0 * (a[1] - a[0]);
        f[1] = a[0] * (q - a[2]) - a[1];
        f[2] = a[0] * a[1] - 2.6666666666666665 * a[2];
    });
}
