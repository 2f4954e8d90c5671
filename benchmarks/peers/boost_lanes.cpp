// Boost.odeint as an expert writes it: a wide register for each component, fast-math.
// Functions advance n trajectories, rows y[d * n + i], parameters p[i], a few at once; `record`, if
// it is given, takes every state, (steps + 1, dim, n).
#include <algorithm>
#include <array>
#include <boost/fusion/container/vector.hpp>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstring>
#include <utility>

namespace odeint = boost::numeric::odeint;
template <int n> struct of {
    typedef double lane __attribute__((vector_size(8 * n)));
};
// As many as were measured to be the fastest: many hide the latency, few stay in registers.
typedef of<16>::lane few;
typedef of<32>::lane lane;
typedef of<64>::lane many;

template <class T> static T sines(T x) {
    if constexpr (sizeof(T) == 8) return std::sin(x);
    else
        for (unsigned i = 0; i < sizeof(T) / 8; i++) x[i] = std::sin(x[i]);
    return x;
}
template <class T> static T roots(T x) {
    for (unsigned i = 0; i < sizeof(T) / 8; i++) x[i] = std::sqrt(x[i]);
    return x;
}

// ---- forces: of a position, of a whole state ---------------------------------------------------
struct oscillator {
    template <class X, class T> static void force(const X &x, X &a, T p, double) { a[0] = -p * x[0]; }
};
struct pendulum {
    template <class X, class T> static void force(const X &x, X &a, T p, double) {
        a[0] = -p * sines(x[0]);
    }
};
struct kepler {
    template <class X, class T> static void force(const X &x, X &a, T p, double) {
        const T r2 = x[0] * x[0] + x[1] * x[1], w = -p / (r2 * roots(r2));
        a[0] = w * x[0], a[1] = w * x[1];
    }
};
struct driven_pendulum {
    template <class S, class T> static void rhs(const S &y, S &f, T p, double t) {
        f[0] = y[1];
        f[1] = -p * sines(y[0]) - 0.1 * y[1] + 0.5 * std::cos(0.6666666666666666 * t);
    }
};
struct lorenz {
    template <class S, class T> static void rhs(const S &y, S &f, T p, double) {
        f[0] = 10.0 * (y[1] - y[0]);
        f[1] = y[0] * (p - y[2]) - y[1];
        f[2] = y[0] * y[1] - 2.6666666666666665 * y[2];
    }
};
template <class Force> struct as_rhs {
    template <class S, class T> static void rhs(const S &y, S &f, T p, double t) {
        std::array<T, 1> x{y[0]}, a;
        Force::force(x, a, p, t);
        f[0] = y[1], f[1] = a[0];
    }
};

// ---- the loop over trajectories ----------------------------------------------------------------
template <int dim, class T, class Run>
static void each(double *y, const double *p, double *record, long n, Run run) {
    constexpr long width = sizeof(T) / 8;
    for (long i = 0; i < n; i += width) {
        const size_t bytes = 8 * std::min(width, n - i); // past the last one, copies
        std::array<T, dim> s;
        T q = T{} + p[i];
        for (int d = 0; d < dim; d++) {
            s[d] = T{} + y[d * n + i];
            std::memcpy(&s[d], y + d * n + i, bytes);
        }
        std::memcpy(&q, p + i, bytes);
        double *out = record + i;
        if (record)
            run(s, q, [&](const std::array<T, dim> &state) {
                for (int d = 0; d < dim; d++) std::memcpy(out + d * n, &state[d], bytes);
                out += dim * n;
            });
        else run(s, q, [](const std::array<T, dim> &) {});
        for (int d = 0; d < dim; d++) std::memcpy(y + d * n + i, &s[d], bytes);
    }
}

// ---- Runge-Kutta -------------------------------------------------------------------------------
template <class System, int dim, class T, class Stepper>
static void runge_kutta(double *y, const double *p, double *record, long n, double h, long steps,
                        const Stepper &stepper) {
    typedef std::array<T, dim> state;
    each<dim, T>(y, p, record, n, [&](state &s, T q, auto save) {
        Stepper own = stepper;
        auto system = [&](const state &a, state &f, double t) { System::rhs(a, f, q, t); };
        save(s);
        for (long k = 0; k < steps; k++) own.do_step(system, s, k * h, h), save(s);
    });
}
template <class T, int dim>
using rk4 = odeint::runge_kutta4<std::array<T, dim>, double, std::array<T, dim>, double,
                                 odeint::array_algebra>;
template <class T, int dim>
using six_stages = odeint::explicit_generic_rk<6, 5, std::array<T, dim>, double,
                                               std::array<T, dim>, double, odeint::array_algebra>;
template <class T, int dim> static six_stages<T, dim> tsitouras(const double *a, const double *b) {
    boost::array<double, 1> a1;
    boost::array<double, 2> a2;
    boost::array<double, 3> a3;
    boost::array<double, 4> a4;
    boost::array<double, 5> a5;
    boost::array<double, 6> weights, times;
    for (int i = 0; i < 1; i++) a1[i] = *a++;
    for (int i = 0; i < 2; i++) a2[i] = *a++;
    for (int i = 0; i < 3; i++) a3[i] = *a++;
    for (int i = 0; i < 4; i++) a4[i] = *a++;
    for (int i = 0; i < 5; i++) a5[i] = *a++;
    for (int i = 0; i < 6; i++) weights[i] = b[i], times[i] = 0; // the system sees no time
    return {boost::fusion::make_vector(a1, a2, a3, a4, a5), weights, times};
}

// ---- compositions ------------------------------------------------------------------------------
template <int stages, class Q>
using nystroem = odeint::symplectic_nystroem_stepper_base<stages, 1, Q, Q, double, Q, Q, double,
                                                          odeint::array_algebra,
                                                          odeint::default_operations,
                                                          odeint::initially_resizer>;
// Kick, then drift: odeint moves the first of a pair first, so that is the velocity here.
template <class System, int dof, class T>
static void euler(double *y, const double *p, double *record, long n, double h, long steps) {
    typedef std::array<T, dof> half;
    each<2 * dof, T>(y, p, record, n, [&](std::array<T, 2 * dof> &s, T q, auto save) {
        odeint::symplectic_euler<half, half, double, half, half, double, odeint::array_algebra> own;
        std::pair<half, half> vx{{s[1]}, {s[0]}};
        auto force = [&](const half &x, half &a) { System::force(x, a, q, 0); };
        auto velocity = [](const half &v, half &dx) { dx = v; };
        save(s);
        for (long k = 0; k < steps; k++) {
            own.do_step(std::make_pair(force, velocity), vx, k * h, h);
            s = {vx.second[0], vx.first[0]};
            save(s);
        }
    });
}
// Drift a, kick b, ... of the weights.
template <int stages, class T>
static void kepler_composition(double *y, const double *p, long n, double h, long steps,
                               const double *a, const double *b) {
    typedef std::array<T, 2> half;
    boost::array<double, stages> drift, kick;
    for (int i = 0; i < stages; i++) drift[i] = a[i], kick[i] = b[i];
    each<4, T>(y, p, nullptr, n, [&](std::array<T, 4> &s, T q, auto) {
        nystroem<stages, half> own(drift, kick);
        std::pair<half, half> xv{{s[0], s[1]}, {s[2], s[3]}};
        auto force = [&](const half &x, half &a) { kepler::force(x, a, q, 0); };
        for (long k = 0; k < steps; k++) own.do_step(force, xv, k * h, h);
        s = {xv.first[0], xv.first[1], xv.second[0], xv.second[1]};
    });
}

#define ARGUMENTS double *y, const double *p, double *record, long n, double h, long steps
extern "C" {
void oscillator_euler(ARGUMENTS) { euler<oscillator, 1, many>(y, p, record, n, h, steps); }
void pendulum_euler(ARGUMENTS) { euler<pendulum, 1, many>(y, p, record, n, h, steps); }
void oscillator_rk4(ARGUMENTS) {
    runge_kutta<as_rhs<oscillator>, 2, lane>(y, p, record, n, h, steps, rk4<lane, 2>());
}
void pendulum_rk4(ARGUMENTS) {
    runge_kutta<as_rhs<pendulum>, 2, lane>(y, p, record, n, h, steps, rk4<lane, 2>());
}
void one_pendulum_rk4(ARGUMENTS) {
    runge_kutta<as_rhs<pendulum>, 2, double>(y, p, record, n, h, steps, rk4<double, 2>());
}
void driven_pendulum_rk4(ARGUMENTS) {
    runge_kutta<driven_pendulum, 2, many>(y, p, record, n, h, steps, rk4<many, 2>());
}
void lorenz_rk4(ARGUMENTS) {
    runge_kutta<lorenz, 3, lane>(y, p, record, n, h, steps, rk4<lane, 3>());
}
void lorenz_tsitouras(ARGUMENTS) {
    const double a[] = {TSITOURAS_A}, b[] = {TSITOURAS_B};
    runge_kutta<lorenz, 3, few>(y, p, record, n, h, steps, tsitouras<few, 3>(a, b));
}
void kepler_leapfrog(ARGUMENTS) {
    (void)record;
    const double one[] = {1};
    kepler_composition<1, many>(y, p, n, h, steps, one, one);
}
void kepler_forest_ruth(ARGUMENTS) {
    (void)record;
    const double w1 = 1 / (2 - std::cbrt(2.0)), w0 = 1 - 2 * w1;
    const double a[] = {w1 / 2, (w1 + w0) / 2, (w0 + w1) / 2, w1 / 2}, b[] = {w1, w0, w1, 0};
    kepler_composition<4, many>(y, p, n, h, steps, a, b);
}
}
