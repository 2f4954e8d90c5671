"""Quantities of parameters, of which some, all or none are alike, few or more than 64 expressions.

Several states are evaluated at once; expressions of parameters alone are evaluated beforehand, and
read once for all lanes if they are alike. A state alone, from all saves, is the reference.
"""

import numpy as np
import pytest

import pyintegrate as pi

LANES = 150
OWN = np.linspace(1.0, 2.0, LANES)
PARAMETERS = {
    "alike": {"g": 9.81, "length": 1.5},
    "some alike": {"g": 9.81, "length": OWN},
    "own": {"g": 9 + OWN, "length": OWN[::-1]},
}


def wave(terms, timed):
    def quantity(t, x, v, g, length):
        total = 0.01 * v + (0.1 * np.sin(3 * t) if timed else 0.0)
        for i in range(terms):
            total = total + np.sin(g * (i + 1)) * np.cos(length * i) * x ** (1 + i % 3)
        return total

    return quantity


@pytest.mark.parametrize(("terms", "timed"), [(1, False), (1, True), (70, True)])
@pytest.mark.parametrize("kind", PARAMETERS)
def test_watched_and_met_as_in_all_saves(kind, terms, timed):
    quantity, parameters = wave(terms, timed), PARAMETERS[kind]
    system = pi.systems.pendulum(**parameters)
    given = {"dt": 0.01, "n_steps": 300, "method": "rk4"}
    start = np.linspace(0.1, 1.0, LANES)
    everything = pi.integrate(system, start, 0.0, **given)
    t = everything.t[:, np.newaxis]
    q = quantity(t, everything["theta"], everything["omega"], **parameters)
    # With 70 terms there are more expressions of parameters than the 64 bits that tell the alike.
    scale = 4e-15 * (terms + 1)  # sums of as many terms, with another sine
    watched = pi.integrate(system, start, 0.0, save="final", **given,
                           watch={"most": pi.watch.maximum(quantity)}).watched  # fmt: skip
    np.testing.assert_allclose(watched["most"], q.max(axis=0), atol=scale)

    event = {"zero": pi.event(quantity, stop=True)}
    stopped = pi.integrate(system, start, 0.0, save="final", events=event, **given).stopped_at
    before, after = q[:-1], q[1:]
    passes = (before * after < 0) & (np.minimum(abs(before), abs(after)) > 10 * scale)
    near = (np.minimum(abs(before), abs(after)) <= 10 * scale) & (before * after <= 0)
    first = np.where(passes.any(axis=0), passes.argmax(axis=0), -1)
    sure = ~near.any(axis=0)
    found = np.where(np.isnan(stopped), -1, np.floor(stopped / 0.01 + 1e-9))
    # Two zeros in one step are found by events alone: they come before the first change of sign.
    assert (found[sure] == first[sure]).mean() > 0.95
    np.testing.assert_array_less(found[sure & (first >= 0)], first[sure & (first >= 0)] + 1)
