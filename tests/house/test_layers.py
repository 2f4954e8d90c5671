"""The house in layers: imports only go down, and no name means two things.

The floors, lowest first. A file at the root of the package has a floor of its own. Imports inside
functions count like those of a module; only façades, one line that forwards, may point up.
"""

import ast
import functools
import shutil

import pytest
from places import ROOT

import pyintegrate as pi

PACKAGE = ROOT / "pyintegrate"
FLOORS = (
    "_core", "errors", "values", "theory", "method", "trace", "system", "user_system", "tangents",
    "stochastic", "watching", "run", "solution", "integration", "adaptive", "solving",
    "initial_values",
    "certificate", "analysis", "fitting", "plots", "laboratory", "dask", "__init__", "command_line",
    "__main__",
)  # fmt: skip
# Functions that may import from above: one line each, that forwards.
FACADES = {
    ("method.method", "certificate"),
    ("system.catalogue", "noise"),
    ("solution.solution", "save"),
    ("system.system", "tangent"),
    ("solution.solution", "plot"),
    ("solution.solution", "animate"),
    ("solution.solution", "table"),
    ("solution.origin", "drift_at_end"),
    ("analysis.results", "plot"),
    ("analysis.side_by_side", "plot"),
    ("analysis.side_by_side", "animate"),
}
FACADE_NAMES = {
    "save", "drift_at_end", "plot", "animate", "certificate", "table", "tangent",
    "noise",
}  # fmt: skip
# Public names that are to come.
TO_COME: set[str] = set()


def modules(package):
    """Dotted name (without the package) of every module, and its path."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[-1] == "__init__" and len(parts) > 1:
            parts = parts[:-1]
        found[".".join(parts)] = path
    return found


def floor(module):
    return FLOORS.index(module.partition(".")[0])


@functools.cache
def imports(package):
    """(module, function or None, imported module) for every import within the package."""
    return set(_imports(package))


def _imports(package):
    known = modules(package)
    for module, path in known.items():
        is_package = path.name == "__init__.py" and module != "__init__"
        here = [] if module == "__init__" else module.split(".")
        for function, node in _statements(path.read_text()):
            if node.level == 0:
                if (node.module or "").partition(".")[0] != "pyintegrate":
                    continue
                base = (node.module or "").split(".")[1:]
            else:
                up = node.level - (1 if is_package or module == "__init__" else 0)
                base = here[: len(here) - up] if up else here
                base = [*base, *((node.module or "").split(".") if node.module else [])]
            for alias in node.names:
                target = ".".join([*base, alias.name])
                if target not in known:
                    target = ".".join(base) or "__init__"
                if alias.name == "_core" and not base:
                    target = "_core"
                yield module, function, target


@functools.cache
def _statements(text):
    """(function or None, statement) of the imports of a file, those for types left out."""
    tree, within, for_types = ast.parse(text), {}, set()
    for branch in ast.walk(tree):
        if isinstance(branch, ast.FunctionDef):
            within |= dict.fromkeys(ast.walk(branch), branch.name)
        elif isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test):
            for_types |= set(ast.walk(branch))
    return [
        (within.get(node), node)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node not in for_types
        and (node.module or "").rpartition(".")[2] != "types"
    ]


def upward(package):
    """Imports that point to a higher floor."""
    return {
        (module, function, target)
        for module, function, target in imports(package)
        if floor(target) > floor(module)
    }


def circles(package):
    """Groups of modules that import each other, façades left out."""
    graph = {}
    for module, function, target in imports(package):
        if (module, function) not in FACADES and target != module:
            graph.setdefault(module, set()).add(target)

    def reachable(start):
        seen, left = set(), [start]
        while left:
            for target in graph.get(left.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    left.append(target)
        return seen

    return sorted(module for module in graph if module in reachable(module))


def test_imports_point_down():
    wrong = {(m, f, t) for m, f, t in upward(PACKAGE) if (m, f) not in FACADES}
    assert not wrong


def test_facades_forward_in_one_line():
    """Each listed façade exists, points up, has one of the few names and does nothing else."""
    known, targets = modules(PACKAGE), {(m, f): t for m, f, t in imports(PACKAGE) if f}
    for module, name in FACADES:
        assert name in FACADE_NAMES
        assert floor(targets[module, name]) >= floor(module), f"{module}.{name} need not be listed"
        for node in ast.walk(ast.parse(known[module].read_text())):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                body = [s for s in node.body if not isinstance(s, ast.Expr) or
                        not isinstance(s.value, ast.Constant)]  # fmt: skip
                assert len(body) == 2, f"{module}.{name}"
                assert isinstance(body[0], ast.ImportFrom)
                assert isinstance(body[1], ast.Return | ast.Expr)


def test_nothing_imports_in_a_circle():
    assert circles(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("run/times.py", "from ..solution.solution import Solution\n"),
        ("values/memory.py", "def late():\n    from ..plots import energy\n"),
        ("method/table.py", "def late():\n    from .catalogue import methods\n"),
    ],
)
def test_a_planted_violation_is_seen(tmp_path, file, line):
    copy = tmp_path / "pyintegrate"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    with (copy / file).open("a") as out:
        out.write(line)
    planted = upward(copy) - upward(PACKAGE) or set(circles(copy))
    assert planted


def test_every_file_has_a_floor():
    roots = {module.partition(".")[0] for module in modules(PACKAGE)}
    assert roots == set(FLOORS) - {"_core"}
    assert len(list(PACKAGE.glob("*.py"))) <= 12


def test_every_folder_says_what_it_is():
    for path in PACKAGE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert text.splitlines()[0].endswith("."), path
        assert len(list(path.parent.glob("*.py"))) <= 20 or path.parent.name == "exact", path.parent


def test_no_file_has_the_name_of_a_public_object():
    """A submodule that is imported late would take the place of the object of its name."""
    public = {*pi.__all__, *TO_COME} - {"analysis", "plots"}
    public |= {*pi.analysis.__all__, *pi.plots.__all__}
    for module, path in modules(PACKAGE).items():
        names = {*module.split(".")} - {"analysis", "plots"}
        assert "exact" in path.parts or not names & public, f"{path} is called like a public name"
