"""Planets: steps a second and energy, beside REBOUND's WHFast where that is installed, in one run.

    python benchmarks/planets.py [years of the outer solar system]

One core, processor time, the least of some repeats. Eight planets, steps of five days (Javaheri,
Rein, Tamayo (2023), Open J. Astrophys. 6, 29: WHFast512, 3.0e6 steps a second with AVX-512), then
the energy of the outer solar system after so many years.
"""

import sys
import time

import numpy as np

import pyintegrate as pi

LANES, STEPS, REPEATS, GAUSS = 512, 1000, 5, 0.01720209895
# Mean elements at J2000 (Standish, JPL): a, e, inclination, longitude, perihelion, node, 1 / m.
PLANETS = """0.38709927 0.20563593 7.00497902 252.25032350 77.45779628 48.33076593 6023600
0.72333566 0.00677672 3.39467605 181.97909950 131.60246718 76.67984255 408523.71
1.00000261 0.01671123 -0.00001531 100.46457166 102.93768193 0 328900.56
1.52371034 0.09339410 1.84969142 -4.55343205 -23.94362959 49.55953891 3098708
5.20288700 0.04838624 1.30439695 34.39644051 14.72847983 100.47390909 1047.3486
9.53667594 0.05386179 2.48599187 49.95424423 92.59887831 113.66242448 3497.898
19.18916464 0.04725744 0.77263783 313.23810451 170.95427630 74.01692503 22902.98
30.06992276 0.00859048 1.77004347 -55.12002969 44.96476227 131.78422574 19412.24"""


def solar_system():
    """The sun and eight planets, in astronomical units, days and masses of the sun."""
    x, v, masses = [np.zeros(3)], [np.zeros(3)], [1.0]
    for line in PLANETS.splitlines():
        a, e, *angles, weight = map(float, line.split())
        tilt, longitude, perihelion, node = np.radians(angles)
        M = E = longitude - perihelion
        for _ in range(50):
            E = M + e * np.sin(E)
        n, b = GAUSS * a**-1.5, np.sqrt(1 - e * e)
        speed = a * n / (1 - e * np.cos(E))
        plane = np.array(
            [
                [a * (np.cos(E) - e), a * b * np.sin(E), 0],
                [-speed * np.sin(E), speed * b * np.cos(E), 0],
            ]
        )
        for angle, (i, j) in ((perihelion - node, (0, 1)), (tilt, (1, 2)), (node, (0, 1))):
            turn = np.eye(3)
            turn[[i, j], [i, j]], turn[i, j], turn[j, i] = (
                np.cos(angle), -np.sin(angle), np.sin(angle),
            )  # fmt: skip
            plane = plane @ turn.T
        x, v, masses = [*x, plane[0]], [*v, plane[1]], [*masses, 1 / weight]
    return pi.systems.n_body(n=9, initial=np.concatenate([*x, *v]), g=GAUSS**2, masses=masses)


def least(function):
    times = []
    for _ in range(REPEATS):
        begun = time.process_time()
        result = function()
        times.append(time.process_time() - begun)
    return min(times), result


def rebound_of(system, dt, corrector=0):
    """REBOUND's simulation of the same, or None."""
    try:
        import rebound
    except ImportError:
        return None
    sim, (x, v) = rebound.Simulation(), system.initial.reshape(2, -1, 3)
    sim.G, sim.dt, sim.integrator = float(system.params["g"]), dt, "whfast"
    for m, place, velocity in zip(system.params["masses"], x, v, strict=True):
        sim.add(
            m=m, **dict(zip(("x", "y", "z", "vx", "vy", "vz"), (*place, *velocity), strict=True))
        )
    options = getattr(sim, "ri_whfast", sim.integrator)  # version 4, 5
    options.safe_mode, options.corrector = 0, corrector
    return sim


def speed():
    system, rng = solar_system(), np.random.default_rng(0)
    starts = system.initial * (1 + 1e-6 * rng.normal(size=(LANES, system.dim)))
    print(f"eight planets, steps of 5 days, {pi._core.info()['instruction_set']}")
    sim = rebound_of(system, 5.0)
    theirs = None
    if sim is not None:
        seconds, _ = least(lambda: sim.steps(5 * STEPS))
        theirs = 5 * STEPS / seconds
        print(f"{'REBOUND, WHFast':32} {theirs / 1e6:6.3f} M steps/s")
    for method in ("wisdom_holman", "wisdom_holman17", "wisdom_holman_drift_first"):
        seconds, _ = least(
            lambda method=method: pi.integrate(
                system, starts, dt=5.0, n_steps=STEPS, method=method, save="final"
            )
        )
        mine = LANES * STEPS / seconds
        ratio = f"{mine / theirs:6.1f} of REBOUND" if theirs else ""
        print(f"{method:32} {mine / 1e6:6.3f} M steps/s {ratio}")


def energy(years, dt=200.0):
    system = pi.systems.n_body(initial="outer_solar_system")
    n_steps = int(years * 365.25 / dt)
    lanes = system.initial * (1 + 1e-12 * np.arange(8)[:, np.newaxis])  # a register, for its price
    print(f"outer solar system, {years:g} years, steps of {dt:g} days: largest |dE / E|")
    for method, corrector in (
        ("wisdom_holman", 0),
        ("wisdom_holman11", 11),
        ("wisdom_holman17", 17),
    ):
        sol = pi.integrate(
            system, lanes, dt=dt, n_steps=n_steps, method=method, save=n_steps // 1000
        )
        error = abs(sol.energy_error())[:, 0]
        line = f"{method:32} {error[:100].max():8.1e} in a tenth, {error.max():8.1e} in all"
        sim = rebound_of(system, dt, corrector)
        if sim is not None:
            first, worst = sim.energy(), 0.0
            for _ in range(100):
                sim.steps(n_steps // 100)
                sim.synchronize()
                worst = max(worst, abs(sim.energy() / first - 1))
            line += f"; REBOUND {worst:8.1e}"
        print(line)


if __name__ == "__main__":
    speed()
    energy(float(sys.argv[1]) if len(sys.argv) > 1 else 1e6)
