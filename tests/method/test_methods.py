"""The catalogue of methods says what is true of them, and user-defined methods are checked."""

import copy
import pickle
import re

import numpy as np
import pytest
from places import ROOT
from reference import POINT_METHODS, states

import pyintegrate as pi

METHODS = list(pi.methods.values())
every = pytest.mark.parametrize("method", METHODS, ids=str)
EULER_TABLE = ([[0.0]], [1.0])


def final(system, y, method, **options):
    options = {"dt": 0.0625, "n_steps": 20, **options}
    return pi.integrate(system, y, method=method, save="final", **options).final


# ---- the catalogue -------------------------------------------------------------------------------

WANTED = {  # name: order, evaluations a step, symplectic, symmetric, as the literature has them
    "explicit_euler": (1, 1, False, False),
    "midpoint": (2, 2, False, False),
    "heun2": (2, 2, False, False),
    "rk4": (4, 4, False, False),
    "rk38": (4, 4, False, False),
    "tsitouras54": (5, 6, False, False),
    "dormand_prince54": (5, 6, False, False),
    "semi_implicit_euler": (1, 1, True, False),
    "semi_implicit_euler_drift_kick": (1, 1, True, False),
    "velocity_verlet": (2, 1, True, True),
    "position_verlet": (2, 1, True, True),
    "forest_ruth4": (4, 3, True, True),
    "constant_acceleration": (1, 1, False, False),
    "runge_kutta_nystrom4": (4, 3, False, False),
    "runge_kutta_nystrom5": (5, 4, False, False),
    "dormand_prince_rkn64": (6, 6, False, False),
    "dormand_prince_rkn86": (8, 8, False, False),
    "dormand_prince_rkn1210": (12, 17, False, False),
    "stormer_verlet": (2, 1, True, True),
    "numerov4": (4, 1, False, True),
    **{f"adams_bashforth{p}": (p, 1, False, False) for p in (2, 3, 4, 5)},
    **{f"adams_bashforth_moulton{p}": (p, 2, False, False) for p in (2, 3, 4, 5)},
    **{f"bdf{p}": (p, 1, False, False) for p in (1, 2, 3, 4, 5, 6)},
    "implicit_euler": (1, 1, False, False),
    "implicit_midpoint": (2, 1, True, True),
    "trapezoidal": (2, 1, False, True),
    "gauss4": (4, 2, True, True),
    "gauss6": (6, 3, True, True),
    "radau_iia3": (3, 2, False, False),
    "radau_iia5": (5, 3, False, False),
}


@pytest.mark.parametrize("name", WANTED)
def test_the_catalogue_has_the_methods_of_the_contract(name):
    m = pi.methods[name]
    assert (m.order, m.evaluations, m.symplectic, m.symmetric) == WANTED[name]


def test_the_catalogue_is_a_mapping():
    assert list(pi.methods) == [m.name for m in METHODS]
    assert len(pi.methods) == len(METHODS)
    for name, method in pi.methods.items():
        assert pi.methods[name] is method
        assert name == method.name == str(method)
        assert name in pi.methods
        assert name in repr(pi.methods)
    assert "rk5" not in pi.methods
    with pytest.raises(TypeError):
        pi.methods["rk4"] = METHODS[0]


def test_a_matrix_has_a_row_for_each_stage():
    """The core has memory for the rows in the file and no others (`a` in csrc/pyintegrate.h)."""
    tables = [method for method in METHODS if "A" in method.coefficients]
    assert len(tables) > 60
    for method in tables:
        text = (ROOT / "csrc" / "methods" / f"{method.name}.h").read_text()
        rows = re.search(r"\.a = \{((?:\s*\{[^{}]*\},?)*)\}", text)[1].count("{")
        assert rows == method.stages, f"{method.name}.h: a row for each stage, also {{0}}"


@every
def test_a_method_describes_itself(method):
    needs = {
        "explicit_rk": ("any",),
        "implicit_rk": ("any",),
        "rosenbrock": ("any",),
        "composition": ("separable", "quadratic_kinetic"),
        "nystrom": ("second_order",),
        "multistep": ("any", "second_order"),
        "rigid_body": ("rigid_body",),
        "wisdom_holman": ("n_body",),
    }
    assert method.requires in needs.get(method.family, ("any",))
    corrected = bool(method.coefficients.get("corrector"))
    assert method.self_starting == (method.family != "multistep" and not corrected)
    assert method.implicit or method.family != "implicit_rk"
    assert not (method.implicit and method.coefficients.get("predictor"))
    assert method.velocity_free <= (method.requires == "second_order")
    assert method.title
    assert method.formula
    assert re.search(r"\(\d{4}\)", method.reference), "a reference has a year"
    # A rule of rigid motion has substeps; two evaluations each, or four of Runge-Kutta.
    most = 4 if method.family == "rigid_body" else 1
    assert method.evaluations <= most * method.stages
    sizes = {len(numbers) for numbers in method.coefficients.values() if numbers}
    more = 6 if corrected else method.family == "multistep"
    assert sizes <= {method.stages, method.stages + more}
    assert method._repr_html_().count(f">{method.name}<") == 1
    with pytest.raises(AttributeError):
        method.order = 9


def test_aliases_lead_to_one_method_each():
    seen = {}
    for method in METHODS:
        for alias in method.aliases:
            assert pi.methods[alias] is method
            assert alias not in list(pi.methods)
            assert seen.setdefault(alias, method) is method
            assert alias != "leapfrog"
    assert pi.methods["symplectic_euler"].name == "semi_implicit_euler"
    assert pi.methods["leapfrog_kdk"].name == "velocity_verlet"
    assert pi.methods["leapfrog_dkd"].name == "position_verlet"


@pytest.mark.parametrize("name", ["IAS15", "Mercurius"])
def test_solvers_that_choose_their_steps_lead_to_solve(name):
    with pytest.raises(ValueError, match=f"{name}.* is not here: pi.solve"):
        pi.methods[name]


def test_leapfrog_alone_is_ambiguous():
    with pytest.raises(ValueError, match="ambiguous.*velocity_verlet.*kick-drift-kick"):
        pi.methods["leapfrog"]
    assert "leapfrog" not in pi.methods


@pytest.mark.parametrize(
    ("name", "near"),
    [("rkk4", "rk4"), ("velocity_verlett", "velocity_verlet"), ("dopri54", "dopri5"), ("xyz", "")],
)
def test_an_unknown_name_gets_the_nearest_ones(name, near):
    with pytest.raises(ValueError, match=f"{name}.*{near}"):
        pi.methods[name]
    with pytest.raises(KeyError):
        pi.methods[name]


def test_the_table_prints_and_shows_every_method():
    table = pi.methods.table()
    lines = str(table).split("\n")
    assert len(lines) == len(METHODS) + 2  # headings and a rule
    assert repr(table) == str(table)
    html = table._repr_html_()
    assert html == pi.methods._repr_html_()
    for line, method in zip(lines[2:], METHODS, strict=True):
        assert line.startswith(method.name)
        assert f"{method.stability_limit:.5g}" in line
        assert html.count(f">{method.name}<") == 1
    assert len({line.index(m.title) for line, m in zip(lines[2:], METHODS, strict=True)}) == 1


@every
def test_methods_can_be_pickled_copied_and_compared(method):
    for again in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
        assert again == method
        assert hash(again) == hash(method)
    assert method != METHODS[METHODS.index(method) - 1]
    assert (method == method.name) is False


# ---- user-defined Runge-Kutta methods ------------------------------------------------------------


@pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
def test_the_table_of_rk4_agrees_with_rk4_to_rounding(system, dtype):
    c = pi.methods["rk4"].coefficients
    y = states(system, (50,), dtype)
    mine = final(system, y, pi.RungeKutta(c["A"], c["b"]), dt=2.0**-6)
    theirs = final(system, y, "rk4", dt=2.0**-6)
    # The same method in another order of additions: some ulps in each of 20 steps.
    assert abs(mine - theirs).max() < 20 * 4 * np.finfo(dtype).eps * abs(theirs).max()


def test_agreement_to_rounding_would_notice_a_wrong_coefficient():
    A = pi.methods["rk4"].coefficients["A"]
    wrong = pi.RungeKutta(A, [1 / 6 + 1e-12, 1 / 3 - 1e-12, 1 / 3, 1 / 6])
    y = states(pi.systems.kepler, (50,))
    theirs = final(pi.systems.kepler, y, "rk4")
    apart = abs(final(pi.systems.kepler, y, wrong) - theirs).max()
    assert apart > 20 * 4 * np.finfo(np.float64).eps * abs(theirs).max()


@pytest.mark.parametrize(
    ("name", "order"),
    [("explicit_euler", 1), ("midpoint", 2), ("heun2", 2), ("rk4", 4), ("rk38", 4)],
)
def test_the_order_of_a_table_is_found(name, order):
    c = pi.methods[name].coefficients
    assert pi.RungeKutta(c["A"], c["b"]).order == order
    assert pi.RungeKutta(c["A"], c["b"], order=1).order == 1
    third = pi.RungeKutta([[0, 0, 0], [1 / 3, 0, 0], [0, 2 / 3, 0]], [1 / 4, 0, 3 / 4])
    assert third.order == 3


def test_stages_that_are_the_same_are_one():
    lobatto_iiib = pi.RungeKutta([[1 / 2, 0], [1 / 2, 0]], [1 / 2, 1 / 2])  # implicit midpoint
    assert lobatto_iiib.symplectic
    assert lobatto_iiib.certificate().holds


def test_a_table_of_ones_own_is_a_method_like_any_other():
    mine = pi.RungeKutta([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], name="ralston2")
    assert (mine.name, mine.stages, mine.evaluations, mine.requires) == ("ralston2", 2, 2, "any")
    assert not mine.symplectic
    assert mine.coefficients["c"] == [0, 2 / 3]
    assert mine.stability_limit == 0
    for again in (pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine)):
        assert again == mine
        assert again.order == 2
        y = pi.systems.lorenz.initial
        assert (
            final(pi.systems.lorenz, y, again).tolist()
            == final(pi.systems.lorenz, y, mine).tolist()
        )


@pytest.mark.parametrize("name", ["", None])
def test_a_table_of_ones_own_has_a_name(name):
    with pytest.raises(ValueError, match=f"name must be a text that is not empty, got {name!r}"):
        pi.RungeKutta(*EULER_TABLE, name=name)


A2 = [[0, 0], [0.5, 0]]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (
            ([[0, 0], [0.5, 0]], [0, 1], [0, 0.4]),
            ValueError,
            "the sum of row 1 of A, c[1], is 0.5, expected",
        ),
        ((A2, [0.5, 0.6]), ValueError, "the sum of b is 1.1"),
        (([[0, 1], [0.5, 0]], [0, 1], [0, 0.5]), ValueError, "the sum of row 0 of A, c[0], is 1"),
        (([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]), ValueError, "A singular stages 0 to 1"),
        (([[0.5, 0.5], [0.5, 0.5 + 1e-9]], [0.5, 0.5]), ValueError, "A singular stages 0 to 1"),
        ((A2, [1.0]), ValueError, "A (2, 2) (1, 1)"),
        (([[0, 0]], [0, 1]), ValueError, "A (1, 2) (2, 2)"),
        ((A2, [0, 1], [0]), ValueError, "c (1,) (2,)"),
        ((A2, [[0, 1]]), ValueError, "b (1, 2) (n,)"),
        (([0, 1], [0, 1]), ValueError, "A (2,) (2, 2)"),
        (([[]], []), ValueError, "b (0,) (n,)"),
        (([[0, 0], [np.nan, 0]], [0, 1]), ValueError, "A finite"),
        ((A2, [0, np.inf]), ValueError, "b finite"),
        (([["0"]], [1]), TypeError, "A real <U1"),
        ((A2, [0, 1j]), TypeError, "b real complex128"),
        ((A2, [None, 1]), TypeError, "b real object"),
        ((np.zeros((18, 18)), np.full(18, 1 / 18)), ValueError, "18 stages at most 17"),
    ],
)
def test_a_wrong_table_is_refused_by_name(arguments, kind, words):
    with pytest.raises(kind) as caught:
        pi.RungeKutta(*arguments)
    message = str(caught.value)
    assert [w for w in re.findall(r"\([^)]*\)|\S+", words) if w not in message] == []


# ---- user-defined compositions -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sequence", "order", "symmetric", "evaluations"),
    [
        ([("kick", 1), ("drift", 1)], 1, False, 1),
        ([("drift", 1), ("kick", 1)], 1, False, 1),
        ([("kick", 0.5), ("drift", 1), ("kick", 0.5)], 2, True, 1),
        ([("drift", 0.5), ("kick", 1), ("drift", 0.5)], 2, True, 1),
        ([("kick", 0.3), ("drift", 1), ("kick", 0.7)], 1, False, 1),
        ([("kick", 0.2), ("kick", 0.3), ("drift", 1.0), ("kick", 0.5)], 2, True, 1),
        ([("drift", 0.0), ("kick", 0.5), ("drift", 1), ("kick", 0.5), ("drift", 0)], 2, True, 1),
        (
            [("drift", 0.25), ("kick", 0.5), ("drift", 0.5), ("kick", 0.5), ("drift", 0.25)],
            2,
            True,
            2,
        ),
        (
            [("kick", 0.5), ("drift", 0.5), ("kick", 0.25), ("kick", -0.25), ("drift", 0.5)]
            + [("kick", 0.25), ("drift", 0.0), ("kick", 0.25)],
            2,
            True,
            1,
        ),
    ],
)
def test_a_composition_knows_its_order_and_its_cost(sequence, order, symmetric, evaluations):
    mine = pi.Composition(sequence)
    assert (mine.order, mine.symmetric, mine.evaluations) == (order, symmetric, evaluations)
    assert mine.symplectic
    assert mine.requires == "separable"
    assert sum(mine.coefficients["kick"]) == sum(mine.coefficients["drift"]) == 1
    declared = pi.Composition(sequence, order=1)
    again = pickle.loads(pickle.dumps(declared))
    assert again == declared
    assert (again.order, again.symmetric) == (1, symmetric)
    y = pi.systems.kepler.initial
    assert final(pi.systems.kepler, y, again).tolist() == final(pi.systems.kepler, y, mine).tolist()


@pytest.mark.parametrize(
    ("sequence", "words"),
    [
        ([], "sum of the kicks of sequence is 0"),
        ([("kick", 1.0)], "sum of the drifts of sequence is 0"),
        ([("kick", 0.5), ("drift", 1.0)], "sum of the kicks of sequence is 0.5"),
        ([("kick", 1.0), ("drift", 0.9)], "sum of the drifts of sequence is 0.9"),
        ([("push", 1.0), ("drift", 1.0)], "sequence 'push'"),
        ([("kick", "one"), ("drift", 1.0)], "sequence 'one'"),
        ([("kick", np.nan), ("drift", 1.0)], "sequence finite nan"),
        ([("kick",), ("drift", 1.0)], "sequence ('kick',)"),
        ([1.0, 2.0], "sequence 1.0"),
        ([("kick", 1 / 50), ("drift", 1 / 50)] * 50, "at most 40"),
    ],
)
def test_a_wrong_sequence_is_refused_by_name(sequence, words):
    with pytest.raises(ValueError, match=words.split()[0]) as caught:
        pi.Composition(sequence)
    assert [w for w in words.split() if w not in str(caught.value)] == []


def test_a_composition_of_first_order_systems_is_refused():
    mine = pi.Composition([("kick", 1), ("drift", 1)], name="mine")
    with pytest.raises(ValueError, match="'mine'.*separable.*'lorenz'.*first_order"):
        final(pi.systems.lorenz, [1.0, 1, 1], mine)


# ---- stability -----------------------------------------------------------------------------------


def growth(method, z, n_steps=20_000):
    """The largest energies of oscillators at each omega dt = z, started in eight directions."""
    phase, z = np.arange(8) * np.pi / 8, np.reshape(z, (-1, 1))
    sol = pi.integrate(
        pi.systems.oscillator, np.cos(phase), np.sin(phase), dt=z, n_steps=n_steps, method=method,
        save=7, on_failure="ignore",
    )  # fmt: skip
    energy = np.where(sol.status == 0, sol.energy() / sol.energy()[0], np.inf)
    return energy.max(axis=(0, 2))


@pytest.mark.parametrize("method", POINT_METHODS, ids=str)
def test_the_oscillator_stays_within_the_stability_limit_and_grows_beyond(method):
    limit = method.stability_limit
    # Runge-Kutta damps within its limit and grows by a hair a step beyond. Compositions swing, at
    # one per cent from theirs by the square of 1 / sqrt(1 - 0.98^2); beyond, they multiply, some of
    # them in a narrow band only, which is why several places are tried. Multistep methods swing
    # where roots meet.
    table = method.family in ("explicit_rk", "implicit_rk", "rosenbrock")
    most, least = (1 + 1e-9, 1 + 1e-9) if table else (1000, 2000)
    within = np.multiply([0.3, 0.7, 0.99], min(limit, 100))
    assert limit == 0 or growth(method, within).max() <= most
    beyond = limit * (1 + np.geomspace(1e-6, 0.03, 16)) if limit else [0.3, 0.6, 1.0]
    beyond = [*beyond, 1.5] if method.family == "multistep" else beyond
    # Of the order 6 of its error is the growth: 1e-7 at 1.
    beyond = [*beyond, 3.0] if (method.family, method.order) == ("nystrom", 6) else beyond
    assert limit == np.inf or growth(method, beyond).max() > least


def test_growth_would_notice_a_wrong_limit():
    verlet = pi.methods["velocity_verlet"]
    assert growth(verlet, 1.999 * 0.99) < 1000
    assert growth(verlet, 2.001) > 2000


def test_stability_of_methods_of_ones_own():
    assert pi.RungeKutta(*EULER_TABLE).stability_limit == 0
    strang = [("kick", 0.25), ("drift", 0.5), ("kick", 0.5), ("drift", 0.5), ("kick", 0.25)]
    # Two Verlet steps of half the size.
    assert pi.Composition(strang).stability_limit == pytest.approx(4, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "order"),
    [
        (lambda o: pi.RungeKutta([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], order=o), 2),
        (lambda o: pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)], order=o), 2),
        (lambda o: pi.Multistep([0, -1, 1], [-1 / 2, 3 / 2, 0], order=o), 2),
    ],
    ids=["runge_kutta", "composition", "multistep"],
)
def test_an_order_that_the_conditions_refute_is_refused(make, order):
    assert make(order).order == make(None).order == order
    with pytest.raises(ValueError, match=f"order=3 was given, .* hold to order {order} "):
        make(order + 1)
    for wrong in ("2", 2.0, 0, True, 11):  # beyond 10 none is checked
        with pytest.raises((TypeError, ValueError), match="order must be"):
            make(wrong)


def test_numbers_of_six_digits_may_be_given_an_order():
    A, b = [[0, 0], [0.666667, 0]], [1 / 4, 3 / 4]
    assert pi.RungeKutta(A, b).order == 1
    assert pi.RungeKutta(A, b, order=2).order == 2
    assert pickle.loads(pickle.dumps(pi.RungeKutta(A, b, order=2))).order == 2
