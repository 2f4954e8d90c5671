"""Trajectories that an event stops make room for the others, and nothing else changes.

Where states are saved too, the lanes of a tile stay side by side: that run is the reference.
"""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

LANES = 700
RANDOM = np.random.default_rng(8)
GALAXIES = RANDOM.uniform(-1.2, 1.2, (LANES, 4))


def escape(t, x, v):
    return x @ x + v @ v > 100


def traced():
    return pi.acceleration(lambda t, x, v: -(x**3), dof=2)


CASES = {
    "escapes": (pi.systems.henon_heiles, "velocity_verlet", {"e": pi.event(escape, stop=True)}),
    "own parameters": (
        pi.systems.henon_heiles(coupling=np.linspace(0.7, 1, LANES)), "rk4",
        {"e": pi.event("x", direction=1, stop=4, keep=3), "y": pi.event("y", keep=2)},
    ),
    "failures too": (
        pi.systems.henon_heiles, "velocity_verlet",
        {"e": pi.event(lambda t, x, v: x[0] - 1e30, stop=True, keep=2)},
    ),
    "jumps too": (
        pi.systems.henon_heiles, "velocity_verlet",
        {"e": pi.event("x", stop=5, keep=7, then=lambda t, x, v: (0.9 * x, -v))},
    ),
    "Newton's method": (
        pi.systems.henon_heiles, "implicit_midpoint", {"e": pi.event(escape, stop=True)},
    ),
    "rows": (traced(), "tsitouras54", {"e": pi.event("x", stop=2, keep=2)}),
    "nobody leaves": (pi.systems.oscillator, "rk4", {"e": pi.event("x", stop=99)}),
}  # fmt: skip


def answers(sol):
    kept = [(e.t, e.y, e.count) for e in sol.events.values()]
    return [sol.final, sol.stopped_at, sol.status, sol.failed_step, *sum(kept, ())]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"dtype": np.float32}], ids=str)
def test_who_stops_makes_room_and_nothing_else_changes(case, options):
    system, method, events = CASES[case]
    start = GALAXIES if system.dim == 4 else GALAXIES[:, :2]
    run = {"dt": 0.05, "n_steps": 300, "method": method, "on_failure": "ignore"} | options
    sol = pi.integrate(system, start, events=events, save="final", **run)
    beside = pi.integrate(system, start, events=events, save=60, **run)
    assert (case == "nobody leaves") == (sol.status == pi.Status.OK).all()
    for here, there in zip(answers(sol), answers(beside), strict=True):
        assert same_bits(here, there)


def test_a_run_that_makes_room_is_resumed_to_the_same_bits():
    run = {"dt": 0.05, "method": "velocity_verlet", "save": "final"}
    event = {"e": pi.event("x", direction=1, stop=3, keep=3)}
    start = 0.2 * GALAXIES
    whole = pi.integrate(pi.systems.henon_heiles, start, n_steps=400, events=event, **run)
    part = pi.integrate(pi.systems.henon_heiles, start, n_steps=137, events=event, **run)
    for here, there in zip(answers(part.resume(n_steps=263)), answers(whole), strict=True):
        assert same_bits(here, there)


@pytest.mark.parametrize("kind", ["maximum", "minimum", "max_abs"])
def test_an_extreme_is_the_first_of_equal_values(kind):
    """Also of zeros, which differ in their sign."""
    early = -1.0 if kind == "maximum" else 1.0

    def quantity(t, x, v):
        return np.where(t < 0.5, early, 0 * x)

    start = np.linspace(-3, 3, 40)
    run = {"dt": 0.01, "n_steps": 300}
    watch = {"q": getattr(pi.watch, kind)(quantity)}
    sol = pi.integrate(
        pi.systems.oscillator(omega=7.0), start, 0.0, save="final", watch=watch, **run
    )
    full = pi.integrate(pi.systems.oscillator(omega=7.0), start, 0.0, **run)
    q = np.where(full.t[:, np.newaxis] < 0.5, early, 0 * full["x"])
    q = np.abs(q) if kind == "max_abs" else q
    first = (q.argmin if kind == "minimum" else q.argmax)(axis=0)
    assert same_bits(sol.watched["q"], q[first, np.arange(40)])
    assert same_bits(sol.watched["q.time"], full.t[first])
