"""What one sees by tab, help() and repr: what is public, and no more."""

import inspect
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import pyintegrate as pi
from pyintegrate.analysis import basin, energy_drift, modified_energy, period_error, phase_drift

SCRIPT = """
import sys
from pathlib import Path
sys.modules |= dict.fromkeys(["dask", "matplotlib"])
import pydoc, pyintegrate as pi
text = pydoc.plain(pydoc.render_doc(pi))
print("class Stepper" in text, "dask" in dir(pi), "plots" in dir(pi))
"""


def test_the_package_lists_public_names_only():
    assert set(dir(pi)) == {"__version__", "dask", *pi.__all__}


def test_help_needs_no_optional_package():
    code = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize("system", [pi.systems.spring, pi.systems.rigid_body, pi.systems.n_body])
def test_help_of_a_system_hides_what_is_between_modules(system):
    listed = set(dir(system))
    assert {"rhs", "energy", "params", "initial"} <= listed
    assert not {"core_for", "ready", "refusal", "evaluate", "definition", "fitting"} & listed


def test_a_system_is_called_with_its_parameters():
    assert str(inspect.signature(pi.systems.pendulum)) == "(*, g=9.81, length=1.0)"
    assert list(inspect.signature(pi.systems.three_body(g=2.0)).parameters) == ["g", "masses"]


def test_the_pictures_are_listed_without_what_draws_them():
    pytest.importorskip("matplotlib")
    assert dir(pi.plots) == sorted(pi.plots.__all__)


def frames(run):
    with pytest.raises((ValueError, KeyError, TypeError)) as caught:
        run()
    return len(traceback.extract_tb(caught.value.__traceback__)) - 2  # this one, and run()


@pytest.mark.parametrize(
    "wrong", [{"dt": 0.0}, {"method": "rk5"}, {"watch": {"a": "nothing"}}], ids=str
)
def test_an_error_in_a_notebook_shows_the_call_and_not_how_it_was_checked(monkeypatch, wrong):
    def run():
        pi.integrate(pi.systems.spring, **({"dt": 0.1, "n_steps": 3} | wrong))

    assert frames(run) > 2
    monkeypatch.setattr("builtins.__IPYTHON__", True, raising=False)
    assert frames(run) == 0


def test_an_error_of_ones_own_function_is_shown_in_a_notebook(monkeypatch):
    monkeypatch.setattr("builtins.__IPYTHON__", True, raising=False)

    def mine(sol):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        pi.scan(pi.systems.spring, {"k": [1.0]}, mine, dt=0.1, n_steps=3)
    assert "mine" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


def test_a_fixed_timestep_prints_what_it_steps():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.25), max_steps=3)
    loop.advance(2.5)
    assert repr(loop) == (
        "<FixedTimestep of <Stepper of spring by semi_implicit_euler: 1 trajectory, 3 steps done>:"
        " at most 3 steps a frame, 7 dropped>"
    )


@pytest.mark.parametrize(
    "measure",
    [phase_drift, period_error, energy_drift, modified_energy, basin],
    ids=lambda f: f.__name__,
)
def test_what_measures_a_solution_says_how_to_measure_a_comparison(measure):
    c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=100)
    with pytest.raises(
        TypeError, match=f"{measure.__name__} takes a Solution .* got Compar.*'rk4'"
    ):
        measure(c)
    if measure is not modified_energy:  # rk4 has none
        assert len({key: measure(sol) for key, sol in c.items()}) == 2  # as the message says
    with pytest.raises(TypeError, match=f"{measure.__name__} takes a Solution .* got System"):
        measure(pi.systems.spring)
    with pytest.raises(TypeError, match=f"{measure.__name__} takes a Solution .* got Stepper"):
        measure(pi.Stepper(pi.systems.spring, dt=0.1))


def test_a_function_of_a_module_is_found_there():
    for name, place in (("equilibria", "analysis"), ("windings", "watch"), ("heatmap", "plots")):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': it is pi.{place}.{name}"):
            getattr(pi, name)
    with pytest.raises(AttributeError, match="'phase_space': did you mean phase_plane or phase_p"):
        pi.plots.phase_space  # noqa: B018
    with pytest.raises(AttributeError, match="'scan': did you mean pi.scan or Scan"):
        pi.analysis.scan  # noqa: B018


def test_a_section_and_a_reference_are_of_a_solution_too():
    c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=100)
    with pytest.raises(TypeError, match="poincare_section takes a Solution as solution, got Comp"):
        pi.analysis.poincare_section(c, "x")
    with pytest.raises(TypeError, match="phase_drift takes a Solution as reference, got Compar"):
        phase_drift(c["rk4"], c)


def test_the_sources_without_a_core_explain_themselves(tmp_path):
    """As after `pip install .`, in the folder of the sources: which folder, and what to do."""
    ignore = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(Path(pi.__file__).parent, tmp_path / "pyintegrate", ignore=ignore)
    # What an editable install adds to the import system would find the core of the sources there.
    program = """if True:
        import sys
        sys.meta_path = [finder for finder in sys.meta_path if "Editable" not in str(finder)]
        import pyintegrate"""
    command = [sys.executable, "-c", program]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert f"ImportError: the folder '{tmp_path / 'pyintegrate'}' holds the sources" in done.stderr
    assert "another folder" in done.stderr
    assert "pip install -e ." in done.stderr
