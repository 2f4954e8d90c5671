"""No size of the core wraps around: products of what is given go through csrc/sizes.h."""

import ctypes
import re
import shlex
import subprocess
import sysconfig

import numpy as np
import pytest
from places import ROOT

from pyintegrate import _core
from pyintegrate.values.memory import aligned

CSRC = ROOT / "csrc"
_ALLOCATE = re.compile(
    r"\b(?:\w*[mc]alloc|\w*[rR]ealloc|PyMem_\w+loc|aligned_alloc|pi_aligned|views_\w+)\("
)
# A product of two numbers; `sizeof *x` is none, nor is a pointer that is declared or followed.
_PRODUCT = re.compile(r"[\w)\]]\s+\*\s*[\w(]|[\w)\]]\s*\*\s+[\w(]")


def arguments(text, start):
    """What stands in the brackets that begin there."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return text[start:]


def raw_products(text):
    found = []
    for call in _ALLOCATE.finditer(text):
        inside = re.sub(r"sizeof\s+\*\w+", "sizeof", arguments(text, call.end()))
        declared = re.search(r"\b(?:const|void|char|int|PyObject|Views|PiRow)\b[^,]*\*", inside)
        if _PRODUCT.search(inside) and not declared:
            found.append(call.group() + inside)
    return found


@pytest.mark.parametrize("path", sorted(CSRC.rglob("*.c")), ids=lambda path: path.name)
def test_nothing_is_allocated_or_looked_at_by_a_raw_product(path):
    assert raw_products(path.read_text()) == []


def test_a_raw_product_would_be_seen():
    for text in ("malloc(n * sizeof *a)", "views_array(v, o, name, rows * stride, 8, 1)",
                 "aligned_alloc(64, (size_t)a *\n b)"):  # fmt: skip
        assert raw_products(text)
    assert not raw_products("PyMem_Calloc(n + 1, sizeof *row)")


def test_sizes_stay_at_the_largest(tmp_path):
    source = tmp_path / "sizes.c"
    source.write_text(
        f'#include "{CSRC / "sizes.h"}"\n'
        "int64_t product(int64_t a, int64_t b) { return pi_product(a, b); }\n"
        "int64_t sum(int64_t a, int64_t b) { return pi_sum(a, b); }\n"
        "int64_t up(int64_t n) { return pi_rounded_up(n, 64); }\n"
    )
    library = tmp_path / "sizes.so"
    cc = shlex.split(sysconfig.get_config_var("CC") or "cc")
    subprocess.run([*cc, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    core = ctypes.CDLL(str(library))
    most = 2**63 - 1
    numbers = [0, 1, 3, 2**31, 2**32 + 1, 2**61, 2**62, most - 63, most - 1, most, -1, -(2**63)]
    for name, exact in [("product", lambda a, b: a * b), ("sum", lambda a, b: a + b)]:
        function = getattr(core, name)
        function.argtypes, function.restype = [ctypes.c_int64] * 2, ctypes.c_int64
        for a in numbers:
            for b in numbers:
                right = min(exact(a, b), most) if min(a, b) >= 0 else most
                assert function(a, b) == right
    core.up.argtypes, core.up.restype = [ctypes.c_int64], ctypes.c_int64
    for n in numbers:
        fits = 0 <= n < most - 63  # beyond that it is too large, whatever the multiple
        assert core.up(n) == (-(-n // 64) * 64 if fits else most)


# ---- direct calls --------------------------------------------------------------------------------
RK4 = _core.method("rk4")["handle"]


def start(**changes):
    fields = {
        "system": "lorenz", "method": RK4, "bits": 64, "lanes": 8, "n_steps": 1, "save_every": 1,
        "bound": np.inf, "workers": 1, "t0": 0.0, "dt": 0.1, "params": (1.0,) * 3,
        "initial": aligned((3, 8), float), "state_a": aligned((3, 8), float),
        "state_b": aligned((3, 8), float),
    }  # fmt: skip
    return _core.Run(**{**fields, **changes})


@pytest.mark.parametrize("lanes", [1 << 47, 1 << 48])
def test_rows_of_many_bodies_and_lanes_are_not_of_no_bytes(lanes):
    """6 parts lanes is 3 2^64 or more, of which nothing would be left."""
    parts = 1 << 16
    system = _core.make_system("n_body", parts)
    with pytest.raises((ValueError, MemoryError)):
        start(system=system, lanes=lanes, params=(1.0,) * (parts + 2))


def test_answers_of_a_large_jacobian_are_not_of_no_bytes():
    parts = 1 << 16
    system = _core.make_system("n_body", parts)
    dim, lanes = 6 * parts, 1 << 48
    numbers = (1.0,) * dim
    with pytest.raises((ValueError, MemoryError)):
        _core.evaluate(system, 64, _core.questions.index("jacobian"), lanes, 0.0, numbers,
                       (1.0,) * (parts + 2), np.zeros(0))  # fmt: skip


@pytest.mark.parametrize(("n_steps", "lanes"), [(1 << 50, 8), (1 << 54, 1 << 10), (1 << 54, 64)])
def test_a_drive_of_many_steps_is_not_of_no_items(n_steps, lanes):
    rows = [aligned((3, lanes), float) for _ in range(3)]
    drive = np.ones(lanes)
    with pytest.raises(ValueError, match="driven parameter has too few items"):
        start(lanes=lanes, n_steps=n_steps, params=(drive, 1.0, 1.0), drive_strides=(lanes, 0, 0),
              initial=rows[0], state_a=rows[1], state_b=rows[2])  # fmt: skip


@pytest.mark.parametrize("lanes", [1 << 48, (1 << 48) - 7])
@pytest.mark.parametrize("parts", [1 << 12, 1 << 16])
def test_a_stepper_of_no_bytes_is_refused(parts, lanes):
    system = _core.make_system("n_body", parts)
    with pytest.raises((ValueError, MemoryError)):
        _core.Stepper(system=system, methods=(RK4,), bits=64, lanes=lanes, bound=np.inf, t0=0.0,
                      dt=0.1, params=(1.0,) * (parts + 2), state=aligned((0,), float))  # fmt: skip


def interrupted(steps):
    raise KeyboardInterrupt


def test_as_many_steps_as_there_may_be_are_begun_and_stopped():
    run = start(n_steps=1 << 54, save_every=1)
    with pytest.raises(KeyboardInterrupt):
        run.work(interrupted)
    assert 0 <= run.outcome()[0] < 1 << 54
