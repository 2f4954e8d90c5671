"""What version 0.1.0 saved and pickled (tests/solution/legacy) answers as it did, to the bit.

Where the arithmetic of a method has changed since, the states are those that were, and resumed runs
are near them, with a warning.
"""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pyintegrate as pi

HERE = Path(__file__).resolve().parent / "legacy"
sys.path.insert(0, str(HERE))
import make as legacy  # noqa: E402

EXPECTED = json.loads((HERE / "expected.json").read_text())
FILES = sorted(p.name for p in HERE.iterdir() if p.suffix in (".npz", ".zarr"))
PICKLES = sorted(p.stem for p in HERE.glob("*.pickle") if not p.stem.startswith("object_"))


CONCERNED = (
    "stormer", "multistep",  # Stormer-Verlet; an implicit method
    "all", "component", "every", "failed", "final",  # rk4 of systems that have scales
)  # fmt: skip


def same_answers(sol, name):
    expected = EXPECTED["solutions"][name]
    if name in CONCERNED:
        with pytest.warns(pi.ArithmeticWarning):
            said = legacy.answers(sol)
        found, then = ([*map(float.fromhex, of["resumed"])] for of in (said, expected))
        assert found == pytest.approx(then, rel=1e-13)  # three steps, each an ulp or two
        said["resumed"] = expected["resumed"]
    else:
        said = legacy.answers(sol)
    assert said == expected | {"repr": said["repr"]}  # words may change, numbers may not


@pytest.mark.parametrize("file", FILES)
def test_files_load(file, tmp_path):
    path = HERE / file
    if path.is_dir():  # a store is not opened where it cannot be written
        path = Path(shutil.copytree(path, tmp_path / file))
    same_answers(pi.load(path), path.stem)


@pytest.mark.parametrize("name", PICKLES)
def test_pickled_solutions_load(name):
    same_answers(pickle.loads((HERE / f"{name}.pickle").read_bytes()), name)


def test_other_pickles_load():
    """Systems and methods are equal to those made today; measures say what they said."""
    for name, today in legacy.objects():
        then = pickle.loads((HERE / f"object_{name}.pickle").read_bytes())
        assert type(then) is type(today), name
        if isinstance(then, pi.System | pi.Method | pi.Status):
            assert then == today, name
        elif name == "drift":
            assert repr(then) == EXPECTED["objects"][name]
        elif name == "snapshot":
            stepper = pi.Stepper(pi.systems.spring, dt=0.1)
            stepper.restore(then)
            assert (stepper.n, float(stepper.x)) == (3, float(today.rows[0, 0]))
        elif name == "comparison":
            assert list(then) == list(today)
            assert then["rk4"].y.tobytes() == today["rk4"].y.tobytes()
        elif name == "traced":
            assert then.as_data() == today.as_data()


def test_pickles_load_whose_modules_and_classes_have_other_names():
    """A run to a tolerance with a watch and an event, and an orbit diagram."""
    sol = pickle.loads((HERE / "object_renamed_solve.pickle").read_bytes())
    assert type(sol).__name__ == "AdaptiveSolution"
    assert sol.t_end == 5
    assert sol.watched["e"] < 1e-10
    with pytest.warns(UserWarning, match="unpickled"):
        assert sol.resume(t_end=6.0).t[-1] == 6
    diagram = pickle.loads((HERE / "object_renamed_orbit.pickle").read_bytes())
    assert type(diagram) is pi.analysis.OrbitDiagram
    assert len(np.unique(diagram.at)) == 3
    assert pickle.loads(pickle.dumps(sol)).events["up"].count == 0


def test_a_pickle_loads_before_anything_else_is_imported():
    code = f"import pickle; print(pickle.load(open({str(HERE / 'all.pickle')!r}, 'rb')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("<Solution of pendulum"), done.stderr
