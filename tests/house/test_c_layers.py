"""The C core is a house in layers: its files include only what csrc/README.md says they may."""

import re

import pytest
from places import ROOT

CSRC = ROOT / "csrc"
CONTRACT = {"aligned.h", "pyintegrate.h", "tiles.h", "simd.h", "sizes.h"}
_INCLUDE = re.compile(r'^\s*#\s*(?:include|define PI_CONTENTS)\s+"([^"]+)"', re.MULTILINE)


def layers():
    """Layer to those that it may include, in the order of the table in the README."""
    text = (CSRC / "README.md").read_text()
    rows = re.findall(r"^\| `([\w./]+)` \|([^|]*)\|", text, re.MULTILINE)
    return {layer: re.findall(r"`([\w./]+)`", below) for layer, below in rows}


def layer_of(path):
    """Of a path below csrc: its first folder, or one of the two layers of the root."""
    if len(path.parts) > 1:
        return path.parts[0] + "/"
    return "contract" if path.name in CONTRACT else path.name


def violations(folder):
    """(file, include) that the table does not allow."""
    table = layers()
    found = []
    for path in sorted(folder.rglob("*.[ch]")):
        here = layer_of(path.relative_to(folder))
        for name in _INCLUDE.findall(path.read_text()):
            target = (path.parent / name).resolve()
            assert target.is_file(), f"{path}: there is no {name}"
            there = layer_of(target.relative_to(folder.resolve()))
            if there != here and there not in table[here]:
                found.append((str(path.relative_to(folder)), name))
    return found


def test_each_file_includes_its_own_layer_or_one_that_it_may():
    assert violations(CSRC) == []


def test_no_layer_may_include_one_above_it():
    order = list(layers())
    for place, (layer, below) in enumerate(layers().items()):
        assert all(order.index(other) > place for other in below), layer


def test_every_folder_has_its_line_in_the_table():
    folders = {layer_of(path.relative_to(CSRC)) for path in CSRC.rglob("*.[ch]")}
    assert folders == set(layers())


def test_python_is_known_to_one_folder():
    users = {p.parent.name for p in CSRC.rglob("*.[ch]") if "Python.h" in p.read_text()}
    assert users == {"python"}


@pytest.mark.parametrize("folder", [p for p in CSRC.rglob("*") if p.is_dir()], ids=lambda p: p.name)
def test_folders_are_small(folder):
    if folder.name not in ("methods", "systems"):
        assert len(list(folder.glob("*.*"))) <= 20


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("methods/planted.h", "../simd.h"),
        ("systems/planted.h", "../run/run.h"),
        ("kernels/rows/planted.h", "../../run/layout.h"),
        ("run/planted.c", "../python/arrays.h"),
        ("planted.h", "run/run.h"),
    ],
)
def test_an_include_that_points_up_is_found(tmp_path, where, what):
    for path in CSRC.rglob("*.[ch]"):
        copy = tmp_path / path.relative_to(CSRC)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("" if path.parent.name == "methods" else path.read_text())
    (tmp_path / where).write_text(f'#include "{what}"\n')
    if where == "planted.h":  # in the contract itself
        (tmp_path / "tiles.h").write_text(f'#include "{what}"\n')
        (tmp_path / where).unlink()
        where = "tiles.h"
    assert violations(tmp_path) == [(where, what)]
