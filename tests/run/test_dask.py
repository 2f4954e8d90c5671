"""Batches of dask arrays: the bits of one call, whatever the chunks and the scheduler."""

import asyncio
import os
import signal
import subprocess
import sys
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
import xarray
import zarr
from conftest import each, same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import states

import pyintegrate as pi

LORENZ, SPRING, PENDULUM = pi.systems.lorenz, pi.systems.spring, pi.systems.pendulum
N = 60
K = np.linspace(1, 20, N)


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads", num_workers=3):
        yield


def springs(chunks, **options):
    x0 = da.from_array(np.linspace(0, 1, N), chunks=chunks)
    params = {"k": da.from_array(K, chunks=chunks), "b": 0.3}
    options = {"dt": 0.01, "n_steps": 50, "save": 9, **options}
    return pi.dask.integrate(SPRING, x0, 0.0, params=params, **options)


WHOLE = pi.integrate(SPRING(k=K, b=0.3), np.linspace(0, 1, N), 0.0, dt=0.01, n_steps=50, save=9)


@settings(max_examples=40, deadline=None)
@given(cuts=st.sets(st.integers(1, N - 1)), workers=st.sampled_from([1, 2]))
def test_the_bits_do_not_depend_on_the_chunks(cuts, workers):
    edges = [0, *sorted(cuts), N]
    sol = springs((tuple(b - a for a, b in zip(edges, edges[1:], strict=False)),), workers=workers)
    y, status = dask.compute(sol.y, sol.status)
    assert same_bits(y, WHOLE.y)
    assert same_bits(status, WHOLE.status)
    assert same_bits(sol.t, WHOLE.t)
    assert same_bits(sol.steps, WHOLE.steps)


def decay(t, y):
    return -y


def test_statistics_across_the_batch_are_those_of_one_run():
    n, stats = (6, 10), pi.across
    x0, by = np.linspace(0, 1, 60).reshape(*n, 1), np.arange(10) % 3
    many = {
        "mean": stats.mean("y"), "band": stats.quantiles("y", [0.1, 0.5], by=by),
        "exact": stats.quantiles("y", 0.5, exact=True, by=np.arange(60).reshape(n) % 7),
        "cov": stats.covariance(("y", lambda t, y: y[0] ** 2)), "low": stats.minimum("y", by=by),
        "bins": stats.histogram("y", 5, (-1, 1), by=by), "up": stats.count(lambda t, y: y[0] > 0),
    }  # fmt: skip
    noisy = {"method": "euler_maruyama", "dt": 0.1, "n_steps": 9, "seed": 3, "save": "final"}
    for verb, system, options in (
        ("integrate", pi.systems["ornstein_uhlenbeck"], noisy),
        ("solve", pi.rhs(decay, state_names=["y"]), {"t_end": 1, "times": [0, 0.3, 1]}),
    ):
        whole = getattr(pi, verb)(system, x0, across=many, **options).across
        for chunks in ((4, 3, 1), (1, 10, 1), (6, (1, 9), 1)):
            lazy = getattr(pi.dask, verb)(
                system, da.from_array(x0, chunks=chunks), across=many, **options
            )
            for across in (lazy.across.compute(), lazy.compute().across):
                assert [*across] == [*whole]
                assert all(same_bits(across[name], whole[name]) for name in whole)
    assert springs(10).across is None


def test_nothing_is_computed_before_it_is_asked_for():
    def never(block):
        raise AssertionError("computed")

    x0 = da.ones((6, 3), chunks=(2, 3)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    sol = pi.dask.integrate(LORENZ, x0, dt=0.01, n_steps=3)
    assert sol.y.shape == (4, 6, 3)
    with pytest.raises(AssertionError, match="computed"):
        sol.y.compute()


def test_a_worker_of_another_version_is_refused(monkeypatch):
    sol = springs(10)
    monkeypatch.setattr(pi.dask, "VERSION", "0.0")
    with pytest.raises(RuntimeError, match=r"a worker has 0\.0"):
        sol.compute()


def test_each_chunk_is_integrated_once(monkeypatch, tmp_path):
    calls, real = [], pi.dask._run_chunk

    def counted(*arguments, **options):
        calls.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(pi.dask, "_run_chunk", counted)
    sol = springs(10)
    dask.compute(sol.y, sol.status, sol.failed_step)
    assert len(calls) == 6
    springs(10).to_zarr(str(tmp_path / "a.zarr"))
    assert len(calls) == 12


@pytest.mark.parametrize(("name", "dtype"), each(list(pi.systems), [np.float64, np.float32]))
def test_whole_states_with_times_of_their_own(name, dtype):
    system = pi.systems[name]
    y, dt, t0 = states(system, (4, 5), dtype), np.linspace(1, 2, 5) * 1e-3, np.arange(4.0)[:, None]
    whole = pi.integrate(system, y, dt=dt, t0=t0, n_steps=7)
    lazy = da.from_array(y, chunks=(2, 3, 1)), da.from_array(dt, chunks=2), da.from_array(t0)
    sol = pi.dask.integrate(system, lazy[0], dt=lazy[1], t0=lazy[2], n_steps=7)
    assert same_bits(sol.y, whole.y)
    assert same_bits(sol.t, whole.t)
    assert same_bits(sol.final, whole.final)
    for name in system.state_names:
        assert same_bits(sol[name], whole[name])


@pytest.mark.parametrize("part", [{"save": [0, 3]}, {"save": "all", "times": [0.05]},
                                  {"components": ["v"]}])  # fmt: skip
@pytest.mark.parametrize("compensated", [False, True])
def test_the_final_state_is_the_end_of_the_run_whatever_is_saved(part, compensated):
    lazy = springs(13, **part, compensated=compensated)
    assert same_bits(lazy.final, lazy.compute().final)
    assert same_bits(lazy.final, springs(60, compensated=compensated).y[-1])


@pytest.mark.parametrize("save", ["all", "final", 4, [0, 3, 9]])
def test_saves_and_components(save):
    whole = pi.integrate(LORENZ, states(LORENZ, (9,)), dt=0.01, n_steps=10, save=save)
    y = da.from_array(states(LORENZ, (9,)), chunks=(4, 3))
    sol = pi.dask.integrate(LORENZ, y, dt=0.01, t_end=0.1, save=save, components=["z", "x"])
    assert sol.components == ("z", "x")
    assert same_bits(sol.y, whole.y[..., [2, 0]])
    with pytest.raises(KeyError, match="components z, x"):
        sol["y"]


def test_numbers_alone_and_array_parameters():
    assert same_bits(
        pi.dask.integrate(LORENZ, dt=0.01, n_steps=5).y, pi.integrate(LORENZ, dt=0.01, n_steps=5).y
    )
    masses = np.linspace(1, 2, 12).reshape(4, 3)
    whole = pi.integrate(pi.systems.three_body(masses=masses), dt=0.01, n_steps=5)
    lazy = {"masses": da.from_array(masses, chunks=(3, 2))}
    sol = pi.dask.integrate(pi.systems.three_body, dt=0.01, n_steps=5, params=lazy)
    assert same_bits(sol.y, whole.y)
    inertia = np.linspace(1, 2, 4)[:, np.newaxis, np.newaxis] * np.diag([1, 1 / 2, 1 / 3])
    run = {"dt": 0.01, "n_steps": 5, "method": "rigid_splitting2"}
    whole = pi.integrate(pi.systems.rigid_body(inverse_inertia=inertia), **run)
    lazy = {"inverse_inertia": da.from_array(inertia, chunks=(3, 2, 3))}
    assert same_bits(pi.dask.integrate(pi.systems.rigid_body, **run, params=lazy).y, whole.y)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("shape", [(50, N), (50, 1), (50,)])
def test_a_drive_goes_with_its_trajectories(shape, lazy):
    k = 15 + np.random.default_rng(1).normal(size=shape)
    call = {"dt": 0.01, "n_steps": 50, "save": 9}
    x0 = np.linspace(0, 1, N)
    whole = pi.integrate(SPRING, x0, 0.0, **call, drive={"k": k})
    drive = {"k": da.from_array(k, chunks=7) if lazy else k}
    sol = pi.dask.integrate(SPRING, da.from_array(x0, chunks=11), 0.0, **call, drive=drive)
    assert sol.compute().digest() == whole.digest()
    y, gravity = np.random.default_rng(2).normal(size=(N, 6)), np.ones((50, N, 3)) * k.mean()
    whole = pi.integrate(pi.systems.spring_3d, y, **call, drive={"gravity": gravity})
    drive = {"gravity": da.from_array(gravity, chunks=(9, 8, 2)) if lazy else gravity}
    sol = pi.dask.integrate(pi.systems.spring_3d, da.from_array(y, chunks=13), **call, drive=drive)
    assert same_bits(sol.y.compute(), whole.y)


def test_failures_are_in_the_status_and_are_no_warning():
    y = states(LORENZ, (9,))
    y[4] = np.nan
    sol = pi.dask.integrate(LORENZ, da.from_array(y, chunks=(2, 3)), dt=0.01, n_steps=5)
    assert sol.status.compute().tolist() == [0] * 4 + [1] + [0] * 4
    assert sol.failed_step.compute()[4] == 0


@pytest.mark.parametrize("chunks", [60, 10, 59, (60,)])
def test_to_zarr(chunks, tmp_path):
    sol = springs((chunks,) if isinstance(chunks, tuple) else chunks)
    sol.to_zarr(str(tmp_path / "a.zarr"))
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    for name in ("y", "t", "steps", "status", "failed_step"):
        assert same_bits(group[name][...], getattr(WHOLE, name))
    assert group.attrs["components"] == ["x", "v"]
    with pytest.raises(Exception, match=r"exists|already|not empty"):
        sol.to_zarr(str(tmp_path / "a.zarr"))


def test_the_arrays_of_to_zarr_are_read_by_dask_and_a_wrong_word_is_answered(tmp_path):
    path = str(tmp_path / "a.zarr")
    springs(10).to_zarr(path)
    with pytest.raises(ValueError, match=r"dask.array.from_zarr\(path, 'y'\)"):
        pi.load(path)
    assert same_bits(da.from_zarr(path, "y").compute(), WHOLE.y)
    with pytest.raises(TypeError, match="takes no k: what varies goes into params={'k'"):
        pi.dask.integrate(pi.systems.spring, 1.0, 0.0, dt=0.1, n_steps=2, k=[1.0, 2.0])


def test_to_zarr_names_the_package_that_it_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"to_zarr\(\) needs the package zarr.* pip install zarr"):
        springs(10).to_zarr(str(tmp_path / "a.zarr"))


@pytest.mark.parametrize("chunks", [(7, 50, 3), (1, 59), (20, 10, 20, 10)])
def test_to_zarr_needs_chunks_of_one_size(chunks, tmp_path):
    with pytest.raises(ValueError, match="differ in size.*rechunk"):
        springs((chunks,)).to_zarr(str(tmp_path / "a.zarr"))
    assert not list(tmp_path.iterdir())


def test_to_zarr_with_times_of_their_own_and_later(tmp_path):
    dt = np.linspace(1, 2, 7)
    whole = pi.integrate(SPRING, dt=dt / 100, n_steps=4)
    sol = pi.dask.integrate(SPRING, dt=da.from_array(dt, chunks=3) / 100, n_steps=4)
    later = sol.to_zarr(tmp_path / "a.zarr", compute=False)
    later.compute()
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    assert same_bits(group["y"][...], whole.y)
    assert same_bits(group["t"][...], whole.t)


WRONG = [
    (lambda x: pi.dask.integrate("spring", x, 0.0, dt=0.1, n_steps=1), TypeError, "pi.systems"),
    (lambda x: pi.dask.integrate(SPRING, x, dt=0.1, n_steps=1), ValueError, "2 components"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1), ValueError, "exactly one of t_end"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.0, n_steps=1), ValueError, "dt must be"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=-1), ValueError, "n_steps"),
    (lambda x: pi.dask.integrate(SPRING, x > 0, 0.0, dt=0.1, n_steps=1), TypeError, "x0.*bool"),
    (lambda x: pi.dask.integrate(SPRING, x[x > 1], 0.0, dt=0.1, n_steps=1), ValueError,
     "compute_chunk_sizes"),
    (lambda x: pi.dask.integrate(SPRING, x, x[:2], dt=0.1, n_steps=1), ValueError,
     r"x0 has batch shape \(6,\) and v0 \(2,\): they do not broadcast"),
    (lambda x: pi.dask.integrate(SPRING(k=np.ones(2)), x, 0.0, dt=0.1, n_steps=1), ValueError,
     r"k has batch shape \(2,\), and each chunk would take all of it: give params={'k': ...}"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, t_end=x), TypeError, "t_end"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=x, t_end=1.0), TypeError, "t_end needs dt"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=1, params={"q": x}), TypeError,
     "no parameter 'q'"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=1, save=0), ValueError, "save"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=2, drive={"k": x}), ValueError,
     r"drive\['k'\] has 6 steps, and the run 2"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=2, drive=3.0), TypeError,
     "drive must map names"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=2, on_failure="warn"), TypeError,
     "no on_failure: status tells"),
    (lambda x: pi.dask.integrate(SPRING, x, 0.0, dt=0.1, n_steps=2, first_trajectory=5), ValueError,
     "first_trajectory was given, and 'spring' has no noise"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), WRONG, ids=[row[2] for row in WRONG])
def test_a_wrong_call_is_refused_at_once(call, kind, words):
    with pytest.raises(kind, match=words):
        call(da.ones(6, chunks=2))


def test_dask_that_is_not_installed_is_named():
    code = (
        "import sys; sys.modules['dask'] = None; import pyintegrate as pi\n"
        "try: pi.dask\nexcept ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install dask" in out.stdout


# ---- beyond one process --------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster's own making
@pytest.mark.parametrize("verb", ["integrate", "solve"])
def test_a_worker_that_is_killed_in_mid_run_costs_its_chunks_and_no_bit(verb, tmp_path):
    """One chunk says on which worker it runs, and waits to be killed; on another it goes on."""
    import distributed

    k = np.linspace(1, 20, 12)

    def waiting(block):
        """The parameters, once their worker has been killed."""
        import os
        import time
        from pathlib import Path

        if block.size and block[0] == k[4]:  # one chunk, the third of six
            names = [p.name for p in Path(tmp_path).glob("pid.*")]
            Path(tmp_path, f"pid.{os.getpid()}").touch()
            while not names:  # killed here
                time.sleep(0.01)
        return block

    lazy = da.from_array(k, chunks=2).map_blocks(waiting, dtype=float, meta=np.empty(0))
    if verb == "integrate":
        whole = pi.integrate(SPRING(k=k), 1.0, 0.0, dt=0.01, n_steps=500, save=100)
        sol = pi.dask.integrate(
            SPRING, 1.0, 0.0, dt=0.01, n_steps=500, save=100, params={"k": lazy}
        )
    else:
        whole = pi.solve(SPRING(k=k), 1.0, 0.0, t_end=5.0, rtol=1e-9)
        sol = pi.dask.solve(SPRING, 1.0, 0.0, t_end=5.0, rtol=1e-9, params={"k": lazy})
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        result = client.compute(sol.y)
        while not (found := [*tmp_path.glob("pid.*")]):
            assert not result.done()
            client.sync(asyncio.sleep, 0.01)
        os.kill(int(found[0].suffix[1:]), signal.SIGKILL)
        y = result.result(timeout=120)
        assert len([*tmp_path.glob("pid.*")]) == 2  # another process took over
    assert same_bits(y, whole.y)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster's own making
def test_a_local_cluster_of_two_processes_gives_the_same_bits(tmp_path):
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert same_bits(springs(7).y.compute(scheduler=client), WHOLE.y)
        springs(10).to_zarr(str(tmp_path / "a.zarr"), compute=False).compute(scheduler=client)
    assert same_bits(zarr.open_group(tmp_path / "a.zarr", mode="r")["y"][...], WHOLE.y)


# ---- xarray.apply_ufunc: the recipe of docs/large.md ---------------------------------------------


@pytest.mark.parametrize("chunks", [None, 7])
def test_apply_ufunc(chunks):
    def final_angle(length, angle):
        system = PENDULUM(length=length)
        sol = pi.integrate(system, angle, 0.0, dt=0.01, n_steps=100, save="final")
        return sol["theta"][-1]

    length = xarray.DataArray(np.linspace(0.5, 2, 20), dims="length")
    angle = xarray.DataArray(np.linspace(0, 3, 30), dims="angle")
    length, angle = xarray.broadcast(length, angle)
    if chunks:
        length, angle = length.chunk(length=chunks), angle.chunk(length=chunks)
    found = xarray.apply_ufunc(
        final_angle, length, angle, dask="parallelized", output_dtypes=[float]
    )
    assert found.dims == ("length", "angle")
    expected = final_angle(np.linspace(0.5, 2, 20)[:, None], np.linspace(0, 3, 30))
    assert same_bits(found.values, expected)


# ---- to_xarray -----------------------------------------------------------------------------------


@pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_dataset_has_the_names_units_and_numbers_of_the_solution(system, shape):
    sol = pi.integrate(system, states(system, shape), dt=1e-3, n_steps=10, save=3)
    data = sol.to_xarray()
    batch = {0: (), 1: ("batch",), 2: ("batch_0", "batch_1")}[len(shape)]
    for name in system.state_names:
        assert same_bits(data[name].values, sol[name])
        assert data[name].dims == ("t", *batch)
        assert data[name].attrs["units"] == system.units[name]
    for name, value in system.params.items():
        assert data[name].attrs["units"] == system.units[name]
        assert np.array_equal(data[name].values, np.broadcast_to(value, data[name].shape))
    assert same_bits(data["t"].values, sol.t)
    assert same_bits(data["step"].values, sol.steps)
    assert same_bits(data["status"].values, sol.status)
    assert data["t"].attrs["units"] == "s"
    assert (data.attrs["system"], data.attrs["method"]) == (system.name, "rk4")


def test_a_dataset_knows_where_the_parameters_belong():
    system = SPRING(k=[[1.0], [2.0]], b=[0.1, 0.2, 0.3])
    sol = pi.integrate(system, 1.0, 0.0, dt=[0.1, 0.2, 0.3], n_steps=4)
    data = sol.to_xarray()
    assert data["k"].dims == ("k",)
    assert data["b"].dims == ("batch_1",)  # b and dt vary along it
    assert data["t"].dims == ("step", "k", "batch_1")
    assert same_bits(data["t"].values, sol.t)
    energy = 0.5 * data["k"] * data["x"] ** 2 + 0.5 * data["m"] * data["v"] ** 2
    assert np.allclose(energy.transpose("step", "k", "batch_1"), sol.energy(), rtol=1e-14, atol=0)
    masses = pi.systems.three_body(masses=np.ones((4, 3)))
    data = pi.integrate(masses, dt=0.01, n_steps=2).to_xarray()
    assert data["masses"].sizes == {"batch": 4, "masses_0": 3}
    part = pi.integrate(LORENZ, dt=0.01, n_steps=2, components=["z"]).to_xarray()
    assert set(part.data_vars) == {"z", "status", "failed_step"}


def test_a_dataset_can_be_stored_and_read(tmp_path):
    data = pi.integrate(SPRING(k=[1.0, 2.0]), 1.0, 0.0, dt=0.1, n_steps=4).to_xarray()
    data.to_zarr(tmp_path / "a.zarr", consolidated=False)
    again = xarray.open_zarr(tmp_path / "a.zarr", consolidated=False)
    assert again.load().identical(data)


def test_xarray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="pip install xarray"):
        pi.integrate(LORENZ, dt=0.1, n_steps=1).to_xarray()


def test_one_number_is_the_velocity_of_every_component():
    x0 = np.linspace(1, 2, 12).reshape(6, 2).astype(np.float32)
    options = {"dt": 0.01, "n_steps": 3}
    lazy = pi.dask.integrate(pi.systems.kepler, da.from_array(x0, chunks=(2, 2)), 0.5, **options)
    eager = pi.integrate(pi.systems.kepler, x0, 0.5, **options)
    assert lazy.y.dtype == eager.y.dtype == np.float32
    assert np.array_equal(lazy.y.compute(), eager.y)


# ---- the whole Solution, and what takes it -------------------------------------------------------
def throw(verb, v, **options):
    """Balls that are thrown at speeds v: watched, stopped at the ground."""
    options |= {"watch": {"top": pi.watch.maximum("z")}}
    options |= {"events": {"ground": pi.event("z", direction=-1, stop=True)}}
    how = {"dt": 0.01, "n_steps": 150} if verb == "integrate" else {"t_end": 1.5, "rtol": 1e-8}
    place = pi.dask if isinstance(v, da.Array) else pi
    return getattr(place, verb)(pi.systems.projectile, [0.0, 0.0, 0.5], v, **how, **options)


@pytest.mark.parametrize(
    "options",
    [{"save": "final"}, {"times": [0.0, 0.1, 0.2]}, {"components": ["z"], "save": "final"}],
)
@pytest.mark.parametrize("verb", ["integrate", "solve"])
def test_a_computed_solution_is_that_of_one_call(verb, options):
    if verb == "solve":
        options = options | {"breaks": [0.7, 0.05]}
    v = np.zeros((5, 3))
    v[:, 2] = [1.0, 3.0, np.nan, 9.0, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = throw(verb, v, **options)
    lazy = throw(verb, da.from_array(v, chunks=(2, 3)), **options)
    found = lazy.compute()
    assert type(found) is type(whole)
    assert found.digest() == whole.digest()
    assert (repr(found), found.failures()) == (repr(whole), whole.failures())
    for name in ("y", "t", "valid", "status", "failed_step", "evaluations"):
        if hasattr(lazy, name) and name != "t":
            assert same_bits(np.asarray(getattr(lazy, name)), getattr(whole, name)), name
    assert found.events["ground"].count.tolist() == whole.events["ground"].count.tolist()


@pytest.mark.filterwarnings("ignore::pyintegrate.RecordWarning")
@pytest.mark.parametrize("how", [{"dt": 0.1, "n_steps": 10}, {"t_end": 1.0}])
def test_a_computed_solution_knows_its_jumps(how):
    verb = "integrate" if "dt" in how else "solve"
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v))
    v = np.zeros((3, 3))
    arguments = {"events": {"ground": bounce}, "save": "final", **how}
    whole = getattr(pi, verb)(pi.systems.projectile, [0.0, 0.0, 1.0], v, **arguments)
    lazy = da.from_array(v, chunks=(2, 3))
    found = getattr(pi.dask, verb)(pi.systems.projectile, [0.0, 0.0, 1.0], lazy, **arguments)
    found = found.compute()
    assert np.isnan(found.error()).all()
    assert found.digest() == whole.digest()


@given(cuts=st.sets(st.integers(1, N - 1), max_size=4), dtype=st.sampled_from("fd"))
@settings(max_examples=10, deadline=None)
def test_each_trajectory_has_its_own_steps_whatever_the_chunks(cuts, dtype):
    edges = [0, *sorted(cuts), N]
    chunks = (tuple(b - a for a, b in zip(edges, edges[1:], strict=False)),)
    k, ends, tight = K.astype(dtype), np.linspace(1, 2, N), np.logspace(-3, -4.5, N)
    options = {"rtol": tight, "first_step": 0.01, "dtype": dtype}
    whole = pi.solve(SPRING(k=k), 1.0, 0.0, t_end=ends, **options)
    sol = pi.dask.solve(SPRING, 1.0, 0.0, t_end=da.from_array(ends, chunks=chunks),
                        params={"k": da.from_array(k, chunks=chunks)}, **options)  # fmt: skip
    for name in ("y", "status", "steps_taken", "rejected", "evaluations", "last_step"):
        assert same_bits(np.asarray(getattr(sol, name)), getattr(whole, name)), name
    assert same_bits(np.asarray(sol.t), whole.t)
    assert same_bits(sol.compute().resume(t_end=3.0).y, whole.resume(t_end=3.0).y)


@pytest.mark.parametrize("chunks", [1, 2, 4])
def test_the_pair_of_each_is_that_of_its_own_tolerance_whatever_the_chunks(chunks):
    """A chunk may hold loose tolerances alone, and others tight ones too."""
    tight = np.array([1e-5, 1e-6, 1e-9, 1e-4])
    for system in (LORENZ, PENDULUM):
        y = states(system, (4,))
        whole = pi.solve(system, y, t_end=2.0, rtol=tight)
        lazy = pi.dask.solve(system, da.from_array(y, chunks=(chunks, -1)), t_end=2.0, rtol=tight)
        found = lazy.compute()
        assert same_bits(found.y, whole.y)
        assert same_bits(found.evaluations, whole.evaluations)
        assert same_bits(found.resume(t_end=3.0).y, whole.resume(t_end=3.0).y)


@pytest.mark.parametrize("verb", ["integrate", "solve"])
def test_an_empty_batch_is_computed_too(verb):
    found = throw(verb, da.zeros((0, 3)), save="final").compute()
    assert found.y.shape == (1, 0, 6)
    assert found.watched["top"].shape == (0,)


def test_stiff_trajectories_are_known(tmp_path):
    mu = np.array([1.0, 1000.0, 2.0])
    whole = pi.solve(pi.systems.van_der_pol(mu=mu), t_end=10.0)
    sol = pi.dask.solve(
        pi.systems.van_der_pol, t_end=10.0, params={"mu": da.from_array(mu, chunks=1)}
    )
    assert same_bits(sol.stiff_since.compute(), whole.stiff_since)
    assert same_bits(sol.compute().stiff_since, whole.stiff_since)
    assert same_bits(sol.compute().evaluations, whole.evaluations)
    sol.to_zarr(tmp_path / "a.zarr")
    assert same_bits(zarr.open_group(tmp_path / "a.zarr")["steps_taken"][...], whole.steps_taken)


WRONG_SOLVES = [
    ({"save": "all"}, ValueError, "save must be 'final' here, got 'all'.*times="),
    ({"times": [0.5], "t_end": da.ones(6, chunks=2)}, TypeError, "times needs t_end and t0"),
    ({"method": "rk4"}, ValueError, "no error estimate"),
    ({"rtol": da.ones(6)}, TypeError, "'auto' chooses by rtol"),
    ({"rtol": -1.0}, ValueError, "rtol must be finite"),
    ({"watch": {"n": pi.watch.total("x")}}, ValueError, "total counts steps"),
    ({"params": {"q": 1.0}}, TypeError, "no parameter 'q'"),
    ({"breaks": np.ones((1, 6))}, ValueError, r"breaks must have one axis here.*got the shape"),
    (
        {"watch": {"image": pi.watch.density(("x", "v"), (2, 2), ((0, 1), (0, 1)))}},
        ValueError,
        "a density belongs to the whole batch",
    ),
    (
        {"watch": {"late": pi.watch.mean("x", after=np.ones(2))}},
        ValueError,
        "after of 'late' has batch shape .* a number",
    ),
    (
        {"events": {"up": pi.event(lambda t, x, v, e: x - e, params={"e": np.ones(2)})}},
        ValueError,
        "'e'.* of event 'up' has batch shape .* a number",
    ),
    ({"breaks": da.ones(6)}, TypeError, "breaks must be an array of NumPy here, got a dask array"),
    ({"t_end": None}, TypeError, "t_end must hold real numbers, got object, None"),
    ({"rtol": [1.0, [2.0]]}, ValueError, "rtol must be a regular array of numbers"),
    ({"params": 3}, TypeError, "params must map names to values, got 3"),
    ({"params": {"k": None}}, TypeError, "k must hold real numbers, got object, None"),
]


@pytest.mark.parametrize(
    ("options", "kind", "words"), WRONG_SOLVES, ids=[w[2] for w in WRONG_SOLVES]
)
def test_a_wrong_solve_is_refused_at_once(options, kind, words):
    with pytest.raises(kind, match=words):
        pi.dask.solve(SPRING, da.ones(6, chunks=2), 0.0, **{"t_end": 1.0, **options})


def test_analyses_take_a_lazy_solution():
    sol, whole = springs(20, save="all", watch="energy_drift"), springs(60, save="all").compute()
    drift = pi.analysis.energy_drift(whole)
    assert same_bits(pi.analysis.energy_drift(springs(7, save="all")).slope, drift.slope)
    assert same_bits(
        pi.analysis.phase_drift(springs(7, save="all")), pi.analysis.phase_drift(whole)
    )
    expected = pi.integrate(SPRING(k=K, b=0.3), np.linspace(0, 1, N), 0.0, dt=0.01, n_steps=50,
                            save="all", watch="energy_drift")  # fmt: skip
    assert same_bits(
        pi.analysis.energy_drift(sol).largest, pi.analysis.energy_drift(expected).largest
    )
    assert "spring(k=15, b=0.1, m=1), k of each, b of each: y" in repr(sol)
