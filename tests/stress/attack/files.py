"""Damaged and forged files: a ValueError or a solution that answers, and nothing else happens.

    python tests/stress/attack/files.py [seconds] [seed]

Files of several kinds are changed at random: bytes, the structure of the archive, fields of the
header (the checksums are then right again), arrays, and the metadata and chunks of a .zarr. Each is
loaded in a process that has a bounded address space, and in which an audit hook sees what is
executed and what is written. The number of the case at hand is kept in build/attack-files.case.
A .zarr takes ten times as long as an .npz: one case in six has one.
"""

import contextlib
import copy
import io
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
from originals import originals

import pyintegrate as pi
from pyintegrate.solution import files

MOST_BYTES = 96 << 20  # that loading one of these files, of less than 100 kB, may take
ADDRESS_SPACE = 4 << 30
FORBIDDEN = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn",
    "ctypes.dlopen", "pickle.find_class", "marshal.loads", "os.remove", "os.rename", "os.rmdir",
    "os.mkdir", "os.symlink", "os.link", "os.chmod", "os.truncate", "shutil.rmtree",
    "socket.connect", "urllib.Request",
}  # fmt: skip
CODE = {"exec", "compile", "import"}  # and these, once everything has been imported


# ---- changes -------------------------------------------------------------------------------------
NUMBERS = [0, 1, -1, 2, 5, 77, 2**31, 2**53, 2**63, 10**30, 1.5, -0.0, 1e308, float("inf"),
           float("nan")]  # fmt: skip
VALUES = [*NUMBERS, None, True, False, "", "x", "final", "float32", "../../a", "1/0", "0x1p99999",
          "1e999999999", [], {}, [[]], {"array": "y"}, {"array": "t"}, {"fraction": "1/0"},
          {"fraction": "1e99999999"}, {"bytes": "00"}, {"tuple": []}, {"dict": {}},
          {"make": "method", "args": ["rk4"]}, {"make": "method", "args": ["gauss4"]},
          {"make": "system", "args": ["lorenz", {"dict": {}}]},
          {"make": "system", "args": ["n_body", {"dict": {"n": 2000}}]},
          {"make": "os.system", "args": ["touch executed"]}]  # fmt: skip


def places(value, found):
    """Every (container, key) inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        found.append((value, key))
        if isinstance(item, dict | list):
            places(item, found)
    return found


def bend_json(rng, value):
    """One to three values exchanged, removed, doubled or nested."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        found = places(value, [])
        if not found:
            break
        # As often a field as something deep inside.
        inside, key = rng.choice(found[: len(value) * 4] if rng.random() < 0.5 else found)
        old, how = inside[key], rng.random()
        if how < 0.35 and isinstance(old, int | float) and not isinstance(old, bool):
            inside[key] = rng.choice([*NUMBERS, old + 1, old - 1, -old, old * 2])
        elif how < 0.45 and isinstance(old, str):
            at = rng.randint(0, len(old))
            inside[key] = old[:at] + rng.choice(["", "x", "\0", "é", "/", old]) + old[at + 1 :]
        elif how < 0.55:
            del inside[key]
        elif how < 0.65:
            inside[key] = copy.deepcopy(rng.choice([item[key] for item, key in found]))
        elif how < 0.7:
            for _ in range(rng.choice([1, 50, 400])):
                inside[key] = rng.choice([[inside[key]], {"tuple": [inside[key]]}])
        elif how < 0.75 and isinstance(old, list):
            inside[key] = old * rng.choice([2, 100])
        else:
            inside[key] = copy.deepcopy(rng.choice(VALUES))
    return value


def bend_array(rng, array):
    """Another array in the place of one."""
    how = rng.random()
    array = np.array(array)
    if how < 0.3 and array.size:
        flat, number = array.reshape(-1), rng.choice(NUMBERS)
        with (
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
            contextlib.suppress(OverflowError, ValueError),
        ):
            warnings.simplefilter("ignore")
            flat[rng.randrange(array.size)] = number
        return array
    if how < 0.5:
        return array.astype(rng.choice(["f4", "f8", "i8", "i1", "?", "u2", ">f8", "f2"]))
    if how < 0.7:
        return rng.choice(
            [array[:-1] if array.ndim else array, array[None], array.reshape(-1), array.T]
        )
    if how < 0.8:
        return np.resize(array, [rng.randint(0, 9) for _ in range(rng.randint(0, 4))])
    return rng.choice([np.zeros(0), np.array(1.0), np.zeros((3, 0, 5)), np.arange(1000)])


def bend_bytes(rng, content):
    """Bits flipped, parts cut out, doubled, zeroed, or numbers set to their ends."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not content:
            break
        a = rng.randrange(len(content))
        b = min(len(content), a + rng.choice([1, 2, 4, 8, 40, 4000]))
        how = rng.random()
        if how < 0.4:
            content[a] ^= 1 << rng.randrange(8)
        elif how < 0.6:
            content[a:b] = rng.choice([b"\0", b"\xff", b"\x7f", b"9"]) * (b - a)
        elif how < 0.75:
            del content[a:b]
        elif how < 0.9:
            content[a:a] = content[a:b]
        else:
            at = rng.randrange(len(content))
            content[at : at + b - a] = content[a:b]
    return bytes(content)


def forge_npz(rng, path):
    """Wrong members with right checksums, written by another writer of archives."""
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    k = rng.randrange(len(members))
    name, content = members[k]
    how = rng.random()
    if how < 0.5:
        head = rng.random() < 0.7
        cut = 10 + int.from_bytes(content[8:10], "little") if head else len(content)
        content = bend_bytes(rng, content[:cut]) + content[cut:]
    elif how < 0.6:
        name = rng.choice(["../a.npy", "/a.npy", "y.npy", "y", "\0.npy", "é.npy", "x" * 5000])
    elif how < 0.7:
        members.append(members[rng.randrange(len(members))])
    elif how < 0.8:
        members += [(f"more{i}.npy", content) for i in range(rng.choice([1, 500]))]
    else:
        out = io.BytesIO()
        np.save(
            out,
            rng.choice([np.array([None]), np.array(["a"]), np.zeros(3, "f8,i2")]),
            allow_pickle=True,
        )
        content = out.getvalue()
    members[k] = name, content
    packed = rng.choice([zipfile.ZIP_STORED] * 5 + [zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(path, "w", packed) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)


def forge_zarr(rng, path):
    """A file of the folder bent, emptied, linked, exchanged or gone; metadata as JSON."""
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    part = rng.choice(inside)
    how = rng.random()
    if how < 0.5 and part.name == "zarr.json":
        part.write_text(json.dumps(bend_json(rng, json.loads(part.read_text()))))
    elif how < 0.7:
        part.write_bytes(bend_bytes(rng, part.read_bytes()))
    elif how < 0.8:
        part.write_bytes(rng.choice(inside).read_bytes())
    elif how < 0.85:
        part.unlink()
    elif how < 0.9:
        part.unlink()
        part.symlink_to(rng.choice(["/dev/zero", "/etc/passwd", "loop", part.name]))
    elif how < 0.95:
        part.unlink()
        os.mkfifo(part)
    else:
        part.write_bytes(b"")


_READ: dict[Path, tuple] = {}


def header_and_arrays(source):
    """Of a whole file, read once."""
    if source not in _READ:
        header, arrays = files.read(source)
        _READ[source] = header, {name: np.array(array) for name, array in dict(arrays).items()}
    header, arrays = _READ[source]
    return header, dict(arrays)


def change(rng, source, folder, kind):
    """A changed copy of a file, and what was done."""
    path = folder / f"a.{kind}"
    how = rng.choice(["header", "header", "header", "arrays", "bytes", "forged"])
    if kind == "zarr" and how == "bytes":
        how = "forged"
    if how in ("header", "arrays"):
        header, arrays = header_and_arrays(source)
        if how == "header":
            header = bend_json(rng, header)
        for _ in range(rng.randint(1, 2) * (how == "arrays")):
            name = rng.choice(sorted(arrays))
            if rng.random() < 0.1:
                del arrays[name]
            else:
                arrays[name] = bend_array(rng, arrays[name])
        files.write(path, header, arrays)
        return path, how
    if kind == "npz":
        shutil.copy(source, path)
        path.write_bytes(bend_bytes(rng, path.read_bytes())) if how == "bytes" else forge_npz(
            rng, path
        )
    else:
        shutil.copytree(source, path)
        forge_zarr(rng, path)
    return path, how


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
    """The most memory that the process has had since `begin`, more than it had then (Linux)."""

    def begin(self):
        Path("/proc/self/clear_refs").write_text("5")
        self.before = self.most()

    def most(self):
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10

    def bytes(self):
        return self.most() - self.before


def ask(sol):
    """All that a solution answers; what it lacks it may refuse."""
    assert len(sol.t) == len(sol.steps) == len(sol.y) == len(sol)
    assert sol.status.shape == sol.failed_step.shape == sol.initial.shape[:-1]
    questions = [
        "valid", "final", "evaluations", "n_failed", "dt", "t0", "__repr__", "_repr_html_",
        "failures", "energy", "energy_error", "exact", "error", "to_xarray",
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


def load(path, watch, kind):
    """ "refused" or "loaded"; anything else is an error of ours."""
    peak = Peak()
    peak.begin()
    watch.seen.clear()
    watch.on = True
    try:
        sol = pi.load(path)
    except ValueError as error:
        sol, words = None, str(error)
    finally:
        watch.on = False
        most = peak.bytes()
    # zarr runs its own thread and imports codecs; nothing else may.
    seen = [event for event in watch.seen if kind == "npz" or event[0] not in CODE]
    assert not seen, seen
    assert most < MOST_BYTES, f"{most / 1e6:.0f} MB"
    if sol is None:
        assert len(words) < 2000, "a message without end"
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ask(sol)
    return "loaded"


def main(seconds, seed):
    """Attack for `seconds` seconds; the counts by kind of file, change and outcome."""
    fsync, os.fsync = os.fsync, lambda descriptor: None  # nothing here needs to last
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, hard))
    counts, watch = Counter(), Watch()
    kinds = ["npz"]
    with contextlib.suppress(ImportError):
        import zarr  # noqa: F401

        kinds.append("zarr")
    (note := Path("build/attack-files.case")).parent.mkdir(exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as work, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sources = {kind: [] for kind in kinds}
            for i, sol in enumerate(originals()):
                for kind, these in sources.items():
                    these.append(Path(work) / f"{i}.{kind}")
                    sol.save(these[-1])
                    ask(pi.load(these[-1]))  # and imports what it needs
            (guard := Path(work) / "guard").mkdir()
            case, end = 0, time.monotonic() + seconds
            while time.monotonic() < end:
                case += 1
                rng = random.Random(f"{seed}:{case}")
                note.write_text(f"{seed}:{case}")
                (folder := guard / "case").mkdir()
                kind = rng.choice(kinds if rng.random() < 0.3 else ["npz"])
                source = rng.choice(sources[kind])
                try:
                    path, how = change(rng, source, folder, kind)
                except Exception:  # what our writer, or that of archives, does not take
                    counts["not written"] += 1
                    shutil.rmtree(folder)
                    continue
                try:
                    began = time.process_time()
                    counts[f"{kind} {how} {load(path, watch, kind)}"] += 1
                    assert time.process_time() - began < 20, "it takes too long"
                except BaseException:
                    kept = Path(tempfile.mkdtemp()) / path.name
                    (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
                    print(f"attack on files: case {seed}:{case} of {source.name}, {how}: {kept}")
                    raise
                assert os.listdir(guard) == ["case"]
                assert os.listdir(folder) == [path.name]
                shutil.rmtree(folder)
    finally:
        os.fsync = fsync
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    print(f"attack on files, seed {seed}: {case} cases: {dict(sorted(counts.items()))}")
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
