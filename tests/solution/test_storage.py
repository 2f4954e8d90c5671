"""A solution that was saved and loaded is the solution that was saved; a bad file is an error.

What is compared are bits: of the states, of a resumed run, of the parameters.
"""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from conftest import pairs, same_bits
from reference import COVERING_IN_BOTH, names, states

import pyintegrate as pi
from pyintegrate.solution import files, plain_data
from pyintegrate.system.system import System

KINDS = ["npz", "zarr"]
kinds = pytest.mark.parametrize("kind", KINDS)
RALSTON = pi.RungeKutta([[0, 0], [Fraction(2, 3), 0]], [Fraction(1, 4), Fraction(3, 4)])
STRANG = pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)], name="mine")


def same(a, b):
    """All that a solution answers."""
    assert type(a) is type(b)
    assert (a.system, a.method, a.n_steps, a.components) == (
        b.system, b.method, b.n_steps, b.components)  # fmt: skip
    for name in ("y", "t", "steps", "initial", "final", "status", "failed_step", "valid", "dt"):
        assert same_bits(getattr(a, name), getattr(b, name)), name
    assert repr(a) == repr(b)
    assert a.failures() == b.failures()
    assert a.evaluations == b.evaluations
    return True


def run(system=pi.systems.lorenz, shape=(5,), **options):
    options = {"dt": 1e-3, "n_steps": 40, "on_failure": "ignore", **options}
    y = states(system, shape, options.get("dtype", np.float64))
    return pi.integrate(system, y, **options)


# ---- whole again ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "system", "dtype"), COVERING_IN_BOTH, ids=names(COVERING_IN_BOTH)
)
def test_a_loaded_solution_is_the_one_that_was_saved_and_goes_on(method, system, dtype, tmp_path):
    sol = run(system, method=method, dtype=dtype, save=9)
    sol.save(tmp_path / "a.npz")
    loaded = pi.load(tmp_path / "a.npz")
    assert same(loaded, sol)
    assert same(loaded.resume(n_steps=25), sol.resume(n_steps=25))


@pytest.mark.parametrize(
    ("shape", "save", "kind"),
    pairs([(), (1,), (3,), (2, 3), (2, 0), (1, 1, 70)], ["all", "final", 7], KINDS),
)
def test_every_shape_and_every_interval(shape, save, kind, tmp_path):
    sol = run(pi.systems.lorenz(rho=np.full(shape, 28.0)), shape, save=save)
    sol.save(tmp_path / f"a.{kind}")
    loaded = pi.load(str(tmp_path / f"a.{kind}"))
    assert same(loaded, sol)
    assert loaded.y.strides == sol.y.strides or save == "final" or not sol.y.size
    assert same(loaded.resume(n_steps=3), sol.resume(n_steps=3))


@kinds
def test_what_broadcasts_is_kept_as_it_was(kind, tmp_path):
    system = pi.systems.spring(k=[[1.0], [2.0]], b=np.float64(-0.0))
    sol = pi.integrate(system, 1.0, [0.0, 1, 2], dt=[0.1, 0.2, -0.3], t0=[[5.0], [6.0]], n_steps=9)
    sol.save(tmp_path / f"a.{kind}")
    loaded = pi.load(tmp_path / f"a.{kind}")
    assert same(loaded, sol)
    assert loaded.system.params["k"].shape == (2, 1)
    assert same_bits(loaded.energy_error(), sol.energy_error())
    assert same_bits(loaded.exact(), sol.exact())
    assert same(loaded.resume(n_steps=3), sol.resume(n_steps=3))


@kinds
def test_failures_and_bounds_go_on_as_they_were(kind, tmp_path):
    y = states(pi.systems.lorenz, (50,)) * np.linspace(1, 20, 50)[:, np.newaxis]
    y[3, 1], y[7] = np.nan, 1e200
    sol = pi.integrate(
        pi.systems.lorenz, y, dt=1e-2, n_steps=10, bound=45.0, on_failure="ignore", save=4
    )
    assert 2 < sol.n_failed < 50
    sol.save(tmp_path / f"a.{kind}")
    assert same(pi.load(tmp_path / f"a.{kind}"), sol)
    longer = pi.load(tmp_path / f"a.{kind}").resume(n_steps=60)
    assert same(longer, sol.resume(n_steps=60))
    assert longer.n_failed > sol.n_failed


def test_a_resumed_and_an_interrupted_solution(tmp_path):
    resumed = run(n_steps=11).resume(n_steps=8)
    resumed.save(tmp_path / "a.npz")
    loaded = pi.load(tmp_path / "a.npz")
    assert same(loaded, resumed)
    assert loaded.steps.tolist() == list(range(11, 20))

    hands = [1]

    def stop(done, total):
        if hands:
            raise KeyboardInterrupt(hands.pop())

    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=1 << 20, save=10, progress=stop)
    part = caught.value.solution
    part.save(tmp_path / "a.npz")
    assert same(pi.load(tmp_path / "a.npz"), part)
    assert same(pi.load(tmp_path / "a.npz").resume(n_steps=5), part.resume(n_steps=5))


@kinds
@pytest.mark.parametrize("method", [RALSTON, STRANG], ids=str)
def test_methods_of_ones_own_are_data(method, kind, tmp_path):
    sol = run(pi.systems.pendulum, method=method)
    sol.save(tmp_path / f"a.{kind}")
    loaded = pi.load(tmp_path / f"a.{kind}")
    assert same(loaded, sol)
    assert loaded.method.exact_coefficients == method.exact_coefficients
    assert same(loaded.resume(n_steps=5), sol.resume(n_steps=5))


# ---- user-defined systems ------------------------------------------------------------------------


def stranger(**changes):
    """A system that is not in the catalogue, and is no data."""

    class Own(System):
        __slots__ = ()

        def __reduce__(self):
            raise TypeError("it cannot be pickled")

        def __call__(self, **params):
            return Own(self.definition, dict(super().__call__(**params).params))

    base = pi.systems.spring
    return Own(replace(base.definition, **changes), dict(base.params))


def pendulums(**options):
    """A traced system with an array parameter for each trajectory and one for all."""

    @pi.acceleration(dof=2, k=15.0, centre=(0.5, -0.0), **options)
    def pendulums(t, x, v, k, centre):
        return -k * np.sin(x - centre) + np.where(t > 0.01, v, 0.0)

    return pendulums


@kinds
@pytest.mark.parametrize("params", [{}, {"k": np.linspace(1, 2, 5)}, {"centre": np.ones((5, 2))}])
def test_traced_systems_are_data(params, kind, tmp_path):
    sol = run(pendulums(energy=lambda t, x, v, k, centre: x @ v)(**params))
    sol.save(tmp_path / f"a.{kind}")
    loaded = pi.load(tmp_path / f"a.{kind}")
    assert same(loaded, sol)
    assert same_bits(loaded.energy(), sol.energy())
    assert same(loaded.resume(n_steps=5), sol.resume(n_steps=5))


def test_functions_are_no_data(tmp_path):
    def exact(t, x0, v0, t0, k, centre):
        return np.zeros(4)

    @pi.rhs(dim=1, trace=False, rate=2.0)
    def decay(t, y, rate):
        return -rate * y

    for system in (pendulums(exact=exact), decay):
        sol = run(system)
        sol.save(tmp_path / "a.npz")
        with pytest.raises(ValueError, match=f"system={system.name}"):
            pi.load(tmp_path / "a.npz")
        assert same(pi.load(tmp_path / "a.npz", system=system), sol)


@kinds
def test_a_system_that_is_no_data_must_be_given(kind, tmp_path):
    sol = run(stranger()(k=np.linspace(1, 2, 5)), save=3)
    sol.save(tmp_path / f"a.{kind}")
    with pytest.raises(ValueError, match=r"'spring'.*user-defined.*system=spring"):
        pi.load(tmp_path / f"a.{kind}")
    loaded = pi.load(tmp_path / f"a.{kind}", system=stranger())
    assert same(loaded, sol)
    assert same(loaded.resume(n_steps=3), sol.resume(n_steps=3))


@kinds
def test_another_system_in_its_place_is_refused(kind, tmp_path):
    run(stranger()).save(tmp_path / f"a.{kind}")
    with pytest.raises(ValueError, match="'pendulum' with g, length"):
        pi.load(tmp_path / f"a.{kind}", system=pi.systems.pendulum)
    with pytest.raises(TypeError, match="must be a System, got str"):
        pi.load(tmp_path / f"a.{kind}", system="spring")
    other = pi.systems.duffing.definition
    liar = System(replace(other, name="spring", params=[], shapes={}), {})
    with pytest.raises(ValueError, match="spring"):
        pi.load(tmp_path / f"a.{kind}", system=liar)


def test_other_equations_under_the_same_name_are_noticed(tmp_path, monkeypatch):
    run(pi.systems.oscillator).save(tmp_path / "a.npz")
    monkeypatch.setattr(plain_data, "_slope", lambda system: np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="'oscillator' that was saved has other equations"):
        pi.load(tmp_path / "a.npz")


def test_other_coefficients_under_the_same_name_are_noticed(tmp_path, monkeypatch):
    run().save(tmp_path / "a.npz")
    changed = {**pi.methods["rk4"].coefficients, "b": [0.25] * 4}
    monkeypatch.setitem(pi.methods["rk4"].__dict__, "coefficients", changed)
    with pytest.raises(ValueError, match="'rk4' has other coefficients"):
        pi.load(tmp_path / "a.npz")


# ---- the file ------------------------------------------------------------------------------------


def test_an_npz_holds_plain_arrays_that_numpy_reads(tmp_path):
    sol = run(save=10)
    sol.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert same_bits(np.moveaxis(file["y"], 1, -1), sol.y)
        assert same_bits(file["t"], sol.t)
        header = json.loads(str(file["header"]))
    assert (header["format"], header["version"]) == ("pyintegrate solution", 1)
    assert header["written_by"] == f"pyintegrate {pi.__version__}"


@kinds
def test_a_crash_while_writing_leaves_the_old_file_and_nothing_else(kind, tmp_path, monkeypatch):
    path, old, new = tmp_path / f"a.{kind}", run(n_steps=3), run(n_steps=30)
    old.save(path)

    class Crash(Exception):
        pass

    def crash(*_, **__):
        raise Crash

    points = {
        "npz": [(files, "_write_npz"), (np.lib.format, "write_array"), (os, "replace")],
        "zarr": [
            (files, name) for name in ("_write_zarr", "to_disk", "_chunks", "_replace_folder")
        ],
    }
    for holder, point in points[kind]:
        with monkeypatch.context() as patch:
            patch.setattr(holder, point, crash)
            with pytest.raises(Crash):
                new.save(path)
        assert same(pi.load(path), old), point
        assert os.listdir(tmp_path) == [f"a.{kind}"]
    new.save(path)
    assert same(pi.load(path), new)


@kinds
def test_a_killed_writer_leaves_the_old_file(kind, tmp_path):
    path = tmp_path / f"a.{kind}"
    run(n_steps=3).save(path)
    code = f"""
import os, pyintegrate as pi
from pyintegrate.solution import files
last = files.to_disk
os.fsync = lambda descriptor: os._exit(9)  # all is written, nothing is renamed
pi.integrate(pi.systems.lorenz, dt=1e-3, n_steps=1000).save({str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    assert same(pi.load(path), run(n_steps=3))


def test_folders_are_replaced_where_the_system_cannot_exchange_two(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_exchange", lambda a, b: False)
    run(n_steps=3).save(tmp_path / "a.zarr")
    run(n_steps=4).save(tmp_path / "a.zarr")
    assert len(pi.load(tmp_path / "a.zarr")) == 5
    rename = os.rename

    def broken(a, b):
        if str(a).endswith(".tmp"):
            raise OSError("disk is gone")
        rename(a, b)

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(OSError, match="gone"):
        run(n_steps=5).save(tmp_path / "a.zarr")
    assert len(pi.load(tmp_path / "a.zarr")) == 5
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_a_folder_that_is_something_else_is_not_replaced(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="holds no solution"):
        run().save(tmp_path / "a.zarr")
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        run().save(tmp_path / "a.npz")
    assert (tmp_path / "a.zarr" / "thesis.txt").exists()
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "a.zarr"]


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [("a.txt", ValueError, "npz or .zarr.*to_csv"), (b"a.npz", TypeError, "got bytes"),
     (3, TypeError, "int"), ("nowhere/a.npz", FileNotFoundError, "nowhere")],
)  # fmt: skip
def test_a_wrong_path_is_refused(path, kind, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=words):
        run().save(path)
    with pytest.raises(kind, match=words):
        pi.load(path)


def test_statistics_across_the_batch_stay_behind_and_that_is_told(tmp_path):
    sol = run(across={"mean": pi.across.mean("x")})
    with pytest.warns(UserWarning, match="not statistics across the batch: pickle the solution"):
        sol.save(tmp_path / "a.npz")
    assert not pi.load(tmp_path / "a.npz").across
    assert np.array_equal(pickle.loads(pickle.dumps(sol)).across["mean"], sol.across["mean"])


def test_zarr_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match="pip install zarr"):
        run().save(tmp_path / "a.zarr")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_is_pickled_opens_where_nothing_has_been_imported(tmp_path):
    """Each object first, as a worker of a cluster may meet it."""
    kepler, lorenz = pi.systems.kepler(mu=2.0), pi.systems.lorenz
    start = [1.0, 2.0, 3.0]
    across = {"mean": pi.across.mean("x")}
    run = pi.integrate(lorenz, [start], dt=0.01, n_steps=3, across=across)
    objects = [
        kepler, lorenz, pi.systems.noise["double_well"], pi.systems.n_body, pi.systems.rigid_body,
        pi.methods.rk4, pi.methods.radau_iia5, run, run.across, pi.across.mean("x"),
        pi.solve(lorenz, start, t_end=0.1, watch={"m": pi.watch.maximum("x")}), pi.event("x"),
        pi.Stepper(lorenz, start, dt=0.01).snapshot(),
    ]  # fmt: skip
    for i, one in enumerate(objects):
        (tmp_path / f"{i:02}").write_bytes(pickle.dumps(one))
    code = (
        "import os, pickle, sys, pathlib\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    if not (child := os.fork()):\n"
        "        print(type(pickle.loads(path.read_bytes())).__name__, flush=True)\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    command = [sys.executable, "-c", code, tmp_path]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout.split() == [type(one).__name__ for one in objects], out.stderr


def test_metadata_of_a_zarr_folder_are_plain_json(tmp_path):
    """RFC 8259 has no infinities; what versions of zarr make of one differs."""
    pytest.importorskip("zarr")
    pi.integrate(pi.systems.spring, dt=0.1, n_steps=3).save(tmp_path / "a.zarr")

    def no_number(name):
        raise AssertionError(name)

    texts = [path.read_text() for path in tmp_path.rglob("zarr.json")]
    assert len(texts) > 3
    for text in texts:
        json.loads(text, parse_constant=no_number)
