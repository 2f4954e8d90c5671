"""Calls that the package makes of its core, with their arguments: what fuzz.py bends.

`calls()` makes a run of each kind and keeps what Run, Stepper, AdaptiveRun, evaluate,
make_program and make_method were given; `copied` is the same once more, in memory of its own.
"""

import numpy as np

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.values.memory import aligned

NAMES = ["Run", "Stepper", "AdaptiveRun", "evaluate", "make_program", "make_method"]


def copied(value):
    """The same, whose arrays are others. What lies without gaps begins at a cache line."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            return value.copy(order="K")
        memory = aligned(value.shape, value.dtype)
        memory[...] = value
        return memory
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(copied, value))
    return value


def calls():
    """(name, arguments, keywords) of each call."""
    kept, own = [], {name: getattr(_core, name) for name in NAMES}

    def keeping(name):
        def call(*arguments, **keywords):
            kept.append((name, copied(arguments), copied(keywords)))
            return own[name](*arguments, **keywords)

        return call

    try:
        for name in NAMES:
            setattr(_core, name, keeping(name))
        _run_all()
    finally:
        for name, function in own.items():
            setattr(_core, name, function)
    return kept


def _bounced(t, x, v):
    return x, -0.9 * v


def _run_all():
    """A run of each kind, of some registers of trajectories."""
    y = np.linspace(0.2, 1.5, 19)
    spring = pi.systems.spring(k=np.linspace(1.0, 40.0, 19))
    watch = pi.watch
    watched = {
        "high": watch.maximum("x"), "size": watch.max_abs("v"), "mean": watch.mean("x", every=2),
        "rms": watch.rms("energy"), "slope": watch.slope("energy_error"), "late": watch.last("v"),
        "periods": watch.periods("x"), "count": watch.count(lambda t, x, v: x > v, after=0.3),
        "one": watch.histogram("x", 5, (-1, 1)), "turns": watch.windings("phase"),
        "two": watch.density(("x", "v"), (7, 6), ((-1, 1), (-3, 3))),
    }  # fmt: skip
    events = {
        "floor": pi.event("x", -1, keep=3, then=_bounced, values=lambda t, x, v: (t, v)),
        "fast": pi.event(lambda t, x, v: v * v - 2, stop=3),
        "there": pi.event(lambda t, x, v: (x < 0.1) & (v < 0), keep=2, after=0.2),
    }
    steps = {"dt": 0.08, "n_steps": 14, "on_failure": "ignore"}
    both = {"watch": watched, "events": events}
    pi.integrate(spring, y, 0.0, **steps, **both)
    pi.integrate(spring, y, 0.0, **steps, **both, save="final", bound=1.4, compensated=True)
    pi.integrate(spring, y.astype(np.float32), 0.0, **steps, **both, method="tsitouras54")
    pi.integrate(spring, y, 0.0, **steps, events=events, times=np.linspace(0, 1, 9))
    pi.integrate(spring, y, 0.0, **steps, times=np.linspace(0, 1, 5)[:, None] + np.zeros(19))
    pi.integrate(spring, y, 0.0, **steps, save=[0, 1, 5, 14], components=["v"])
    pi.integrate(spring, y, 0.0, **steps, drive={"b": np.linspace(0, 1, 14)})
    each = {name: one for name, one in watched.items() if name != "two"}
    stepper = pi.Stepper(spring, y, 0.0, dt=0.08, watch=each, events=events)
    stepper.step(3)
    tail = pi.integrate(pi.systems.lorenz, y[:, None] + np.ones(3), **steps, method="bdf3")
    tail.resume(n_steps=3)
    pi.lyapunov(pi.systems.lorenz, y[:, None] + np.ones(3), dt=0.01, t_end=0.3, k=2)
    pi.chaos_map(pi.systems.henon_heiles, dt=0.1, t_end=2.0, indicator="megno")

    @pi.hamiltonian(dof=2, mu=1.0)
    def kepler(q, p, mu):
        return (p @ p) / 2 - mu / np.sqrt(q @ q + 0.01)

    @pi.rhs(dim=2, trace=False)
    def called(t, y):
        return np.stack([y[1], -y[0]])

    start = np.array([1.0, 0, 0, 0.8]) + y[:5, None] / 10
    pi.integrate(kepler, start, **steps, method="gauss4", watch=["energy_drift"])
    pi.integrate(called, np.ones((3, 2)), **steps)
    kepler.jacobian(0.0, start)

    to = {"t_end": np.linspace(0.5, 2.0, 19), "on_failure": "ignore"}
    summed = {name: watched[name] for name in ("high", "rms", "slope", "late")}
    pi.solve(spring, y, 0.0, **to, watch=summed, events=events, save="all")
    pi.solve(spring, y.astype(np.float32), 0.0, **to, events=events, times=np.linspace(0, 0.5, 7))
    pi.solve(spring, y, 0.0, **to, method="radau_iia5", save="all", bound=1.3)
    pi.solve(kepler, start, t_end=3.0, times=np.linspace(0, 3, 20), watch=["energy_drift"])
    pi.solve(spring, y, 0.0, **to, method="kvaerno43", times=np.zeros((2, 19)), sensitivity="k")
    pi.solve(pi.systems.lorenz, t_end=2.0, max_steps=40, on_failure="ignore")
    pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)], name="strang")
