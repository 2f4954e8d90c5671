"""An option of a run stands in few places: a made-up one is patched into a copy, built and used.

`most_blocks` ends a run after that many blocks of time; the core reads it at each block.
"""

import pytest
from copies import built_copy, run_in
from places import ROOT

MOST_PLACES = 6

# File, what stands there, what stands there then: a place each.
PATCH = [
    (
        "pyintegrate/integration.py",
        "    bound: float | None = None,\n",
        "    bound: float | None = None,\n    most_blocks: int | None = None,\n",
    ),
    (
        "pyintegrate/integration.py",
        "    start : str, Method or array_like, optional\n",
        "    most_blocks : int, optional\n        Blocks of time after which the run ends.\n"
        "    start : str, Method or array_like, optional\n",
    ),
    (
        "pyintegrate/run/options.py",
        "    progress = Option(",
        "    most_blocks = Option(None, lambda n: n or 0, core=True)\n"
        "    progress = Option(",
    ),
    ("csrc/run/run.h", "    double bound;", "    int64_t most_blocks;\n    double bound;"),
    (
        "csrc/python/fields.c",
        "        NUMBER(run, lanes, 0, 0x1p48) ||",
        "        OPTION(run, most_blocks, 0, 1000) ||\n"
        "        NUMBER(run, lanes, 0, 0x1p48) ||",
    ),
    (
        "csrc/run/run.c",
        "        const int error = block ?",
        "        if (run->most_blocks && block > run->most_blocks) break;\n"
        "        const int error = block ?",
    ),
]  # fmt: skip
USE = """
import pyintegrate as pi
call = dict(dt=0.1, n_steps=1000, save=100)
print(pi.integrate(pi.systems.spring, most_blocks=2, **call).n_steps,
      pi.integrate(pi.systems.spring, **call).n_steps)
"""


def test_an_option_that_the_core_reads_takes_few_places():
    assert len(PATCH) <= MOST_PLACES
    for file, before, _ in PATCH:
        assert (ROOT / file).read_text().count(before) == 1, f"{file}: {before!r}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return built_copy(tmp_path_factory)


def add_to(copy):
    """The option, added to a copy of the repository (copies.py)."""
    for file, before, after in PATCH:
        text = (copy / file).read_text()
        (copy / file).write_text(text.replace(before, after))


@pytest.mark.long
def test_the_core_reads_it(copy):
    done = run_in(copy, "-c", USE)
    assert done.returncode == 0, done.stderr
    # A block is 256 steps, or as many whole intervals of saves as fit into it: 2 of 100.
    assert done.stdout.split() == ["400", "1000"]
