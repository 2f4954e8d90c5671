"""The pages of the site: what they say runs, what they are made from covers both catalogues."""

import re
import sys

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi

DOCS = ROOT / "docs"
RUN = [
    "start",
    "cookbook",
    "forces",
    "coming/scipy",
    "coming/game_loop",
    "coming/matlab",
    "coming/dynamicalsystems",
    "coming/diffrax",
    "coming/rebound",
    "coming/auto",
]


@pytest.fixture
def building(monkeypatch):
    """The folder that writes pages; it is not part of the package."""
    monkeypatch.syspath_prepend(str(DOCS))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "building"]:
        del sys.modules[name]


@pytest.mark.parametrize("page", RUN)
def test_the_lines_of_a_page_run(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("pandas")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text(), re.S | re.M)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        if moving := names.pop("moving", None):
            moving._draw_was_started = True  # one that is never played warns
    plt.close("all")
    if page == "cookbook":
        assert names["stiff"].final[..., 0] == pytest.approx(0.715827, abs=1e-6)
        assert names["g"] == pytest.approx(9.7, rel=1e-6)
        assert names["thrown"].events["ground"].first["z"] == pytest.approx(0, abs=1e-12)


def test_each_cell_of_the_comparison_has_its_source():
    text = (DOCS / "compared.md").read_text()
    known = dict(re.findall(r"^\[([\w-]+)\]: (https://\S+)$", text, re.M))
    lines = text.split("## At a glance\n")[1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[0] for row in rows[3:]] == [
        "SciPy", "diffrax", "heyoka", "REBOUND", "SciML", "DynamicalSystems.jl", "numbalsoda",
        "CuBIE", "MPGOS", "galpy", "Boost.odeint",
    ]  # fmt: skip
    for row in rows[2:]:
        assert len(row) == len(rows[0])
        for cell in row[1:-1]:
            assert cell == "-" or re.fullmatch(r"\[.+\](\[.+\]|\(\w+\.md\))", cell)
    used = set(re.findall(r"\]\[([\w-]+)\]", text))
    assert used == set(known)


def test_the_cookbook_has_its_twenty_tasks():
    numbers = re.findall(r"^## (\d+)\. ", (DOCS / "cookbook.md").read_text(), re.M)
    assert numbers == [str(n) for n in range(1, 21)]


def test_every_system_has_its_equation_picture_and_place(building):
    pytest.importorskip("matplotlib")
    from building import equations, pages_of_systems

    named = [name for group in pages_of_systems.GROUPS.values() for name in group]
    assert sorted(named) == sorted(pi.systems) == sorted(equations.EQUATIONS)
    assert set(equations.PICTURES) == set(pi.systems)


def test_every_method_has_a_page_that_tells_its_certificate(building):
    from building import pages_of_methods

    pages = pages_of_methods.pages()
    assert set(pages) == {f"methods/{name}" for name in pi.methods} | {"methods/index"}
    rk4 = pages["methods/rk4"]
    assert "all 8 conditions hold exactly" in rk4
    assert "stable to ω dt = 2.8284" in rk4
    assert "<td>1/6</td><td>1/3</td>" in rk4
    assert "symplectic (defect 2e-16" in pages["methods/velocity_verlet"]
    assert "oscillation grows, however small the step" in pages["methods/midpoint"]
    assert "oscillation is stable at any step" in pages["methods/gauss4"]
    assert "decay is stable at no step" in pages["methods/milne4"]
    assert "energy error stays bounded" in pages["methods/quinlan8a"]  # measured: 1e-12 for ever
    assert "energy is not bounded" in pages["methods/stormer6"]
    assert "the energy stays bounded where" in pages["methods/lobatto_iiia4"]
    assert [name for name in pages if "Kepler's orbits are exact" in pages[name]] == [
        f"methods/{name}" for name in pi.methods if name.startswith("wisdom_holman")
    ]


@pytest.mark.parametrize("needs", sorted({pi.methods[name].requires for name in pi.methods}))
def test_the_pictures_of_a_method_are_drawn(building, needs):
    pytest.importorskip("matplotlib").use("Agg")
    from building import pages_of_methods
    from matplotlib import pyplot as plt

    name = next(name for name in pi.methods if pi.methods[name].requires == needs)
    page = pages_of_methods.pages()[f"methods/{name}"]
    blocks = re.findall(r"^```\{picture\}[^\n]*\n(?::[^\n]*\n)*(.*?)^```", page, re.S | re.M)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {"pi": pi, "np": np, "plt": plt})
        assert plt.gcf().axes
        plt.close("all")


def test_no_row_of_a_table_is_broken(building):
    from building import pages_of_systems

    for name, page in pages_of_systems.pages().items():
        assert all(row.endswith("|") for row in re.findall(r"^\|.*", page, re.M)), name


def test_the_panels_of_stability_show_where_it_begins_again(building):
    """make certificates draws them; those of L-stable methods are shaded all round a hole."""
    pytest.importorskip("matplotlib").use("Agg")
    import stability_pictures

    for name in ("rodas5p", "radau_iia5", "kvaerno54"):
        assert stability_pictures.unstable_to(pi.methods[name]) > 4


@pytest.mark.parametrize(("value", "text"), [(0.5, "1/2"), (-1.0, "−1"), (2**0.5, "1.414213562")])
def test_coefficients_are_fractions_where_they_are(building, value, text):
    from building.numbers import shown

    assert shown(value) == text
