"""A run is polled from within its steps, in every family: what has no poll between its first step
and its last is stopped all the same."""

import re
import signal

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.run import core


def bodies(n):
    places = np.random.default_rng(1).normal(size=3 * n)
    return pi.systems.n_body(n=n, masses=np.ones(n)), places, np.zeros(3 * n)


def steps_done(*arguments, **options):
    """When the run was interrupted, soon after the core had begun."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def work(run):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        original(run)

    original = core.Run.go
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(core.Run, "go", work)
            with pytest.raises(KeyboardInterrupt) as caught:
                pi.integrate(*arguments, dt=1e-6, save="final", **options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return caught.value.solution.n_steps


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "rkn4"])
def test_within_a_force_of_many_bodies(method):
    """So many pairs that a force takes long beyond the time from one poll to the next."""
    method = {"rkn4": "runge_kutta_nystrom4"}.get(method, method)
    assert steps_done(*bodies(10_000), n_steps=1, method=method) == 0


@pytest.mark.parametrize("method", ["gauss8", "kvaerno54", "bdf2"])
def test_within_an_elimination(method):
    n = 120 if method == "gauss8" else 250
    assert steps_done(*bodies(n), n_steps=1, method=method) == 0


def deep(t, y):
    for _ in range(20_000):
        y = np.sin(y)
    return y


@pytest.mark.parametrize("lanes", [1, 64])
def test_within_long_byte_code(lanes):
    """Blocks of a slow force are short: what is completed is kept. One trajectory alone takes as
    long as a register of them."""
    system = pi.rhs(dim=1)(deep)
    y = np.linspace(1, 2, lanes).reshape(lanes, 1)
    polls = []

    def progress(done, total):
        polls.append(done)
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        pi.integrate(system, y, dt=1e-3, n_steps=1 << 40, save="final", progress=progress)
    sol = caught.value.solution
    assert 0 < sol.n_steps < 256
    again = pi.integrate(system, y, dt=1e-3, n_steps=sol.n_steps, save="final")
    assert sol.final.tobytes() == again.final.tobytes()


def test_within_a_question():
    """To a force, for many states at once: the last are not answered."""
    system = pi.rhs(dim=1)(deep)
    lanes = 1 << 16
    y, out = np.linspace(1, 2, lanes), np.full((1, lanes), np.nan)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.evaluate(system.core, 64, 0, lanes, np.zeros(1), (y,), (), out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert np.isnan(out[0, -1])


ASKS = re.compile(r"\b(?:ask|rhs_rows|stops|pi_pause)\(")  # the first two pause before each force


@pytest.mark.parametrize(
    "path", sorted((ROOT / "csrc/kernels/rows").glob("*.h")), ids=lambda p: p.name
)
def test_whatever_loops_over_rows_asks_whether_to_stop(path):
    text = path.read_text()
    short = "workspace.h", "reduce.h", "survey.h"  # one step of what is kept
    if path.name not in short:
        assert ASKS.search(text) or not re.search(r"\b(?:for |EACH_\w+)\(", text)
