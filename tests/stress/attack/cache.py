"""Damaged caches of compiled libraries: built again or refused, never loaded, never a crash.

    python tests/stress/attack/cache.py [seconds] [seed]

A cache with whole libraries is damaged at random, bytes, names, kinds of files and modes; then a
system is compiled, with a compiler that hands out what was built once, and run: the bits are those
of the byte code, and nothing was loaded but what was built. The number of the case at hand is kept
in build/attack-cache.case.
"""

import contextlib
import os
import random
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyintegrate as pi
from pyintegrate.trace import compiler, library_cache

NAMES = ["plain", "it's", 'a "b"', "two\nlines", "a b", "\\", "-I", "é", "%s", "$(d)", "x" * 200]


def _file(rng, folder):
    """A regular file: pipes would be waited for."""
    inside = sorted(folder.iterdir())
    return rng.choice([path for path in inside if stat.S_ISREG(path.lstat().st_mode)])


def cut(rng, folder):
    path = _file(rng, folder)
    os.truncate(path, rng.randrange(path.stat().st_size + 1))


def bend(rng, folder):
    path = _file(rng, folder)
    library = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 10])):
        if library:
            a = rng.randrange(len(library))
            b = a + rng.choice([1, 8, 4096])
            library[a:b] = rng.choice([bytes(b - a), rng.randbytes(b - a), b""])
    path.write_bytes(library)


def exchange(rng, folder):
    """The content, or the name, of another."""
    a, b = _file(rng, folder), _file(rng, folder)
    if rng.random() < 0.5:
        a.write_bytes(b.read_bytes())
    else:
        key, rest = a.name.split(".", 1)[0], b.name.split(".", 1)[-1]
        shutil.copy(b, folder / f"{key}.{rest}")


def rename(rng, folder):
    path = _file(rng, folder)
    name = list(path.name)
    name[rng.randrange(len(name))] = rng.choice("0123456789abcdef.x \n")
    path.rename(folder / "".join(name))


def replace(rng, folder):
    """Something that is no file."""
    path = _file(rng, folder)
    path.unlink()
    kind = rng.randrange(4)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(rng.choice(["/dev/zero", "/etc/passwd", path.name, "nowhere"]))


def grow(rng, folder):
    path = _file(rng, folder)
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.choice([1, 100])))


def plant(rng, folder):
    """Files that look like ours."""
    for _ in range(rng.choice([1, 30])):
        content = rng.randbytes(rng.choice([0, 10, 5000]))
        key = _file(rng, folder).name.split(".")[0]
        length = rng.choice([len(content), 0, 10**9, 10**30])
        told = rng.choice([library_cache.digest("other", content), "0" * 32, "../../x"[:2] * 16])
        path = folder / f"{key}.{length}.{told}.so"
        if not stat.S_ISFIFO(path.lstat().st_mode if os.path.lexists(path) else 0):
            with contextlib.suppress(OSError):  # a folder has the name
                path.write_bytes(content)


def open_up(rng, folder):
    folder.chmod(rng.choice([0o777, 0o770, 0o1777, 0o707, 0o755, 0o722]))


DAMAGES = [cut, cut, bend, bend, exchange, rename, replace, grow, plant, open_up]


def main(seconds, seed):
    """Attack for `seconds` seconds; the counts by damage and outcome."""
    counts = Counter()
    system = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x)
    expected = pi.integrate(system, 1.0, 0.5, dt=0.01, n_steps=20).y.tobytes()
    build, load, given = compiler._build, library_cache.load, os.environ.get("PYINTEGRATE_CACHE")
    note, fsync = Path("build/attack-cache.case"), os.fsync
    note.parent.mkdir(exist_ok=True)
    loaded, built = [], []

    def watched(folder, key, content):
        loaded.append(content)
        return load(folder, key, content)

    try:
        with tempfile.TemporaryDirectory() as work:
            whole = Path(work) / "whole"
            os.environ["PYINTEGRATE_CACHE"] = str(whole)
            compiler._LOADED.clear()
            system.compile()
            pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x * x).compile()
            keys = [key for folder, key in compiler._LOADED if folder == whole.resolve()][:1]
            made = [
                library_cache.find(whole, keys[0].replace("_f64", f"_f{bits}")) for bits in (64, 32)
            ]
            compiler._build = lambda *_: built.append(1) or made
            library_cache.load = watched
            os.fsync = lambda descriptor: None
            case, end = 0, time.monotonic() + seconds
            while time.monotonic() < end:
                case += 1
                rng = random.Random(f"{seed}:{case}")
                note.write_text(f"{seed}:{case}")
                folder = Path(work) / f"case{case}" / rng.choice(NAMES)
                shutil.copytree(whole, folder)
                folder.chmod(0o700)
                os.environ["PYINTEGRATE_CACHE"] = str(folder)
                damages = [rng.choice(DAMAGES) for _ in range(rng.choice([0, 1, 1, 3]))]
                for damage in damages:
                    with contextlib.suppress(OSError):  # of a damage to what was damaged
                        damage(rng, folder)
                loaded.clear(), built.clear(), compiler._LOADED.clear()
                open_to_others = stat.S_IMODE(folder.stat().st_mode) & 0o022
                try:
                    compiled = system.compile()
                except RuntimeError as error:
                    outcome, words = "refused", str(error)
                else:
                    assert not open_to_others
                    answer = pi.integrate(compiled, 1.0, 0.5, dt=0.01, n_steps=20).y.tobytes()
                    assert answer == expected
                    outcome = "built again" if built else "whole"
                assert set(loaded) <= set(made)
                if outcome == "refused":
                    assert "PYINTEGRATE_CACHE" in words, words
                    assert not loaded or not open_to_others
                assert os.listdir(folder.parent) == [folder.name]
                assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
                counts[f"{'+'.join(d.__name__ for d in damages) or 'none'}: {outcome}"] += 1
                shutil.rmtree(folder.parent)
    finally:
        compiler._build, library_cache.load, os.fsync = build, load, fsync
        os.environ.pop("PYINTEGRATE_CACHE", None)
        if given is not None:
            os.environ["PYINTEGRATE_CACHE"] = given
        compiler._LOADED.clear()
    outcomes = Counter()
    for name, count in counts.items():
        outcomes[name.rpartition(": ")[2]] += count
    print(f"attack on the cache, seed {seed}: {case} cases: {dict(sorted(outcomes.items()))}")
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
