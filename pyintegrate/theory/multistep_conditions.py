"""Order conditions of multistep methods: one for each power of t, exactly.

References
----------
Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, III.2 and III.10.
"""

from fractions import Fraction
from itertools import count
from math import factorial, prod

from .conditions import collect
from .polynomials import polynomial


def multistep(exact, rounding):
    """Residuals of the powers of t in sum alpha_j y_j - h^d sum beta_j (d-th derivative of y)_j.

    Order 1 has the powers 0 to d, order p then p + d - 1. A predictor may be one order lower, since
    h multiplies its result; formulas for velocities have conditions of their own. In the
    norm of the error, residuals are relative to the sum of beta, so that methods can be compared.
    """
    alpha, beta, d = exact["alpha"], exact["beta"], exact["derivative"]
    one_back = [Fraction(0)] * (len(alpha) - 2) + [Fraction(-1), Fraction(1)]
    scale = float(sum(beta)) or 1.0
    for number in count(1):
        powers = range(d + 1) if number == 1 else [number + d - 1]
        residuals = [(*residual_of(power, alpha, beta, d), scale) for power in powers]
        if exact["predictor"] and number > 1:
            slopes = [*exact["predictor"], Fraction(0)]
            residual, bound = residual_of(number - 1, one_back, slopes, 1)
            residuals.append((beta[-1] * residual, abs(float(beta[-1])) * bound, scale))
        if exact["velocity"]:
            residuals.append((*residual_of(number, one_back, exact["velocity"], 1), 1))
        elif d == 2:
            residuals.append((_difference(number, exact["backward"]), 1.0, 1))
        yield collect(number, rounding, residuals)


def residual_of(power, alpha, beta, d):
    """sum alpha_j j^q / q! - sum beta_j j^(q - d) / (q - d)!, and the sum without signs.

    Parameters
    ----------
    power, d : int
        q, and the number of derivatives that beta multiplies.
    alpha, beta : list of Fraction

    Returns
    -------
    residual : Fraction
    size : float
    """

    def moment(weights, q):
        # 0^0 = 1
        return [w * Fraction(j**q, factorial(q)) for j, w in enumerate(weights)] if q >= 0 else []

    terms = [*moment(alpha, power), *(-x for x in moment(beta, power - d))]
    return sum(terms, Fraction(0)), float(sum(map(abs, terms)))


def _difference(power, backward):
    """(x(1) - x(-1))/2, or x(0) - x(-1), for x = t^q / q!, less x'(0)."""
    if power == 1:
        return Fraction(0)
    ends = -((-1) ** power) if backward else Fraction(1 - (-1) ** power, 2)
    return Fraction(ends) / factorial(power)


def adams_moulton(points):
    """Weights of the last `points` values, whose interpolant is integrated over the last step.

    Parameters
    ----------
    points : int

    Returns
    -------
    list of Fraction

    Examples
    --------
    >>> print(*adams_moulton(3))
    -1/12 2/3 5/12
    """
    places, weights = range(2 - points, 2), list[Fraction]()
    for i in places:
        factors = (polynomial([Fraction(-j, i - j), Fraction(1, i - j)]) for j in places if i != j)
        basis = prod(factors, start=polynomial([Fraction(1)]))  # 1 at i and 0 at the others
        weights.append(sum((c / (n + 1) for n, c in enumerate(basis)), Fraction(0)))
    return weights


def palindromic(alpha, beta, derivative):
    """Whether a formula is the same in reverse, up to the sign of odd derivatives.

    Parameters
    ----------
    alpha, beta : sequence of numbers
    derivative : {1, 2}

    Returns
    -------
    bool

    Examples
    --------
    >>> palindromic([-1, 0, 1], [0, 2, 0], 1), palindromic([0, -1, 1], [0, 0.5, 0.5], 1)
    (True, True)
    """
    first = next(j for j, pair in enumerate(zip(alpha, beta)) if any(pair))
    alpha, beta, sign = list(alpha[first:]), list(beta[first:]), (-1) ** derivative
    return beta == beta[::-1] and alpha == [sign * a for a in alpha[::-1]]
