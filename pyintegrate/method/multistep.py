"""User-defined multistep methods: consistent and stable, or refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile

import numpy as np

from .. import _core
from ..values.checks import integer
from ..values.types import Any, Method
from .coefficients import as_meant
from .user_defined import check_sum, of_order, table


def Multistep(
    alpha: Any,
    beta: Any,
    predictor: Any = None,
    derivative: int = 1,
    velocity: Any = None,
    name: str = "my_multistep",
    order: int | None = None,
) -> Method:
    """Make a linear multistep method.

    With d derivatives,  sum_j alpha_j y_(n+j) = h^d sum_j beta_j f_(n+j),  j = 0, ..., k. The
    order and the error constant follow from these numbers (see ``certificate()``). The first
    k - 1 steps are made by a one-step method of sufficient order.

    Parameters
    ----------
    alpha, beta : array_like, shape (k + 1,)
        The oldest first. If beta_k is 0 the method is explicit, else implicit. Numbers may be
        ``fractions.Fraction``: exact ones prove the order exactly.
    predictor : array_like, shape (k,), optional
        Makes the method explicit: the new f is first evaluated at
        y_(n+k) = y_(n+k-1) + h sum_j predictor_j f_(n+j), then once more at the result (PECE).
    derivative : {1, 2}
        For y' = f(t, y), or for x'' = a(t, x) with forces that do not depend on the velocity.
    velocity : array_like, shape (k + 1,), optional
        For second derivatives, v_(n+k) = v_(n+k-1) + h sum_j velocity_j a_(n+j). Default: the
        Adams-Moulton formula of the method's order; if k is too small for it, zeros are
        inserted before alpha and beta.
    name : str
    order : int, optional
        Default: computed, up to 10.

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        Shapes; alpha_k = 0; inconsistency; errors that grow from step to step because the roots
        of alpha violate the root condition.

    References
    ----------
    Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, III.2-3 and III.10.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bdf2 = pi.Multistep([1/3, -4/3, 1], [0, 0, 2/3])
    >>> bdf2.order, bdf2.implicit, bdf2.stability_limit
    (2, True, inf)
    >>> pi.Multistep([-5, 4, 1], [2, 4, 0])
    Traceback (most recent call last):
        ...
    ValueError: alpha has a root of size 5: errors grow from step to step (the root condition)
    """
    derivative = integer("derivative", derivative, 1)
    if derivative > 2:
        raise ValueError(f"derivative must be 1 or 2, got {derivative!r}")
    given = {"alpha": table("alpha", alpha, "n")[1]}
    steps = len(given["alpha"]) - 1
    given["beta"] = table("beta", beta, steps + 1, beside="alpha")[1]
    for key, value, count in ("predictor", predictor, steps), ("velocity", velocity, steps + 1):
        given[key] = [] if value is None else table(key, value, count, beside="alpha")[1]
    _check_shapes(given, steps, derivative)
    if given["alpha"][-1] != 1:
        last = given["alpha"][-1]
        for key in ("alpha", "beta"):
            given[key] = [_quotient(x, last) for x in given[key]]
    _check_numbers(given, derivative)
    if derivative == 2 and not given["velocity"]:
        _add_velocities(given)
        steps = len(given["alpha"]) - 1
    from ..theory.multistep_conditions import palindromic

    numbers = {key: list(map(float, value)) for key, value in given.items()}
    rows = tuple(tuple(numbers[key]) for key in ("alpha", "beta", "predictor", "velocity"))
    evaluations = 2 if predictor is not None else 1
    again = (given["alpha"], given["beta"], given["predictor"] or None, derivative)
    known = _core.method(_core.make_method("multistep", steps, evaluations, rows, derivative))
    return of_order(
        order, Multistep, (*again, given["velocity"] or None, name),
        name=name, title="user-defined multistep method", family="multistep", stages=steps,
        evaluations=evaluations, symplectic=False,
        symmetric=predictor is None
        and palindromic(numbers["alpha"], numbers["beta"], derivative),
        coefficients=numbers, written=given, derivative=derivative,
        requires=known["requires"], starter=known["starter"], handle=known["handle"],
    )  # fmt: skip


def _quotient(x, y):
    """x / y, exactly if both are fractions."""
    (x, rounded), (y, too) = as_meant(x), as_meant(y)
    return float(x / y) if rounded or too else x / y


def _check_shapes(given, steps, derivative):
    if steps < derivative:
        raise ValueError(f"alpha has {steps + 1} numbers, expected at least {derivative + 1}")
    if not given["alpha"][-1]:
        raise ValueError("alpha ends in 0: the last of its numbers makes the new state")
    if given["predictor"] and (derivative == 2 or not given["beta"][-1]):
        reason = "derivative is 2" if derivative == 2 else "the last of beta is 0"
        raise ValueError(f"predictor was given, and {reason}: there is nothing to predict")
    if given["predictor"] and not given["predictor"][-1]:
        raise ValueError("predictor ends in 0: it must see the newest force")
    if given["velocity"] and derivative == 1:
        raise ValueError("velocity was given, and derivative is 1: y' = f has its velocities in y")


def _check_numbers(given, derivative):
    """Consistency, and the root condition."""
    from ..theory.root_condition import zero_stable

    alpha, beta = given["alpha"], given["beta"]
    for power, name in enumerate(("alpha_j", "j alpha_j", "j^2 alpha_j / 2")[: derivative + 1]):
        last = power == derivative
        terms = [j**power * a / max(power, 1) for j, a in enumerate(alpha)]
        check_sum(name + " (that of beta)" * last, terms, sum(beta) * last)
    for key in ("predictor", "velocity"):
        if given[key]:
            check_sum(key, given[key])
    if not zero_stable(alpha, derivative):
        largest = abs(np.roots([float(a) for a in reversed(alpha)])).max()
        what = f"a root of size {largest:.6g}"
        if largest < 1 + 1e-4:
            what = f"roots on the unit circle more than {('once', 'twice')[derivative - 1]}"
        raise ValueError(f"alpha has {what}: errors grow from step to step (the root condition)")


def _add_velocities(given):
    """Add the Adams-Moulton formula of the order of the positions."""
    from ..theory.multistep_conditions import adams_moulton, residual_of

    alpha, beta = ([as_meant(x) for x in given[key]] for key in ("alpha", "beta"))
    rounding = max(error for _, error in (*alpha, *beta))
    alpha, beta = [x for x, _ in alpha], [x for x, _ in beta]

    def holds(power):
        residual, size = residual_of(power, alpha, beta, 2)
        return abs(residual) <= 2 * power * float(rounding) * size

    order = max(len(list(takewhile(holds, range(3, 13)))) + 1, 1)
    missing = max(order - len(alpha), 0)
    given["alpha"], given["beta"] = (
        [Fraction(0)] * missing + given[key] for key in ("alpha", "beta")
    )
    weights = adams_moulton(order)
    given["velocity"] = [Fraction(0)] * (len(given["alpha"]) - len(weights)) + weights
