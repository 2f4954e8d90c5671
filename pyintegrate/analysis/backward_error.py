"""The modified energy that a symplectic method conserves: the Hamiltonian of a nearby motion.

A composition of kicks exp(w h V) and drifts exp(w h T) is exp(h H~) for a modified energy

    H~ = T + V + h c2 {V,T} + h^2 (c3 {V,{V,T}} + d3 {T,{T,V}}) + h^3 c4 {T,{V,{V,T}}} + ...

by the Baker-Campbell-Hausdorff formula. The coefficients are taken from the logarithm of the
product, computed with words in two non-commuting letters. For T = v M v / 2 and V' = -M a the
brackets are
v M a, a M a, -v M J v and 2 a M J v, with J = da/dx.

Reference: Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, III.4 and IX.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .observables import blocks, check_solution, times

if TYPE_CHECKING:
    from ..solution.solution import Solution
    from ..values.types import Floats


def modified_energy(solution: Solution, order: int = 2) -> Floats:
    """The energy that a composition of kicks and drifts conserves better than the true one.

    For semi-implicit Euler, kick first, H~ = H - h/2 v.V'(x) + ...: on the harmonic oscillator
    these two terms stay constant to rounding, for ever (so do four terms, a multiple of them). On
    other systems the error is of size h^order.

    Parameters
    ----------
    solution : Solution
        By a method of kicks and drifts, for a system of positions and velocities whose energy is
        quadratic in the velocity and whose force does not depend on it: (n_saved, *batch) states.
    order : {1, 2, 3, 4}, optional
        Terms below h^order are included; 1 is the energy itself.

    Returns
    -------
    ndarray
        (n_saved, *batch), in the unit of the energy.

    Raises
    ------
    ValueError
        If method, system or order have no such series.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.5, n_steps=1000,
    ...                    method="semi_implicit_euler")
    >>> bool(np.ptp(sol.energy()) > 0.2), bool(np.ptp(pi.analysis.modified_energy(sol)) < 1e-13)
    (True, True)
    """
    solution = check_solution(solution, "modified_energy")
    system, method = solution.system, solution.method
    if not {"kick", "drift"} <= set(method.coefficients):
        raise ValueError(
            f"method {method.name!r} conserves no modified energy: it is not a composition of kicks"
            " and drifts, such as 'semi_implicit_euler'"
        )
    if not system.has_energy or system.velocity_dependent:
        why = "no energy" if not system.has_energy else "a force that depends on the velocity"
        raise ValueError(f"the system {system.name!r} has {why}, and so no modified energy")
    if order not in (1, 2, 3, 4):
        raise ValueError(f"order must be 1, 2, 3 or 4, got {order!r}")
    c2, c3, d3, c4 = brackets(method)
    if order == 4 and c4 is None:
        raise ValueError(f"order must be at most 3 for {method.name!r}: its h^3 term needs J'")
    y, t = solution.y, times(solution)
    kept = np.empty(y.shape[:-1])
    for rows in blocks(len(y), kept[:1].size):
        states = np.asarray(y[rows], dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):  # exploded trajectories
            kept[rows] = _kept(system, solution.dt, states, t[rows], order, (c2, c3, d3, c4))
    return kept


def _kept(system, h, y, t, order, brackets):
    """Energy and the required further terms, for a block of saves."""
    c2, c3, d3, c4 = brackets
    dof = system.dof
    x, v = y[..., :dof], y[..., dof:]
    energy = np.array(system.energy(y, t))
    if order == 1:
        return energy
    h, a = np.asarray(h), system.acceleration(t, x, v)

    def product(p, q):
        """p M q, from an energy that is quadratic in the velocity."""
        plus, minus = (np.concatenate([x, w], axis=-1) for w in ((p + q) / 2, (p - q) / 2))
        return 2 * (system.energy(plus, t) - system.energy(minus, t))

    energy += h * c2 * product(v, a)
    if order > 2:
        J = system.jacobian(t, y)[..., dof:, :dof]
        Jv = (J @ v[..., np.newaxis])[..., 0]
        energy += h**2 * (c3 * product(a, a) - d3 * product(v, Jv))
    if order > 3:
        energy += h**3 * c4 * 2 * product(a, Jv)
    return energy


def brackets(method):
    """The coefficients c2, c3, d3 and c4 of a composition; c4 is None if another h^3 term occurs.

    Parameters
    ----------
    method : Method
        With kicks and drifts.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(*(f"{c:.4f}" for c in brackets(pi.methods["semi_implicit_euler"])))
    0.5000 0.0833 0.0833 -0.0417
    """
    product = {"": 1.0}
    for kick, drift in zip(*(method.coefficients[name] for name in ("kick", "drift")), strict=True):
        for letter, weight in (("V", kick), ("T", drift)):
            # The first flow to act stands to the left: flows compose like pullbacks of functions.
            product = _multiply(product, {letter * n: weight**n / f for n, f in _FACTORIAL})
    series = _logarithm(product)
    # Words that occur in one bracket only: [V,T] has VT, [V,[V,T]] VVT, [T,[T,V]] TTV, and
    # [T,[V,[V,T]]] TTVV; [T,[T,[T,V]]] has TTTV and vanishes only with it.
    other = abs(series.get("TTTV", 0.0)) > 1e-14
    c4 = None if other else series.get("TTVV", 0.0)
    return series.get("VT", 0.0), series.get("VVT", 0.0), series.get("TTV", 0.0), c4


_FACTORIAL = ((0, 1), (1, 1), (2, 2), (3, 6), (4, 24))


def _multiply(a, b):
    """Product of two sums of words, without words of more than four letters."""
    product: dict[str, float] = {}
    for p, x in a.items():
        for q, y in b.items():
            if len(p) + len(q) <= 4:
                product[p + q] = product.get(p + q, 0.0) + x * y
    return product


def _logarithm(series):
    """log(1 + X) = X - X^2/2 + X^3/3 - X^4/4 for a sum of words X."""
    X = {word: x for word, x in series.items() if word}
    total: dict[str, float] = {}
    power: dict[str, float] = {"": 1.0}
    for n in range(1, 5):
        power = _multiply(power, X)
        for word, x in power.items():
            total[word] = total.get(word, 0.0) - (-1) ** n * x / n
    return total
