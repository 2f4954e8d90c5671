"""One step of each workload, written once with plain operators: for floats, arrays and compilers.

A state is a tuple of components. ``make(sin, cos, sqrt, jit)`` gives the steps in the terms of one
package: step(y, t, p, h) -> y, where p is the parameter that differs between trajectories. The step
of velocity Verlet is the leapfrog's, for velocities half a step ahead: one force a step.
"""

# Tsitouras (2011), Comput. Math. Appl. 62, 770-775; the method is of order 5, in six stages.
TSITOURAS_A = (
    (),
    (0.161,),
    (-0.008480655492356989, 0.335480655492357),
    (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
    (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
    (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
     -0.028269050394068383),
)  # fmt: skip
TSITOURAS_B = (
    0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
    2.324710524099774,
)  # fmt: skip
W1 = 1 / (2 - 2 ** (1 / 3))
W0 = 1 - 2 * W1


def make(sin, cos, sqrt, jit):
    """The steps by name of system and method."""

    @jit
    def oscillator(x, v, t, p):
        return -p * x

    @jit
    def pendulum(x, v, t, p):
        return -p * sin(x)

    @jit
    def driven(x, v, t, p):
        return -p * sin(x) - 0.1 * v + 0.5 * cos(0.6666666666666666 * t)

    @jit
    def lorenz(x, y, z, p):
        return 10.0 * (y - x), x * (p - z) - y, x * y - 2.6666666666666665 * z

    @jit
    def attraction(x, y, p):
        r2 = x * x + y * y
        w = -p / (r2 * sqrt(r2))
        return w * x, w * y

    def euler(force):
        @jit
        def step(y, t, p, h):
            x, v = y
            v = v + h * force(x, v, t, p)
            return x + h * v, v

        return step

    def rk4(force):
        @jit
        def step(y, t, p, h):
            x, v = y
            half, end = t + 0.5 * h, t + h
            a1 = force(x, v, t, p)
            v2 = v + 0.5 * h * a1
            a2 = force(x + 0.5 * h * v, v2, half, p)
            v3 = v + 0.5 * h * a2
            a3 = force(x + 0.5 * h * v2, v3, half, p)
            v4 = v + h * a3
            a4 = force(x + h * v3, v4, end, p)
            return (x + h / 6.0 * (v + 2.0 * (v2 + v3) + v4),
                    v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4))  # fmt: skip

        return step

    @jit
    def lorenz_rk4(y, t, p, h):
        x, y, z = y
        half = 0.5 * h
        a1, b1, c1 = lorenz(x, y, z, p)
        a2, b2, c2 = lorenz(x + half * a1, y + half * b1, z + half * c1, p)
        a3, b3, c3 = lorenz(x + half * a2, y + half * b2, z + half * c2, p)
        a4, b4, c4 = lorenz(x + h * a3, y + h * b3, z + h * c3, p)
        w = h / 6.0
        return (x + w * (a1 + 2.0 * (a2 + a3) + a4), y + w * (b1 + 2.0 * (b2 + b3) + b4),
                z + w * (c1 + 2.0 * (c2 + c3) + c4))  # fmt: skip

    @jit
    def added(y, w, k):
        return y[0] + w * k[0], y[1] + w * k[1], y[2] + w * k[2]

    (a21,), (a31, a32), (a41, a42, a43) = TSITOURAS_A[1:4]
    (a51, a52, a53, a54), (a61, a62, a63, a64, a65) = TSITOURAS_A[4:]
    b1, b2, b3, b4, b5, b6 = TSITOURAS_B

    @jit
    def f(y, p):
        return lorenz(y[0], y[1], y[2], p)

    @jit
    def lorenz_tsitouras(y, t, p, h):
        k1 = f(y, p)
        k2 = f(added(y, h * a21, k1), p)
        k3 = f(added(added(y, h * a31, k1), h * a32, k2), p)
        k4 = f(added(added(added(y, h * a41, k1), h * a42, k2), h * a43, k3), p)
        y5 = added(added(added(added(y, h * a51, k1), h * a52, k2), h * a53, k3), h * a54, k4)
        k5 = f(y5, p)
        y6 = added(added(added(y, h * a61, k1), h * a62, k2), h * a63, k3)
        k6 = f(added(added(y6, h * a64, k4), h * a65, k5), p)
        y = added(added(added(y, h * b1, k1), h * b2, k2), h * b3, k3)
        return added(added(added(y, h * b4, k4), h * b5, k5), h * b6, k6)

    @jit
    def leapfrog(s, t, p, h):
        x, y, u, v = s
        x, y = x + h * u, y + h * v
        a, b = attraction(x, y, p)
        return x, y, u + h * a, v + h * b

    @jit
    def drift_kick_drift(s, w, p, h):
        x, y, u, v = s
        half = 0.5 * w * h
        x, y = x + half * u, y + half * v
        a, b = attraction(x, y, p)
        u, v = u + w * h * a, v + w * h * b
        return x + half * u, y + half * v, u, v

    w1, w0 = W1, W0

    @jit
    def kepler_forest_ruth(s, t, p, h):
        s = drift_kick_drift(s, w1, p, h)
        s = drift_kick_drift(s, w0, p, h)
        return drift_kick_drift(s, w1, p, h)

    return {
        "oscillator, semi-implicit Euler": euler(oscillator),
        "oscillator, RK4": rk4(oscillator),
        "pendulum, semi-implicit Euler": euler(pendulum),
        "pendulum, RK4": rk4(pendulum),
        "driven pendulum, RK4": rk4(driven),
        "Lorenz, RK4": lorenz_rk4,
        "Lorenz, Tsitouras 5": lorenz_tsitouras,
        "Kepler, velocity Verlet": leapfrog,
        "Kepler, Forest-Ruth 4": kepler_forest_ruth,
    }
