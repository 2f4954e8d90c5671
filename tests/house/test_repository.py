"""The rules of the house: sizes, layers, registration, exports, stubs, notebooks."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from places import ROOT

import pyintegrate as pi
from pyintegrate import _core

# Tables of values, a line each once formatted, may be longer.
TABLES = ("test_exact.py", "test_vmath.py")
CSRC = ROOT / "csrc"
CODE = [
    path
    for folder in ("csrc", "pyintegrate", "tests", "benchmarks", "examples", "packaging")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".c", ".h", ".py", ".pyi") and "prototype" not in path.parts
] + [ROOT / "setup.py"]


def name(path):
    return str(path.relative_to(ROOT))


def test_files_are_short_and_narrow():
    wrong = []
    for path in CODE:
        lines = path.read_text().splitlines()
        if len(lines) > 800 and "vmath" not in path.parts and path.name not in TABLES:
            wrong.append(f"{name(path)} has {len(lines)} lines: cut it in two")
        if "methods" not in path.parts:
            wide = [i for i, line in enumerate(lines, 1) if len(line) > 100]
            wrong += [f"{name(path)}: line {i} is over 100 columns" for i in wide]
    assert wrong == []


@pytest.mark.parametrize("kind", ["methods", "systems"])
def test_every_file_is_in_the_table_of_contents(kind):
    contents = (CSRC / "contents.h").read_text()
    for path in sorted((CSRC / kind).glob("*.h")):
        line = f'#include "{kind}/{path.name}"'
        assert line in contents, f"add this line to csrc/contents.h:  {line}"


@pytest.mark.parametrize("kind", ["methods", "systems"])
def test_files_carry_the_names_of_what_they_hold(kind):
    assert {path.stem for path in (CSRC / kind).glob("*.h")} == set(getattr(pi, kind))


def test_instruction_sets_are_told_apart_only_where_they_may_be():
    pattern = re.compile(r"#\s*(el)?if.*(__AVX|__SSE|__x86_64__|__aarch64__|PI_VECTOR_BYTES)")
    users = {
        p.name
        for p in CSRC.rglob("*.[ch]")
        if pattern.search(p.read_text()) and p.parent.name != "isa"
    }
    # instances.h: the baseline has fewer kernels; division.h: without the unit, the same bits
    assert users <= {"simd.h", "dispatch.c", "instances.h", "division.h"}


def test_no_flag_changes_bits():
    text = (ROOT / "setup.py").read_text() + (ROOT / "Makefile").read_text()
    for flag in ("-ffast-math", "-Ofast", "-march=native", "-funsafe-math-optimizations"):
        assert flag not in text
    assert "-ffp-contract=off" in text


def test_no_mutable_globals_in_c():
    """All data is constant: nothing is written but through pointers that are given."""
    found = set()
    for path in CSRC.rglob("*.[ch]"):
        for line in path.read_text().splitlines():
            if re.match(r"static (?!const |inline |Py)\w+ \w+( =|;|\[)", line):
                found.add((path.name, line))
    # Written by a constructor, before anything reads it.
    assert found == {("division.h", "static int fast_unit;")}


def test_only_the_init_function_is_exported():
    library = Path(_core.__file__)
    table = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    symbols = {line.split()[-1] for line in table.stdout.splitlines()}
    assert {
        s for s in symbols if not s.startswith(("_init", "_fini", "__asan", "__odr", "__ubsan"))
    } == {"PyInit__core"}


def test_names_that_the_linker_sees_begin_alike():
    """A function or table that another file can name is called pi_...; what is static is free."""
    start = r"^(?!static|typedef|return|else|PyMODINIT|[A-Z]+_)[A-Za-z_]\w*(?:[ *]+\w+)*?[ *]+"
    pattern = re.compile(start + r"(\w+)(?:\(|\[\]| =)", re.M)
    files = [path for path in CSRC.rglob("*.c") if path.parent.name != "isa"]
    found = {m[1] for path in files for m in pattern.finditer(path.read_text())}
    assert len(found) > 100
    assert {word for word in found if not word.startswith("pi_")} == {"fma"}  # the C library's


def used_symbols():
    """Functions of other libraries that the core calls."""
    table = subprocess.run(
        ["nm", "-D", "-u", _core.__file__], capture_output=True, text=True, check=True
    )
    return {line.split()[-1].split("@")[0] for line in table.stdout.splitlines()}


def test_threads_are_made_in_one_file():
    """They end with the call that made them; nothing else in the core may start any."""
    pattern = re.compile(r"\b(pthread_create|thrd_create|fork|PyThread_start_new_thread)\b *\(")
    makers = [path.name for path in CSRC.rglob("*.[ch]") if pattern.search(path.read_text())]
    assert makers == ["crew.c"]


def test_no_step_allocates():
    """Workspace is handed to kernels, forces and methods: a step never asks for memory."""
    pattern = re.compile(r"\b\w*(malloc|calloc|realloc|aligned_alloc|pi_aligned|alloca)\b")
    for folder in ("kernels", "methods", "systems", "mechanics", "vmath"):
        for path in (CSRC / folder).rglob("*.[ch]"):
            assert not pattern.search(path.read_text()), name(path)


def test_no_library_function_but_fma_makes_numbers():
    """sin and its like come from vmath: the C library's differ between versions."""
    functions = {
        "sin", "cos", "tan", "sincos", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "hypot", "sqrt",
    }  # fmt: skip
    assert not used_symbols() & (functions | {f"{function}f" for function in functions})


def test_every_folder_of_the_package_is_in_the_wheel():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(p.parent.relative_to(ROOT).parts) for p in ROOT.glob("pyintegrate/**/*.py")}
    assert set(listed) == found, "add it to packages in pyproject.toml"


def test_the_tests_that_are_named_are_there():
    """In the Makefile, for the wheels, and in the pages."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".ci/*"), CSRC / "README.md"]
    for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *pages]:
        text = path.read_text()
        for name in re.findall(r"tests/[\w/]*\w\.(?:py|[ch]\b|txt)", text):
            assert (ROOT / name).is_file(), f"{path.name}: there is no {name}"
    for folder, name in re.findall(r"\b(\w+)/(test_\w+)\b(?!\.)", "".join(
        (ROOT / file).read_text() for file in ("Makefile", ".ci/wheels")
    )):  # fmt: skip
        assert (ROOT / "tests" / folder / f"{name}.py").is_file(), f"there is no {folder}/{name}"


def test_nobody_is_told_to_install_what_has_our_name():
    """On PyPI it is another project."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    for path in [ROOT / "setup.py", *ROOT.glob("pyintegrate/**/*.*"), *pages]:
        if path.suffix in (".py", ".pyi", ".js", ".md", ".ipynb") and path.name != "CHANGELOG.md":
            told = re.search(r"pip install[^\n`]*\bpyintegrate\b", path.read_text(encoding="utf-8"))
            assert not told, f"{path}: {told[0]}"


def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert pi.__version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_public_names_are_documented():
    for public in pi.__all__:
        thing = getattr(pi, public)
        assert len(thing.__doc__ or "") > 20, f"{public} has no docstring"


def test_core_names_are_in_the_stub():
    stub = (ROOT / "pyintegrate" / "_core.pyi").read_text()
    for public in dir(_core):
        if not public.startswith("_"):
            assert re.search(rf"(?m)^(def |class |){public}\b", stub), (
                f"{public} is missing from _core.pyi"
            )


def test_notebooks_have_no_outputs():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert '"output_type"' not in path.read_text(), f"strip the outputs of {path.name}"


def loaded_by(code):
    """The modules that a program has loaded at its end."""
    told = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    return set(subprocess.run(told, capture_output=True, text=True, check=True).stdout.split())


def test_an_import_loads_the_core_alone_and_a_run_only_numpy():
    ours = {m for m in loaded_by("import pyintegrate") if m.startswith("pyintegrate")}
    assert ours == {"pyintegrate", "pyintegrate._core"}
    run = "pyintegrate as pi; pi.integrate(pi.systems.spring, dt=0.1, n_steps=1)"
    more = loaded_by(f"import {run}") - loaded_by("import numpy")
    extras = {"matplotlib", "scipy", "tqdm", "mpmath", "pathlib", "traceback", "difflib"}
    assert not more & extras


def test_the_stub_has_the_names_that_are_loaded_when_asked_for():
    tree = ast.parse((ROOT / "pyintegrate" / "__init__.pyi").read_text())
    typed = {}
    for node in tree.body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            typed[alias.asname] = (node.module or "", alias.name)
    assert {*typed} == {*pi._PLACES}
    for name, (module, original) in typed.items():
        whole = ".".join(filter(None, (module, original)))
        assert pi._PLACES[name] in (module, whole), name
    listed = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign))
    assert listed == pi.__all__


def test_an_unknown_instruction_set_is_refused():
    code = "import os; os.environ['PYINTEGRATE_ISA'] = 'quantum'; import pyintegrate"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError" in out.stderr
    assert "quantum" in out.stderr


CC = os.environ.get("CC", "cc")


@pytest.mark.skipif(shutil.which(CC) is None, reason="no C compiler")
def test_compiled_systems_find_the_headers(tmp_path):
    """The wheel has those that the kernels include, and the methods' sources."""
    command = [sys.executable, "setup.py", "-q", "build_py", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['headers']())"
    unpack = [sys.executable, "-Werror", "-c", code, tmp_path / "pyintegrate/values/headers.py"]
    found = subprocess.run(unpack, capture_output=True, text=True)
    assert found.stdout
    assert found.stderr == ""  # nor a warning of what is left to the end
    assert not Path(found.stdout.strip()).exists()
    with zipfile.ZipFile(tmp_path / "pyintegrate" / "csrc.zip") as archive:
        archive.extractall(tmp_path)
    shipped = tmp_path / "csrc"
    for path in (CSRC / "methods").glob("*.h"):
        assert (shipped / path.relative_to(CSRC)).read_bytes() == path.read_bytes()
    kernels = sorted((CSRC / "kernels" / "isa").glob("*.c"))
    assert len(kernels) >= 6
    (tmp_path / "own_system.h").write_text(pi.acceleration(lambda t, x, v: -x).to_c())
    define = ['-DPI_CONTENTS="own_system.h"', "-DPI_ONE_SYSTEM=own"]
    for path in kernels:
        call = [CC, "-E", *define, "-I", tmp_path, "-I", shipped, shipped / path.relative_to(CSRC)]
        subprocess.run([*call, "-o", os.devnull], check=True)


def test_the_citation_has_the_version_and_the_licence_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {project['version']}" in lines
    assert f"license: {project['license']}" in lines
    assert f'  - name: "{project["authors"][0]["name"]}"' in lines


def test_each_mutation_finds_its_place():
    """Its text occurs once, and its tests exist."""
    wrong = []
    for path in sorted((ROOT / "tests" / "mutations").glob("*.toml")):
        for one in tomllib.loads(path.read_text())["mutation"]:
            file, tests = (
                ROOT / one["file"],
                [t.split("::")[0] for t in one["tests"] if t != "--all"],
            )
            if not file.exists() or file.read_text().count(one["find"]) != 1:
                wrong.append(f"{path.name}: {one['file']}: {one['find']}")
            wrong += [f"{path.name}: {t}" for t in tests if not (ROOT / t).exists()]
    assert wrong == []
