"""The attacks of `make attack` run, for a few seconds, with a seed of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pyintegrate as pi

ATTACK = Path(__file__).resolve().parent / "attack"


@pytest.mark.long  # make attack
@pytest.mark.parametrize(
    "name",
    ["files", "cache", "signals", "threads", "stacks", "programs", "differential", "watching"],
)
def test_a_short_attack_finds_nothing(name, tmp_path):
    """In a process of its own, for a bounded address space and an audit hook stay for good."""
    call = [sys.executable, str(ATTACK / f"{name}.py"), "2", "7"]
    where = {**os.environ, "PYTHONPATH": str(Path(pi.__file__).resolve().parents[1])}
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env=where)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r": ([0-9]+) cases", done.stdout)[1]) > 0


def test_calls_of_the_core_without_memory_of_python_raise_memory_error(tmp_path):
    """Each of their requests to Python's allocators is refused once, and all from that one on."""
    pytest.importorskip("_testcapi")
    text = "import memory\nfor call in memory.core_calls().values(): memory.attack_python(call)\n"
    where = {**os.environ, "PYTHONPATH": f"{Path(pi.__file__).resolve().parents[1]}:{ATTACK}"}
    call = [sys.executable, "-c", text]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env=where)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("end", "report"),
    [
        ("os.abort()", "attack: SIGABRT ended it in case 5:3\n"),
        ("while True: pass", "attack: case 5:3 has not ended in 1 s\n"),
        ("raise SystemExit(4)", "attack: case 5:3 failed\n"),
    ],
)
def test_the_parent_of_an_attack_says_in_which_case_it_ended(end, report):
    text = f"import child, os\nnote = child.guarded('attack', 1)\nnote(5, 3)\n{end}\n"
    call = [sys.executable, "-c", text]
    done = subprocess.run(call, capture_output=True, text=True, cwd=ATTACK.parent)
    assert done.stdout == report
    assert done.returncode == (4 if "Exit" in end else 1)
