"""Fits beside SciPy, in one run: make bench-fit. Processor time, the least of some repeats.

The problem is that of SciMLBenchmarks: Lotka-Volterra, three parameters, 21 times up to 10, rtol
1e-7, atol 1e-5; all use these tolerances. Peers that are not installed are left out.
"""

import time
import warnings

import numpy as np

import pyintegrate as pi

SYSTEM = pi.systems.lotka_volterra
TRUE, BEGUN, START = (1.5, 1.0, 3.0), (1.3, 1.1, 2.8), [1.0, 1.0]
TIMES, RTOL, ATOL, SIGMA = np.linspace(0, 10, 21), 1e-7, 1e-5, 0.05


def named(p):
    return dict(zip("abc", p, strict=True))


def least(function, repeats=5):
    """The least processor time of some calls, in seconds, and what the last returned."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        result = function()
        times.append(time.process_time() - begun)
    return min(times), result


def report(what, seconds, note=""):
    unit, scale = ("s", 1) if seconds > 1 else ("ms", 1e3) if seconds > 1e-3 else ("us", 1e6)
    print(f"{what:45} {seconds * scale:8.3g} {unit:2}  {note}")


def gradients(lanes=1000):
    both = SYSTEM.tangent(0, ["a", "b", "c"])
    share = 1 / np.sqrt(4)  # the norm of an error counts the components of the motion alone
    rtol, atol = np.full(both.dim, RTOL * share), np.full(both.dim, 1e100)
    atol[both.places[:, 0]] = ATOL * share
    rng = np.random.default_rng(0)
    system = both(**named(np.array(TRUE)[:, np.newaxis] * rng.uniform(0.97, 1.03, (3, lanes))))
    start = both.initial_state(START)
    seconds, _ = least(
        lambda: pi.solve(system, start, t_end=10.0, times=TIMES, rtol=rtol, atol=atol)
    )
    report(f"gradient, {lanes} at once, each", seconds / lanes)


def peers(data, own):
    try:
        from scipy.integrate import solve_ivp
        from scipy.optimize import least_squares
    except ImportError:
        return
    options = {"t_eval": TIMES, "rtol": RTOL, "atol": ATOL}

    def residual(p):
        a, b, c = p

        def rhs(t, y):
            return [a * y[0] - b * y[0] * y[1], y[0] * y[1] - c * y[1]]

        return ((solve_ivp(rhs, (0, 10), START, **options).y.T - data) / SIGMA).ravel()

    bounds = [0.5] * 3, [5.0] * 3
    seconds, found = least(lambda: least_squares(residual, BEGUN, bounds=bounds), 2)
    report("SciPy, finite differences", seconds, f"{seconds / own:.0f} x; {found.x.round(4)}")
    try:
        import numba
    except ImportError:
        return

    @numba.njit
    def both(t, z, a, b, c):
        x, y = z[0], z[1]
        out = np.empty(8)
        out[0], out[1] = a * x - b * x * y, x * y - c * y
        for j in range(3):
            u, v = z[2 + 2 * j], z[3 + 2 * j]
            out[2 + 2 * j] = (a - b * y) * u - b * x * v
            out[3 + 2 * j] = y * u + (x - c) * v
        out[2] += x
        out[4] -= x * y
        out[7] -= y
        return out

    kept = {}

    def solved(p):
        if kept.get("p") != tuple(p):
            z = solve_ivp(both, (0, 10), [1.0, 1.0] + [0.0] * 6, args=tuple(p), **options).y
            kept.update(p=tuple(p), z=z)
        return kept["z"]

    def errors(p):
        return ((solved(p)[:2].T - data) / SIGMA).ravel()

    def slopes(p):
        return solved(p)[2:].reshape(3, 2, 21).transpose(2, 1, 0).reshape(42, 3) / SIGMA

    errors(BEGUN)
    seconds, found = least(lambda: least_squares(errors, BEGUN, jac=slopes, bounds=bounds), 3)
    report("SciPy, sensitivities in Numba", seconds, f"{seconds / own:.1f} x; {found.x.round(4)}")


def main():
    rng = np.random.default_rng(0)
    true = pi.solve(SYSTEM(**named(TRUE)), START, t_end=10.0, times=TIMES, rtol=1e-11)
    data = true.y + SIGMA * rng.standard_normal(true.y.shape)
    free = named([(0.5, 5.0)] * 3)
    options = {"free": free, "x0": START, "rtol": RTOL, "atol": ATOL, "sigma": SIGMA}
    gradients()
    own, found = least(lambda: pi.fit(SYSTEM(**named(BEGUN)), TIMES, data, **options), 9)
    report("one fit of Lotka-Volterra", own, f"{int(found.iterations)} rounds;"
           f" {np.round([*found.parameters.values()], 4)}")  # fmt: skip
    peers(data, own)
    seconds, found = least(
        lambda: pi.fit(SYSTEM(**named(BEGUN)), TIMES, data, starts=1000, **options), 3
    )
    best = np.sum(found.starts.cost < found.cost * (1 + 1e-4))
    report("1,000 starts of it", seconds, f"{best} end at the best")
    n, t = 10_000, np.linspace(0, 5, 100)
    length = rng.uniform(0.8, 1.2, n)
    angle, speed = rng.uniform(0.2, 1.0, n), rng.uniform(-1, 1, n)
    theta = pi.solve(pi.systems.pendulum(length=length), angle, speed, t_end=5.0, times=t).x
    theta = theta + 0.01 * rng.standard_normal(theta.shape)
    seconds, found = least(
        lambda: pi.fit(pi.systems.pendulum, t, theta, observe="theta", free={"length": (0.2, 4)},
                       free_start=True, x0=theta[0], v0=np.zeros(n)), 2
    )  # fmt: skip
    off = (found.parameters["length"] - length) / found.standard_errors["length"]
    inside = np.mean(np.abs(off) < 2)
    report("10,000 pendulums, 3 unknowns, 100 times", seconds, f"{inside:.1%} within 2 errors")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
