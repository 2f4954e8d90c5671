"""User-defined Runge-Kutta methods, explicit and implicit."""

from __future__ import annotations

import numpy as np

from ..values.keywords import explains_keywords
from ..values.types import Any, Method
from .user_defined import ROUNDED, check_sum, of_order, table

_SINGULAR = 1e8  # condition number beyond which steps have lost half of their digits


@explains_keywords()
def RungeKutta(
    A: Any,
    b: Any,
    c: Any = None,
    name: str = "my_runge_kutta",
    order: int | None = None,
    b_embedded: Any = None,
) -> Method:
    """Make a Runge-Kutta method, explicit or implicit, from its Butcher table.

    Parameters
    ----------
    A : array_like, shape (s, s)
        Strictly lower triangular if the method is explicit. Numbers may be
        ``fractions.Fraction``: exact ones prove the order exactly.
    b, c : array_like, shape (s,)
        Weights, of sum 1, and nodes; c defaults to the row sums of A, and must equal them.
    name : str
    order : int, optional
        Default: computed from the order conditions, up to 10. A higher one is refused;
        numbers with six digits or more are accepted as rounded.
    b_embedded : array_like, shape (s,), optional
        Weights of another order, of sum 1: their difference from b estimates the error, and
        `solve` takes the method. Their order is computed.

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        Shapes, row sums, inconsistency (sum of b is not 1), a singular block of coupled stages, or
        weights of an estimate that is always zero, or of the order of b.

    References
    ----------
    Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.1-2
    and II.7.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.RungeKutta([[0, 0], [2/3, 0]], [1/4, 3/4]).order
    2
    >>> lobatto = pi.RungeKutta([[0, 0], [1/2, 1/2]], [1/2, 1/2])
    >>> lobatto.implicit, lobatto.symmetric, lobatto.evaluations
    (True, True, 1)
    >>> heun = pi.RungeKutta([[0, 0], [1, 0]], [1/2, 1/2], b_embedded=[1, 0])
    >>> heun.embedded["order"], float(pi.solve(pi.systems.spring, t_end=9, method=heun).rejected)
    (1, 0.0)
    """
    b, exact_b = table("b", b, "n")
    stages = len(b)
    A, exact_A = table("A", A, stages, stages, beside="b")
    c, exact_c = table("c", [sum(row) for row in exact_A] if c is None else c, stages, beside="b")
    for s, row in enumerate(A):
        check_sum(f"row {s} of A, c[{s}],", row, c[s])
    check_sum("b", b)
    written = {"A": exact_A, "b": exact_b, "c": exact_c}
    if b_embedded is not None:
        weights, written["b_embedded"] = table("b_embedded", b_embedded, stages, beside="b")
        check_sum("b_embedded", weights)
        if abs(weights - b).max() < ROUNDED:
            raise ValueError("b_embedded is b: their difference, which estimates the error, is 0")
    family, symplectic, symmetric = "explicit_rk", False, False
    if np.any(np.triu(A)):
        family = "implicit_rk"
        _check_blocks(A)
        # The first stage equals the last of the step before if both are the state itself.
        evaluations = stages - bool(not A[0].any() and np.array_equal(A[-1], b))
        products = b[:, np.newaxis] * A
        rest = products + products.T - np.outer(b, b)
        same = (A[:, np.newaxis] == A).all(axis=-1)  # as in Lobatto IIIB: they are one stage
        symplectic = bool(abs(same @ rest @ same).max() < ROUNDED)
        used = b != 0
        for _ in b:
            used |= A[used].any(axis=0)
        # Reversed, the stages change places: the first in time with the last.
        places = [s for s in np.argsort(c.round(12), kind="stable") if used[s]]
        own = A[np.ix_(places, places)]
        symmetric = bool(abs(own + own[::-1, ::-1] - b[places]).max() < ROUNDED)
    else:
        # Final stages that the step does not use serve an error estimate: not evaluated.
        evaluations = int(np.flatnonzero(b)[-1]) + 1
    return of_order(
        order, RungeKutta, (exact_A, exact_b, exact_c, name), (written.get("b_embedded"),),
        name=name, title="user-defined Runge-Kutta method", family=family, stages=stages,
        evaluations=evaluations, symplectic=symplectic, symmetric=symmetric, written=written,
    )  # fmt: skip


def _check_blocks(A):
    """Stages that depend on each other are solved together, by the inverse of their block."""
    first = 0
    while first < len(A):
        end = first + 1
        while A[first:end, end:].any():
            end += 1
        block = A[first:end, first:end]
        if block.any() and np.linalg.cond(block) > _SINGULAR:
            raise ValueError(
                f"A is singular in the stages {first} to {end - 1}, which depend on each other"
                " and are solved by its inverse; explicit stages stand in the order of evaluation"
            )
        first = end
