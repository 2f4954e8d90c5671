"""A trajectory of a batch has the bits of its own run, wherever the axes of the batch come from."""

from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest
from pairwise import cases

import pyintegrate as pi

DT, N = 2.0**-5, 40
CALLERS = {
    "integrate": ("events", "watches", "times", "bound", "sensitivity"),
    "solve": ("events", "watches", "times", "bound", "sensitivity"),
    "Stepper": ("events", "watches", "bound"),
    "dask": ("events", "watches", "bound"),
    "crossings": ("events", "watches", "bound"),
    "escape_times": ("events", "watches", "bound"),
    "bifurcation": ("events", "watches", "bound"),
    "scan": ("events", "watches", "bound"),
    "lyapunov": ("none",),
    "chaos_map": ("none",),
}
SOURCES = ("x0", "v0", "parameter", "dt", "t0", "event", "two", "mixed")
WITH_EVENT = {"integrate", "solve", "Stepper", "crossings"}


@pi.acceleration(k=2.0, b=0.1)
def force(t, x, v, k, b):
    return -k * x - b * v + 0.2 * np.cos(t)


def possible(seen, source, size, caller):
    if source == "event" and not (caller in WITH_EVENT and seen in ("events", "watches")):
        return False
    if source in ("dt", "t0") and (seen == "times" or caller == "scan"):
        return False  # each would have its own times; such an axis is one of the grid
    if caller == "bifurcation" and source == "parameter":
        return False  # its own axis
    if (caller, source) in {("solve", "dt"), ("lyapunov", "dt"), ("chaos_map", "dt")}:
        return False
    return seen in CALLERS[caller] and not (size == 1 and source == "two")


def start_of(source, size):
    """Arguments of a run; what varies is an array over the batch."""
    batch = (size // 2 + size % 2, 2) if source == "two" else (size,)
    spread = np.linspace(0.0, 0.5, int(np.prod(batch))).reshape(batch)
    a = {"x0": 1.0, "v0": 0.25, "k": 2.0, "dt": DT, "t0": 0.0, "level": 0.125}
    of = {"parameter": ["k"], "event": ["level"], "two": ["k", "x0"], "mixed": ["x0", "v0", "k"]}
    for name in of.get(source, [source]):
        a[name] = a[name] + spread
    if source == "two":  # one axis each
        a["k"], a["x0"] = a["k"][:1], a["x0"][:, :1]
    if source == "dt":
        a["dt"] = DT * (1 + np.round(spread, 3))
    return a, batch


def options_of(seen, a):
    x = lambda t, x, v, level: x - level  # noqa: E731
    event = {"e": pi.event(x, keep=3, params={"level": a["level"]})}
    if seen == "events":
        return {"events": event}
    if seen == "watches":
        return {"watch": {"w": pi.watch.maximum(lambda t, x, v: x * v, after=a["level"])}}
    if seen == "times":
        return {"times": np.array([0.0, 0.3, 0.99]) + np.max(a["t0"])}
    return {"bound": {"bound": 1.1}, "sensitivity": {"sensitivity": ("k",)}}.get(seen, {})


def found(sol):
    """Name to array, with the batch axes first, or None where it has none."""
    out = {"final": sol.final, "status": sol.status}
    for name, log in sol.events.items():
        out |= {f"{name}.t": log.t, f"{name}.y": log.y, f"{name}.count": log.count}
    out |= dict(sol.watched.items())
    if getattr(sol, "_carried", None) is not None:
        out["sensitivity"] = np.moveaxis(sol.sensitivity["k"], 0, -1)
    if len(np.shape(sol.y)) == sol.final.ndim + 1:
        out["y"] = np.moveaxis(np.asarray(sol.y), 0, -1)
    return out


def run(caller, seen, a):
    options = {"on_failure": "ignore", **options_of(seen, a)}
    start = {"x0": a["x0"], "v0": a["v0"], "t0": a["t0"]}
    steps = {"dt": a["dt"], "n_steps": N}
    system = force(k=a["k"])
    own = {k: v for k, v in options.items() if k != "events"}
    end = a["t0"] + N * DT
    if caller == "integrate":
        final = {} if "times" in options else {"save": "final"}
        return found(pi.integrate(system, **start, **steps, **final, **options))
    if caller == "solve":
        final = {} if "times" in options else {"save": "final"}
        end = np.max(end) if "times" in options else end
        return found(pi.solve(system, **start, t_end=end, **final, **options))
    if caller == "Stepper":
        options.pop("on_failure")
        stepper = pi.Stepper(system, **start, dt=a["dt"], **options)
        stepper.step(N)
        seen = {"final": stepper.y, "status": stepper.status, **stepper.watched}
        return seen | {f"{k}.t": log.t for k, log in stepper.events.items()}
    if caller == "dask":
        lazy = {k: da.asarray(v, chunks=50) if np.ndim(v) else v for k, v in a.items()}
        options.pop("on_failure")
        sol = pi.dask.integrate(
            force, lazy["x0"], lazy["v0"], t0=lazy["t0"], dt=lazy["dt"], n_steps=N, save="final",
            params={"k": lazy["k"]}, **options,
        )  # fmt: skip
        events = {n: SimpleNamespace(**{p: np.asarray(getattr(e, p)) for p in ("t", "y", "count")})
                  for n, e in sol.events.items()}  # fmt: skip
        told = {n: np.asarray(w) for n, w in sol.watched.items()}
        return found(SimpleNamespace(final=np.asarray(sol.final), status=np.asarray(sol.status),
                                     events=events, watched=told, y=0.0))  # fmt: skip
    if caller in ("lyapunov", "chaos_map"):
        function = {"lyapunov": pi.lyapunov, "chaos_map": pi.chaos_map}[caller]
        here = function(system, **start, dt=DT, t_end=end)
        return {"it": here.exponents if caller == "lyapunov" else here.values}
    analysis = pi.analysis
    if caller == "crossings":
        level = {"level": a["level"]}
        points = analysis.crossings(
            system, lambda t, x, v, level: x - level, **start, **steps, params=level, keep=2, **own
        )
        return points
    if caller == "escape_times":
        here = analysis.escape_times(system, lambda t, x, v: -x, **start, **steps, **own)
        return {"t": here.t, **found(here.solution)}
    if caller == "scan":
        here = pi.scan(
            system, {"b": [0.1, 0.3]}, pi.watch.last("x"), **start, **steps, **options
        )  # fmt: skip
        return {"b": np.moveaxis(here.values, 0, -1)}
    here = analysis.bifurcation(
        system, {"b": [0.1]}, "x", **start, **steps, transient=0.0, keep=1000, **own
    )
    return here.section


@cases(
    possible,
    seen=("events", "watches", "times", "bound", "sensitivity", "none"),
    source=SOURCES,
    size=(1, 127, 128, 129, 1000),
    caller=tuple(CALLERS),
)
def test_bits_of_one_trajectory_and_of_the_batch(seen, source, size, caller):
    a, batch = start_of(source, size)
    a |= {} if caller in WITH_EVENT or source == "event" else {"level": 0.125}
    whole = run(caller, seen, a)
    lanes = int(np.prod(batch))
    for lane in {0, lanes // 2, lanes - 1}:
        place = np.unravel_index(lane, batch)
        alone = {name: float(np.broadcast_to(value, batch)[place]) for name, value in a.items()}
        here = run(caller, seen, alone)
        if not isinstance(whole, dict):  # points on a surface
            own = whole.trajectory == lane
            assert whole.t[own].tobytes() == here.t.tobytes()
            assert whole.y[own].tobytes() == here.y.tobytes()
            continue
        for name, value in here.items():
            if name.endswith(".edges") or np.ndim(value) == 0 == np.ndim(whole[name]):
                continue
            assert whole[name][place].tobytes() == np.asarray(value).tobytes(), name


@pytest.mark.parametrize("n", [3, 200])
def test_starts_of_a_bifurcation_diagram(n):
    """A batch of starts begins at each value, one of shape (n, 1) has a start for each."""
    ends, x0 = {"dt": 0.1, "n_steps": 50, "transient": 0.0}, np.linspace(1, 2, n)
    springs = pi.systems.spring
    rows = pi.analysis.bifurcation(springs, {"k": x0 + 3}, "x", x0[:, None], 0.0, **ends)
    assert rows.section.batch == (n, 1)
    every = pi.analysis.bifurcation(springs, {"k": x0 + 3}, "x", x0[:2], 0.0, **ends)
    assert every.section.batch == (n, 2)
    i = n - 1
    one = pi.analysis.bifurcation(springs, {"k": [x0[i] + 3]}, "x", x0[i], 0.0, **ends)
    assert rows.values[i].tobytes() == one.values[0].tobytes()
