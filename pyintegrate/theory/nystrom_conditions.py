"""Order conditions for x'' = f(x): one for each Nystrom tree, of positions and velocities.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.14.
"""

from fractions import Fraction
from functools import partial
from itertools import count
from math import prod

import numpy as np

from .conditions import applied, both, collect, common_scale
from .rooted_trees import density, nystrom_trees, symmetry


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
    """velocity . phi(t) = 1 / gamma(t) and b . phi(t) = 1 / ((n + 1) gamma(t)) for n nodes.

    phi is the product over the positions of the root: of c where that is a leaf, else of A phi.
    """
    A, b, c, velocity = (exact[name] for name in ("A", "b", "c", "velocity"))
    scale = common_scale(b, c, velocity, *A)
    A, b = (both(table, scale * scale) for table in (A, b))  # they go with h^2
    c, velocity = (both(table, scale) for table in (c, velocity))
    yield from _by_trees(rounding, scale, c, partial(applied, A), velocity, b)


def _by_trees(rounding, scale, c, inner_of, velocities, positions):
    """Order by order; a sum of n coefficients' products is a multiple of 1 / scale^n."""
    inner: dict = {(): c}  # of each position, and a bound of it
    later = []  # the conditions on positions come from the trees with one node less
    for number in count(1):
        residuals, later_next = later, []
        for tree in nystrom_trees(number):
            phi = prod(map(inner.__getitem__, tree), start=np.ones_like(c))
            inner[tree,] = inner_of(phi)
            target, sigma = Fraction(1, density(tree)), symmetry(tree)
            total, allowed = (velocities * phi).sum(axis=1)
            residuals.append((Fraction(total, scale**number) - target, allowed, sigma))
            total, allowed = (positions * phi).sum(axis=1)
            residual = Fraction(total, scale ** (number + 1)) - target / (number + 1)
            later_next.append((residual, allowed, sigma))
        yield collect(number, rounding, residuals)
        later = later_next
