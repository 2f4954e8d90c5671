"""A run with events, or without, has the same bits however it is divided.

By saves, workers, the batch, resumed runs, single steps and the chunks of dask; for every family of
methods, of which those that keep a force from step to step differ most.
"""

import dask
import dask.array as da
import numpy as np
import pytest
from conftest import same_bits
from pairwise import cases

import pyintegrate as pi

N, DT, LANES = 300, 0.02, 40
X0 = np.linspace(-1, 1, LANES)
METHODS = [
    next(m.name for m in pi.methods.values() if m.family == family)
    for family in sorted({m.family for m in pi.methods.values()} - {"rigid_body", "wisdom_holman"})
] + ["velocity_verlet", "forest_ruth4", "mclachlan4"]


@pi.acceleration(k=1.0)
def autonomous(t, x, v, k):
    return -k * x


@pi.acceleration(k=1.0)
def timed(t, x, v, k):
    return -k * x + 0.5 * np.cos(t)


def force(kind):
    return timed if kind == "timed" else autonomous


def events(kind):
    if kind == "none":
        return {}
    if kind == "stop":
        return {"events": {"b": pi.event("x", direction=-1, stop=2)}}
    bounce = pi.event("x", direction=-1, keep=3, then=lambda t, x, v: (x, -0.7 * v))
    return {"events": {"b": bounce, "far": pi.event(lambda t, x, v: v - 0.5)}}


def found(sol):
    """What does not depend on how it was run."""
    logs = [a for log in sol.events.values() for a in (log.t, log.y, log.count, log.unresolved)]
    return [sol.final, sol.status, sol.failed_step, sol.stopped_at, *logs]


def drive(kind, a=0, b=N):
    return {"drive": {"k": 1 + 0.3 * np.sin(np.arange(a, b))}} if kind == "drive" else {}


def by_stepper(kind, method, event, n):
    stepper = pi.Stepper(force(kind), X0, 0.3, dt=DT, method=method, **events(event))
    for _ in range(0, N, n):
        stepper.step(n)
    logs = stepper.events.values()
    return [stepper.y, stepper.status, *(a for log in logs for a in (log.t, log.y, log.count))]


def run(kind, method, event, way):
    """Runs of a way, each with the trajectories that it has."""
    options = {"dt": DT, "n_steps": N, "method": method, **events(event)}
    options |= {"on_failure": "ignore"}
    every = np.arange(LANES)
    if way in ("all", "final", 7):
        yield every, pi.integrate(force(kind), X0, 0.3, save=way, **options, **drive(kind))
    elif way == "workers":
        options |= {"save": 50, "workers": 2}
        yield every, pi.integrate(force(kind), X0, 0.3, **options, **drive(kind))
    elif way == "alone":
        for i in every[::7]:
            yield i, pi.integrate(force(kind), X0[i], 0.3, save="all", **options, **drive(kind))
    elif way == "resumed":
        for cut in (1, 137, 299):
            first = options | {"n_steps": cut}
            sol = pi.integrate(force(kind), X0, 0.3, **first, **drive(kind, 0, cut))
            yield every, sol.resume(n_steps=N - cut, **drive(kind, cut))
    elif way == "dask":
        chunks = da.from_array(X0, chunks=13)
        sol = pi.dask.integrate(
            force(kind), chunks, 0.3, **{k: v for k, v in options.items() if k != "on_failure"}
        )
        yield every, sol


def possible(kind, method, event, way):
    if kind == "drive" and (way in ("dask", "steps", "five")):
        return False
    return event == "none" or pi.methods[method].family != "multistep"


@cases(
    possible,
    kind=["timed", "autonomous", "drive"],
    method=METHODS,
    event=["jump", "stop", "none"],
    way=["final", 7, "workers", "alone", "resumed", "dask", "steps", "five"],
)
def test_bits_do_not_depend_on_the_way(kind, method, event, way):
    whole = pi.integrate(
        force(kind), X0, 0.3, dt=DT, n_steps=N, method=method, on_failure="ignore",
        **events(event), **drive(kind),
    )  # fmt: skip
    if way in ("steps", "five"):
        logs = [a for log in whole.events.values() for a in (log.t, log.y, log.count)]
        here = by_stepper(kind, method, event, 1 if way == "steps" else 5)
        for a, b in zip(here, [whole.final, whole.status, *logs], strict=True):
            assert same_bits(a, b)
        return
    for lanes, sol in run(kind, method, event, way):
        if way == "dask":
            logs = [a for log in sol.events.values() for a in (log.t, log.y, log.count)]
            logs = dask.compute(sol.final, sol.status, *logs)
            there = [whole.final, whole.status]
            there += [a for log in whole.events.values() for a in (log.t, log.y, log.count)]
        else:
            logs, there = found(sol), found(whole)
        for a, b in zip(logs, there, strict=True):
            assert same_bits(a, b[lanes])


def test_what_fails_after_a_jump_fails_as_in_steps_of_its_own():
    """As the state was before that step, and for the same reason."""
    turn = {"b": pi.event("x", level=-3.0, then=lambda t, y: -0.9 * y)}
    bounce = {"b": pi.event("x", level=0.1, then=lambda t, x, v: (x, -v))}
    damped = {"b": pi.event("x", level=0.5, then=lambda t, x, v: (x, -0.7 * v))}
    near = pi.systems.kepler.initial + 0.3 * np.random.default_rng(5).normal(size=(40, 4))
    for system, y, events, *how in (
        (pi.systems.lorenz, np.linspace(0.7, 1.3, 18).reshape(6, 3), turn, 0.12, "rk4", np.inf),
        (pi.systems.kepler, near, bounce, 0.3, "implicit_euler", np.inf),
        (pi.systems.kepler, near, damped, 0.3, "rk4", 3.0),
    ):
        options = dict(zip(("dt", "method", "bound"), how)) | {"events": events}
        whole = pi.integrate(system, y, n_steps=40, save="final", on_failure="ignore", **options)
        assert (whole.status != 0).sum() > 4
        stepper = pi.Stepper(system, y, **options)
        for _ in range(40):
            stepper.step()
        for a, b in ((stepper, whole), (stepper.events["b"], whole.events["b"])):
            for name in ("status", "failed_step", "count"):
                assert np.array_equal(getattr(a, name, 0), getattr(b, name, 0)), name
        assert same_bits(stepper.y, whole.final)
        assert (abs(whole.final) <= how[2]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cut_after_a_jump_hides_no_pair_of_zeros(dtype):
    """A quantity that is constant since the jump is unseen, in one run and in its parts."""
    events = {
        "wave": pi.event(lambda t, x, v: np.sin(4 * np.pi * t)),
        "side": pi.event(lambda t, x, v: np.where(x < 0.1, -1.0, 2.0), then=lambda t, x, v: (x, v)),
    }
    run = {"dt": 0.4, "method": "dop853", "events": events, "dtype": dtype, "save": "final"}
    whole = pi.integrate(autonomous, X0, 0.3, n_steps=40, **run)
    for n in range(3, 40, 6):
        part = pi.integrate(autonomous, X0, 0.3, n_steps=n, **run).resume(n_steps=40 - n)
        assert all(same_bits(*pair) for pair in zip(found(part), found(whole)))
