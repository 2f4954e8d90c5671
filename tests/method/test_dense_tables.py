"""The numbers of states within a step (csrc/methods/within/dense.h), in exact arithmetic.

A polynomial in Bernstein form has order q if each coefficient m satisfies, for every tree of order
r up to q, sum_i w_i phi_i = ((m over r) / (n over r)) times the value for the exact solution at the
end of the step: theta^r has these coefficients.
"""

import re
from fractions import Fraction
from functools import cache
from math import comb, prod
from pathlib import Path

import pytest

import pyintegrate as pi
from pyintegrate.theory.rooted_trees import nystrom_trees

TEXT = (Path(__file__).resolve().parents[2] / "csrc" / "methods" / "within" / "dense.h").read_text()
# Errors of the orders above are small: tests/adaptive/test_dense.py measures them.
ORDERS = {
    "merson45": 3, "zonneveld43": 4, "fehlberg45": 4, "cash_karp45": 4, "dormand_prince54": 4,
    "tsitouras54": 4, "bogacki_shampine54": 5, "verner65_dverk": 5, "verner65": 5, "verner76": 6,
    "fehlberg78": 6, "prince_dormand87": 6, "dop853": 7, "verner87": 6, "verner98": 7,
    "dormand_prince_rkn64": 6, "dormand_prince_rkn86": 7, "dormand_prince_rkn1210": 9,
}  # fmt: skip


def numbers(block, name):
    rows = rf"\.{name} = \(PiSlopes\[\]\)(\{{.*?\}})(?=,\n \.|\}},\n)"
    found = re.search(rows, block + "},\n", re.DOTALL)
    if not found:
        return []
    return [[Fraction(x) for x in row.split(", ")] for row in re.findall(r"\{([^{}]+)\}", found[1])]


TABLES = {
    re.match(r' = "(\w+)"', block)[1]: (int(re.search(r"degree = (\d+)", block)[1]), block)
    for block in TEXT.split("{.name")[1:]
}


@cache
def rooted(size):
    """Rooted trees as sorted tuples of subtrees."""
    if size == 1:
        return [()]
    found = {
        tuple(sorted((*tree[:i], *grown, *tree[i + 1 :])))
        for tree in rooted(size - 1)
        for i in range(len(tree))
        for grown in [[t] for t in grow(tree[i])]
    } | {tuple(sorted((*tree, ()))) for tree in rooted(size - 1)}
    return sorted(found)


def grow(tree):
    yield tuple(sorted((*tree, ())))
    for i in range(len(tree)):
        for grown in grow(tree[i]):
            yield tuple(sorted((*tree[:i], grown, *tree[i + 1 :])))


@cache
def density(tree):
    """gamma: the value for the exact solution is 1 / gamma."""
    return size_of(tree) * prod(density(t) for t in tree)


@cache
def size_of(tree):
    return 1 + sum(size_of(t) for t in tree)


def tableau(name, block):
    """All rows of A, c, b, weights of velocities, and the slope at the end."""
    m = pi.methods[name]
    c, _ = m.exact_coefficients
    A, b, at = [list(row) for row in c["A"]], list(c["b"]), list(c["c"])
    if any(x != y for x, y in zip(A[-1], b, strict=False)) or at[-1] != 1:
        A.append(b)
        at.append(Fraction(1))
    end = len(A) - 1
    places = re.search(r"\.c = \S+ \S+\{(.*?)\}", block)
    places = places[1].split(", ") if places else []
    A += numbers(block, "a")
    at += [Fraction(float(x)) for x in places]  # as the core has them
    return A, at, b, list(c.get("velocity", []))[: len(b)], end


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=False)), Fraction(0))


@pytest.mark.parametrize("name", TABLES)
def test_coefficients_satisfy_the_continuous_order_conditions(name):
    """Numbers have 25 digits: conditions hold to 1e-22 of the sum of the sizes of their terms."""
    degree, block = TABLES[name]
    A, at, b, v, end = tableau(name, block)
    nystrom, order = bool(v), ORDERS[name]
    known = {}

    def slope(tree):
        if tree not in known:
            below = [t[0] if t else None for t in tree] if nystrom else tree
            inner = [at if t is None else [dot(row, slope(t)) for row in A] for t in below]
            known[tree] = [prod(x[i] for x in inner) for i in range(len(A))]
        return known[tree]

    rows = [("b", 2 if nystrom else 1)] + [("velocity", 1)] * nystrom
    for kind, powers in rows:
        for m, row in enumerate(numbers(block, kind), 2):
            for nodes in range(1, order + 1 - (powers == 2)):
                for tree in nystrom_trees(nodes) if nystrom else rooted(nodes):
                    phi = slope(tree)
                    r, exact = size_of(tree), Fraction(1, density(tree))
                    if kind == "velocity" and r > order - 1:
                        continue
                    if powers == 2:
                        r, exact = r + 1, exact / (r + 1)
                    want = Fraction(comb(m, r), comb(degree, r)) * exact
                    size = sum((abs(x * y) for x, y in zip(row, phi, strict=False)), abs(want))
                    assert abs(dot(row, phi) - want) <= Fraction(1, 10**22) * size, (m, tree)


def test_every_explicit_pair_of_order_above_three_has_one():
    pairs = {n for n, m in pi.methods.items() if m.embedded and not m.implicit and m.order > 3}
    assert set(TABLES) == pairs == set(ORDERS)
