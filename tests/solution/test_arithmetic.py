"""The number of the arithmetic: what a run was computed in is known to its files, and to resume."""

import json
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.method.arithmetic import ARITHMETIC
from pyintegrate.solution.files import HEADER


def run(method="rk4", **options):
    return pi.integrate(pi.systems.kepler, dt=0.05, n_steps=9, method=method, **options)


def numbered(sol, number):
    """As a version with this number would have made it."""
    sol._problem = sol._problem.changed(arithmetic=number)
    return sol


def with_header(path, **changes):
    """The same file with other fields."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop(HEADER).item()) | changes
    np.savez(path, **{HEADER: np.array(json.dumps(header))}, **arrays)
    return path


def test_there_is_one_number_and_it_says_what_changed():
    assert _core.info()["arithmetic"] == ARITHMETIC
    done = subprocess.run(
        [sys.executable, "-m", "pyintegrate", "info"], capture_output=True, text=True, check=True
    )
    assert re.search(rf"^arithmetic +{ARITHMETIC}$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("kind", ["npz", "zarr"])
@pytest.mark.parametrize("number", [1, ARITHMETIC, ARITHMETIC + 1])
def test_files_and_pickles_hold_it(kind, number, tmp_path):
    if kind == "zarr":
        pytest.importorskip("zarr")
    sol = numbered(run(), number)
    assert pickle.loads(pickle.dumps(sol)).arithmetic == number
    for _ in range(2):  # also where it was loaded
        sol.save(tmp_path / f"a.{kind}")
        sol = pi.load(tmp_path / f"a.{kind}")
        assert sol.arithmetic == number


@pytest.mark.parametrize("value", [0, -1, True, "2", 1.0, 1 << 40, [2]])
def test_a_number_that_is_none_is_refused(value, tmp_path):
    run().save(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="damaged: arithmetic: "):
        pi.load(with_header(tmp_path / "a.npz", arithmetic=value))


@pytest.mark.parametrize("value", [0, 1, "yes", [True]])
def test_compensated_that_is_no_truth_is_refused(value, tmp_path):
    run().save(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="damaged: compensated: "):
        pi.load(with_header(tmp_path / "a.npz", compensated=value))
    with pytest.raises(ValueError, match="damaged: first_state: "):  # it has no rows for that
        pi.load(with_header(tmp_path / "a.npz", compensated=True))


@pytest.mark.parametrize("method", ["stormer_verlet", "bdf3", "gauss4", "rk4"])
@pytest.mark.parametrize("number", [1, ARITHMETIC + 1])
def test_a_run_that_goes_on_in_another_arithmetic_warns_once(method, number):
    sol = numbered(run(method), number)
    with pytest.warns(pi.ArithmeticWarning, match=f"arithmetic {number}.*{method}") as caught:
        further = sol.resume(n_steps=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert further.resume(n_steps=3).arithmetic == ARITHMETIC
    with pytest.warns(pi.ArithmeticWarning):
        assert pi.concatenate(sol, sol.resume(n_steps=3)).arithmetic == ARITHMETIC


def test_a_snapshot_of_another_arithmetic_warns():
    stepper = pi.Stepper(pi.systems.kepler, dt=0.05, method="stormer_verlet")
    stepper.step(5)
    snapshot = stepper.snapshot()
    stepper.restore(snapshot)
    there = stepper.y.copy()
    snapshot.arithmetic = 1
    snapshot = pickle.loads(pickle.dumps(snapshot))
    with pytest.warns(pi.ArithmeticWarning, match="arithmetic 1"):
        stepper.restore(snapshot)
    assert same_bits(stepper.y.copy(), there)
    stepper.step(5)
    assert stepper.y == pytest.approx(
        pi.integrate(
            pi.systems.kepler, dt=0.05, n_steps=10, method="stormer_verlet", save="final"
        ).final,
        rel=1e-12,
    )
