"""Rosenbrock methods by their slopes: the form that the order conditions are written in.

    k_s = h f(t + alpha_s h, y + sum_j alpha_sj k_j) + h J sum_j gamma_sj k_j + h^2 gamma_s df/dt,
    y += sum_s b_s k_s

Their tables hold the numbers for u = gamma k, in which no product by J is left (csrc/kernels/rows/
rosenbrock.h): m = gamma^-1, a = alpha m, and weights b m.

References
----------
Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.7.
"""

from __future__ import annotations

from fractions import Fraction

SCALE = 10**90  # the numbers are good to fewer digits


def in_slopes(exact):
    """alpha, gamma and b of a table, times SCALE, rounded to whole numbers.

    Parameters
    ----------
    exact : dict of (nested) lists of Fraction
        Of the method (``method.exact_coefficients``).

    Returns
    -------
    alpha, gamma : list of list of int
    b : list of int
    sizes : dict of (nested) lists of float
        How much each number of "alpha", "beta" = alpha + gamma, "gamma" and "b" changes at most
        where those of the table change by a part of themselves, over that part.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> alpha, gamma, b, _ = in_slopes(pi.methods["rodas5p"].exact_coefficients[0])
    >>> round(sum(b) / SCALE, 15), round(gamma[0][0] / SCALE, 6)
    (1.0, 0.211938)
    """
    inverse, A, b = exact["inverse"], exact["A"], exact["b"]
    stages = range(len(b))
    gamma = [[0] * len(b) for _ in stages]
    for j in stages:  # inverse gamma = 1, from the top down
        for i in range(j, len(b)):
            rest = SCALE * (i == j) - sum(inverse[i][k] * gamma[k][j] for k in range(j, i))
            gamma[i][j] = round(Fraction(rest) / inverse[i][i])
    alpha, (weights,) = _product(A, gamma), _product([b], gamma)
    # The change of gamma is -gamma (change of the inverse) gamma.
    size = [[abs(x) / SCALE for x in row] for row in gamma]
    of_gamma = _sizes(_sizes(size, inverse), size)
    of_alpha, (of_b,) = _sizes(A, of_gamma), _sizes([b], of_gamma)
    both = [
        [x + y for x, y in zip(*rows, strict=True)] for rows in zip(of_alpha, of_gamma, strict=True)
    ]
    sizes = {"alpha": of_alpha, "beta": both, "gamma": of_gamma, "b": of_b}
    return alpha, gamma, weights, sizes


def _product(left, right):
    """The product of a matrix of fractions and one of whole numbers, rounded."""
    columns = list(zip(*right, strict=True))
    return [
        [round(sum(x * y for x, y in zip(row, column, strict=True))) for column in columns]
        for row in left
    ]


def _sizes(left, right):
    """The product of two matrices without their signs, in floats."""
    columns = list(zip(*right, strict=True))
    return [
        [
            sum(abs(float(x) * float(y)) for x, y in zip(row, column, strict=True))
            for column in columns
        ]
        for row in left
    ]
