"""Order conditions: as many trees and words as there must be, and the orders that are known."""

from fractions import Fraction
from itertools import islice, product
from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest
from reference import POINT_METHODS

import pyintegrate as pi
from pyintegrate.theory import order_conditions as oc
from pyintegrate.theory.rooted_trees import nystrom_trees

COMPOSITIONS = [m for m in POINT_METHODS if m.family == "composition"]


def by_its_doubles(method, **options):
    """The method made like a user-defined one, which knows its doubles only."""
    c = method.coefficients
    if method.family in ("explicit_rk", "implicit_rk"):
        return pi.RungeKutta(c["A"], c["b"], c["c"])
    if method.family == "multistep":
        numbers = (c["alpha"], c["beta"], c["predictor"] or None)
        return pi.Multistep(*numbers, method.derivative, c["velocity"] or None)
    pairs = zip(c["kick"], c["drift"], strict=True)
    steps = [s for kick, drift in pairs for s in (("kick", kick), ("drift", drift))]
    return pi.Composition(steps, requires=method.requires, **options)


def test_there_are_as_many_trees_and_words_as_known():
    # OEIS A000081, A001037, and Hairer, Norsett, Wanner I, table II.14.3 for forces without x'.
    assert [len(oc.trees(n)) for n in range(1, 11)] == [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]
    assert [len(oc.lyndon_words(n)) for n in range(1, 12)] == [
        2, 1, 2, 3, 6, 9, 18, 30, 56, 99, 186
    ]  # fmt: skip
    assert [len(nystrom_trees(n)) for n in range(1, 9)] == [1, 1, 2, 3, 6, 10, 20, 36]


def test_lyndon_words_are_smaller_than_their_ends():
    for length in range(1, 9):
        words = ["".join(letters) for letters in product("dk", repeat=length)]
        smallest = [w for w in words if all(w < w[i:] for i in range(1, length))]
        assert oc.lyndon_words(length) == smallest


def test_trees_that_are_labelled_in_all_ways_make_all_mappings():
    # n! / (gamma sigma) is the number of ways to grow a tree: (n - 1)! together.
    for n in range(1, 9):
        ways = [Fraction(factorial(n), oc.density(t) * oc.symmetry(t)) for t in oc.trees(n)]
        assert sum(ways) == factorial(n - 1)


# ---- they would notice ---------------------------------------------------------------------------

TINY = Fraction(1, 10**30)  # irrational numbers are written with about 50 digits


def with_numbers(method, change):
    """The method after a change of its exact numbers, as far as conditions look at it."""
    exact, rounding = method.exact_coefficients
    numbers = {name: [list(x) if isinstance(x, list) else x for x in value]
               for name, value in exact.items()}  # fmt: skip
    change(numbers)
    return SimpleNamespace(
        exact_coefficients=(numbers, rounding), family=method.family, requires=method.requires
    )


@pytest.mark.parametrize(
    "method", [m for m in POINT_METHODS if m.family in ("explicit_rk", "implicit_rk")], ids=str
)
def test_trees_would_notice_a_coefficient_wrong_in_the_thirtieth_digit(method):
    def change(numbers):
        if method.order == 1:
            numbers["b"][0] += TINY
            return
        stage = max(s for s, weight in enumerate(numbers["b"]) if weight)
        numbers["A"][stage][0] += TINY
        numbers["c"][stage] += TINY  # the nodes are the row sums all the same

    assert oc.order(with_numbers(method, lambda numbers: None)) == method.order
    assert oc.order(with_numbers(method, change)) < method.order


@pytest.mark.parametrize("method", [m for m in COMPOSITIONS if m.order > 2], ids=str)
def test_words_would_notice_a_coefficient_wrong_in_the_thirtieth_digit(method):
    def change(numbers):
        kicks = [i for i, weight in enumerate(numbers["kick"]) if weight]
        numbers["kick"][kicks[len(kicks) // 2]] += TINY
        numbers["kick"][kicks[0]] -= TINY  # the sum is right

    assert oc.order(with_numbers(method, change)) < method.order


NYSTROM = [m for m in POINT_METHODS if m.family == "nystrom" and m.order > 1]


@pytest.mark.parametrize("method", NYSTROM, ids=str)
def test_nystrom_trees_would_notice_any_weight_wrong_in_the_thirtieth_digit(method):
    """Of positions and of velocities, each alone, and two of the velocity with the right sum."""
    exact, _ = method.exact_coefficients
    assert oc.order(method) == min(method.order, oc.HIGHEST)

    def wrong(name, *stages):
        def change(numbers):
            for sign, stage in zip((1, -1), stages, strict=False):
                numbers[name][stage] += sign * TINY

        return with_numbers(method, change)

    for name in ("b", "velocity"):
        used = [s for s, weight in enumerate(exact[name]) if weight]
        for stage in used:
            assert oc.order(wrong(name, stage)) < method.order, (name, stage)
    for stage in used[1:]:
        if exact["c"][stage] != exact["c"][used[0]]:
            assert oc.order(wrong("velocity", used[0], stage)) == 1


@pytest.mark.parametrize("method", [m for m in NYSTROM if m.embedded], ids=str)
@pytest.mark.parametrize("which", [0, 1], ids=["positions", "velocities"])
def test_nystrom_trees_would_notice_any_wrong_weight_of_an_estimate(method, which):
    numbers, rounding = method.exact_coefficients
    for stage in (s for s, weight in enumerate(method.exact_embedded[which][0]) if weight):
        weights = [(list(w), left) for w, left in method.exact_embedded]
        weights[which][0][stage] += TINY
        changed = SimpleNamespace(
            exact_coefficients=(numbers, rounding), exact_embedded=weights, family="nystrom"
        )
        assert oc.embedded_orders(changed)[0] < method.embedded["order"], stage


# ---- user-defined methods ------------------------------------------------------------------------

# Users define no Nystrom or Rosenbrock methods, and no velocities that are differences.
WITH_A_DOOR = [
    m for m in POINT_METHODS
    if m.family not in ("nystrom", "rosenbrock") and not m.starts_from_positions
]  # fmt: skip


@pytest.mark.parametrize("method", WITH_A_DOOR, ids=str)
def test_the_order_is_found_from_doubles_alone(method):
    mine = by_its_doubles(method)
    assert mine.order == method.order
    assert mine.evaluations == method.evaluations
    assert mine.symmetric == method.symmetric
    assert mine.symplectic == method.symplectic
    assert mine.implicit == method.implicit
    assert mine.stability_limit == pytest.approx(method.stability_limit, rel=1e-9)


def test_neither_the_order_of_the_stages_nor_idle_ones_change_a_method():
    gauss, mixed = (pi.methods["gauss6"].coefficients[name] for name in "Ab"), [1, 0, 2]
    A, b = (np.pad(x, (0, 1)) for x in gauss)
    A[3] = 0.1, 0.0, 0.2, 0.3  # a stage that the step does not use
    for places in ([0, 1, 2, 3], [*mixed, 3], [3, *mixed]):
        mine = pi.RungeKutta(A[np.ix_(places, places)], b[places])
        assert (mine.symmetric, mine.symplectic) == (True, True)
    explicit = pi.RungeKutta([[0, 0, 0], [1 / 3, 0, 0], [1 / 2, 0, 0]], [0, 0, 1])
    assert (explicit.evaluations, explicit.certificate().holds) == (3, True)


def test_compositions_for_a_quadratic_kinetic_energy_have_lower_orders_otherwise():
    lower = {m.name: oc.order(m, False) for m in COMPOSITIONS if m.requires != "separable"}
    assert lower == {
        "mclachlan_atela4": 3, "calvo_sanz_serna4": 3, "mclachlan_atela5": 3,
        "okunbor_skeel6": 4, "blanes_moan_srkn11b": 4, "blanes_moan_srkn14a": 4,
    }  # fmt: skip
    for method in COMPOSITIONS:
        assert oc.order(method, True) == method.order


def test_the_drift_first_loses_an_order():
    # McLachlan, Atela (1992) print a table that is of order 4 with the kick first only.
    c = pi.methods["mclachlan_atela4"].coefficients
    pairs = zip(c["kick"], c["drift"], strict=True)
    steps = [s for kick, drift in pairs for s in (("drift", kick), ("kick", drift))]
    assert pi.Composition(steps, requires="quadratic_kinetic").order == 3
    assert pi.Composition(steps).requires == "separable"
    with pytest.raises(ValueError, match="requires must be one of separable"):
        pi.Composition(steps, requires="any")


def test_fractions_prove_the_order_exactly():
    third = Fraction(1, 3)
    heun = pi.RungeKutta([[0, 0, 0], [third, 0, 0], [0, 2 * third, 0]], [Fraction(1, 4), 0, 0.75])
    assert heun.order == 3
    assert heun.exact_coefficients[1] == 0
    assert heun.exact_coefficients[0]["A"][1][0] == third
    # A number that misses by 1e-30 is rounded to the same double, and is not the same number.
    wrong = pi.RungeKutta(
        [[0, 0, 0], [third, 0, 0], [0, 2 * third + Fraction(1, 10**30), 0]],
        [Fraction(1, 4), 0, Fraction(3, 4)],
    )
    assert wrong.coefficients == heun.coefficients
    assert wrong.order == 1  # b c = 1/2 fails by as much
    ruth = [Fraction(7, 24), Fraction(2, 3), Fraction(3, 4), Fraction(-2, 3), Fraction(-1, 24), 1]
    mine = pi.Composition(zip(("kick", "drift") * 3, ruth, strict=True))
    assert (mine.order, mine.exact_coefficients[1]) == (3, 0)


def test_the_table_is_read_with_all_its_digits():
    for method in POINT_METHODS:
        exact, rounding = method.exact_coefficients
        assert rounding < 1e-45
        for name, numbers in method.coefficients.items():
            assert np.array(exact[name], float).tolist() == numbers


def test_a_table_that_is_no_number_is_refused():
    method = pi.methods["rk4"]
    fields = {name: getattr(method, name) for name in [*pi.Method.__annotations__, "written"]}
    text = method.written.replace("1/3.", "1-2/3.")
    with pytest.raises(ValueError, match="write a number, or a/b."):
        pi.Method(**fields | {"written": text}).exact_coefficients  # noqa: B018


def test_words_are_the_product_of_exponentials():
    """In matrices that multiply to zero but along one word, that word's coefficient remains."""
    sequence = [("k", 0.3), ("d", 0.6), ("k", 0.5), ("d", 0.4), ("k", 0.2)]
    for word in oc.lyndon_words(4):
        size = len(word) + 1
        letters = {letter: np.zeros((size, size)) for letter in "kd"}
        for i, letter in enumerate(word):
            letters[letter][i, i + 1] = 1
        step = np.eye(size)
        for letter, weight in sequence:
            power, term = np.eye(size), np.eye(size)
            for n in range(1, size):
                term = term @ letters[letter] * weight / n
                power = power + term
            step = step @ power
        coefficient = oc._word_coefficients(sequence, [word])[word] / factorial(len(word))
        assert coefficient == pytest.approx(step[0, -1], abs=1e-15)


def test_a_tree_is_the_elementary_weight_that_its_formula_says():
    """b . (c * A c^2), the tree of a root with a leaf and a node of two leaves, by hand."""
    c = pi.methods["kutta3"].coefficients
    A, b, nodes = (np.array(c[name]) for name in "Abc")
    tree = ((), ((), ()))
    assert tree in oc.trees(5)
    assert (oc.density(tree), oc.symmetry(tree)) == (15, 2)
    fifth = next(islice(oc.conditions(pi.methods["kutta3"]), 4, None))
    residuals = {
        (): b @ nodes**4 - 1 / 5,
        "leaf and two": b @ (nodes * (A @ nodes**2)) - 1 / 15,
        "tall": b @ A @ A @ A @ nodes - 1 / 120,
    }
    assert float(fifth.largest) >= max(map(abs, residuals.values())) - 1e-15
    assert not fifth.hold


def test_orders_stop_at_ten():
    # Two steps of the method of order 10, each of half the size, would have too many stages; the
    # method itself shows that nothing beyond ten is looked at.
    assert oc.order(pi.methods["sofroniou_spaletta10"]) == oc.HIGHEST == 10


def test_norms_of_the_verlet_error_are_those_of_its_series():
    # log = h (K + D) + h^3 (-[K, [K, D]] / 24 + [D, [D, K]] / 12) + ...
    third = next(islice(oc.conditions(pi.methods["velocity_verlet"]), 2, None))
    assert third.norm == pytest.approx(np.hypot(1 / 24, 1 / 12), rel=1e-14)
    assert third.number == 2
