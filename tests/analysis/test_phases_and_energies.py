"""Phases and energies of motions that are damped, turn, explode, rest, die, or fail."""

import re

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate import RecordWarning
from pyintegrate.analysis.measures import errors

EULER = "semi_implicit_euler"


def runs():
    damped = pi.systems.spring(k=np.array([15.0, 3.0, 8.0]), b=0.2)
    pendulums = pi.systems.pendulum(length=np.array([1.0, 0.5, 2.0]))
    exploding = pi.systems.oscillator(omega=np.array([1.0, 2.1, 0.7]))
    return {
        "damped": pi.integrate(damped, 1.0, 0.0, dt=0.05, n_steps=700, method=EULER),
        "pendulums": pi.integrate(pendulums, 2.0, 0.3, dt=0.05, n_steps=700, method=EULER),
        "rotating": pi.integrate(pendulums, 0.1, 11.0, dt=0.01, n_steps=700),
        "one": pi.integrate(pi.systems.kepler, dt=0.05, n_steps=700, method="velocity_verlet"),
        "failing": pi.integrate(
            exploding, 1.0, 0.0, dt=1.0, n_steps=3000, method=EULER, on_failure="ignore"
        ),
    }


RUNS = runs()


def everything(solution):
    """All that is told of the phase and of the energy."""
    drift = pi.analysis.energy_drift(solution)
    found = {"phase": pi.analysis.phase_drift(solution)}
    found |= {name: value for name, value in vars(drift).items() if name != "time_unit"}
    if not solution.system.velocity_dependent and set(solution.method.coefficients) >= {"kick"}:
        found["modified"] = pi.analysis.modified_energy(solution)
    return found


@pytest.mark.parametrize("name", ["damped", "pendulums", "one"])
def test_a_trajectory_is_analysed_as_in_a_batch(name):
    many = RUNS[name]
    for i in np.ndindex(many.y.shape[1:-1]):
        params = {
            key: value if np.ndim(value) == 0 else float(np.asarray(value)[i])
            for key, value in many.system.params.items()
        }
        alone = pi.integrate(
            many.system(**params), many.initial[i], dt=many.dt, n_steps=700, method=many.method
        )
        batch, single = everything(many), everything(alone)
        for quantity, value in single.items():
            ours = batch[quantity][(Ellipsis, *i)]
            assert ours == pytest.approx(value, rel=1e-9, abs=1e-12), quantity


@pytest.mark.parametrize("second", [1.0, 1e-12])
def test_a_reference_at_other_times_is_refused(second):
    """In units of picoseconds it was 20 rad ahead; states were compared by their number alone."""
    system, dt = pi.systems.oscillator(omega=1 / second), 0.1 * second
    sol, other = (pi.integrate(system, dt=h, n_steps=200) for h in (dt, 2 * dt))
    for compare in (pi.analysis.phase_drift, lambda a, b: errors(a, "state", b)):
        with pytest.raises(ValueError, match="saved at other times"):
            compare(sol, other)
        assert np.all(compare(sol, sol) == 0)


def test_times_within_steps_from_starts_of_their_own_have_a_phase():
    """Steps between the saves of one trajectory were taken for those between trajectories."""
    run = {"x0": 1.0, "v0": 0.0, "dt": 0.05, "t0": [0.0, 0.02], "n_steps": 2000, "method": EULER}
    drift = pi.analysis.phase_drift(
        pi.integrate(pi.systems.pendulum, **run, times=np.linspace(0.02, 100, 997))
    )
    np.testing.assert_allclose(
        drift[-1], pi.analysis.phase_drift(pi.integrate(pi.systems.pendulum, **run))[-1], atol=0.02
    )


def test_turns_of_steps_that_gain_half_a_turn_are_not_counted():
    """A pendulum that the midpoint rule drives round was told to lag by 4423 rad: 9200 ahead."""
    driven = pi.systems.pendulum(length=np.array([0.5, 1e3]))
    sol = pi.integrate(driven, 2.0, 0.0, dt=0.1, n_steps=3000, method="midpoint")
    with pytest.warns(RecordWarning, match="smaller dt"):
        drift = pi.analysis.phase_drift(sol)
    assert np.isnan(drift[-1]).tolist() == [True, False]
    fast = np.abs(sol.v[:, 0] * 0.1) > np.pi
    assert 0 < np.argmax(np.isnan(drift[:, 0])) <= np.argmax(fast)
    watch = ["phase_drift", "period_error"]
    end = pi.integrate(driven, 2.0, 0.0, dt=0.1, n_steps=3000, method="midpoint", save="final",
                       watch=watch)  # fmt: skip
    for measure in (pi.analysis.phase_drift, pi.analysis.period_error):
        with pytest.warns(RecordWarning, match="smaller dt"):
            assert np.isnan(measure(end)).ravel().tolist() == [True, False]


@pytest.mark.parametrize("system", ["spring", "momentum_spring", "pendulum", "kepler"])
def test_the_exact_phase_is_the_phase_of_the_exact_motion(system):
    spun = {"spring": {"b": 0.7}, "momentum_spring": {"b": 0.7}}.get(system, {})
    system = pi.systems[system](**spun)
    t = np.linspace(-9, 40, 500)
    start = system.initial + 0.1
    turned = system.exact_phase(t, start, 0.5) - system.phase(system.exact(t, start, 0.5), t)
    # Whole turns apart; the damped ones have lost exp(-14) of their size, none of their digits.
    assert np.remainder(turned + 1, 2 * np.pi) - 1 == pytest.approx(0, abs=1e-12)
    assert system.exact_phase(0.5, start, 0.5)[0] == pytest.approx(float(system.phase(start)))


def test_the_exact_phase_of_springs_that_creep_or_do_not_turn():
    creeping = pi.systems.spring(k=np.array([1.0, 4.0, 15.0]), b=np.array([5.0, 4.0, 0.1]))
    t = np.linspace(0, 20, 50)
    start = np.array([[1.0, -2.0]] * 3)
    turned = creeping.exact_phase(t, start) - creeping.phase(creeping.exact(t, start))
    assert np.remainder(turned + 1, 2 * np.pi) - 1 == pytest.approx(0, abs=1e-11)
    assert pi.systems.lorenz.exact_phase(t, [1.0, 1.0, 1.0]) is None
    assert np.isnan(pi.systems.spring(k=-1.0, b=0.0).exact_phase(1.0, [1.0, 0.0])).all()
    separatrix = [0.0, 2 * np.sqrt(9.81)]  # whose phase is a number, and stands still
    assert np.isnan(pi.systems.pendulum.exact_phase(1.0, separatrix)).all()


def test_the_phase_of_a_pendulum_in_any_of_its_wells_and_at_rest():
    angle = np.linspace(-1, 1, 9)
    pendulum = pi.systems.pendulum
    inner = pendulum.phase(np.stack([angle, 0 * angle + 0.5], axis=-1))
    for turns in (-3, 2):
        outer = pendulum.phase(np.stack([angle + 2 * np.pi * turns, 0 * angle + 0.5], axis=-1))
        off = np.remainder(outer - inner + 1, 2 * np.pi) - 1
        assert off == pytest.approx(0, abs=1e-14 * 20)  # the rounding of an angle of 20 rad
    assert np.isnan(pendulum.phase([0.0, 0.0]))
    assert np.isnan(pendulum.phase([np.nan, 1.0]))


@pytest.mark.parametrize("name", ["pendulum", "kepler", "oscillator"])
def test_the_saves_that_a_warning_asks_for_are_enough(name):
    run = {"dt": 0.3, "n_steps": 3000, "method": "semi_implicit_euler"}
    whole = pi.analysis.phase_drift(pi.integrate(pi.systems[name], **run))[-1]
    with pytest.warns(RecordWarning, match="k up to") as told:
        pi.analysis.phase_drift(pi.integrate(pi.systems[name], save="final", **run))
    k = int(re.search(r"k up to (\d+)", str(told[0].message))[1])
    assert pi.analysis.phase_drift(pi.integrate(pi.systems[name], save=k, **run))[-1] == whole


def test_turns_between_the_saves_of_a_run_to_a_tolerance_are_counted_or_unknown():
    """Saves far apart: right where the motion is good, NaN where it may have lost half a turn."""
    kepler, end = pi.systems.kepler, 2000.0

    def drift(rtol, start=None, **options):
        return pi.analysis.phase_drift(pi.solve(kepler, start, t_end=end, rtol=rtol, **options))[-1]

    far, batch = {"times": [0.0, end / 2, end]}, np.tile(kepler.initial, (2, 1))
    true = drift(1e-6)
    assert drift(1e-6, **far) == pytest.approx(true, abs=1e-9)
    assert drift(1e-6, batch) == pytest.approx(true, abs=1e-9)  # one save, the final state
    loose = drift(1e-2)
    assert abs(loose) > 3 * np.pi
    with pytest.warns(RecordWarning, match='half a turn or more, .*"all", or times= at most'):
        assert np.isnan(drift(1e-2, **far))
    for watch in ({"turns": pi.watch.windings("phase")}, "phase_drift"):
        assert drift(1e-2, watch=watch, save="final") == pytest.approx(loose, abs=1e-9)


@pytest.mark.parametrize("unit", [1.0, 2.0**20])
def test_an_endless_period_leaves_the_others_their_phase_in_any_unit_of_time(unit):
    """In microseconds the trial took a second, a million of them, and all phases were unknown."""
    pendulum = pi.systems.pendulum(g=9.81 * unit**2)
    run = {"dt": 0.02 / unit, "n_steps": 5000, "save": 1000}
    alone, both = (
        pi.analysis.phase_drift(pi.integrate(pendulum, angle, 0.0, **run))
        for angle in (1.0, [1.0, np.pi])
    )
    assert np.array_equal(both[:, 0], alone)
    assert np.isnan(both[:, 1]).all()


@pytest.mark.parametrize(("system", "start", "reference"), [
    (pi.systems.duffing(delta=0, gamma=0), [1.0, 0.0], True),  # in a well
    (pi.systems.kepler, [0.0, 0.0, 0.0, 0.0], False),  # at the centre
])  # fmt: skip
def test_a_motion_without_turns_has_no_phase_and_numpy_says_nothing(system, start, reference):
    watch = None if reference else "period_error"
    sol = pi.integrate(system, start, dt=0.1, n_steps=30, watch=watch, on_failure="ignore")
    reference = sol if reference else None
    assert np.isnan(pi.analysis.period_error(sol, reference))
    assert np.isnan(pi.analysis.phase_drift(sol, reference)).all()


@pytest.mark.parametrize("save", ["all", 3, "final"])
def test_the_watched_period_of_a_motion_at_rest_is_nan_whatever_was_saved(save):
    run = {"dt": 0.1, "n_steps": 9, "save": save, "watch": "period_error"}
    still, moves = pi.analysis.period_error(
        pi.integrate(pi.systems.oscillator, [0.0, 1.0], 0.0, **run)
    )
    assert np.isnan(still)
    assert abs(moves) < 1e-5


@pytest.mark.parametrize("more", [{}, {"save": 7}, {"times": [0.5, 1.0]}, {"save": "final"}])
def test_an_empty_batch_has_no_phases(more):
    none = np.zeros((0, 2))
    sol = pi.integrate(pi.systems.oscillator, none, dt=np.zeros(0), n_steps=50, **more)
    assert pi.analysis.phase_drift(sol).shape == (len(sol), 0)


def test_what_comes_after_a_failure_does_not_count():
    exploding = pi.systems.oscillator(omega=2.05)  # omega dt > 2
    run = {"dt": 1.0, "method": EULER, "bound": 1e6, "on_failure": "ignore"}
    good = int(pi.integrate(exploding, 1.0, 0.0, n_steps=3000, **run).failed_step) - 1
    assert 20 < good < 1000
    whole, cut = (
        pi.integrate(exploding, 1.0, 0.0, n_steps=n, **run) for n in (3 * good // 2, good)
    )
    ours, alone = pi.analysis.energy_drift(whole), pi.analysis.energy_drift(cut)
    for quantity in ("slope", "largest", "largest_time", "oscillation", "final"):
        assert getattr(ours, quantity) == pytest.approx(getattr(alone, quantity), rel=1e-9)
    # 14 stretches of the whole run hold the scatter that 20 of the other do.
    assert ours.slope_uncertainty == pytest.approx(alone.slope_uncertainty, rel=0.5)
    assert np.isnan(pi.analysis.phase_drift(whole)[good + 1 :]).all()


@pytest.mark.parametrize("watch", [None, "phase_drift"])
def test_a_motion_that_has_died_has_no_phase(watch):
    """Its angle is that of numbers without digits; before, the drift is as ever."""
    options = {"dt": 0.01, "t_end": 600.0, "save": 20, "watch": watch}
    sol = pi.integrate(pi.systems.spring(k=15.0, b=4.0), **options)
    with pytest.warns(pi.RecordWarning, match="died"):
        drift = pi.analysis.phase_drift(sol)
    assert np.isnan(drift[-1])
    assert abs(drift[sol.t < 300]).max() < 1e-4
