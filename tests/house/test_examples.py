"""Every example runs as it stands, and draws its picture."""

import os
import subprocess
import sys

import pytest
from places import ROOT

pytest.importorskip("matplotlib")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_its_picture(path, tmp_path):
    picture = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, path, picture], capture_output=True, text=True, timeout=120,
        env={**os.environ, "MPLBACKEND": "Agg"}, cwd=path.parents[1], check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert picture.stat().st_size > 10_000
    assert f"picture written to {picture}" in done.stdout


@pytest.mark.parametrize("name", ["moon_lander", "aim_and_throw", "balancing_poles"])
def test_a_game_is_short(name):
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) < 60
