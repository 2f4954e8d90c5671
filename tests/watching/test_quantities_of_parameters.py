"""Quantities of parameters, of which some, all or none are alike, few or more than 64 expressions.

Several states are evaluated at once; expressions of parameters alone are evaluated beforehand, and
read once for all lanes if they are alike. A state alone, from all saves, is the reference.
"""

from functools import partial

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
    np.testing.assert_allclose(watched["most"], q.max(axis=0), atol=scale, rtol=0)

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


# ---- numbers that events give --------------------------------------------------------------------

LEVELS = np.array([0.2, 0.3])
ABOVE = {"up": pi.event(lambda t, x, v, c: x - c, 1, params={"c": LEVELS}),
         "down": pi.event(lambda t, x, v, c: x - c, -1, params={"c": LEVELS})}  # fmt: skip
COUNTS = {"above": pi.watch.count(lambda t, x, v, c: x > c),
          "sum": pi.watch.reduce(lambda kept, t, x, v, c: kept + c * x, 0.0)}  # fmt: skip


def test_functions_of_watches_take_the_numbers_of_events():
    """Of saved states, the reference; sums of a hundred terms, to a rounding of each."""
    run = {"dt": 0.1, "watch": COUNTS, "events": ABOVE, "method": "rk4"}
    sol = pi.integrate(pi.systems.oscillator, 1.0, 0.0, n_steps=99, **run)
    assert np.array_equal(sol.watched["above"], (sol.x > LEVELS).sum(axis=0))
    assert np.allclose(sol.watched["sum"], (LEVELS * sol.x).sum(axis=0), rtol=0, atol=1e-14)
    begun = pi.integrate(pi.systems.oscillator, 1.0, 0.0, n_steps=50, **run)
    assert np.array_equal(begun.resume(n_steps=49).watched["sum"], sol.watched["sum"])
    stepper = pi.Stepper(pi.systems.oscillator, 1.0, 0.0, **run)
    stepper.step(99)
    assert np.array_equal(stepper.watched["sum"], sol.watched["sum"])


def test_functions_of_watches_take_the_numbers_of_events_to_a_tolerance():
    """x > c of cos t until t = 3: until arccos c."""
    within = {"above": pi.watch.time_within(lambda t, x, v, c: x > c)}
    sol = pi.solve(
        pi.systems.oscillator, 1.0, 0.0, t_end=3.0, watch=within, events=ABOVE, rtol=1e-9
    )
    assert np.allclose(sol.watched["above"], np.arccos(LEVELS), rtol=0, atol=1e-8)


def test_numbers_of_which_events_differ_are_refused_to_watches_that_take_them():
    other = ABOVE | {"down": pi.event(lambda t, x, v, c: x - c, -1, params={"c": 0.1})}
    run = {"dt": 0.1, "n_steps": 9, "events": other}
    with pytest.raises(ValueError, match="'c', of which params= of several events give different"):
        pi.integrate(pi.systems.oscillator, watch=COUNTS, **run)
    pi.integrate(pi.systems.oscillator, watch={"mean": pi.watch.mean("x")}, **run)


def test_an_argument_with_a_value_keeps_it_unless_it_is_a_parameter():
    """As one that functools.partial has filled."""

    def far(t, x, v, k=-1.0, c=0.25):
        return k * x - c

    def run(**what):
        system = pi.systems.spring(k=np.array([1.0, 4.0]))
        return pi.integrate(system, 1.0, 0.0, dt=0.01, n_steps=200, **what)

    watch = {"one": pi.watch.maximum(far), "other": pi.watch.maximum(partial(far, c=0.5))}
    found = run(watch=watch, across={"mean": pi.across.mean(far)})
    assert found.watched["one"].tolist() == [0.75, 3.75]
    assert found.watched["other"].tolist() == [0.5, 3.5]
    assert found.across["mean"][0] == (0.75 + 3.75) / 2
    for c, event in ((0.25, pi.event(far)), (0.5, pi.event(far, params={"c": 0.5}))):
        told = run(events={"e": pi.event(lambda t, x, v, k, c: k * x - c, params={"c": c})})
        assert np.array_equal(run(events={"e": event}).events["e"].t, told.events["e"].t)
        assert np.all(told.events["e"].t > 0)
