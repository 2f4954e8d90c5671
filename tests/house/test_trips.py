"""A call goes through few files: those of the package that a profiler sees in a warm call."""

import cProfile
import pstats
from pathlib import Path

import numpy as np
import pytest

import pyintegrate as pi

PACKAGE = Path(pi.__file__).parent
SYSTEM, MANY = pi.systems.pendulum, np.linspace(0.0, 1.0, 1000)
STEPPER = pi.Stepper(SYSTEM, 1.0, 0.0, dt=0.01)
STEP = {"dt": 0.01, "n_steps": 1}
TRIPS = {
    "integrate": (14, lambda: pi.integrate(SYSTEM, 1.0, 0.0, **STEP)),
    "its end": (14, lambda: pi.integrate(SYSTEM, 1.0, 0.0, **STEP, save="final")),
    "a batch": (14, lambda: pi.integrate(SYSTEM, MANY, 0.0, **STEP)),
    "solve": (16, lambda: pi.solve(SYSTEM, 1.0, 0.0, t_end=0.01)),
    "step": (0, lambda: STEPPER.step()),
}


def files_of(call):
    """The files of the package in which functions are called."""
    call(), call()
    profile = cProfile.Profile()
    profile.runcall(call)
    names = {Path(place[0]) for place in pstats.Stats(profile).stats}
    return sorted(str(n.relative_to(PACKAGE)) for n in names if PACKAGE in n.parents)


@pytest.mark.parametrize("name", TRIPS)
def test_a_call_goes_through_few_files(name):
    most, call = TRIPS[name]
    seen = files_of(call)
    assert len(seen) <= most, seen


def test_an_option_that_nobody_gave_is_not_looked_at(monkeypatch):
    asked = []
    for name, option in type(pi.integrate(SYSTEM, **STEP)._options).known.items():
        monkeypatch.setattr(option, "check", lambda value, name=name: asked.append(name) or value)
    pi.integrate(SYSTEM, 1.0, 0.0, **STEP, workers=2)
    assert asked == ["workers"]
