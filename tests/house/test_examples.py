"""Every example runs as it stands, and draws its picture."""

import runpy
import sys

import pytest
from places import ROOT

matplotlib = pytest.importorskip("matplotlib")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_its_picture(path, tmp_path, monkeypatch, capfd):
    matplotlib.use("Agg")
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(path), str(picture)])
    monkeypatch.chdir(path.parents[1])
    code = 0
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    assert code == 0
    assert picture.stat().st_size > 10_000
    said, complained = capfd.readouterr()
    assert f"picture written to {picture}" in said
    assert complained == ""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_tells_what_it_is(path, monkeypatch, capsys):
    """--help was the name of its picture."""
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(path), run_name="__main__")
    assert end.value.code is None
    assert f"python examples/{path.name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["moon_lander", "aim_and_throw", "balancing_poles"])
def test_a_game_is_short(name):
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 64
