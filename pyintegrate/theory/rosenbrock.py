"""Rosenbrock methods by their slopes: the form that the order conditions are written in.

    k_s = h f(t + alpha_s h, y + sum_j alpha_sj k_j) + h J sum_j gamma_sj k_j + h^2 gamma_s df/dt,
    y += sum_s b_s k_s

Their tables hold the numbers for u = gamma k, in which no product by J is left (csrc/kernels/rows/
rosenbrock.h): m = gamma^-1, a = alpha m, and weights b m.

References
----------
Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.7.
"""

from fractions import Fraction

import numpy as np

SCALE = 10**90  # the numbers are good to fewer digits


def in_slopes(exact):
    """alpha, gamma and b of a table, times SCALE, rounded to whole numbers.

    Parameters
    ----------
    exact : dict of (nested) lists of Fraction
        Of the method (``method.exact_coefficients``).

    Returns
    -------
    alpha, gamma, b : ndarray of int
    sizes : dict of ndarray
        How much each number of "alpha", "beta" = alpha + gamma, "gamma" and "b" changes at most
        where those of the table change by a part of themselves, over that part.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> alpha, gamma, b, _ = in_slopes(pi.methods["rodas5p"].exact_coefficients[0])
    >>> round(sum(b) / SCALE, 15), round(gamma[0][0] / SCALE, 6)
    (1.0, 0.211938)
    """
    inverse, A, b = (np.array(exact[name], object) for name in ("inverse", "A", "b"))
    gamma, rounded = np.zeros(inverse.shape, object), np.frompyfunc(round, 1, 1)
    for j in range(len(b)):  # inverse gamma = 1, from the top down
        for i in range(j, len(b)):
            rest = SCALE * (i == j) - inverse[i] @ gamma[:, j]
            gamma[i, j] = round(Fraction(rest) / inverse[i, i])
    # The change of gamma is -gamma (change of the inverse) gamma.
    of_A, of_b, change, size = (np.abs(x.astype(float)) for x in (A, b, inverse, gamma / SCALE))
    of_gamma = size @ change @ size
    of_alpha = of_A @ of_gamma
    sizes = {
        "alpha": of_alpha, "beta": of_alpha + of_gamma, "gamma": of_gamma, "b": of_b @ of_gamma,
    }  # fmt: skip
    return rounded(A @ gamma), gamma, rounded(b @ gamma), sizes
