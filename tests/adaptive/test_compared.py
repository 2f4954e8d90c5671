"""Runs to a tolerance beside others: in comparisons, labelled arrays and tables."""

import numpy as np
import pytest

import pyintegrate as pi

MOTION = {"dt": 0.05, "t_end": 20.0}


def test_a_comparison_has_methods_of_both_kinds():
    c = pi.compare(
        pi.systems.pendulum, methods=["rk4", ("DOP853", pi.tolerance(1e-9)), "midpoint"], **MOTION
    )
    assert list(c) == ["rk4", "dop853 to 1e-09", "midpoint"]
    alone = pi.solve(pi.systems.pendulum, t_end=20.0, method="dop853", rtol=1e-9, atol=1e-3 * 1e-9)
    found = c["dop853", pi.tolerance(1e-9)]
    assert np.array_equal(found.y, alone.y)
    table = c.table()
    assert table.columns[-3:-1] == ("steps", "evaluations")
    row = table.rows[[row[0] for row in table.rows].index("dop853 to 1e-09")]
    assert row[-3] == f"{alone.steps_taken:,}"
    assert row[-2] == f"{alone.evaluations:,}"
    summary = c.summary()
    assert summary["dop853 to 1e-09"]["max_energy_error"] < 1e-8
    assert c.plot().shape[0] == 1


def test_runs_to_a_tolerance_stand_beside_every_dt_and_need_none():
    methods = ["rk4", ("auto", pi.tolerance(1e-6, 1e-8))]
    c = pi.compare(pi.systems.oscillator, methods=methods, dt=[0.1, 0.2], t_end=9.0, save="final")
    assert list(c) == [("rk4", 0.1), ("auto to 1e-06", 0.1), ("rk4", 0.2), ("auto to 1e-06", 0.2)]
    assert c["auto to 1e-06", 0.1] is c["auto to 1e-06", 0.2]
    assert c["auto to 1e-06", 0.1].watched["energy_drift.largest"] < 1e-4
    alone = pi.compare(pi.systems.oscillator, methods=methods[1], t_end=9.0)
    assert list(alone) == ["auto to 1e-06"]
    assert alone.plot().shape[0] == 1
    counted = pi.compare(pi.systems.oscillator, methods=methods, dt=0.1, n_steps=90)
    assert counted["auto to 1e-06"].t[-1] == pytest.approx(9.0)


def test_what_does_not_fit_is_refused():
    both = ["rk4", ("dop853", pi.tolerance(1e-9))]
    for error, match, options in (
        (ValueError, "equal_work gives steps", {"equal_work": True}),
        (ValueError, "save=5 counts steps", {"save": 5}),
        (ValueError, "drive is for steps of one length", {"drive": {"g": np.ones(400)}}),
        (TypeError, "dt is missing", {"dt": None}),
        (TypeError, r"expected a method, or \(method, pi.tolerance", {"methods": [("rk4", 1)]}),
        (ValueError, "no error estimate", {"methods": [("rk4", pi.tolerance(1e-3))]}),
    ):
        with pytest.raises(error, match=match):
            pi.compare(pi.systems.pendulum, **{"methods": both, **MOTION, **options})
    with pytest.raises(ValueError, match="rtol must be finite and not negative"):
        pi.tolerance(-1.0)


def test_labelled_arrays_know_steps_and_tolerances():
    pytest.importorskip("xarray")
    rtol = np.array([1e-3, 1e-5, 1e-7, 1e-9])
    sol = pi.solve(pi.systems.lorenz, np.ones((4, 3)), t_end=1.0, rtol=rtol,
                   watch={"m": pi.watch.mean("x")})  # fmt: skip
    data = sol.to_xarray()
    assert np.array_equal(data.rtol, rtol)
    assert np.array_equal(data.steps_taken.sel(rtol=1e-5), sol.steps_taken[1])
    assert np.array_equal(data["watched.m"], sol.watched["m"])
    assert data.attrs["atol"] == 1e-9
    assert "dt" not in data.attrs


def test_tables_have_the_steps_of_each_trajectory():
    pytest.importorskip("pandas")
    sol = pi.solve(pi.systems.lorenz(rho=[10.0, 28.0]), t_end=1.0, save="all")
    table = sol.to_pandas()
    assert len(table) == sol.counts.sum()
    assert table.loc[28.0].index[-1] == 1.0
    assert np.array_equal(table.loc[28.0]["x"], sol["x"][: sol.counts[1], 1])


def test_heat_maps_of_runs_to_a_tolerance():
    sol = pi.solve(pi.systems.pendulum, np.linspace(0.1, 2, 6).reshape(2, 3), 0.0, t_end=1.0)
    ax = pi.plots.heatmap(sol, sol.evaluations)
    assert ax.figure is not None
