"""What cannot be built is refused in a sentence, and flags go to whom they are for."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from places import ROOT

import pyintegrate as pi
from pyintegrate import _core


def build(folder, **environment):
    """What setup.py says when it builds the extension with such compilers, into a folder."""
    command = [
        sys.executable, "setup.py", "-q", "build_ext", "--build-lib", folder / "lib",
        "--build-temp", folder / "temp",
    ]  # fmt: skip
    environment = {**os.environ, **environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("-U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4", "needs a 64-bit platform"),
        ("-U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__", "needs a little-endian"),
    ],
)
def test_other_platforms_are_refused(tmp_path, flags, says):
    code, told = build(tmp_path, PYINTEGRATE_CFLAGS=flags)
    assert code != 0
    assert says in told
    assert "Traceback" not in told


def test_a_compiler_that_is_none_of_ours_is_refused(tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho unknown option >&2\nexit 2\n")
    compiler.chmod(0o755)
    code, told = build(tmp_path, CC=str(compiler))
    assert code != 0
    assert re.search("needs GCC or Clang, and .*/cc says: unknown option", told)


def test_where_there_is_no_compiler_it_says_what_is_needed(tmp_path):
    code, told = build(tmp_path, CC="no-such-compiler")
    assert code != 0
    assert "pyintegrate needs GCC or Clang: no-such-compiler: " in told
    assert "Traceback" not in told


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux says what processors have")
def test_the_instruction_sets_are_those_of_the_processor():
    flags = set(Path("/proc/cpuinfo").read_text().split())
    expected = ["baseline"]
    if {"avx2", "fma"} <= flags:
        expected.append("avx2")
        if {"avx512f", "avx512dq", "avx512vl"} <= flags:
            expected.append("avx512")
    built = _core.info()["built"]
    assert _core.info()["instruction_sets"] == [name for name in expected if name in built]
    assert "baseline" in built


def functions(*names):
    """Some of the functions of setup.py, which is not run for them."""
    tree = ast.parse((ROOT / "setup.py").read_text())
    tree.body = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign)
        or (isinstance(node, ast.FunctionDef) and node.name in names)
    ]
    made: dict = {}
    exec(compile(tree, "setup.py", "exec"), made)
    return [made[name] for name in names]


@pytest.mark.parametrize(
    ("host", "x86"),
    [("linux-aarch64", False), ("macosx-11.0-arm64", False), ("macosx-11.0-x86_64", True),
     ("win-amd64", True), ("linux-x86_64", True)],
)  # fmt: skip
def test_kernels_are_those_of_the_platform_that_is_built_for(host, x86, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", host)
    monkeypatch.setenv("PYINTEGRATE_ISA_BUILD", "all")
    chosen_sets, jobs, _ = functions("chosen_sets", "jobs", "target_platform")
    names = [name for _, name, _ in jobs(chosen_sets(None), True, "0")]
    assert any("avx512" in name for name in names) == x86
    assert any("baseline" in name for name in names)


def test_a_build_is_for_this_machine_or_for_those_that_are_named(monkeypatch):
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "linux-x86_64")
    monkeypatch.delenv("PYINTEGRATE_ISA_BUILD", raising=False)
    chosen_sets, *_ = functions("chosen_sets", "best_set", "target_platform")
    chosen_sets.__globals__["best_set"] = lambda command: "avx2"
    assert chosen_sets("cc") == ["avx2"]
    assert chosen_sets(None) == ["avx2", "avx512"]  # nothing can be asked: for all
    for asked, sets in (("all", ["avx2", "avx512"]), ("baseline", []), ("avx512", ["avx512"])):
        monkeypatch.setenv("PYINTEGRATE_ISA_BUILD", asked)
        assert chosen_sets("cc") == sets
    monkeypatch.setenv("PYINTEGRATE_ISA_BUILD", "sse9")
    with pytest.raises(SystemExit, match="PYINTEGRATE_ISA_BUILD=sse9: sse9 is not one of native"):
        chosen_sets("cc")


def test_a_universal_python_builds_the_half_that_runs(monkeypatch):
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "macosx-11.0-universal2")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    monkeypatch.delenv("ARCHFLAGS", raising=False)
    (target,) = functions("target_platform")
    assert target() == "macosx-11.0-arm64"
    assert os.environ.pop("ARCHFLAGS") == "-arch arm64"


@pytest.mark.long
def test_the_same_sources_make_the_same_archive(tmp_path):
    """Whoever packs them, and when: a copy of the tree, with other times."""
    import runpy
    import shutil

    release = runpy.run_path(str(ROOT / "packaging" / "release.py"))
    first = release["source_archive"](str(tmp_path / "one"))
    copy = tmp_path / "copy"
    left = shutil.ignore_patterns(
        ".git", ".venv*", ".*_cache", ".hypothesis", "build", "*.so", "__pycache__", "*.egg-info"
    )
    shutil.copytree(ROOT, copy, ignore=left, copy_function=shutil.copy)
    release["source_archive"].__globals__["ROOT"] = copy
    name, digest = release["source_archive"](str(tmp_path / "two"))
    assert (name, digest) == first
    assert name.endswith(f"-{pi.__version__}.tar.gz")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="the compiler of Python is none of ours")
def test_the_core_alone_has_the_published_bits(tmp_path):
    """As make portability and make wheels-run take it: here the baseline, by rows."""
    flags = "-O1 -DPI_ROLLED -DPI_ROWS_ONLY -DPI_WITHOUT_AVX2 -DPI_WITHOUT_AVX512 -w -std=gnu11"
    sources = [*ROOT.glob("tests/portability/*.c"), *ROOT.glob("csrc/kernels/isa/baseline_*.c")]
    for folder in ("vmath", "run", "bytecode"):
        sources += ROOT.glob(f"csrc/{folder}/*.c")
    compiler = [os.environ.get("CC", "cc"), *flags.split(), "-ffp-contract=off", "-fno-math-errno"]
    subprocess.run([*compiler, *sources, "-lm", "-o", tmp_path / "core"], check=True)
    done = subprocess.run([tmp_path / "core", "0"], capture_output=True, text=True)
    assert done.stdout == (ROOT / "pyintegrate/method/published_bits.txt").read_text()


def test_the_recipe_of_conda_is_of_this_version_and_its_needs():
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'version: "{project["version"]}"' in recipe
    assert f'summary: "{project["description"]}"' in recipe
    assert f"python {project['requires-python']}" in recipe
    about = [("homepage", "Documentation"), ("repository", "Source"), ("documentation",) * 2]
    for field, url in about:
        assert f"  {field}: {project['urls'][url.capitalize()]}\n" in recipe
    assert [f"numpy {need[5:]}" in recipe for need in project["dependencies"]] == [True]


def test_the_source_archive_leaves_out_what_was_made(tmp_path):
    """Its bytes are those of the sources, whatever has been built beside them."""
    for file in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tmp_path)
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "page.html")
    shutil.copytree(ROOT / "pyintegrate", tmp_path / "pyintegrate", ignore=ignored)
    made = "docs/_build/a.html", "docs/lab/index.html", "pyintegrate/laboratory/static/page.html"
    kept = "docs/a.md", "pyintegrate/laboratory/static/a.js", ".ci/wheels", ".clang-format"
    for path in (tmp_path / file for file in (*made, *kept)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info"], cwd=tmp_path, check=True)
    (sources,) = tmp_path.glob("*.egg-info/SOURCES.txt")  # of whatever name a release has
    listed = sources.read_text().splitlines()
    assert {*listed} & {*made, *kept} == {*kept}


def test_the_description_links_to_the_sources(monkeypatch):
    """A registry has no other files: pictures and pages come from where the sources are."""
    monkeypatch.chdir(ROOT)
    source = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    text = functions("readme")[0]()
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert all(re.match("https?://", link) for link in links)
    ours = [re.fullmatch(f"{source}/(raw|blob)/HEAD/(.*)", link) for link in links]
    for kind, path in (link.groups() for link in ours if link):
        assert (ROOT / path).exists()
        assert (kind == "raw") == path.endswith(".png")
    assert sum(map(bool, ours)) > 20
