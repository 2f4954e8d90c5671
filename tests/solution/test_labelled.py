"""Labels of a solution as users of xarray and pandas expect them."""

import sys

import numpy as np
import pandas
import pytest

import pyintegrate as pi

K, B = np.linspace(1, 20, 4), np.array([0.0, 0.1, 0.2])


def springs(**options):
    system = pi.systems.spring(k=K, b=B[:, np.newaxis])
    return pi.integrate(system, 1.0, 0.0, **({"dt": 0.1, "n_steps": 5} | options))


def test_a_dimension_has_the_name_of_what_varies_along_it():
    sol = springs()
    data = sol.to_xarray()
    assert data["x"].dims == ("t", "b", "k")
    one = data.sel(b=0.1, k=7.0, method="nearest")
    assert np.array_equal(one["x"].values, sol.x[:, 1, 1])
    row = pi.integrate(pi.systems.oscillator(omega=[[1.0, 2.0]]), dt=0.1, n_steps=5)
    assert row.to_xarray().sel(omega=2.0)["x"].dims == ("t", "batch_0")
    steps = pi.integrate(pi.systems.oscillator, dt=[0.1, 0.2], n_steps=5).to_xarray()
    assert steps["x"].dims == ("step", "dt")
    assert steps.sel(dt=0.2)["t"].values.tolist() == [n * 0.2 for n in range(6)]


@pytest.mark.parametrize(
    "system",
    [
        pi.systems.spring(k=K, b=K / 10),  # two along one axis
        pi.systems.spring(k=[1.0, 2.0, 1.0, 3.0]),  # a value twice
        pi.systems.spring(k=[[1.0, 2.0], [3.0, 4.0]]),  # one along two axes
    ],
)
def test_what_is_not_alone_or_not_unique_names_no_dimension(system):
    data = pi.integrate(system, dt=0.1, n_steps=2).to_xarray()
    assert all(str(name).startswith("batch") for name in data["x"].dims[1:])
    assert np.array_equal(data["k"].values, system.params["k"])


@pytest.mark.parametrize("count", [4, 3])
def test_parameters_of_xarray_are_matched_by_their_dimensions(count):
    """As xarray itself multiplies them; beyond the lengths, which may be equal."""
    xarray = pytest.importorskip("xarray")
    k = xarray.DataArray(K[:count], dims="stiffness")
    b = xarray.DataArray(B, dims="damping")
    both = (k * b).transpose("damping", "stiffness") + 1.0
    system = pi.systems.spring(k=k, b=b, m=both)
    values = np.broadcast_arrays(*(system.params[name] for name in ("k", "b", "m")))
    for found, wanted in zip(values, xarray.broadcast(k, b, both), strict=True):
        assert np.array_equal(found, wanted)
    data = pi.integrate(pi.systems.spring(k=k, b=b), dt=0.1, n_steps=2).to_xarray()
    assert data["x"].dims == ("t", "k", "b")


def test_array_parameters_are_matched_by_dimension_and_labels_must_agree():
    xarray = pytest.importorskip("xarray")
    g = xarray.DataArray([1.0, 2.0, 3.0], dims="a", coords={"a": [0, 1, 2]})
    masses = xarray.DataArray(np.arange(1.0, 10.0).reshape(3, 3), dims=("b", "body"))
    system = pi.systems.three_body(g=g, masses=masses)
    assert system.batch_shapes == {"g": (3, 1), "masses": (1, 3)}
    with pytest.raises(ValueError, match="parameter b has other labels along 'a'"):
        pi.systems.spring(k=g, b=g[::-1])
    assert pi.systems.spring(k=g, b=g).batch_shapes["b"] == (3,)


@pytest.mark.parametrize("name", ["dt", "rejected", "component", "stopped_at", "event"])
def test_names_that_an_export_needs_are_refused(name):
    pytest.importorskip("xarray")
    events = {"half": pi.event(lambda t, y: y[0] - 0.5)}
    decay = pi.rhs(lambda t, y: -y, dim=1, state_names=[name])
    if name == "dt":  # of each trajectory, and a component of the same name
        sol = pi.integrate(decay, [1.0], dt=[0.1, 0.2], n_steps=9)
    else:
        sol = pi.solve(decay, np.ones((2, 1)), t_end=1.0, events=events)
    with pytest.raises(ValueError, match=f"component or parameter {name}, which is needed"):
        sol.to_xarray()
    if name == "stopped_at":
        with pytest.raises(ValueError, match=f"component or parameter {name}, which is needed"):
            sol.to_pandas()


def test_statistics_across_the_batch_have_their_own_times():
    labels = np.arange(9) % 2
    across = {
        "m": pi.across.mean("x", every=10, by=labels), "n": pi.across.histogram("x", 4, (0, 1)),
        "q": pi.across.quantiles("x", [0.1, 0.5], every=5),
        "c": pi.across.covariance(("x", "v"), every=20),
        "one": pi.across.quantiles("x", 0.5, by=labels),
    }  # fmt: skip
    sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 9), 0.0, dt=0.1, n_steps=20,
                       across=across)  # fmt: skip
    data = sol.to_xarray()
    for name, array in sol.across.items():
        assert np.array_equal(data[f"across.{name}"], array)
    assert data["across.m"].dims == ("across.m.t", "across.m.groups")
    assert data["across.m"].sel({"across.m.groups": 1, "across.m.t": 1.0}) == sol.across["m"][1, 1]
    assert data["across.q"].dims == ("across.q.t", "across.q.q")


@pytest.mark.parametrize("batch", [(6,), (6, 6)])
def test_a_density_and_edges_of_bins_are_of_no_trajectory(batch):
    """Even if they have as many items as the batch."""
    watch = {
        "line": pi.watch.density("x", 6, (0, 1)), "edges": pi.watch.last("x"),
        "plane": pi.watch.density(("x", "v"), 6, ((0, 1), (0, 1))),
        "bins": pi.watch.histogram("x", 5, (0, 1)),
    }  # fmt: skip
    start = np.linspace(0, 1, np.prod(batch)).reshape(batch)
    sol = pi.integrate(pi.systems.oscillator, start, 0.0, dt=0.1, n_steps=3, save="final",
                       watch=watch)  # fmt: skip
    each = [f"watched.{name}" for name in sol.watched if name.startswith("edges")]
    assert [name for name in sol.to_pandas() if name.startswith("watched.")] == each
    data = sol.to_xarray()
    dims = data["status"].dims
    for name in sol.watched:
        here = f"watched.{name}" in each or name == "bins"
        assert (data[f"watched.{name}"].dims[: len(dims)] == dims) == here


def test_a_frame_has_the_numbers_of_the_solution():
    sol = springs()
    frame = sol.to_pandas()
    assert list(frame.columns) == ["x", "v"]
    assert frame.index.names == ["b", "k", "t"]
    assert np.array_equal(
        frame["x"].unstack("t").to_numpy().reshape(3, 4, 6), np.moveaxis(sol.x, 0, -1)
    )
    assert np.array_equal(frame.loc[0.1, K[2]]["v"], sol.v[:, 1, 2])
    assert frame.reset_index().shape == (72, 5)
    alone = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=3, components=["z"]).to_pandas()
    assert list(alone.columns) == ["z"]
    assert np.array_equal(alone.index, [0.0, 0.01, 0.02, 0.03])
    data = sol.to_xarray()[["x", "v"]].to_dataframe(dim_order=["b", "k", "t"])
    pandas.testing.assert_frame_equal(frame, data[["x", "v"]])


def test_rows_of_a_frame_end_where_a_trajectory_failed():
    # Explicit Euler multiplies the motion by |1 + 100i| a step: 1e308 is passed at step 154.
    sol = pi.integrate(
        pi.systems.oscillator(omega=[1.0, 1000.0]), dt=0.1, n_steps=200, method="explicit_euler",
        on_failure="ignore",
    )  # fmt: skip
    frame = sol.to_pandas()
    assert len(frame.loc[1.0]) == 201
    assert len(frame.loc[1000.0]) == sol.failed_step[1]
    assert np.isfinite(frame.to_numpy()).all()


def test_a_frame_of_ends_has_a_row_for_each_and_says_which_failed():
    springs = pi.systems.oscillator(omega=[1.0, 1000.0])
    run = {"dt": 0.1, "n_steps": 200, "method": "explicit_euler", "on_failure": "ignore"}
    frame = pi.integrate(springs, **run, save="final").to_pandas()
    assert frame["status"].tolist() == [pi.Status.OK, pi.Status.NOT_FINITE]


def test_pandas_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        springs().to_pandas()
