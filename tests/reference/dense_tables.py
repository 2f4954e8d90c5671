"""Makes csrc/methods/within/dense.h: states within the steps of explicit embedded pairs.

Slopes are those of the pair's stages, the one at the end of the step, and those of further stages
at places chosen by a search for the least error. A row of weights at theta is the solution of the
continuous order conditions up to the highest order that the slopes can have there; what freedom is
left makes the errors of the next orders, as they stand in Taylor's series, small in the least
squares. Rows at a few places and the conditions at both ends give the Bernstein coefficients. The
conditions that hold are then solved to 40 digits.

Usage: python tests/reference/dense_tables.py [name ...] > csrc/methods/within/dense.h (minutes).

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.2, II.6 and II.14.
"""

import sys
from collections import Counter
from functools import cache
from math import comb, factorial

import numpy as np
from mpmath import fdot, inverse, matrix, mp, mpf, nstr

import pyintegrate as pi

mp.dps = 50
# name: degree, orders of the trees, places of further stages, the highest order that is solved for
THIRDS = [17 / 24, 1 / 3, 13 / 24]
PAIRS = {
    "merson45": (4, 5, [], 9),
    "zonneveld43": (4, 5, [], 9),
    "fehlberg45": (5, 6, [], 9),
    "cash_karp45": (5, 6, [], 9),
    "dormand_prince54": (5, 6, [], 9),
    "tsitouras54": (5, 6, [], 9),
    "bogacki_shampine54": (5, 6, [10 / 24], 9),
    "verner65_dverk": (6, 7, [9 / 24, 19 / 24], 9),
    "verner65": (6, 7, [1 / 2], 9),
    "verner76": (7, 8, [15 / 24, 10 / 24], 9),
    "fehlberg78": (8, 9, THIRDS, 9),
    "prince_dormand87": (8, 9, THIRDS, 9),
    "dop853": (8, 9, [11 / 24, 2 / 3, 1 / 3], 9),
    "verner87": (8, 9, [0.5, 0.6875, 0.4375, 0.375], 9),
    "verner98": (9, 9, [2 / 3, 1 / 2, 19 / 24, 1 / 3], 9),
    "dormand_prince_rkn64": (6, 8, [0.5], 99),
    "dormand_prince_rkn86": (8, 10, [0.5, 0.625], 99),
    "dormand_prince_rkn1210": (12, 12, [0.064, 0.174, 0.365, 0.766, 0.846], 8),
}


# ---- trees: (leaves, subtrees); of Runge-Kutta methods without leaves -------------------------
@cache
def trees(weight, edge, leaves):
    """All of a weight: each leaf counts 1, each subtree its own weight and `edge`."""
    found = set()

    def grow(left, most, subtrees):
        if leaves or left == 0:
            found.add((left, tuple(sorted(subtrees))))
        for w in range(min(left - edge, most), -1, -1):
            for tree in trees(w, edge, leaves):
                grow(left - edge - w, w, (*subtrees, tree))

    grow(weight, weight, ())
    return sorted(found)


@cache
def weight_of(tree, edge):
    return tree[0] + sum(edge + weight_of(t, edge) for t in tree[1])


@cache
def symmetry(tree):
    same = Counter(tree[1]).items()
    return factorial(tree[0]) * np.prod([float(factorial(n) * symmetry(t) ** n) for t, n in same])


@cache
def slope(tree, edge):
    """The factor of theta^weight in the exact slope."""
    out = mpf(1)
    for t in tree[1]:
        w = weight_of(t, edge)
        out *= slope(t, edge) / ((w + 1) if edge == 1 else (w + 1) * (w + 2))
    return out


class Pair:
    """A pair whose slopes grow: rows of A, and of each tree the slopes that it stands for."""

    def __init__(self, name, orders, highest):
        m = pi.methods[name]
        c, _ = m.exact_coefficients
        self.edge, self.highest = (2 if m.family == "nystrom" else 1), highest
        number = lambda x: mpf(x.numerator) / x.denominator  # noqa: E731
        self.A = [[number(x) for x in row] for row in c["A"]]
        self.b, self.c = [number(x) for x in c["b"]], [number(x) for x in c["c"]]
        n = len(self.b)
        self.v = [number(x) for x in c["velocity"]][:n] if self.edge == 2 else self.b
        self.end = n - 1
        if any(x != y for x, y in zip(self.A[-1], self.b, strict=False)) or self.c[-1] != 1:
            self.A.append(self.b)
            self.c.append(mpf(1))
            self.end = n
        self.trees = [
            t for w in range(orders - self.edge + 1) for t in trees(w, self.edge, self.edge == 2)
        ]
        self.order = np.array([weight_of(t, self.edge) + 1 for t in self.trees])

    def slopes(self):
        n, known = len(self.A), {}

        def of(tree):
            if tree not in known:
                out = [ci ** tree[0] for ci in self.c]
                for t in tree[1]:
                    inner = of(t)
                    out = [
                        x * fdot(zip(row, inner, strict=False))
                        for x, row in zip(out, self.A, strict=True)
                    ]
                known[tree] = out
            return known[tree]

        self.exact = [of(t) for t in self.trees]
        scale = np.array([1 / symmetry(t) for t in self.trees])
        self.scale, self.matrix = scale, np.array(self.exact, float).reshape(-1, n) * scale[:, None]

    def target(self, i, theta, velocity):
        w = int(self.order[i])
        out = slope(self.trees[i], self.edge) * theta**w / w
        return out if velocity or self.edge == 1 else out * theta / (w + 1)

    def row(self, theta, velocity=False):
        """The weights at theta."""
        theta = mpf(theta)
        right = [self.target(i, theta, velocity) for i in range(len(self.trees))]
        M, r = self.matrix, np.array(right, float) * self.scale
        for highest in range(1, self.highest + 1):
            some = self.order <= highest
            size = abs(M[some]).max(axis=1, keepdims=True)
            x = np.linalg.lstsq(M[some] / size, r[some] / size[:, 0], rcond=1e-12)[0]
            if abs((M[some] @ x - r[some]) / size[:, 0]).max() > 1e-11:
                break
            holds, found = some, x
        size = abs(M[holds]).max(axis=1, keepdims=True)
        _, values, V = np.linalg.svd(M[holds] / size)
        free = V[(values > 1e-12 * values[0]).sum() :].T
        if free.shape[1] and not holds.all():
            small = 1e-10  # keeps weights small that nothing else decides
            left = np.concatenate([(r - M @ found)[~holds], -small * found])
            found = found + free @ np.linalg.lstsq(
                np.vstack([M[~holds] @ free, small * free]), left, rcond=1e-13
            )[0]  # fmt: skip
        places = np.flatnonzero(holds)
        solve = np.linalg.pinv(np.array([self.exact[i] for i in places], float), rcond=1e-12)
        out = [mpf(float(x)) for x in found]
        for _ in range(8):
            off = [right[i] - fdot(zip(self.exact[i], out, strict=True)) for i in places]
            largest = max(map(abs, off))
            if largest < mpf(10) ** -40:
                break
            change = solve @ np.array([float(x / largest) for x in off])
            out = [x + mpf(float(d)) * largest for x, d in zip(out, change, strict=True)]
        return out

    def add(self, theta):
        self.slopes()
        self.A.append(self.row(theta))
        self.c.append(mpf(theta))

    def coefficients(self, n, velocity):
        """Rows of the Bernstein coefficients 2 to n - 2."""
        size, k = len(self.A), n - 3
        places = [mpf(float(0.1 + 0.4 * (1 - np.cos(np.pi * (j + 0.5) / k)))) for j in range(k)]
        pad = lambda row: [*row, *[mpf(0)] * (size - len(row))]  # noqa: E731
        unit = lambda j: [mpf(i == j) for i in range(size)]  # noqa: E731
        ends = pad(self.v if velocity else self.b)
        first, last = unit(0), unit(self.end)
        if self.edge == 2 and not velocity:  # beyond h v
            first, last = [mpf(0)] * size, pad(self.v)
        known = {
            1: [x / n for x in first],
            n - 1: [x - y / n for x, y in zip(ends, last, strict=True)],
            n: ends,
        }
        bernstein = lambda m, t: comb(n, m) * t**m * (1 - t) ** (n - m)  # noqa: E731
        rows = [self.row(t, velocity) for t in places]
        left = matrix([[bernstein(m, t) for m in range(2, n - 1)] for t in places])
        right = matrix(
            [
                [row[s] - sum(bernstein(m, t) * known[m][s] for m in known) for s in range(size)]
                for row, t in zip(rows, places, strict=True)
            ]
        )
        return (inverse(left) * right).tolist()


def digits(x):
    return "0" if abs(x) < mpf(10) ** -28 else nstr(x, 25, strip_zeros=True)


def written(rows, indent):
    lines = ["{" + ", ".join(map(digits, row)) + "}" for row in rows]
    return "(PiSlopes[]){" + (",\n" + " " * indent).join(lines) + "}"


def table(name):
    degree, orders, places, highest = PAIRS[name]
    pair = Pair(name, orders, highest)
    for theta in places:
        pair.add(theta)
    pair.slopes()
    out = f'{{.name = "{name}", .degree = {degree}, .extra = {len(places)},\n'
    if places:
        out += " .c = (const double[]){" + ", ".join(repr(float(t)) for t in places) + "},\n"
        out += " .a = " + written(pair.A[pair.end + 1 :], 7) + ",\n"
    out += " .b = " + written(pair.coefficients(degree, False), 7)
    if pair.edge == 2:
        out += ",\n .velocity = " + written(pair.coefficients(degree, True), 14)
    return out + "},\n"


if __name__ == "__main__":
    for one in sys.argv[1:] or PAIRS:
        print(table(one), end="", flush=True)
