"""Runs to a tolerance in parts are joined: the steps that were made, in one solution."""

import pickle

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

X0 = np.random.default_rng(1).normal(size=(5, 3))
ENDS = [0.1, 0.2, 0.3, -0.4, 0.0]
LATER = [0.4, 0.25, 0.5, -0.7, 0.3]


def parts(save="all", **options):
    first = pi.solve(pi.systems.lorenz, X0, t_end=ENDS, rtol=1e-4, save=save, **options)
    second = first.resume(t_end=LATER)
    return first, second, second.resume(t_end=[0.5, 0.6, 0.7, -0.8, 0.4])


def same(a, b):
    for name in ("t", "y", "counts", "status", "steps_taken", "rejected", "last_step", "final",
                 "initial", "origin", "valid", "stiff_since", "evaluations"):  # fmt: skip
        assert same_bits(np.asarray(getattr(a, name)), np.asarray(getattr(b, name))), name
    assert a.digest() == b.digest()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_accepted_steps_of_all_parts_are_there_once(dtype):
    made = parts(dtype=dtype)
    joined = pi.concatenate(*made)
    long = pi.solve(pi.systems.lorenz, X0, t_end=made[-1].t_end, rtol=1e-4, save="all", dtype=dtype)
    same(joined, long)
    assert same_bits(joined.at(0.0), long.at(0.0))
    assert same_bits(joined.initial, made[0].initial)
    assert same_bits(joined.final, made[-1].final)
    assert joined.arithmetic == made[0].arithmetic


@pytest.mark.parametrize("save", ["all", "final"])
def test_a_joined_solution_goes_on_and_is_kept(save, tmp_path):
    first, second, third = parts(save)
    joined = pi.concatenate(first, second)
    later = joined.resume(t_end=third.t_end)
    assert same_bits(later.final, third.final)
    assert same_bits(later.last_step, third.last_step)
    joined.save(tmp_path / "a.npz")
    for one in (pi.load(tmp_path / "a.npz"), pickle.loads(pickle.dumps(joined))):
        same(one, joined)
        assert same_bits(one.resume(t_end=third.t_end).final, third.final)
    same(pi.concatenate(joined, third), pi.concatenate(first, second, third))
    again = pi.concatenate(first, first.resume(t_end=ENDS))  # no way
    assert same_bits(again.t, first.t)
    assert same_bits(again.y, first.y)


@pytest.mark.parametrize("end", [3.0, -3.0])
def test_jumps_are_joined_however_time_runs(end):
    """Also a jump as the motion begins, and where a part begins in which nothing moves any more."""
    events = {
        "start": pi.event(lambda t, x, v: x > 0.6, then=lambda t, x, v: (x, -0.9 * v)),
        "turn": pi.event("x", direction=1, then=lambda t, x, v: (x, -0.8 * v)),
        "done": pi.event("v", direction=-1, stop=True),
    }
    made = np.linspace(0.5, 1.0, 5), 1.0
    options = {"events": events, "save": "all", "rtol": 1e-4}
    long = pi.solve(pi.systems.oscillator, *made, t_end=end, **options)
    for share in (0.01, 0.3, 0.9):
        first = pi.solve(pi.systems.oscillator, *made, t_end=share * end, **options)
        same(pi.concatenate(first, first.resume(t_end=end)), long)


def test_ends_and_times_are_joined_at_their_times():
    first, second, third = parts("final")
    joined = pi.concatenate(first, second, third)
    assert np.array_equal(joined.t, [ENDS, LATER, third.t_end])
    assert same_bits(joined.y, np.stack([part.y[0] for part in (first, second, third)]))
    times = pi.solve(pi.systems.lorenz, t_end=1.0, times=[0.0, 0.5])
    joined = pi.concatenate(times, times.resume(t_end=2.0))
    assert joined.t.tolist() == [0.0, 0.5, 2.0]
    assert same_bits(joined.y[:2], times.y)


def test_states_between_the_steps_are_those_of_the_parts():
    first = pi.solve(pi.systems.kepler, t_end=3.0, rtol=1e-6)
    second = first.resume(t_end=7.0)
    joined = pi.concatenate(first, second)
    long = pi.solve(pi.systems.kepler, t_end=7.0, rtol=1e-6)
    assert same_bits(joined.at([0.5, 2.9, 3.0, 6.9]), long.at([0.5, 2.9, 3.0, 6.9]))
    assert same_bits(joined.at([3.3, 6.9]), second.at([3.3, 6.9]))
    assert np.array_equal(joined.energy_error()[-1], second.energy_error()[-1])
    assert joined.plot().shape == (2,)


def test_what_happened_is_that_of_the_last_part():
    down = pi.event("z", direction=-1, then=lambda t, x, v: (x, -0.9 * v), keep=9)
    options = {"watch": {"top": pi.watch.maximum("z")}, "events": {"floor": down}, "save": "all"}
    first = pi.solve(pi.systems.projectile, [0, 0, 1.0], [1.0, 0, 0], t_end=1.0, **options)
    second = first.resume(t_end=2.0)
    joined = pi.concatenate(first, second)
    assert int(joined.events["floor"].count) == 3
    assert same_bits(joined.events["floor"].t, second.events["floor"].t)
    assert joined.watched["top"] == first.watched["top"]
    assert same_bits(joined.resume(t_end=2.5).final, second.resume(t_end=2.5).final)


def test_failures_and_stiffness_are_those_of_all_parts():
    stiff = pi.systems.van_der_pol(mu=[1.0, 300.0])
    first = pi.solve(stiff, t_end=5.0, rtol=1e-5)
    second = first.resume(t_end=400.0)
    joined = pi.concatenate(first, second)
    assert np.isnan(joined.stiff_since).tolist() == [True, False]
    long = pi.solve(stiff, t_end=400.0, rtol=1e-5)
    assert np.isnan(long.stiff_since).tolist() == [True, False]
    blown = pi.rhs(lambda t, y: y * y, dim=1)
    with pytest.warns(pi.IntegrationWarning):
        first = pi.solve(blown, [[0.1], [2.0]], t_end=1.0)
    with pytest.warns(pi.IntegrationWarning):
        second = first.resume(t_end=2.0)
    joined = pi.concatenate(first, second)
    assert joined.valid.tolist() == [[True, False], [True, False]]
    assert joined.failures() == first.failures()


def test_sensitivities_are_joined():
    first = pi.solve(pi.systems.oscillator, t_end=1.0, sensitivity=("omega",), save="all")
    joined = pi.concatenate(first, first.resume(t_end=2.0))
    assert joined.sensitivity["omega"].shape == joined.y.shape
    # x = cos(omega t): dx/domega = -t sin t
    assert joined.sensitivity["omega"][-1, 0] == pytest.approx(-2 * np.sin(2.0), abs=1e-5)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (lambda a: a, "begins at another time"),
        (lambda a: a.resume(t_end=2.0).resume(t_end=3.0), "begins at another time"),
        (lambda a: pi.solve(pi.systems.kepler, [2, 0, 0, 0.7], t0=a.resume(t_end=1).t0, t_end=2),
         "another state"),
        (lambda a: pi.solve(pi.systems.kepler, t_end=1.0, rtol=1e-7).resume(t_end=2.0), "rtol"),
        (lambda a: pi.solve(pi.systems.kepler, t_end=1.0, atol=1e-12).resume(t_end=2.0), "atol"),
        (lambda a: pi.solve(pi.systems.kepler, t_end=1.0, method="dop853").resume(t_end=2.0),
         "method"),
        (lambda a: pi.solve(pi.systems.kepler, t_end=1.0, save="final").resume(t_end=2.0),
         "all accepted steps"),
        (lambda a: pi.integrate(pi.systems.kepler, dt=0.1, n_steps=3), "steps of one length"),
    ],
)  # fmt: skip
def test_what_does_not_follow_on_is_refused(second, reason):
    a = pi.solve(pi.systems.kepler, t_end=1.0)
    with pytest.raises(ValueError, match=f"part 1 does not follow on from part 0: .*{reason}"):
        pi.concatenate(a, second(a))
