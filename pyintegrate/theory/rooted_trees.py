"""Rooted trees, which order conditions belong to: a tree is the sorted tuple of its subtrees.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.2 and II.14.
"""

from collections import Counter
from functools import cache
from math import factorial, prod


@cache
def trees(size):
    """Trees of so many nodes: 1, 1, 2, 4, 9, 20, 48, 115, 286, 719, ..."""
    if size == 1:
        return [()]
    return sorted({grown for tree in trees(size - 1) for grown in _grafts(tree)})


@cache
def nystrom_trees(size):
    """Those of x'' = f(x), whose nodes are forces and positions in turn: 1, 1, 2, 3, 6, 10, ...

    The root is a force. Each position has one branch, another force, or none where it is that of
    the velocity. (Time is a position with velocity 1.)
    """
    if size == 1:
        return [()]
    grown = {grown for tree in nystrom_trees(size - 1) for grown in _grafts(tree)}
    return sorted(filter(_is_force, grown))


def _is_force(tree):
    return all(len(position) < 2 and all(map(_is_force, position)) for position in tree)


def _grafts(tree):
    """The trees with one more leaf, wherever it can be attached."""
    yield tuple(sorted((*tree, ())))
    for i, subtree in enumerate(tree):
        for grown in _grafts(subtree):
            yield tuple(sorted((*tree[:i], grown, *tree[i + 1 :])))


@cache
def nodes(tree):
    return 1 + sum(map(nodes, tree))


@cache
def density(tree):
    """gamma: the product of the numbers of nodes of the tree and of all its subtrees."""
    return nodes(tree) * prod(map(density, tree))


@cache
def symmetry(tree):
    """sigma: the number of automorphisms of a tree."""
    return prod(factorial(n) * symmetry(sub) ** n for sub, n in Counter(tree).items())
