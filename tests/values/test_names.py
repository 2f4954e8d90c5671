"""The catalogues know what people call things, and help with what they do not know."""

import re

import pytest

import pyintegrate as pi
from pyintegrate.values.names import METHODS, SENTENCES, SYSTEMS, plain

CALLED = {
    "RK4": "rk4", "RK45": "dormand_prince54", "DOP853": "dop853", "RK23": "bogacki_shampine32",
    "Radau": "radau_iia5", "verlet": "velocity_verlet", "Velocity-Verlet": "velocity_verlet",
    "Euler": "explicit_euler", "Euler's method": "explicit_euler", "Heun": "heun2",
    "symplectic Euler": "semi_implicit_euler", "Semi-implicit Euler": "semi_implicit_euler",
    "Stormer-Verlet": "stormer_verlet", "Störmer–Verlet": "stormer_verlet", "Tsit5": "tsitouras54",
    "Vern7": "verner76", "Runge-Kutta": "rk4", "Dormand-Prince 5(4)": "dormand_prince54",
    "backward Euler": "implicit_euler", "Crank-Nicolson": "trapezoidal",
    "ode1": "explicit_euler", "ode4": "rk4", "Dopri8": "prince_dormand87",
}  # fmt: skip


@pytest.mark.parametrize(("called", "name"), CALLED.items())
def test_methods_are_known_by_what_people_call_them(called, name):
    assert called in pi.methods
    assert pi.methods[called] is pi.methods[name]


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("Lorenz", "lorenz"),
        ("Lorenz attractor", "lorenz"),
        ("double pendulum", "double_pendulum"),
        ("Hénon-Heiles", "henon_heiles"),
        ("van der Pol oscillator", "van_der_pol"),
        ("harmonic oscillator", "oscillator"),
    ],
)
def test_systems_are_known_by_what_people_call_them(called, name):
    assert called in pi.systems
    assert pi.systems[called] is pi.systems[name]


@pytest.mark.parametrize("catalogue", [pi.methods, pi.systems], ids=["methods", "systems"])
def test_every_name_is_found_in_any_case_and_spacing(catalogue):
    for name, thing in {**catalogue, **catalogue.noise}.items():
        assert name in catalogue
        for written in (name, *getattr(thing, "aliases", ())):
            for form in (written.upper(), written.replace("_", " "), written.replace("_", "-")):
                assert catalogue[form] is thing, form


@pytest.mark.parametrize(
    ("catalogue", "table"), [(pi.methods, METHODS), (pi.systems, SYSTEMS)], ids=["m", "s"]
)
def test_the_table_of_names_is_needed_and_right(catalogue, table):
    every = {**catalogue, **catalogue.noise}
    own = {plain(w) for n, t in every.items() for w in (n, *getattr(t, "aliases", ()))}
    for called, name in table.items():
        assert name in every
        assert plain(called) not in own, f"{called!r} is a name of the catalogue already"
    assert len({plain(called) for called in table}) == len(table)


@pytest.mark.parametrize("called", SENTENCES)
def test_what_has_no_one_meaning_gets_a_sentence_that_names_methods(called):
    assert called not in pi.methods
    with pytest.raises(ValueError, match=re.escape(SENTENCES[called])):
        pi.methods[called.upper()]
    for name in re.findall("'(\\w+)'", SENTENCES[called]):
        assert name in list(pi.methods)


@pytest.mark.parametrize(
    ("unknown", "first"),
    [
        ("rk5", "'rk4'"),
        ("rkk4", "'rk4'"),
        ("bdf7", "'bdf6'"),
        ("velocity verlett", "'velocity_verlet'"),
        ("dopri54", "'dopri5' (dormand_prince54)"),
        ("Gauss-Legendre", "'implicit_midpoint'"),  # order 2 of them
        ("dormand", "'dormand_prince54'"),
        ("milstien", "'milstein'"),
    ],
)
def test_suggestions_are_what_is_likely_meant(unknown, first):
    with pytest.raises(ValueError, match="is (not known: did you mean|ambiguous: there are) ") as e:
        pi.methods[unknown]
    assert re.search(" (mean|are) (.*?)( or |,|[?]|$)", str(e.value))[2] == first


def test_methods_are_attributes_as_systems_are():
    assert pi.methods.rk4 is pi.methods["rk4"]
    assert pi.systems.spring is pi.systems["spring"]
    with pytest.raises(AttributeError, match="did you mean 'rk4'"):
        pi.methods.rkk4  # noqa: B018
    assert not hasattr(pi.methods, "__wrapped__")


@pytest.mark.parametrize("catalogue", [pi.methods, pi.systems], ids=["methods", "systems"])
def test_names_are_completed(catalogue):
    assert set(catalogue) <= set(dir(catalogue))
    assert catalogue._ipython_key_completions_() == [*catalogue, *catalogue.noise]


def test_components_and_comparisons_are_completed():
    sol = pi.integrate(pi.systems.kepler, dt=0.1, n_steps=2)
    assert sol._ipython_key_completions_() == ["x", "y", "vx", "vy"]
    c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=2)
    assert c._ipython_key_completions_() == ["rk4", "semi_implicit_euler"]


def test_the_table_of_methods_is_filtered():
    wanted = {"implicit": True, "order": 4, "symplectic": True}
    shown = {m.name for m in pi.methods.table(**wanted).methods}
    expected = {
        m.name for m in pi.methods.values() if all(getattr(m, k) == v for k, v in wanted.items())
    }
    assert shown == expected
    assert "gauss4" in str(pi.methods.table(**wanted))
    assert "rk4" not in str(pi.methods.table(family="composition", requires="separable"))


def test_an_unknown_filter_names_the_known_ones():
    with pytest.raises(TypeError, match="no 'stiff': it takes family, order, .*symplectic"):
        pi.methods.table(stiff=True)
    with pytest.raises(ValueError, match="no method has family='Gauss': there are 'composition'"):
        pi.methods.table(family="Gauss")
