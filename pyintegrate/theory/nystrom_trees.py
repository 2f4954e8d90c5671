"""Order conditions for x'' = f(x): one for each special Nystrom tree, of positions and velocities.

A tree is (leaves, subtrees): how often f is differentiated along the velocity, and along which
other forces; a subtree is attached by two edges. (Time is a position with velocity 1.)

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.14.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, count
from math import factorial, lcm, prod

from .conditions import collect, dot, multiplied, size, sparse, times


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
    inner = [nystrom_target(sub) / (n * (n + 1)) for sub, n in zip(tree[1], sizes, strict=True)]
    return prod(inner, start=Fraction(1))


@cache
def nystrom_symmetry(tree):
    leaves, forest = tree
    return factorial(leaves) * prod(
        factorial(n) * nystrom_symmetry(sub) ** n for sub, n in Counter(forest).items()
    )


def kicks_and_drifts(exact):
    """Letters and numbers in the order applied."""
    pairs = zip(exact["kick"], exact["drift"], strict=True)
    return [(name, w) for pair in pairs for name, w in zip("kd", pair, strict=True) if w]


def nystrom_composition(exact, rounding):
    """Like `nystrom`: a kick of weight b_i at time c_i depends on the kicks before it.

    With the weights b_j (c_i - c_j); and positions with b_i (1 - c_i).
    """
    steps = kicks_and_drifts(exact)
    scale = lcm(*(weight.denominator for _, weight in steps))
    time, length = 0, 0.0
    b: list[int] = []
    c: list[int] = []
    sizes: list[float] = []
    far: list[float] = []
    for letter, weight in steps:
        if letter == "d":
            time, length = time + int(weight * scale), length + size(weight)
        else:
            b, c = [*b, int(weight * scale)], [*c, time]
            sizes, far = [*sizes, size(weight)], [*far, length]

    def inner(phi):
        return _before(b, c, phi[0], -1), _before(sizes, far, phi[1], 1)

    position = [w * (scale - t) for w, t in zip(b, c, strict=True)]
    far_sizes = [w * (1 + length) for w in sizes]
    yield from _by_trees(rounding, scale, c, far, inner, (b, sizes), (position, far_sizes))


def nystrom(exact, rounding):
    """velocity . phi(t) = 1/n target and b . phi(t) = 1/(n (n + 1)) target for n nodes.

    phi is the product of c over the leaves of the tree and of A phi over its subtrees.
    """
    A, b, c, velocity = (exact[name] for name in ("A", "b", "c", "velocity"))
    scale = lcm(*(x.denominator for row in (b, c, velocity, *A) for x in row))

    def whole(x):  # A and b go with h^2
        return int(x * scale * scale)

    yield from _by_trees(
        rounding, scale, [int(x * scale) for x in c], list(map(size, c)),
        partial(times, (sparse(A, whole), sparse(A, size))),
        ([int(x * scale) for x in velocity], list(map(size, velocity))),
        (list(map(whole, b)), list(map(size, b))),
    )  # fmt: skip


def _by_trees(rounding, scale, c, far, inner_of, velocities, positions):
    """Order by order; a sum of n coefficients' products is a multiple of 1 / scale^n."""
    inner: dict = {}  # A phi, and a bound of it
    later: list = []  # the conditions on positions come from the trees with one node less
    for number in count(1):
        residuals, later_next = later, []
        for tree in nystrom_trees(number):
            leaves, forest = tree
            start = [t**leaves for t in c], [t**leaves for t in far]
            phi = multiplied(start, map(inner.get, forest))
            inner[tree] = inner_of(phi)
            target, sigma = nystrom_target(tree) / number, nystrom_symmetry(tree)
            total, allowed = dot(velocities, phi)
            residuals.append((Fraction(total, scale**number) - target, allowed, sigma))
            total, allowed = dot(positions, phi)
            residual = Fraction(total, scale ** (number + 1)) - target / (number + 1)
            later_next.append((residual, allowed, sigma))
        yield collect(number, rounding, residuals)
        later = later_next


def _before(b, c, phi, sign):
    """sum over j < i of b_j (c_i + sign c_j) phi_j, for each i, in one pass."""
    sums, weighted, moment = [], 0, 0
    for weight, time, value in zip(b, c, phi, strict=True):
        sums.append(time * weighted + sign * moment)
        weighted += weight * value
        moment += weight * value * time
    return sums
