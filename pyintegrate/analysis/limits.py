"""How large may the step be? The theory's answers, for a method or its name."""

from __future__ import annotations

from ..method.catalogue import find_method
from ..theory import stability


def stability_limit(method):
    """Largest omega dt for which a method is stable on the undamped oscillator x'' = -omega^2 x.

    Parameters
    ----------
    method : str or Method

    Returns
    -------
    float
        0 if the solution grows at once, inf if it never does, nan for a method of rigid bodies.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2; Hairer, Lubich, Wanner
    (2006), Geometric Numerical Integration, I.1.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.analysis.stability_limit("semi_implicit_euler")
    2.0
    """
    return stability.oscillator_limit(find_method(method))


def real_stability_limit(method):
    """Largest x for which a method is stable on y' = -lambda y, lambda dt <= x.

    Parameters
    ----------
    method : str or Method

    Returns
    -------
    float or None
        None for a method of positions and velocities, which has no step on that equation.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> round(pi.analysis.real_stability_limit("rk4"), 4)
    2.7853
    """
    return stability.decay_limit(find_method(method))
