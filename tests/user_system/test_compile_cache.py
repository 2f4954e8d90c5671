"""The cache of compiled libraries: private, verified before loading, built again if damaged."""

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.trace import compiler, library_cache

oscillate = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x)
other = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x * x * x)


def works(system):
    """Compiled, it has the bits of its byte code."""
    compiled = system.compile()
    runs = [pi.integrate(s, 1.0, 0.5, dt=0.01, n_steps=20) for s in (compiled, system)]
    return compiled.compiled and runs[0].y.tobytes() == runs[1].y.tobytes()


def content(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if stat.S_ISREG(p.lstat().st_mode)}


def libraries(own):
    """What the compiler makes, in its order: of doubles, of singles."""
    return [own[name] for name in sorted(own, key=lambda name: "_f32" in name)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A cache with the libraries of two systems, and the content of the first one's."""
    folder = tmp_path_factory.mktemp("made") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYINTEGRATE_CACHE", str(folder))
        assert works(oscillate)
        own = content(folder)
        assert works(other)
    return folder, own


@pytest.fixture
def cache(made, tmp_path, monkeypatch):
    """A copy of it, from which nothing is loaded yet."""
    folder = tmp_path / "cache"
    shutil.copytree(made[0], folder)
    monkeypatch.setenv("PYINTEGRATE_CACHE", str(folder))
    return folder


@pytest.fixture
def replay(made, tmp_path, monkeypatch):
    """A compiler that takes no time: it puts down the libraries of the first system."""
    folder = tmp_path / "replay"
    folder.mkdir()
    for name, library in zip(("f64.so", "f32.so"), libraries(made[1]), strict=True):
        (folder / name).write_bytes(library)
    program = folder / "cc"
    program.write_text(
        '#!/bin/sh\nfor a; do case "$a" in *.so) cp "${0%/*}/$a" . || exit 1;; esac; done\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("CC", f"'{program}'")


@pytest.fixture
def builds(monkeypatch):
    count, build = [], compiler._build

    def counted(*arguments):
        count.append(1)
        return build(*arguments)

    monkeypatch.setattr(compiler, "_build", counted)
    return count


def test_the_cache_is_private_and_holds_verified_libraries_only(made):
    assert stat.S_IMODE(made[0].stat().st_mode) == 0o700
    assert len(content(made[0])) == 4
    for name, library in content(made[0]).items():
        key, length, told, _ = name.split(".")
        assert len(library) == int(length)
        assert hashlib.sha256(key.encode() + b"\0" + library).hexdigest().startswith(told)


def test_what_is_whole_is_not_built_again(cache, builds):
    assert works(oscillate)
    assert works(oscillate(k=3.0))
    assert not builds


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing lists open files here")
@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", None), Path.touch])
def test_what_is_no_library_is_closed_again(cache, make):
    for path in _each(cache):
        path.unlink()
        make(path)
    before = os.listdir("/proc/self/fd")
    for key in {path.name.split(".")[0] for path in _each(cache)}:
        with contextlib.suppress(OSError):  # a folder is not removed
            assert library_cache.find(cache, key) is None
    assert len(os.listdir("/proc/self/fd")) == len(before)


def _each(folder):
    return sorted(folder.glob("*.so"))


def _keep(share):
    def cut(folder):
        for path in _each(folder):
            os.truncate(path, int(path.stat().st_size * share))

    return cut


def _zero_half(folder):
    for path in _each(folder):
        library = path.read_bytes()
        path.write_bytes(library[: len(library) // 2].ljust(len(library), b"\0"))


def _one_bit(folder):
    for path in _each(folder):
        library = bytearray(path.read_bytes())
        library[len(library) // 3] ^= 1
        path.write_bytes(library)


def _exchange(folder):
    """Each holds what another should hold, of one length in its name or not."""
    paths = _each(folder)
    libraries = [path.read_bytes() for path in paths]
    for path, library in zip(paths, libraries[1:] + libraries[:1], strict=True):
        path.write_bytes(library)


def _rename(folder):
    """Whole libraries of another system under the key of this one."""
    paths = _each(folder)
    names = [path.name.split(".", 1) for path in paths]
    for path, (key, _), (_, rest) in zip(paths, names, names[2:] + names[:2], strict=True):
        path.rename(folder / f"moved.{key}.{rest}")
    for path in folder.iterdir():
        path.rename(folder / path.name.removeprefix("moved."))


def _links(folder):
    for i, path in enumerate(_each(folder)):
        elsewhere = folder.parent / f"elsewhere{i}"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)


def _pipes(folder):
    for path in _each(folder):
        path.unlink()
        os.mkfifo(path)


def _without_single(folder):
    for path in folder.glob("*_f32.*"):
        path.unlink()


DAMAGES = [*map(_keep, (0, 0.02, 0.5, 0.9)), _zero_half, _one_bit, _exchange, _rename, _links]
DAMAGES += [_pipes, _without_single]


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_a_damaged_library_is_built_again(damage, cache, made, monkeypatch):
    own, builds = made[1], []

    def build(*_):
        builds.append(1)
        return libraries(own)

    damage(cache)
    monkeypatch.setattr(compiler, "_build", build)
    assert works(oscillate)
    assert builds == [1]
    assert own.items() <= content(cache).items()
    assert not [path for path in cache.iterdir() if path.suffix != ".so"]


def test_it_is_built_by_the_compiler_when_all_is_damaged(replay, cache, builds):
    assert works(oscillate)
    assert len(builds) == 1
    _keep(0.5)(cache)
    compiler._LOADED.clear()
    assert works(oscillate)
    assert len(builds) == 2


def test_damage_after_loading_reaches_no_run(cache):
    compiled = oscillate.compile()
    _keep(0)(cache)
    again = pi.integrate(compiled, 1.0, 0.5, dt=0.01, n_steps=20)
    assert again.y.tobytes() == pi.integrate(oscillate, 1.0, 0.5, dt=0.01, n_steps=20).y.tobytes()


def test_the_path_may_be_relative_and_hold_any_characters(tmp_path, monkeypatch):
    """Also if it is relative: of what is compiled in another folder."""
    name = '-I it\'s "a" \\c\ntwo lines;$(d) `e` %s é' + os.fsdecode(b"\xff")
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    monkeypatch.setenv("PYINTEGRATE_CACHE", "near")
    assert works(oscillate)
    assert len(_each(tmp_path / name / "near")) == 2


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
def test_a_folder_that_others_may_write_is_refused(mode, cache, monkeypatch):
    cache.chmod(mode)
    loaded = []
    monkeypatch.setattr(library_cache, "load", lambda *_: loaded.append(1))
    with pytest.raises(RuntimeError, match=rf"others may write in it \(mode {mode:04o}\).*chmod"):
        oscillate.compile()
    assert not loaded


def test_a_folder_of_somebody_else_is_refused(cache, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(cache).st_uid + 1)
    with pytest.raises(RuntimeError, match="belongs to user .* PYINTEGRATE_CACHE"):
        oscillate.compile()


def test_a_folder_that_can_be_exchanged_is_refused(cache):
    cache.parent.chmod(0o777)
    with pytest.raises(RuntimeError, match="could put another folder in its place"):
        oscillate.compile()
    cache.parent.chmod(0o1777)  # as /tmp is: nobody else may rename there what is ours
    assert works(oscillate)


def test_a_folder_that_cannot_be_is_a_runtime_error_with_the_cure(made, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for wrong in ("file", "file/below", "loop", "loop/below", "x" * 300):
        monkeypatch.setenv("PYINTEGRATE_CACHE", str(tmp_path / wrong))
        with pytest.raises(RuntimeError, match="set PYINTEGRATE_CACHE to a folder of your own"):
            oscillate.compile()

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    def build(*arguments):
        with tempfile.TemporaryDirectory(dir=arguments[-1]):
            return libraries(made[1])

    monkeypatch.setattr(compiler, "_build", build)
    monkeypatch.setenv("PYINTEGRATE_CACHE", str(tmp_path / "fine"))
    for place in ("mkdtemp", "mkstemp"):
        with monkeypatch.context() as patch:
            patch.setattr("tempfile." + place, refuse)
            with pytest.raises(RuntimeError, match="Permission denied.*set PYINTEGRATE_CACHE"):
                oscillate.compile()


def test_no_home_is_a_runtime_error_with_the_cure(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("PYINTEGRATE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(RuntimeError, match="set PYINTEGRATE_CACHE"):
        oscillate.compile()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\nexit 0\n", "made no library"),
        ("#!/bin/sh\necho broken >&2; exit 1\n", "broken"),
        ("no program\n", "cannot be run"),
        ('#!/bin/sh\nfor a; do case "$a" in *.so) echo x >"$a";; esac; done\n', "not loaded"),
    ],
)
def test_a_compiler_that_does_not_compile_is_a_runtime_error(script, words, tmp_path, monkeypatch):
    program = tmp_path / "my compiler"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYINTEGRATE_CACHE", str(tmp_path / "cache"))
    for command in (f"'{program}'", "'./my compiler'"):
        monkeypatch.setenv("CC", command)
        with pytest.raises(RuntimeError, match=words):
            oscillate.compile()
    assert not list(tmp_path.glob("cache/*"))
    monkeypatch.setenv("CC", "'unbalanced")
    with pytest.raises(RuntimeError, match="CC is no command"):
        oscillate.compile()


def test_a_library_is_on_the_disk_before_it_has_its_name(cache, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda d: (done.append("fsync"), fsync(d)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("replace"), replace(a, b)))
    library_cache.keep(cache, "key", b"content")
    assert done == ["fsync", "replace", "fsync"]
    assert library_cache.find(cache, "key") == b"content"


LOADS = """
import sys
import pyintegrate as pi
pi.load(sys.argv[1])  # imports what it needs
seen = []
sys.addaudithook(lambda event, arguments: seen.append(event))
sol = pi.load(sys.argv[1])
assert not sol.system.compiled and len(sol.resume(n_steps=3)) == 4
forbidden = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork",
             "ctypes.dlopen", "pickle.find_class", "exec", "compile", "import")
assert not set(seen) & set(forbidden), seen
"""


def test_loading_a_solution_compiles_and_executes_nothing(cache, tmp_path):
    pi.integrate(oscillate.compile(), 1.0, 0.0, dt=0.1, n_steps=5).save(tmp_path / "a.npz")
    before = content(cache)
    done = subprocess.run([sys.executable, "-c", LOADS, tmp_path / "a.npz"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert content(cache) == before


def test_two_processes_may_build_at_once(replay, tmp_path, monkeypatch):
    code = """
import pyintegrate as pi
system = pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x)
print(pi.integrate(system.compile(), 1.0, 0.5, dt=0.01, n_steps=20).y.tobytes().hex())
"""
    monkeypatch.setenv("PYINTEGRATE_CACHE", str(tmp_path / "cache"))
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in "ab"]
    outputs = {process.communicate()[0] for process in both}
    expected = pi.integrate(oscillate, 1.0, 0.5, dt=0.01, n_steps=20).y
    assert [bytes.fromhex(o.decode()) for o in outputs] == [np.asarray(expected).tobytes()]
    assert len(content(tmp_path / "cache")) == 2
