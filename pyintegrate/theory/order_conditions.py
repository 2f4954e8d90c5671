"""The order of a method: the algebraic conditions on its coefficients, in exact arithmetic.

Runge-Kutta methods, explicit or implicit, have a condition for each rooted tree. Compositions of
kicks and drifts have one for each Lyndon word in two letters; if the kinetic energy is quadratic
many commutators vanish, and the conditions are those of a Nystrom method, one for each special
Nystrom tree (nystrom_conditions.py). Multistep methods have one for each power of t
(multistep_conditions.py). Rosenbrock methods have the trees of Runge-Kutta methods with two
matrices: one where a vertex has a single branch, which J may multiply, one where it has several.

Numbers are integer multiples of 1 / `scale`, so that all sums are sums of integers. For each
condition its terms are also added without their signs: times the relative error of the
coefficients, this bounds the residual that rounding may cause in a condition that holds.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.2 and II.14; Hairer,
Lubich, Wanner (2006), Geometric Numerical Integration, III.1-3; Murua, Sanz-Serna (1999), Phil.
Trans. R. Soc. A 357, 1079-1100, for Lyndon words; Hairer, Wanner (1996), Solving Ordinary
Differential Equations II, IV.7, for Rosenbrock methods.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import count, islice, product
from math import comb, factorial, prod, sqrt

import numpy as np

from .conditions import applied, both, collect, common_scale, size
from .multistep_conditions import multistep
from .nystrom_conditions import kicks_and_drifts, nystrom, nystrom_composition
from .rooted_trees import density, symmetry, trees
from .rosenbrock import SCALE, in_slopes

HIGHEST = 10  # the order up to which orders are computed


def conditions(method, quadratic_kinetic=None):
    """The conditions of order 1, 2, 3, ..., one order after another, without end.

    Parameters
    ----------
    method : Method
    quadratic_kinetic : bool, optional
        For compositions, whether the kinetic energy is quadratic. Default: whether the method
        requires it.

    Yields
    ------
    Conditions

    Examples
    --------
    >>> import pyintegrate as pi
    >>> first_four = list(islice(conditions(pi.methods["heun3"]), 4))
    >>> [(c.number, c.hold) for c in first_four]
    [(1, True), (1, True), (2, True), (4, False)]
    """
    exact, rounding = method.exact_coefficients
    if quadratic_kinetic is None:
        quadratic_kinetic = method.requires == "quadratic_kinetic"
    family = "nystrom_composition" if quadratic_kinetic else method.family
    if family == "multistep":
        exact = {**exact, "derivative": method.derivative, "backward": method.backward}
    return _FAMILIES[family](exact, float(rounding))


def order(method, quadratic_kinetic=None):
    """The largest order such that its conditions and those of all lower orders hold; at most 10.

    Parameters
    ----------
    method : Method
    quadratic_kinetic : bool, optional
        As in `conditions`.

    Returns
    -------
    int

    Examples
    --------
    >>> import pyintegrate as pi
    >>> nystrom = pi.methods["okunbor_skeel6"]
    >>> order(nystrom), order(nystrom, quadratic_kinetic=False)
    (6, 4)
    """
    return _held(conditions(method, quadratic_kinetic), HIGHEST)


def embedded_orders(method):
    """The orders of the weights with which a method estimates its error: one or two.

    If weights do not sum to 1, the rest belongs to f(t, y), which is no stage of the method. The
    weights of a Nystrom pair, for positions and velocities, have one order together.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> embedded_orders(pi.methods["dop853"]), embedded_orders(pi.methods["verner87"])
    ([5, 3], [7])
    """
    exact, _ = method.exact_coefficients
    if method.family == "nystrom":
        (positions, left), (velocities, also_left) = method.exact_embedded
        weights = {"b": positions, "velocity": velocities}
        return [_order_of(method.family, {**exact, **weights}, max(left, also_left))]
    found = []
    for weights, rounding in method.exact_embedded:
        table = {**exact, "b": weights}
        slope = 1 - sum(weights)  # the weight of f(t, y), if that is no stage
        if abs(slope) > rounding and method.family != "rosenbrock":
            first = [Fraction(0)]
            rows = [first * (len(weights) + 1), *([*first, *row] for row in exact["A"])]
            table = {"A": rows, "b": [slope, *weights], "c": first + exact["c"]}
        found.append(_order_of(method.family, table, rounding))
    return found


def _order_of(family, table, rounding):
    """The order of a table of numbers by its conditions, as in `order`; at most 11."""
    return _held(_FAMILIES[family](table, float(rounding)), HIGHEST + 1)


def _held(found, most):
    """The order up to which conditions hold."""
    return next((c.order - 1 for c in islice(found, most) if not c.hold), most)


# ---- rooted trees: Runge-Kutta -------------------------------------------------------------------
def _runge_kutta(exact, rounding):
    """b . phi(t) = 1 / gamma(t), where phi(t) is the product of A phi over the subtrees of t."""
    A, b = exact["A"], exact["b"]
    scale = common_scale(b, *A)
    branch = both(A, scale)
    sums = [  # c = A 1, which a force that depends on time needs
        (sum(row) - node, float(sum(map(abs, row)) + abs(node)), 1)
        for row, node in zip(A, exact["c"])
    ]
    return _by_trees(rounding, scale, branch, branch, both(b, scale), sums)


def _rosenbrock(exact, rounding):
    """b . phi(t) = 1 / gamma(t), where phi(t) is the product of alpha phi over several subtrees, or
    beta phi of a single one, with beta = alpha + gamma.
    """
    alpha, gamma, b, sizes = in_slopes(exact)
    single, several, weights = (
        np.array([numbers, sizes[name]], object)
        for name, numbers in (("beta", alpha + gamma), ("alpha", alpha), ("b", b))
    )
    sums = [  # the row sums, which give each stage its time
        (Fraction(sum(row), SCALE) - x, sum(bound) + size(x), 1)
        for name, matrix, letter in (("c", alpha, "alpha"), ("d", gamma, "gamma"))
        for row, bound, x in zip(matrix, sizes[letter], exact[name])
    ]
    return _by_trees(rounding, SCALE, single, several, weights, sums)


def _by_trees(rounding, scale, single, several, weights, sums):
    """Order by order; a matrix for the branches of one subtree, and for those of several."""
    ones = np.ones_like(weights)
    inner = {}  # the branch of a tree, alone and among others
    for number in count(1):
        residuals = []
        for tree in trees(number):
            phi = prod((inner[subtree][len(tree) > 1] for subtree in tree), start=ones)
            alone = applied(single, phi)
            inner[tree] = alone, alone if several is single else applied(several, phi)
            total, allowed = (weights * phi).sum(axis=1)
            residual = Fraction(total, scale**number) - Fraction(1, density(tree))
            residuals.append((residual, allowed, symmetry(tree)))
        found = collect(number, rounding, residuals + sums * (number == 1))
        yield found._replace(number=len(trees(number)))


# ---- words: compositions for any separable Hamiltonian -------------------------------------------
# The step is a product of exp(w K) and exp(w D); words in "d" and "k" multiply their terms.


@cache
def lyndon_words(length):
    """Words smaller than all their suffixes: 2, 1, 2, 3, 6, 9, 18, ..."""
    words = map("".join, product("dk", repeat=length))
    return [word for word in words if all(word < word[i:] for i in range(1, length))]


def _word_coefficients(sequence, words):
    """n! times the coefficients of words of length n in the product of exp(w letter)."""
    coefficients = {w[:n]: 0 for w in words for n in range(len(w) + 1)}
    coefficients[""] = 1
    longest_first = sorted(coefficients, key=len, reverse=True)
    for letter, weight in sequence:
        for word in longest_first:  # so that shorter ones still have their old values
            run = len(word) - len(word.rstrip(letter))
            coefficients[word] += sum(
                comb(len(word), n) * weight**n * coefficients[word[:-n]] for n in range(1, run + 1)
            )
    return coefficients


@cache
def _bracket(word):
    """The commutator that belongs to a Lyndon word, as a sum of words."""
    if len(word) == 1:
        return {word: 1}
    cut = next(i for i in range(1, len(word)) if word[i:] in lyndon_words(len(word) - i))
    total = Counter()
    for left, x in _bracket(word[:cut]).items():
        for right, y in _bracket(word[cut:]).items():
            total[left + right] += x * y
            total[right + left] -= x * y
    return total


def _composition(exact, rounding):
    """The coefficient of each Lyndon word of n letters is that of exp(K + D), 1/n!.

    The logarithm of the step is a sum of commutators, so that Lyndon words suffice.
    """
    sequence = kicks_and_drifts(exact)
    scale = common_scale(weight for _, weight in sequence)
    whole = [(letter, int(weight * scale)) for letter, weight in sequence]
    sizes = [(letter, size(weight)) for letter, weight in sequence]
    for number in count(1):
        words = lyndon_words(number)
        values, bounds = _word_coefficients(whole, words), _word_coefficients(sizes, words)
        residuals = [(Fraction(values[w], scale**number) - 1) / factorial(number) for w in words]
        rest = dict(zip(words, map(float, residuals)))
        for word in words:  # in the basis of commutators, which is triangular
            for other, x in _bracket(word).items():
                if other != word and other in rest:
                    rest[other] -= x * rest[word]
        found = collect(
            number, rounding, [(r, bounds[w] / factorial(number), 1)
                               for w, r in zip(words, residuals)],
        )  # fmt: skip
        yield found._replace(norm=sqrt(sum(x * x for x in rest.values())))


_FAMILIES = {
    "explicit_rk": _runge_kutta,
    "implicit_rk": _runge_kutta,
    "rosenbrock": _rosenbrock,
    "composition": _composition,
    "nystrom_composition": nystrom_composition,
    "nystrom": nystrom,
    "wisdom_holman": _composition,
    "multistep": multistep,
}
