"""Every notebook runs as it stands, shows a picture early, and is stored without output."""

import json
import re
from pathlib import Path

import numpy
import pytest
from places import ROOT

import pyintegrate

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHORT = "01_phase_drift_and_energy"  # the one that make test runs


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


RUNS = [
    pytest.param(path, marks=[pytest.mark.long] * (path.stem != SHORT), id=path.stem)
    for path in NOTEBOOKS
]
DRAWS = re.compile(r"\bplt\.|\.plot\(|\bplots\.(?!colour_of)")  # into one figure a cell


@pytest.mark.parametrize("path", RUNS)
def test_runs_in_under_a_minute_and_every_cell_shows_its_picture(path, tmp_path, monkeypatch):
    # The kernel is another process: this one's backend must not reach it.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(pyintegrate.__file__).parents[1]))
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # raises CellExecutionError, with the cell and its traceback
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [sum("image/png" in o.get("data", {}) for o in cell.outputs) for cell in cells]
    assert shown == [bool(DRAWS.search(cell.source)) for cell in cells]
    outputs = [o for cell in cells for o in cell.outputs]
    noise = [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert not noise


def test_stored_without_output(path):
    text = path.read_text(encoding="utf-8")
    assert '"output_type"' not in text
    for cell in json.loads(text)["cells"]:
        assert cell.get("execution_count") is None


def test_first_plot_within_ten_lines(path):
    lines = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            for line in cell["source"]:
                lines += bool(line.strip())
                if "plot" in line and "import" not in line:
                    assert lines <= 10
                    return
    pytest.fail("the notebook draws nothing")


COURSE = (ROOT / "docs" / "learn.md").read_text()
LESSONS = [path for path in NOTEBOOKS if path.name in COURSE]


@pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])
def test_a_lesson_has_a_question_and_three_exercises_whose_solutions_run(path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert re.match(r"# .*\n\n\*[^*]+\?\*\n", texts[0])
    last = texts[-1]
    assert last.startswith("## Exercises\n\n**1.** ")
    assert last.count("<details>\n<summary>Solution</summary>\n\n") == 3 == last.count("</details>")
    names = {"np": numpy, "pi": pyintegrate, "plt": pyplot}
    for block in re.findall(r"```python\n(.*?)```", last, re.S):
        exec(compile(block, path.name, "exec"), names)
    pyplot.close("all")
