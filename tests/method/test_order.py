"""Every method meets the conditions of the order that it declares, and fails one of the next: on
the numbers as their authors wrote them, with all digits, exactly where they are rational.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pytest
from mpmath import mp, mpf, workdps
from reference import POINT_METHODS

DIGITS = 60  # irrational numbers are written with about 50
ROUNDED = 1e-40  # 1e-49, times products of numbers up to 400 that cancel
RUNGE_KUTTA = [m for m in POINT_METHODS if m.family == "explicit_rk"]
COMPOSITIONS = [m for m in POINT_METHODS if m.family == "composition"]
# Others reach their order only where a commutator vanishes: see test_measured_order.
SEPARABLE = [m for m in COMPOSITIONS if m.requires == "separable"]


@pytest.fixture(autouse=True)
def _with_many_digits():
    with workdps(DIGITS):
        yield


def flat(numbers):
    return [x for item in numbers for x in flat(item)] if isinstance(numbers, list) else [numbers]


def exact(method):
    """The coefficients: fractions where they are what they stand for, else of many digits."""
    numbers, rounding = method.exact_coefficients
    if rounding == 0:
        return numbers, 0

    def real(x):
        if isinstance(x, list):
            return [real(item) for item in x]
        return mpf(x.numerator) / x.denominator

    return {name: real(value) for name, value in numbers.items()}, ROUNDED


@pytest.mark.parametrize("method", POINT_METHODS, ids=str)
def test_the_core_has_the_doubles_nearest_to_what_is_written(method):
    numbers, _ = method.exact_coefficients
    for name, value in method.coefficients.items():
        assert [float(x) for x in flat(numbers[name])] == flat(value)


# ---- Runge-Kutta: one condition for each rooted tree ---------------------------------------------


@cache
def trees(order):
    """Rooted trees with so many nodes; a tree is the sorted tuple of its subtrees."""
    return sorted(forests(order - 1, order - 1))


@cache
def forests(nodes, largest):
    """Multisets of trees with so many nodes together, none of more than `largest`."""
    if nodes == 0:
        return {()}
    found = set()
    for size in range(1, min(nodes, largest) + 1):
        for count in range(1, nodes // size + 1):
            for heads in combinations_with_replacement(trees(size), count):
                for rest in forests(nodes - size * count, size - 1):
                    found.add(tuple(sorted(heads + rest)))
    return found


@cache
def density(tree):
    """gamma(t): the nodes of the tree times the densities of its subtrees."""
    return nodes(tree) * prod(map(density, tree))


def nodes(tree):
    return 1 + sum(map(nodes, tree))


class Table:
    """b . Phi(t) - 1/gamma(t) for the numbers A and b; Phi is kept for the subtrees."""

    def __init__(self, A, b):
        self.A, self.b, self.known = A, b, {}

    def weights(self, tree):
        """Phi(t): for each stage the product of A . Phi over the subtrees."""
        if tree not in self.known:
            below = [self.slopes(subtree) for subtree in tree]
            self.known[tree] = [prod(s[i] for s in below) for i in range(len(self.b))]
        return self.known[tree]

    def slopes(self, tree):
        """A . Phi(t)"""
        if ("A", tree) not in self.known:
            phi = self.weights(tree)
            self.known["A", tree] = [
                sum(a * phi[j] for j, a in enumerate(row) if a) for row in self.A
            ]
        return self.known["A", tree]

    def residuals(self, order):
        one = Fraction(1) if isinstance(self.b[0], Fraction) else mpf(1)
        return [
            sum(w * x for w, x in zip(self.b, self.weights(tree), strict=True))
            - one / density(tree)
            for tree in trees(order)
        ]

    def worst(self, orders):
        return max(abs(residual) for order in orders for residual in self.residuals(order))


def test_there_are_as_many_rooted_trees_as_cayley_counted():
    # Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, table II.2.3.
    assert [len(trees(n)) for n in range(1, 11)] == [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]
    assert sorted(map(density, trees(4))) == [4, 8, 12, 24]


@pytest.mark.parametrize("method", RUNGE_KUTTA, ids=str)
def test_runge_kutta_meets_the_conditions_of_its_order_and_no_more(method):
    numbers, tolerance = exact(method)
    table = Table(numbers["A"], numbers["b"])
    assert table.worst(range(1, method.order + 1)) <= tolerance
    assert table.worst([method.order + 1]) > 1e-8  # Verner's of order 9 leaves 1e-7


@pytest.mark.parametrize("method", RUNGE_KUTTA, ids=str)
def test_the_nodes_are_the_row_sums(method):
    numbers, tolerance = exact(method)
    for node, row in zip(numbers["c"], numbers["A"], strict=True):
        assert abs(sum(row) - node) <= tolerance


@pytest.mark.parametrize("method", RUNGE_KUTTA, ids=str)
def test_conditions_would_notice_a_coefficient_wrong_in_the_thirtieth_digit(method):
    numbers, tolerance = exact(method)
    wrong = {"A": [list(row) for row in numbers["A"]], "b": list(numbers["b"])}
    if method.order == 1:
        wrong["b"][0] += Fraction(1, 10**30)
    else:
        row = wrong["A"][max(s for s, weight in enumerate(wrong["b"]) if weight)]
        row[0] += Fraction(1, 10**30) if tolerance == 0 else mpf(10) ** -30
    assert Table(wrong["A"], wrong["b"]).worst(range(1, min(method.order, 5) + 1)) > 1e-36


# ---- compositions: the product of exponentials is the exponential of the sum ---------------------


def words(longest):
    return [w for n in range(longest + 1) for w in product("KD", repeat=n)]


def times_exponential(series, letter, weight, longest):
    """series . exp(weight letter) in the free associative algebra, cut off at its longest word."""
    powers = [weight**n / factorial(n) for n in range(longest + 1)]
    result = dict.fromkeys(series, 0)
    for word, value in series.items():
        for n in range(longest - len(word) + 1):
            result[word + (letter,) * n] += value * powers[n]
    return result


def distances(numbers, longest):
    """How far the words of each length are from those of exp(K + D), each 1 / length!."""
    zero = 0 * numbers["kick"][0]
    series = dict.fromkeys(words(longest), zero)
    series[()] = zero + 1
    for kick, drift in zip(numbers["kick"], numbers["drift"], strict=True):
        for letter, weight in (("K", kick), ("D", drift)):
            if weight:
                series = times_exponential(series, letter, weight, longest)
    apart = [zero] * (longest + 1)
    for word, value in series.items():
        n = len(word)
        apart[n] = max(apart[n], abs(value * factorial(n) - 1) / factorial(n))
    return apart


@pytest.mark.parametrize("method", SEPARABLE, ids=str)
def test_composition_is_the_exponential_of_the_sum_up_to_its_order_and_no_further(method):
    numbers, tolerance = exact(method)
    apart = distances(numbers, method.order + 1)
    assert max(apart[: method.order + 1]) <= tolerance
    assert apart[-1] > 1e-10  # Sofroniou and Spaletta's of order 10 leaves 1e-9


@pytest.mark.parametrize("method", COMPOSITIONS, ids=str)
def test_kicks_and_drifts_sum_to_one(method):
    numbers, tolerance = exact(method)
    assert abs(sum(numbers["kick"]) - 1) <= tolerance
    assert abs(sum(numbers["drift"]) - 1) <= tolerance


@pytest.mark.parametrize("method", COMPOSITIONS, ids=str)
def test_symmetric_compositions_read_the_same_backwards(method):
    numbers, _ = method.exact_coefficients
    pairs = zip(numbers["kick"], numbers["drift"], strict=True)
    steps = [step for k, d in pairs for step in (("K", k), ("D", d)) if step[1]]
    assert (steps == steps[::-1]) == method.symmetric


@pytest.mark.parametrize("method", [m for m in SEPARABLE if m.order > 2], ids=str)
def test_words_would_notice_a_coefficient_wrong_in_the_thirtieth_digit(method):
    numbers, _ = exact(method)
    kick = [w for w in numbers["kick"] if w]
    place = numbers["kick"].index(kick[len(kick) // 2])
    other = numbers["kick"].index(kick[0])
    wrong = {name: list(value) for name, value in numbers.items()}
    wrong["kick"][place] += mpf(10) ** -30
    wrong["kick"][other] -= mpf(10) ** -30  # the sum is right
    assert max(distances(wrong, min(method.order, 4))) > 1e-36


def test_many_digits_are_worked_with():
    assert mp.dps == DIGITS
    assert np.finfo(np.float64).eps > ROUNDED
