"""What to cite: BibTeX and text of each method's own references, and of the package."""

import re

import pytest

import pyintegrate as pi

ENTRY = re.compile(
    r"@(misc|software)\{([A-Za-z]+\d{4}|pyintegrate),\n(?:  (\w+) = \{(?:.|\n)*?\},\n)+\}"
)


def fields(entry):
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.M))


@pytest.mark.parametrize("name", pi.methods)
def test_every_method_is_cited_with_all_that_its_reference_says(name):
    method = pi.methods[name]
    text = method.cite()
    entries = [found.group() for found in ENTRY.finditer(text)]
    assert "\n".join(entries) == text
    assert not set(re.sub(r"@\w+|\\.", "", text)) & set("&%#$^~\\")  # special in LaTeX
    assert text.count("{") == text.count("}")
    *papers, package = map(fields, entries)
    assert papers
    assert package["author"] == "{The pyintegrate developers}"
    words = re.findall(r"[A-Za-z]{2,}|\d+", method.reference)
    kept = " ".join(" ".join(paper.values()) for paper in papers)
    assert [w for w in words if w not in kept and w not in ("et", "al")] == []
    for paper in papers:
        assert re.fullmatch(r"\d{4}", paper["year"])
        assert len(paper["author"]) < 60
        assert not re.search(r"\d|;|\(", paper["author"])


def test_authors_are_joined_as_bibtex_reads_them():
    text = pi.methods.velocity_verlet.cite()
    assert "author = {Swope and Andersen and Berens and Wilson}" in text
    assert "author = {Bank and others}" in pi.methods.trbdf2.cite()
    assert "@misc{deVogelaere1956," in pi.methods.semi_implicit_euler.cite()


def test_solutions_are_cited_by_their_method():
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=3, method="yoshida8")
    assert sol.cite() == pi.methods.yoshida8.cite() == pi.cite(sol) == pi.cite(sol.method)
    text = pi.cite(sol, style="text")
    assert text.splitlines()[0] == sol.method.reference
    assert "The pyintegrate developers" in text and pi.__version__ in text  # noqa: PT018
    assert "Verner" in pi.solve(pi.systems.lorenz, t_end=1.0).cite()
    stiff = pi.solve(pi.systems.van_der_pol(mu=[1.0, 1000.0]), t_end=10.0).cite().split("@")
    pair, radau = (pi.methods[m].cite().split("@") for m in ("verner98", "radau_iia5"))
    assert stiff == [*pair[:-1], *radau[1:]]


def test_a_method_without_a_reference_leaves_the_package():
    own = pi.RungeKutta([[0]], [1])
    assert own.cite().startswith("@software{pyintegrate,")
    assert own.cite("text").startswith("The pyintegrate developers")


@pytest.mark.parametrize("name", pi.systems)
def test_systems_are_cited(name):
    system = pi.systems[name](n=3) if name == "n_body" else pi.systems[name]
    assert "@software{pyintegrate" in pi.cite(system)
    assert system.reference in pi.cite(system, style="text")


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (("rk4",), TypeError, "'rk4'"),
        ((pi.methods.rk4, "apa"), ValueError, "style"),
    ],
)
def test_wrong_arguments_are_named(given, error, told):
    with pytest.raises(error, match=told):
        pi.cite(*given)
