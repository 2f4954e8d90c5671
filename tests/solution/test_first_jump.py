"""The true motion ends where an event lets a trajectory jump: NaN from there on, and a word."""

import pickle
import warnings

import numpy as np
import pytest

import pyintegrate as pi

START = [0, 0, 2.0], [1, 0, 0.0]
FALL = np.sqrt(4 / 9.81)  # seconds from 2 m
quiet = pytest.mark.filterwarnings("ignore::pyintegrate.RecordWarning")


def floor(keep=9):
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]), keep=keep)
    return {"floor": bounce}


def run(x0=START[0], v0=START[1], system=pi.systems.projectile, **settings):
    settings = {"dt": 0.01, "t_end": 3.0, "events": floor()} | settings
    return pi.integrate(system, x0, v0, **settings)


def solved(**settings):
    return pi.solve(pi.systems.projectile, *START, t_end=3.0, **{"events": floor()} | settings)


def record_warnings(call):
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = call()
    return result, [str(one.message) for one in caught if one.category is pi.RecordWarning]


@quiet
@pytest.mark.parametrize("make", [run, solved])
@np.errstate(all="raise")  # as a user may have it
def test_the_exact_motion_ends_at_the_first_jump(make):
    sol = make()
    known = sol.t < FALL * (1 - 1e-9)
    exact, told = record_warnings(sol.exact)
    assert known.sum() >= 5
    np.testing.assert_array_equal(np.isfinite(exact).all(axis=-1), known)
    assert np.isnan(exact[~known]).all()
    # Free fall is a polynomial of degree 2, which both methods follow to rounding.
    assert np.abs(sol.error()[known]).max() < 1e-12
    (message,) = told
    assert "jump" in message
    assert "then=" in message


def test_without_a_jump_all_is_known_and_nothing_is_said():
    for settings in ({"t_end": 0.5}, {"events": {"down": pi.event("z", direction=-1)}}):
        sol = run(**settings)
        (exact, told), drift = record_warnings(sol.exact), sol.energy_error()
        assert np.isfinite(exact).all()
        assert not told
        assert np.isfinite(drift).all()


@quiet
def test_each_trajectory_has_a_jump_of_its_own():
    heights = np.array([1.0, 2.0, 100.0])  # the last does not land
    sol = run([[0, 0, z] for z in heights], [1, 0, 0.0], save=10)
    exact = sol.exact()
    known = sol.t[:, np.newaxis] < np.sqrt(2 * heights / 9.81)
    np.testing.assert_array_equal(np.isfinite(exact).all(axis=-1), known)
    assert known[-1].tolist() == [False, False, True]


@quiet
def test_backwards_in_time_the_jump_is_the_first_on_the_way():
    sol = run(dt=-0.01, t_end=-3.0)
    np.testing.assert_array_equal(np.isfinite(sol.exact()[:, 0]), sol.t > -FALL)


@quiet
@pytest.mark.parametrize("make", [run, solved])
def test_of_jumps_that_were_not_kept_nothing_after_the_start_is_known(make):
    exact = make(events=floor(keep=0)).exact()
    assert np.isfinite(exact[0]).all()
    assert np.isnan(exact[1:]).all()
    assert np.isfinite(make(events=floor(keep=0), t_end=0.5).exact()).all() if make is run else True


@quiet
@pytest.mark.filterwarnings("ignore:this solution was loaded or unpickled")
def test_parts_files_and_pickles_remember_the_jump(tmp_path):
    first = run(t_end=1.0)
    first.save(tmp_path / "run.npz")
    for same in (first, pi.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(first))):
        np.testing.assert_array_equal(same.exact(), first.exact())
        further = same.resume(t_end=1.5)
        assert np.isnan(further.exact()).all()
        further.save(tmp_path / "further.npz")
        assert np.isnan(pi.load(tmp_path / "further.npz").exact()).all()
        joined = pi.concatenate(same, further)
        np.testing.assert_array_equal(np.isfinite(joined.exact()[:, 0]), joined.t < FALL)
        for sol in (same, joined):
            assert sol.at(0.5 * FALL)[2] == pytest.approx(1.5)
            with pytest.raises(ValueError, match="nothing interpolates across a jump"):
                sol.at(FALL)
        assert np.isfinite(further.at(1.234)).all()
    both = pickle.loads(pickle.dumps(solved(save="final")))
    assert np.isnan(both.resume(t_end=4.0).exact()).all()


@pytest.mark.parametrize("make", [run, solved])
def test_the_table_has_no_errors_of_another_motion(make):
    sol = make()
    table, told = record_warnings(sol.table)
    assert len(told) == 1
    cells = {head: [row[i] for row in table.rows] for i, head in enumerate(table.columns)}
    errors = [cell for head, column in cells.items() if "error" in head for cell in column]
    assert len(errors) == 4
    assert set(errors) == {"-"}
    assert float(cells["E(end)/E(0)"][1]) < 0.5  # what was lost in bounces is lost


@quiet
def test_a_comparison_has_no_errors_of_another_motion():
    c = pi.compare(
        pi.systems.projectile, *START, methods=["rk4", "explicit_euler"], dt=0.01, t_end=3.0,
        events=floor(),
    )  # fmt: skip
    for measures in c.summary().values():
        for name, value in measures.items():
            assert "error" not in name or value is None or np.isnan(value)


@quiet
def test_the_phase_of_the_exact_motion_ends_at_a_jump():
    wall = {"wall": pi.event("theta", direction=-1, then=lambda t, x, v: (x, -v), keep=99)}
    wanted = {"dt": 0.01, "t_end": 20.0, "events": wall}
    sol = pi.integrate(pi.systems.pendulum, 1.0, 0.0, **wanted)
    jump = sol.events["wall"].t[0]
    np.testing.assert_array_equal(np.isfinite(pi.analysis.phase_drift(sol)), sol.t < jump)
    end = pi.integrate(
        pi.systems.pendulum, 1.0, 0.0, **wanted, save="final", watch=["phase_drift", "period_error"]
    )
    assert np.isnan(pi.analysis.phase_drift(end)).all()
    assert np.isnan(pi.analysis.period_error(end))
    # A reference that jumps as well says how wrong the rest is.
    fine = pi.integrate(pi.systems.pendulum, 1.0, 0.0, **wanted | {"dt": 0.005}, save=2)
    assert np.isfinite(pi.analysis.phase_drift(sol, fine)).all()


@quiet
def test_a_part_that_is_driven_knows_no_exact_motion(tmp_path):
    first = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=5)
    driven = first.resume(n_steps=5, drive={"omega": np.full(5, 3.0)})
    driven.save(tmp_path / "driven.npz")
    for sol in (driven, pi.load(tmp_path / "driven.npz"), pi.concatenate(first, driven)):
        assert np.isnan(sol.error()).all()
