"""User-defined compositions of kicks and drifts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..values.checks import choice
from ..values.types import Method, Sequence
from .user_defined import check_sum, of_order


def Composition(
    sequence: Sequence[tuple[str, float]],
    name: str = "my_composition",
    order: int | None = None,
    requires: str = "separable",
) -> Method:
    """Make a composition of kicks and drifts.

    Parameters
    ----------
    sequence : sequence of (str, float)
        ``("kick", w)``: v += w h a(x), and ``("drift", w)``: x += w h v, in the order applied. The
        kicks must sum to 1, and so must the drifts. Numbers may be ``fractions.Fraction``.
    name : str
    order : int, optional
        Default: computed from the order conditions, up to 10. A higher one is refused;
        numbers with six digits or more are accepted as rounded.
    requires : {"separable", "quadratic_kinetic"}
        The systems for which the order is meant: some methods have a higher one if the kinetic
        energy is quadratic, that is, for x'' = a(x).

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        Something other than kicks and drifts, or sums that are not 1.

    References
    ----------
    Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, II.4-5 and III.3.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> strang = pi.Composition([("kick", 0.5), ("drift", 1.0), ("kick", 0.5)])
    >>> strang.order, strang.symmetric
    (2, True)
    """
    choice("requires", requires, ("separable", "quadratic_kinetic"))
    steps = []
    try:
        items = iter(sequence)
    except TypeError:
        raise TypeError(
            f'sequence must hold ("kick", w) and ("drift", w), got {sequence!r}'
        ) from None
    for item in items:
        kind, weight = _kick_or_drift(item)
        if steps and steps[-1][0] == kind:  # two kicks in a row are one
            weight += steps.pop()[1]
        if weight:
            steps.append((kind, weight))
    for kind in ("kick", "drift"):
        check_sum(f"the {kind}s of sequence", [w for k, w in steps if k == kind])
    weights = [0.0] * (steps[0][0] == "drift") + [weight for _, weight in steps]
    weights += [0.0] * (len(weights) % 2)
    return from_weights(weights[::2], weights[1::2], requires, name, order)


def _kick_or_drift(item):
    try:
        kind, weight = item
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f'sequence must hold ("kick", w) and ("drift", w), got {item!r}') from None
    if not isinstance(kind, str) or kind not in ("kick", "drift"):
        raise ValueError(f'sequence must hold "kick" and "drift", got {kind!r}')
    if not np.isfinite(number):
        raise ValueError(f"sequence must hold finite numbers, got {number}")
    return kind, weight if isinstance(weight, Fraction) else number


def from_weights(kicks, drifts, requires, name, order):
    """A method from numbers as given: kicks[i] before drifts[i], zero for a missing one."""
    shared = bool(kicks[0]) and not drifts[-1]  # the last force is the next step's first
    steps = [float(w) for pair in zip(kicks, drifts, strict=True) for w in pair if w]
    alike = bool(kicks[0]) != bool(drifts[-1])  # the first and the last are of one kind
    symmetric = alike and np.allclose(steps, steps[::-1], rtol=0, atol=1e-14)
    return of_order(
        order, from_weights, (list(kicks), list(drifts), requires, name),
        name=name, title="user-defined composition", family="composition", stages=len(kicks),
        evaluations=sum(map(bool, kicks)) - shared, symplectic=True, symmetric=bool(symmetric),
        requires=requires, written={"kick": list(kicks), "drift": list(drifts)},
    )  # fmt: skip
