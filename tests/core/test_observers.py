"""The hook between steps, as C sees it: observers.c watches runs in all the ways there are."""

import errno
import os
import shlex
import subprocess
import sysconfig

import pytest
from places import ROOT, TESTS

CSRC = ROOT / "csrc"


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="takes a compiler for Unix")
def test_observers_see_each_of_their_steps_once(tmp_path):
    cc = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-O0", "-DPI_ROLLED", "-ffp-contract=off", "-fno-math-errno", "-std=gnu11", "-w"]
    sources = [
        *(path for path in CSRC.glob("run/*.c") if path.name != "dispatch.c"),
        *CSRC.glob("bytecode/*.c"),
        *(TESTS / "stress/fuzz" / name for name in ("float_mode.c", "kernels_f64.c")),
        TESTS / "core/observers.c",
    ]
    program = tmp_path / "observers"
    subprocess.run([*cc, *flags, *map(str, sources), "-lm", "-o", program], check=True)
    try:
        told = subprocess.run([program], capture_output=True, text=True)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        pytest.skip("programs of this platform are not started here: it is emulated")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == "384 runs\n"
