"""Damaged and forged files: a ValueError or a solution that answers, and nothing else happens.

    python tests/stress/attack/files.py [seconds] [seed] [cases at most]

Files of several kinds are changed at random: bytes, the structure of the archive, fields of the
header (the checksums are then right again), arrays, and the metadata and chunks of a .zarr. Each is
loaded in a process that has a bounded address space, and in which an audit hook sees what is
executed and what is written; its parent sees should it die (child.py). The files are in memory, in
the folder /dev/shm. A .zarr takes fifty times as long as an .npz: one case in 200 has one.
"""

import contextlib
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import child
from damage import Source, change
from originals import originals

import pyintegrate as pi

MOST_BYTES = 96 << 20  # that loading one of these files, of less than 100 kB, may take
PATIENCE = 60.0  # seconds that it may take
ADDRESS_SPACE = 4 << 30
FORBIDDEN = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn",
    "ctypes.dlopen", "pickle.find_class", "marshal.loads", "os.remove", "os.rename", "os.rmdir",
    "os.mkdir", "os.symlink", "os.link", "os.chmod", "os.truncate", "shutil.rmtree",
    "socket.connect", "urllib.Request",
}  # fmt: skip
CODE = {"exec", "compile", "import"}  # and these, once everything has been imported


# ---- what must hold ------------------------------------------------------------------------------
class Watch:
    """What an audit hook saw while it was switched on."""

    def __init__(self):
        self.on, self.seen = False, []
        sys.addaudithook(self.hook)

    def hook(self, event, arguments):
        if not self.on:
            return
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (
            os.O_WRONLY | os.O_RDWR | os.O_CREAT
        )  # fmt: skip
        if event in FORBIDDEN or event in CODE or writes:
            self.seen.append((event, repr(arguments)[:200]))


class Peak:
    """The most memory that the process has had since then, more than it had then (Linux)."""

    def __init__(self):
        Path("/proc/self/clear_refs").write_text("5")
        self.before = child.resident()

    def bytes(self):
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - self.before


def ask(sol, thoroughly=True):
    """All that a solution answers; what it lacks it may refuse."""
    assert len(sol.t) == len(sol.steps) == len(sol.y) == len(sol)
    assert sol.status.shape == sol.failed_step.shape == sol.initial.shape[:-1]
    questions = [
        "valid", "final", "evaluations", "n_failed", "dt", "t0", "__repr__", "_repr_html_",
        "failures", "energy", "energy_error", "exact", "error", *["to_xarray"] * thoroughly,
    ]  # fmt: skip
    for name in questions:
        with contextlib.suppress(ValueError):
            value = getattr(sol, name)
            if callable(value):
                value()
    for name in sol.components:
        sol[name]
    with contextlib.suppress(ValueError):
        sol.at(sol.t.ravel()[0])
    with contextlib.suppress(ValueError):
        sol.resume(n_steps=3)


def load(path, watch, kind, thoroughly):
    """ "refused" or "loaded"; anything else is an error of ours."""
    watch.seen.clear()
    watch.on = True
    try:
        sol = pi.load(path)
    except ValueError as error:
        sol, words = None, str(error)
    finally:
        watch.on = False
    # zarr runs its own thread and imports codecs; nothing else may.
    seen = [event for event in watch.seen if kind == "npz" or event[0] not in CODE]
    assert not seen, seen
    if sol is None:
        assert len(words) < 2000, "a message without end"
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ask(sol, thoroughly)
    return "loaded"


class Attack:
    """Files in a folder of its own, and what became of them."""

    def __init__(self, work):
        assert pi.systems.noise  # a forged name of a system imports it
        self.counts, self.watch, self.sources = Counter(), Watch(), {"npz": []}
        with contextlib.suppress(ImportError):
            import zarr  # noqa: F401

            self.sources["zarr"] = []
        for i, sol in enumerate(originals()):
            for kind, these in self.sources.items():
                if kind == "zarr" and i % 4:
                    continue  # they take long
                sol.save(path := Path(work) / f"{i}.{kind}")
                ask(pi.load(path))  # and imports what it needs
                these.append(Source(path))
        self.folder = Path(work) / "guard" / "case"
        self.folder.mkdir(parents=True)

    def one_case(self, name):
        rng = random.Random(name)
        kind = "zarr" if rng.random() < 0.005 and "zarr" in self.sources else "npz"
        source, path = rng.choice(self.sources[kind]), self.folder / f"a.{kind}"
        try:
            how = change(rng, source, path)
        except Exception:  # what our writer, or that of archives, does not take
            self.counts["not written"] += 1
            self.clean()
            return
        try:
            outcome = load(path, self.watch, kind, rng.random() < 0.05)
        except BaseException:
            kept = Path(tempfile.mkdtemp()) / path.name
            (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
            print(f"attack on files: case {name} of {source.path.name}, {how}: {kept}")
            raise
        self.counts[f"{kind} {how} {outcome}"] += 1
        assert os.listdir(self.folder.parent) == ["case"]
        assert os.listdir(self.folder) == [path.name]
        self.clean()

    def clean(self):
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def main(seconds, seed, first, most, note):
    """Attack for `seconds` seconds, with so many cases at most; the counts by kind of file, change
    and outcome."""
    os.fsync = lambda descriptor: None  # nothing here needs to last
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, hard))
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as work, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attack, case, end = Attack(work), first, time.monotonic() + seconds
        before, peak = child.resident(), Peak()
        while time.monotonic() < end and case < first + most:
            note(seed, case)
            attack.one_case(f"{seed}:{case}")
            case += 1
            if case % 50 == 0 and (most_bytes := peak.bytes()) > MOST_BYTES:
                raise MemoryError(f"{most_bytes / 1e6:.0f} MB for one of the last 50 files")
            if (case - first) % 20_000 == 0:
                print(f"{case - first} files, {child.resident() / 1e6:.1f} MB", flush=True)
    counts = dict(sorted(attack.counts.items()))
    print(f"attack on files, seed {seed}: {case - first} cases: {counts}")
    print(f"  memory: {before / 1e6:.1f} MB at first, {child.resident() / 1e6:.1f} MB in the end")


if __name__ == "__main__":
    seconds, seed, most = (*sys.argv[1:], *("60", "1", "inf")[len(sys.argv) - 1 :])
    seed, _, case = seed.partition(":")
    main(
        float(seconds),
        int(seed),
        int(case or 0),
        float(most),
        child.guarded("attack on files", PATIENCE),
    )
