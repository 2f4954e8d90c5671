"""Measures of runs that saved only their end, from watches, are those of all saves, to rounding."""

import warnings
from functools import partial

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis import energy_drift, period_error, phase_drift

EPS = np.finfo(float).eps
ALL = ["energy_drift", "phase_drift", "period_error"]
MOTIONS = {
    "oscillator": ([1.0, 0.5], [0.0, 0.3], 0.1),
    "spring": ([1.0, 0.5], [0.0, 0.3], 0.05),
    "momentum_spring": ([1.0, 0.5], [0.0, 0.3], 0.05),
    "pendulum": ([2.0, 0.5, 0.1], [0.0, 0.3, 9.0], 0.05),  # the last one turns over
    "kepler": ([[1.0, 0.0], [1.0, 0.2]], [[0.0, 1.2], [0.1, -0.9]], 0.02),
}
METHODS = ["rk4", "semi_implicit_euler", "velocity_verlet", "adams_bashforth2", "gauss4", "dop853"]


def run(name, **options):
    x, v, dt = MOTIONS[name]
    options = {"dt": dt, "n_steps": 700, "dtype": np.float64, **options}
    x, v = (np.asarray(a, options["dtype"]) for a in (x, v))
    return pi.integrate(getattr(pi.systems, name), x, v, **options)


def close(a, b, size, roundings=64):
    """Equal to some roundings of the numbers of that size from which they are made."""
    bound = roundings * EPS * np.asarray(size)
    assert np.all((np.abs(a - b) <= bound) | (np.isnan(a) & np.isnan(b))), (a, b, bound)


CASES = [(name, method, np.float64) for name in MOTIONS for method in METHODS]
CASES += [(name, "rk4", np.float32) for name in MOTIONS]


@pytest.mark.parametrize(("name", "method", "dtype"), CASES)
def test_watched_is_analysed(name, method, dtype):
    if method == "velocity_verlet" and name == "momentum_spring":
        method = "mclachlan4"
    saves = run(name, method=method, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = run(name, method=method, dtype=dtype, save="final", watch=ALL)
        turns = {"turns": pi.watch.windings("phase")}
        turns = run(name, method=method, dtype=dtype, save="final", watch=turns)
        drift, energy = phase_drift(saves), energy_drift(saves)
        # An angle of some hundred radians, whose rounding each step has anew.
        angle = 1 + 2 * np.pi * np.abs(saves.t[-1] / saves.system.period(saves.origin))
        close(phase_drift(ends)[-1], drift[-1], angle)
        close(phase_drift(turns)[-1], drift[-1], angle)
        close(ends.watched["phase_drift.largest"], np.abs(drift).max(axis=0), angle)
        close(period_error(ends), period_error(saves), angle / saves.t[-1])
        seen = energy_drift(ends)
    # An energy of a float32 state is rounded there where the run is, to float64 here.
    size = (1 + np.abs(energy.largest)) * (2 if dtype == np.float64 else 2**29)
    close(seen.largest, energy.largest, size)
    close(seen.final, energy.final, size)
    close(seen.slope, energy.slope, size)
    assert np.isnan(seen.oscillation).all()
    # What stands for the uncertainty never takes a swing for a drift.
    assert np.all(seen.secular <= (energy.secular | (np.abs(energy.slope) < 1e-14)))


@pytest.mark.parametrize("save", [50, "final"])
def test_parts_splits_and_sparse_saves_change_nothing(save):
    saves = run("pendulum")
    long = run("pendulum", save=save, watch=ALL)
    parts = run("pendulum", save=save, watch=ALL, n_steps=300).resume(n_steps=400)
    for sol in (long, parts, pi.concatenate(parts)):
        assert np.array_equal(phase_drift(sol)[-1], phase_drift(long)[-1])
        assert np.array_equal(period_error(sol), period_error(long))
        assert np.array_equal(energy_drift(sol).largest, energy_drift(saves).largest)
    close(phase_drift(long)[-1], phase_drift(saves)[-1], 1e3)
    if save == 50:  # the deviation from the line is that of the saves
        assert np.isfinite(energy_drift(long).oscillation).all()


def test_files_know_what_was_watched(tmp_path):
    sol = run("kepler", save="final", watch=ALL)
    sol.save(tmp_path / "a.npz")
    loaded = pi.load(tmp_path / "a.npz")
    for measure in (phase_drift, period_error):
        assert np.array_equal(measure(loaded), measure(sol))
    assert np.array_equal(energy_drift(loaded).slope, energy_drift(sol).slope)


def test_a_trajectory_that_failed_or_rests_has_no_phase():
    x = np.array([1.0, 0.0, np.nan, 0.7])
    sol = pi.integrate(
        pi.systems.oscillator, x, 0.0, dt=0.1, n_steps=300, save="final", watch=ALL,
        on_failure="ignore",
    )  # fmt: skip
    assert np.isnan(phase_drift(sol)[-1]).tolist() == [False, True, True, False]
    assert np.isnan(period_error(sol)).tolist() == [False, True, True, False]


def test_a_reference_counts_its_own_turns():
    prey = pi.systems.lotka_volterra
    few, many = {"dt": 0.1, "n_steps": 400}, {"dt": 0.01, "n_steps": 4000}
    saves = phase_drift(pi.integrate(prey, **few), pi.integrate(prey, **many, save=10))
    watch = {"save": "final", "watch": "phase_drift"}
    ends = phase_drift(pi.integrate(prey, **few, **watch), pi.integrate(prey, **many, **watch))
    close(ends[-1], saves[-1], 1e2)


def test_what_lacks_is_named_as_it_is_written():
    bare = run("pendulum", save="final")
    for measure, words in [
        (
            energy_drift,
            r'pi\.watch\.slope\("energy_error"\) and pi\.watch\.max_abs\("energy_error"',
        ),
        (period_error, r'pi\.watch\.slope\("phase_drift"\)'),
    ]:
        with pytest.warns(pi.RecordWarning, match=words):
            measure(bare)
    fast = {"dt": 0.5, "n_steps": 5000, "method": "semi_implicit_euler", "save": "final"}
    with pytest.warns(pi.RecordWarning, match=r'"turns": pi\.watch\.windings\("phase"\)'):
        phase_drift(run("oscillator", **fast))
    half = run("pendulum", save="final", watch={"a": pi.watch.max_abs("energy_error")})
    with pytest.warns(pi.RecordWarning, match=r'drift": pi\.watch\.slope\("energy_error"\)$'):
        assert np.isnan(energy_drift(half).slope).all()
    looked = {"a": pi.watch.max_abs("energy_error", every=2)}  # not at all steps
    with pytest.warns(pi.RecordWarning):
        energy_drift(run("pendulum", save="final", watch=looked))


def test_a_comparison_of_ends_watches_what_its_table_needs():
    how = {"dt": 0.05, "t_end": 60.0}
    ends, saves = (pi.compare(pi.systems.pendulum, save=s, **how) for s in ("final", "all"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = ends.table()
    assert "max energy error" in table.columns
    assert "position error at the end [rad]" in table.columns
    for name in ends:
        a, b = ends.summary()[name], saves.summary()[name]
        assert a["max_energy_error"] == b["max_energy_error"]
        close(a["phase_error"], b["phase_error"], 1e3)
    mine = {"energy_drift": pi.watch.mean("theta"), "big": pi.watch.max_abs("energy_error")}
    both = pi.compare(pi.systems.pendulum, save="final", watch=mine, **how)["rk4"].watched
    assert {"energy_drift", "big", "energy_drift of the table", "phase_drift"} <= set(both)
    assert not pi.compare(pi.systems.lorenz, save="final", dt=0.01, n_steps=9)["rk4"].watched


@pytest.mark.parametrize(("watch", "words"), [
    ("far", "'phase_drift', 'period_error', got 'far'"),
    ({"a": "b"}, "got 'b'"),
    ([pi.watch.maximum("theta")], "must map names to watches.*got a list with <pi.watch.maximum"),
    (3, "must map names to watches"),
])  # fmt: skip
def test_wrong_names_of_analyses(watch, words):
    with pytest.raises((TypeError, ValueError), match=words):
        run("pendulum", watch=watch)


def test_analyses_that_a_system_does_not_have():
    lorenz = {"system": pi.systems.lorenz, "dt": 0.01, "n_steps": 9}
    with pytest.raises(ValueError, match="has no phase"):
        pi.integrate(**lorenz, watch="phase_drift")
    with pytest.raises(ValueError, match="has no energy"):
        pi.integrate(**lorenz, watch="energy_drift")
    with pytest.raises(ValueError, match=r"those of a reference"):
        pi.integrate(pi.systems.lotka_volterra, dt=0.1, n_steps=9, watch="period_error")
    with pytest.raises(ValueError, match="has no quantity 'phase_drift'"):
        run("pendulum", events={"a": pi.event("phase_drift")})
    # Momenta of a projectile are components too: each name once.
    with pytest.raises(ValueError, match="it has x, y, z, vx, vy, vz, energy"):
        pi.integrate(pi.systems.projectile, dt=0.1, n_steps=9, events={"a": pi.event("height")})


def test_pictures_of_ends_show_the_largest_errors():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    theta, length = np.linspace(0.1, 3, 4)[:, np.newaxis], np.linspace(0.5, 2, 5)
    sol = pi.integrate(
        pi.systems.pendulum(length=length), theta, 0.0, dt=0.05, n_steps=500, save="final",
        watch=ALL,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values, label in [
            ("energy_error", "largest energy error"),
            ("phase_error", "largest phase error [rad]"),
            ("period_error", "relative error of the period"),
        ]:
            ax = pi.plots.heatmap(sol, values)
            assert ax.figure.axes[1].get_ylabel() == label
        ax = pi.plots.error(sol, quantity="energy")
        assert ax.get_ylabel() == "largest relative energy error so far"
        highest = max(line.get_ydata().max() for line in ax.get_lines())
        assert highest == sol.watched["energy_drift.largest"].max()
        pi.plots.dashboard(pi.compare(pi.systems.pendulum, dt=0.05, n_steps=99, save="final"))
    plt.close("all")


def hit(t, y):
    return y[0]


hit.terminal, hit.direction = True, -1.0


def test_events_as_of_scipy_are_answered_with_what_to_write():
    words = r"events=\{'hit': pi.event\(hit\).*its attributes terminal and direction count"
    for events in (hit, [hit], (hit, lambda t, y: y[1])):
        with pytest.raises(TypeError, match=words):
            run("pendulum", events=events)
    with pytest.raises(TypeError, match=r"'event_1': pi.event\(event_1\)"):
        run("pendulum", events=[hit, lambda t, y: y[1]])
    with pytest.raises(TypeError, match=words):
        pi.Stepper(pi.systems.pendulum, dt=0.1, events=hit)


@pytest.mark.parametrize("run", [
    lambda **keywords: pi.integrate(pi.systems.pendulum, 1.0, 0.0, dt=0.1, t_end=10.0, **keywords),
    lambda **keywords: pi.solve(pi.systems.pendulum, 1.0, 0.0, t_end=10.0, **keywords),
], ids=["fixed", "solve"])  # fmt: skip
def test_the_phase_at_the_end_is_not_that_of_a_save_before_it(run):
    for times in [1.0, 2.0, 3.0], [1.0, 2.0, 10.0]:
        alone = pi.analysis.phase_drift(run(times=times))
        watched = pi.analysis.phase_drift(run(times=times, watch="phase_drift"))
        assert watched == pytest.approx(alone, rel=1e-9, abs=1e-14)


def test_a_reference_that_went_on_is_compared_at_the_common_end():
    turns = {"turns": pi.watch.windings("phase")}
    run = {"save": 10, "watch": turns, "dt": 0.1, "t_end": 3.0}
    sol = pi.integrate(pi.systems.pendulum, 1.0, 0.0, **run)
    long = {"save": [0, 100, 200, 300], "dt": 0.01, "t_end": 10.0}
    known = [
        pi.integrate(pi.systems.pendulum, 1.0, 0.0, watch=watch, **long) for watch in (None, turns)
    ]
    alone, counted = (phase_drift(sol, one) for one in known)
    assert counted == pytest.approx(alone, rel=1e-9, abs=1e-14)


def test_turns_between_times_of_a_run_to_a_tolerance_are_not_guessed():
    """Heun's pair at 1e-2 gains 10 rad on the oscillator to t = 2000: one turn and more."""
    run = {"t_end": 2000.0, "rtol": 1e-2, "atol": 1e-2, "method": "heun2"}
    whole = phase_drift(pi.solve(pi.systems.oscillator, **run))
    assert abs(whole[-1]) > 2 * np.pi
    two = {"times": [0.0, 2000.0]}
    with pytest.warns(pi.RecordWarning, match="its turns cannot be counted"):
        sparse = phase_drift(pi.solve(pi.systems.oscillator, **run, **two))
    assert np.array_equal(np.isnan(sparse), [False, True])
    for watch in ("phase_drift", {"turns": pi.watch.windings("phase")}):
        known = phase_drift(pi.solve(pi.systems.oscillator, **run, **two, watch=watch))
        assert abs(known[-1] - whole[-1]) < 1e-6
    fine = pi.solve(pi.systems.oscillator, t_end=2000.0, rtol=1e-9, **two)
    assert np.isfinite(phase_drift(fine)).all()


def test_a_watched_name_says_what_was_measured():
    """The slope of the phase drift is no relative error: T/T_0 - 1 = -s / (w + s)."""
    sol = run("oscillator", save="final", n_steps=500, watch="period_error")
    slope = sol.watched["period_error.phase_slope"]
    assert period_error(sol) == pytest.approx(-slope / (1 + slope), rel=1e-12)  # w = 1
    assert "period_error" not in sol.watched


def test_the_cure_suits_the_run():
    for solve, cure in ((pi.solve, "times="), (partial(pi.integrate, dt=0.1), "save=k")):
        sol = solve(pi.systems.pendulum, t_end=50.0, save="final")
        for measure in (period_error, energy_drift):
            with pytest.warns(pi.RecordWarning) as told:
                measure(sol)
            assert cure in str(told[0].message)
            assert ("save=k" in str(told[0].message)) == (cure == "save=k")


def test_the_period_of_a_solution_to_a_tolerance_beside_a_finer_one():
    """By the same saves of steps of one length, which follow the coarse motion to 1e-8."""
    run = {"times": np.arange(0.0, 50.0, 0.1), "t_end": 50.0}
    coarse, fine = (pi.solve(pi.systems.lotka_volterra, rtol=r, **run) for r in (1e-4, 1e-10))
    truth = pi.integrate(pi.systems.lotka_volterra, dt=0.01, method="dop853", **run)
    assert period_error(coarse, fine) == pytest.approx(period_error(coarse, truth), abs=1e-8)
    assert abs(period_error(coarse, fine)) > 1e-5
