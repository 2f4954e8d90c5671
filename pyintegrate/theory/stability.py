"""Stability limits of the step, from the method's coefficients, in exact arithmetic."""

from fractions import Fraction
from math import inf, nan, sqrt

import numpy as np

from . import multistep_stability, stability_function
from .conditions import common_scale
from .polynomials import first_exit, polynomial, trimmed

# Relative growth per step below this is rounding of the coefficients and counts as none.
_TOUCHED = Fraction(1, 10**12)


def oscillator_limit(method):
    """Largest omega dt for which a method is stable on the undamped oscillator x'' = -omega^2 x.

    One step with a stability function R: the first positive zero of |R(iy)|^2 - 1.
    Compositions: where half the trace of one step first leaves [-1, 1]. Nystrom: where an
    eigenvalue of the step leaves the unit circle. Multistep: where a root of the characteristic
    polynomial does, or two roots meet on it.

    Parameters
    ----------
    method : Method

    Returns
    -------
    float
        0 if the solution grows at once, inf if it never does, nan for a method of rigid bodies or
        planets and for a family without a stability function.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2; Hairer, Lubich, Wanner
    (2006), Geometric Numerical Integration, I.1.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> oscillator_limit(pi.methods["semi_implicit_euler"])
    2.0
    """
    if method.family == "multistep":
        return multistep_stability.limit(method, "imaginary")
    positive = _OSCILLATOR.get(method.family, _rational_growth)
    if positive is _rational_growth and not stability_function.has_stability_function(method):
        return nan
    end = first_exit(positive(method), _TOUCHED)
    return inf if end is None else sqrt(end)


def decay_limit(method):
    """Largest x for which a method is stable on y' = -lambda y, lambda dt <= x.

    Parameters
    ----------
    method : Method

    Returns
    -------
    float or None
        None for a method of positions and velocities, which has no step on that equation, and for a
        family without a stability function.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> round(decay_limit(pi.methods["rk4"]), 4)
    2.7853
    """
    if not _has_decay(method):
        return None
    if method.family == "multistep":
        return multistep_stability.limit(method, "real")
    # P(-x)^2 - Q(-x)^2, which is positive at poles, too.
    both, difference = map(polynomial, stability_function.sum_and_difference(method))
    end = first_exit([both * difference], _TOUCHED)
    return inf if end is None else float(end)


def _has_decay(method):
    """Whether the method can step y' = lambda y, with a known result."""
    known = method.family == "multistep" or stability_function.has_stability_function(method)
    return known and method.requires == "any"


def a_stable(method):
    """Whether a method is stable on y' = lambda y for all lambda with a negative real part.

    Parameters
    ----------
    method : Method

    Returns
    -------
    bool or None
        None for a method of positions and velocities.

    References
    ----------
    Dahlquist (1963), BIT 3, 27-43; Hairer, Wanner (1996), Solving Ordinary Differential Equations
    II, IV.3 and V.1.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> [a_stable(pi.methods[name]) for name in ("bdf2", "bdf3", "rk4")]
    [True, False, False]
    """
    if not _has_decay(method):
        return None
    if method.family != "multistep":
        return stability_function.a_stable(method)
    if not method.implicit:
        return False
    # An A-stable multistep method has order 2 at most; and an analytic function has its maximum
    # on the boundary of the half plane.
    return oscillator_limit(method) == inf and decay_limit(method) == inf


def l_stable(method):
    """Whether an A-stable method makes infinitely fast decay vanish in one step.

    Parameters
    ----------
    method : Method

    Returns
    -------
    bool or None
        None for a method of positions and velocities.

    References
    ----------
    Ehle (1969); Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.3.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> [l_stable(pi.methods[name]) for name in ("radau_iia5", "gauss4", "bdf2")]
    [True, False, True]
    """
    if not a_stable(method):
        return a_stable(method)
    if method.family != "multistep":
        return stability_function.limit_at_infinity(method) == 0
    return not any(method.coefficients["beta"][:-1])  # all roots of sigma are 0


def stability_angle(method):
    """alpha in degrees: stable if lambda lies within alpha of the negative real axis.

    Parameters
    ----------
    method : Method

    Returns
    -------
    float or None
        90 is A-stability, 0 a bounded region; None for a method of positions and velocities.

    References
    ----------
    Widlund (1967), BIT 7, 65-70.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{stability_angle(pi.methods['bdf4']):.2f}")
    73.35
    """
    if not _has_decay(method):
        return None
    if a_stable(method):
        return 90.0
    if decay_limit(method) < inf:
        return 0.0
    one = multistep_stability if method.family == "multistep" else stability_function

    def nearest(theta):
        """The least angle at which a root is exp(i theta)."""
        z = one.boundary(method, np.exp(1j * theta))
        z = z[np.isfinite(z) & (z.real < -1e-12)]
        return np.abs(np.angle(-z)).min(initial=np.pi / 2)

    theta = np.linspace(0, np.pi, 4001)[1:]
    for _ in range(4):  # closer and closer to the smallest
        found = np.array([*map(nearest, theta)])
        best, step = theta[found.argmin()], theta[1] - theta[0]
        theta = np.linspace(best - step, best + step, 401)
    return float(np.degrees(found.min()))


def half_trace(method):
    """Half the trace of a composition's step on the oscillator.

    Parameters
    ----------
    method : Method

    Returns
    -------
    numpy.polynomial.Polynomial
        In s = (omega h)^2, with fractions as coefficients.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> list(half_trace(pi.methods["velocity_verlet"]))
    [Fraction(1, 1), Fraction(-1, 2)]
    """
    exact, _ = method.exact_coefficients
    scale = common_scale(exact["kick"], exact["drift"])
    # State (x, v / omega): with z = omega h, a kick adds -w z x to the second and a drift w z v to
    # the first. With the odd powers of z separated, the matrix is [[a, z b], [z c, d]] of
    # polynomials in s = z^2; z is in units in which all w are whole.
    s, (a, b, c, d) = polynomial([0, 1]), (polynomial([n]) for n in (1, 0, 0, 1))
    for pair in zip(exact["kick"], exact["drift"]):
        kick, drift = (int(w * scale) for w in pair)
        c, d = c - kick * a, d - kick * s * b
        a, b = a + drift * s * c, b + drift * d
    trace = trimmed([*(a + d)])
    return polynomial(Fraction(x, 2 * scale ** (2 * n)) for n, x in enumerate(trace))


# ---- polynomials that must not be positive, for each family --------------------------------------


def _trace_excess(method):
    """T - 1 and -1 - T, with T half the trace."""
    trace = half_trace(method)
    return [trace - 1, -trace - 1]


def _rational_growth(method):
    """|P(iy)|^2 - |Q(iy)|^2 with R = P / Q, in s = y^2."""
    return [stability_function.excess(method)]


def _nystrom_excess(method):
    """Jury's conditions D - 1, T - 1 - D and -T - 1 - D of the step on the oscillator."""
    (a, b), (c, d) = nystrom_step(method)
    trace, product = a + d, a * d - b * c
    return [product - 1, trace - 1 - product, -trace - 1 - product]


def nystrom_step(method):
    """The step on (x, h v) of the oscillator, a matrix of polynomials in s = (omega h)^2.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> (xx, xv), (vx, vv) = nystrom_step(pi.methods["constant_acceleration"])
    >>> print(*xx, "|", *xv, "|", *vx, "|", *vv)
    1 -1/2 | 1 | 0 -1 | 1
    """
    exact, _ = method.exact_coefficients
    zero, one, s = map(polynomial, ([0], [1], [0, 1]))
    rows = []
    for x, v in ((one, zero), (zero, one)):  # for a unit position, for a unit velocity
        slopes = []  # h^2 a at the stages
        for node, row in zip(exact["c"], exact["A"]):
            slopes.append(-s * _moved(x + node * v, row, slopes))
        rows.append((_moved(x + v, exact["b"], slopes),
                     _moved(v, exact["velocity"], slopes)))  # fmt: skip
    return tuple(zip(*rows))


def _moved(p, weights, slopes):
    return sum((weight * slope for weight, slope in zip(weights, slopes) if weight), p)


# Other families have a stability function P / Q.
_OSCILLATOR = {"composition": _trace_excess, "nystrom": _nystrom_excess}
