"""Methods of one's own: checked when made, their order and cost computed from their numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from . import _core
from .methods import Method

_ROUNDED = 1e-12  # sums of decimals that were rounded somewhere
_SINGULAR = 1e12  # condition number


def RungeKutta(A, b, c=None, name="my_runge_kutta", order=None):
    """A Runge-Kutta method of one's own, explicit or implicit, from its Butcher table.

    Parameters
    ----------
    A : array_like, shape (s, s)
        Strictly lower triangular where the method is explicit. Numbers may be
        ``fractions.Fraction``: exact ones then prove the order exactly.
    b, c : array_like, shape (s,)
        Weights, of sum 1, and nodes; c defaults to the row sums of A, and must equal them.
    name : str
    order : int, optional
        Default: computed, as far as the order conditions hold, to 10.

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        Shapes, row sums, inconsistency (sum of b is not 1), or implicit stages that hang together
        by a singular matrix.

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
    """
    (A, exact_A), (b, exact_b) = table("A", A, 2), table("b", b, 1)
    stages = len(b)
    if A.shape != (stages, stages):
        raise ValueError(
            f"A has shape {A.shape} and b {b.shape}: expected ({stages}, {stages}) and ({stages},)"
        )
    c, exact_c = table("c", [sum(row) for row in exact_A] if c is None else c, 1)
    if c.shape != b.shape:
        raise ValueError(f"c has shape {c.shape} and b {b.shape}: they must agree")
    wrong = np.flatnonzero(abs(A.sum(axis=1) - c) > _ROUNDED * (1 + abs(A).sum(axis=1)))
    if wrong.size:
        s = wrong[0]
        raise ValueError(f"row {s} of A sums to {A[s].sum():.17g}, expected c[{s}] = {c[s]:.17g}")
    if abs(b.sum() - 1) > _ROUNDED * (1 + abs(b).sum()):
        raise ValueError(f"b sums to {b.sum():.17g}, expected 1: the method is inconsistent")
    family, symplectic, symmetric = "explicit_rk", False, False
    if np.any(np.triu(A)):
        family = "implicit_rk"
        _check_blocks(A)
        # The first stage is the last of the step before where both are the state itself.
        evaluations = stages - bool(not A[0].any() and np.array_equal(A[-1], b))
        products = b[:, np.newaxis] * A
        rest = products + products.T - np.outer(b, b)
        symplectic = bool(abs(rest).max() < _ROUNDED)
        symmetric = bool(abs(A + A[::-1, ::-1] - b).max() < _ROUNDED)
    else:
        # Stages at the end that the step does not use serve an error estimate: not evaluated.
        evaluations = int(np.flatnonzero(b)[-1]) + 1
    rows = tuple(tuple(map(float, row)) for row in (c, b, *A))
    return of_order(
        order,
        name=name, title="a Runge-Kutta method of one's own", family=family, stages=stages,
        evaluations=evaluations, symplectic=symplectic, symmetric=symmetric,
        coefficients={"A": A.tolist(), "b": b.tolist(), "c": c.tolist()},
        written={"A": exact_A, "b": exact_b, "c": exact_c},
        handle=_core.make_method(family, stages, evaluations, rows),
    )  # fmt: skip


def _check_blocks(A):
    """Stages that depend on each other are solved for together, by the inverse of their block."""
    first = 0
    while first < len(A):
        end = first + 1
        while A[first:end, end:].any():
            end += 1
        block = A[first:end, first:end]
        if block.any() and np.linalg.cond(block) > _SINGULAR:
            raise ValueError(
                f"A is singular in the stages {first} to {end - 1}, which depend on each other:"
                " they do not determine the step"
            )
        first = end


def table(name, value, ndim):
    """Doubles, and the same numbers as they were given in nested lists."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    if array.dtype == object and all(isinstance(x, int | float | Fraction) for x in array.flat):
        given = array.tolist()
    elif array.dtype.kind in "iuf":
        given = array.astype(np.float64).tolist()
    else:
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    try:
        array = array.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} must hold numbers that a double can hold") from None
    if array.ndim != ndim or not array.size:
        raise ValueError(
            f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {array.shape}"
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite")
    return array, given


def of_order(order, **fields):
    """A Method whose order is the one given, or computed."""
    method = Method(order=1 if order is None else order, **fields)
    if order is None:
        from .analysis.order_conditions import order as computed

        # Consistent, as was checked; and immutable once it is handed out.
        method.__dict__["order"] = max(computed(method), 1)
    return method


def Composition(sequence, name="my_composition", order=None, requires="separable"):
    """A composition of kicks and drifts of one's own.

    Parameters
    ----------
    sequence : sequence of (str, float)
        ``("kick", w)``: v += w h a(x), and ``("drift", w)``: x += w h v, in the order applied. The
        kicks must sum to 1, and so must the drifts. Numbers may be ``fractions.Fraction``.
    name : str
    order : int, optional
        Default: computed, as far as the order conditions hold, to 10.
    requires : {"separable", "quadratic_kinetic"}
        For which systems the order is meant: some methods have a higher one where the kinetic
        energy is quadratic, that is for x'' = a(x).

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
    if not isinstance(requires, str) or requires not in ("separable", "quadratic_kinetic"):
        raise ValueError(f"requires must be 'separable' or 'quadratic_kinetic', got {requires!r}")
    steps: list[tuple[str, float | Fraction]] = []
    try:
        items = iter(sequence)
    except TypeError:
        raise TypeError(
            f'sequence must hold ("kick", w) and ("drift", w), got {sequence!r}'
        ) from None
    for item in items:
        kind, weight = _kick_or_drift(item)
        if steps and steps[-1][0] == kind:  # two kicks in a row are one
            steps[-1] = (kind, steps[-1][1] + weight)
        else:
            steps.append((kind, weight))
    for kind in ("kick", "drift"):
        total = float(sum(w for k, w in steps if k == kind))
        if abs(total - 1) > _ROUNDED * (1 + len(steps)):
            raise ValueError(
                f"the {kind}s of sequence sum to {total:.17g}, expected 1: the method is"
                " inconsistent"
            )
    steps = [(k, w) for k, w in steps if w]
    kicks: list[float | Fraction] = []
    drifts: list[float | Fraction] = []
    for kind, weight in steps:
        if kind == "kick":
            kicks.append(weight)
            drifts.append(0.0)
        elif drifts and not drifts[-1]:
            drifts[-1] = weight
        else:
            kicks.append(0.0)
            drifts.append(weight)
    return _composition(kicks, drifts, name, order, requires)


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


def _composition(kicks, drifts, name, order, requires):
    """From the numbers as given: kicks[i] before drifts[i], zeros where there is none."""
    kick, drift = list(map(float, kicks)), list(map(float, drifts))
    shared = bool(kick[0]) and not drift[-1]  # the last force is the next step's first
    evaluations = sum(map(bool, kick)) - shared
    steps = [w for pair in zip(kick, drift, strict=True) for w in pair if w]
    begins, ends = "drift" if not kick[0] else "kick", "drift" if drift[-1] else "kick"
    symmetric = begins == ends and np.allclose(steps, steps[::-1], rtol=0, atol=1e-14)
    return of_order(
        order,
        name=name, title="a composition of one's own", family="composition", stages=len(kick),
        evaluations=evaluations, symplectic=True, symmetric=bool(symmetric), requires=requires,
        coefficients={"kick": kick, "drift": drift},
        written={"kick": list(kicks), "drift": list(drifts)},
        handle=_core.make_method(
            "composition", len(kick), evaluations, (tuple(kick), tuple(drift))
        ),
    )  # fmt: skip


def remake(family, written, name, order, requires, derivative):
    """A method of one's own again from what it was made of (pickling)."""
    if family == "composition":
        return _composition(written["kick"], written["drift"], name, order, requires)
    if family == "multistep":
        from .own_multistep import Multistep

        predictor, velocity = written["predictor"] or None, written["velocity"] or None
        return Multistep(
            written["alpha"], written["beta"], predictor, derivative, velocity, name, order
        )
    return RungeKutta(written["A"], written["b"], written["c"], name, order)
