"""Order conditions for x'' = f(x): one for each special Nystrom tree, of positions and velocities.

A tree is (leaves, subtrees): how often f is differentiated along the velocity, and along which
other forces; a subtree is attached by two edges. (Time is a position with velocity 1.)

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.14.
"""

from collections import Counter
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, count
from math import factorial, prod

import numpy as np

from .conditions import applied, both, collect, common_scale


@cache
def nystrom_trees(number):
    """Trees with `number` nodes: 1, 1, 2, 3, 6, 10, 20, 36, ..."""
    return sorted(
        (number - 1 - used, forest)
        for used in range(number)
        for forest in _forests(used, used)
    )  # fmt: skip


@cache
def _forests(used, largest):
    """Multisets of trees which, with the node between each and the root, have `used` nodes."""
    if used == 0:
        return [()]
    return sorted(
        {
            tuple(sorted(heads + rest))
            for size in range(2, min(used, largest) + 1)
            for several in range(1, used // size + 1)
            for heads in combinations_with_replacement(nystrom_trees(size - 1), several)
            for rest in _forests(used - size * several, size - 1)
        }
    )


@cache
def nystrom_nodes(tree):
    return 1 + tree[0] + sum(1 + nystrom_nodes(subtree) for subtree in tree[1])


@cache
def nystrom_target(tree):
    """The value of phi for the exact solution at time 1: the nested integrals of the tree."""
    sizes = [nystrom_nodes(subtree) for subtree in tree[1]]
    inner = [nystrom_target(sub) / (n * (n + 1)) for sub, n in zip(tree[1], sizes)]
    return prod(inner, start=Fraction(1))


@cache
def nystrom_symmetry(tree):
    leaves, forest = tree
    return factorial(leaves) * prod(
        factorial(n) * nystrom_symmetry(sub) ** n for sub, n in Counter(forest).items()
    )


def kicks_and_drifts(exact):
    """Letters and numbers in the order applied."""
    pairs = zip(exact["kick"], exact["drift"])
    return [(name, w) for pair in pairs for name, w in zip("kd", pair) if w]


def nystrom_composition(exact, rounding):
    """Like `nystrom`: a kick of weight b_i at time c_i depends on the kicks before it.

    Its weights are b_j (c_i - c_j); the last position depends on each kick with b_i (1 - c_i).
    """
    steps = kicks_and_drifts(exact)
    scale = common_scale(weight for _, weight in steps)
    kicks = np.array([letter == "k" for letter, _ in steps])
    weights = both([weight for _, weight in steps], scale)
    ends = (weights * ~kicks).cumsum(axis=1)
    b, c, sign = weights[:, kicks], ends[:, kicks], np.array([[-1], [1]], object)

    def inner(phi):  # sum over j < i of b_j (c_i - c_j) phi_j, and without signs, in one pass
        terms = b * phi
        sums, moments = ((x.cumsum(axis=1) - x) for x in (terms, terms * c))
        return c * sums + sign * moments

    far = np.array([[scale], [1 + ends[1, -1]]], object)
    yield from _by_trees(rounding, scale, c, inner, b, b * (far + [[-1], [0]] * c))


def nystrom(exact, rounding):
    """velocity . phi(t) = 1/n target and b . phi(t) = 1/(n (n + 1)) target for n nodes.

    phi is the product of c over the leaves of the tree and of A phi over its subtrees.
    """
    A, b, c, velocity = (exact[name] for name in ("A", "b", "c", "velocity"))
    scale = common_scale(b, c, velocity, *A)
    A, b = (both(table, scale * scale) for table in (A, b))  # they go with h^2
    c, velocity = (both(table, scale) for table in (c, velocity))
    yield from _by_trees(rounding, scale, c, partial(applied, A), velocity, b)


def _by_trees(rounding, scale, c, inner_of, velocities, positions):
    """Order by order; a sum of n coefficients' products is a multiple of 1 / scale^n."""
    inner = {}  # A phi, and a bound of it
    later = []  # the conditions on positions come from the trees with one node less
    for number in count(1):
        residuals, later_next = later, []
        for tree in nystrom_trees(number):
            leaves, forest = tree
            phi = prod(map(inner.__getitem__, forest), start=c**leaves)
            inner[tree] = inner_of(phi)
            target, sigma = nystrom_target(tree) / number, nystrom_symmetry(tree)
            total, allowed = (velocities * phi).sum(axis=1)
            residuals.append((Fraction(total, scale**number) - target, allowed, sigma))
            total, allowed = (positions * phi).sum(axis=1)
            residual = Fraction(total, scale ** (number + 1)) - target / (number + 1)
            later_next.append((residual, allowed, sigma))
        yield collect(number, rounding, residuals)
        later = later_next
