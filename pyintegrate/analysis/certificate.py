"""Certificates: what a method promises, proved from its numbers and measured on real motions."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import isfinite, log2
from typing import Any

import numpy as np

from ..methods import Method, find_method
from . import order_conditions, twin
from .stability import real_stability_limit
from .table import Table

# Beyond this order a double leaves no octave between the error of a coarse step and rounding.
_HIGHEST_IN_DOUBLES = 6
_ROUNDING = 2e-12  # of some thousand steps, and a hundred times less than what is measured
_SETTLED = 0.06  # halving the step again changes the quotient by half as much, then a quarter, ...
_DIGITS = 50  # of the coefficients in csrc/methods/ that are not rational
_STEP = 0.25  # of single steps that are differentiated or undone: errors are far above rounding
_ORDER_TOLERANCE, _SYMPLECTIC, _REVERSIBLE = 0.1, 1e-13, 1e-12
# What a method is measured on, by what it requires.
_PROBLEMS = {
    "any": (twin.PENDULUM, twin.KEPLER, twin.LOTKA_VOLTERRA),
    "separable": (twin.PENDULUM, twin.KEPLER, twin.RELATIVISTIC),
    "quadratic_kinetic": (twin.PENDULUM, twin.KEPLER),
}


class Certificate:
    """The properties of a method, declared and found; prints as text, shows as HTML.

    Attributes
    ----------
    method : Method
    conditions : tuple of Conditions
        Of every order up to the declared one, and of the next.
    rounding : float
        Relative error of the numbers they were computed with; 0 where these are exact.
    computed_order : int
        As far as the conditions hold.
    error_constant : float
        2-norm of the principal error: how far the conditions of the next order are from holding.
    measured_order : dict of (float, int)
        By problem: log2 of the ratio of errors when the step is halved, and with how many digits
        it was measured.
    evaluations : int
        Force evaluations a step, counted.
    symplecticity_defect, reversal_defect : float
        Largest entry of J'SJ - S, with J the Jacobian of a step; largest difference to the start
        after a step forward and one back.
    stability_limit : float
        omega dt on the undamped oscillator.
    real_stability_limit : float or None
        lambda dt on y' = -lambda y.
    failures : tuple of str
        Where what was declared differs from what was found.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> certificate = pi.methods["velocity_verlet"].certificate()
    >>> certificate.evaluations, certificate.computed_order, certificate.holds
    (1, 2, True)
    """

    method: Method
    conditions: tuple[order_conditions.Conditions, ...]
    rounding: float
    computed_order: int
    error_constant: float
    measured_order: dict[str, tuple[float, int]]
    evaluations: int
    symplecticity_defect: float
    reversal_defect: float
    stability_limit: float
    real_stability_limit: float | None
    failures: tuple[str, ...]

    def __init__(self, **fields: Any):
        self.__dict__.update(fields)
        self.failures = tuple(self._failures())

    @property
    def holds(self):
        """Whether everything declared was found."""
        return not self.failures

    @property
    def residual(self):
        """The largest residual of the order conditions up to the declared order, a Fraction."""
        return max((c.largest for c in self.conditions[:-1]), default=Fraction(0))

    @property
    def next_residual(self):
        """The same of the next order: not zero, so that the order is not higher."""
        return self.conditions[-1].largest

    def _failures(self):
        m = self.method
        if self.computed_order != m.order:
            yield f"order {m.order}, and the order conditions hold to {self.computed_order}"
        for name, (measured, _) in self.measured_order.items():
            if not abs(measured - m.order) <= _ORDER_TOLERANCE:
                yield f"order {m.order}, and {measured:.2f} on the {name} problem"
        if self.evaluations != m.evaluations:
            yield f"{m.evaluations} evaluations a step, and {self.evaluations} were counted"
        if m.symplectic != (self.symplecticity_defect <= _SYMPLECTIC):
            yield f"symplectic: {m.symplectic}, and the defect is {self.symplecticity_defect:.1e}"
        if m.symmetric != (self.reversal_defect <= _REVERSIBLE):
            yield f"symmetric: {m.symmetric}, and the way back misses {self.reversal_defect:.1e}"

    def table(self):
        """What was declared and found, side by side."""
        m, count = self.method, sum(c.number for c in self.conditions[:-1])
        proof = "exact" if not self.rounding else f"numbers good to {self.rounding:.0e}"
        rows = [
            ("order conditions", m.order, self.computed_order,
             f"{count} conditions, largest residual {_small(self.residual)} ({proof})"),
            (f"conditions of order {m.order + 1}", "-", _small(self.next_residual),
             "largest residual: the order is not higher"),
            ("error constant", "-", f"{self.error_constant:.6g}", "2-norm of the principal error"),
            *((f"order on {name}", m.order, f"{value:.3f}",
               "in doubles" if digits == 16 else f"in {digits} digits")
              for name, (value, digits) in self.measured_order.items()),
            ("force evaluations a step", m.evaluations, self.evaluations, "counted"),
            ("symplectic", _yes(m.symplectic), f"{self.symplecticity_defect:.1e}",
             f"J'SJ - S of one step, Kepler, h = {_STEP}"),
            ("reversible", _yes(m.symmetric), f"{self.reversal_defect:.1e}",
             f"a step forward and back, Kepler, h = {_STEP}"),
            ("stable to omega dt", "-", f"{self.stability_limit:.6g}", "undamped oscillator"),
            ("stable to lambda dt", "-",
             "-" if self.real_stability_limit is None else f"{self.real_stability_limit:.6g}",
             "y' = -lambda y"),
        ]  # fmt: skip
        note = (
            "all found as declared"
            if self.holds
            else "NOT AS DECLARED: " + "; ".join(self.failures)
        )
        return Table(
            f"{m.name}: {m.title}. {m.reference}".rstrip(" ."),
            ("property", "declared", "found", "how"), [list(map(str, row)) for row in rows],
            note=note, align="lrrl",
        )  # fmt: skip

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()

    def as_dict(self):
        """Plain numbers and strings, as they are stored in docs/certificates.json."""
        m = self.method
        return {
            "name": m.name, "title": m.title, "family": m.family, "requires": m.requires,
            "reference": m.reference, "order": m.order, "computed_order": self.computed_order,
            "conditions": sum(c.number for c in self.conditions[:-1]),
            "residual": _digits(self.residual), "coefficients_good_to": self.rounding,
            "next_residual": _digits(self.next_residual),
            "error_constant": _digits(self.error_constant),
            "measured_order": {k: round(v, 3) for k, (v, _) in self.measured_order.items()},
            "digits": {k: digits for k, (_, digits) in self.measured_order.items()},
            "evaluations": self.evaluations,
            "symplectic": m.symplectic, "symplecticity_defect": _digits(self.symplecticity_defect),
            "symmetric": m.symmetric, "reversal_defect": _digits(self.reversal_defect),
            "stability_limit": self.stability_limit if isfinite(self.stability_limit) else "inf",
            "real_stability_limit": self.real_stability_limit,
            "holds": self.holds, "failures": list(self.failures),
        }  # fmt: skip


def _small(x):
    return "0" if not x else f"{float(x):.1e}"


def _digits(x):
    """To so many digits as do not depend on the machine."""
    return float(f"{float(x):.6g}")


def _yes(flag):
    return "yes" if flag else "no"


def certify(method, measure=True):
    """Prove and measure what a method promises.

    Parameters
    ----------
    method : str or Method
    measure : bool
        Whether to measure the order on nonlinear problems, too: a moment in doubles, to order 6;
        seconds in many digits, beyond.

    Returns
    -------
    Certificate

    Raises
    ------
    ImportError
        For methods of order 7 and up, without mpmath.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(certify("heun3", measure=False).computed_order)
    3
    """
    method = find_method(method)
    found = tuple(islice(order_conditions.conditions(method), method.order + 1))
    failing = next((c.order for c in found if not c.hold), None)
    problems = _PROBLEMS[method.requires] if measure else ()
    return Certificate(
        method=method,
        conditions=found,
        rounding=float(method.exact_coefficients[1]),
        computed_order=order_conditions.order(method) if failing is None else failing - 1,
        error_constant=found[-1].norm,
        measured_order={problem.name: measured_order(method, problem) for problem in problems},
        evaluations=_count_evaluations(method),
        symplecticity_defect=_symplecticity_defect(method),
        reversal_defect=_reversal_defect(method),
        stability_limit=method.stability_limit,
        real_stability_limit=real_stability_limit(method),
    )


# ---- measured order ------------------------------------------------------------------------------


def measured_order(method, problem):
    """log2 |y(h) - y(h/2)| / |y(h/2) - y(h/4)| at a fixed time, once h is small enough.

    In doubles it is looked at for smaller and smaller steps to the time 1, in the C core where it
    has the problem. Methods of high order, and those whose principal error is small beside the
    next, meet rounding before the quotient settles: then many digits tell, where any step is small
    enough. There it is four, eight and sixteen steps to shorter and shorter times.

    Parameters
    ----------
    method : Method
    problem : twin.Problem

    Returns
    -------
    order : float
    digits : int
        With how many it was measured: 16 in doubles.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> order, digits = measured_order(pi.methods["rk4"], twin.KEPLER)
    >>> round(order, 1), digits
    (4.0, 16)
    """
    found: list[float] = []
    if method.order <= _HIGHEST_IN_DOUBLES:
        found = _until_settled(_orders_in_doubles(method, problem))
        if _settled(found):
            return found[-1], 16
    try:
        found, digits = _until_settled(_orders_in_many_digits(method, problem)), _DIGITS
    except ImportError:
        if not found:
            raise
        digits = 16  # better than nothing
    return (found[-1] if found else np.nan), digits


def _until_settled(orders):
    found: list[float] = []
    for order in orders:
        found.append(order)
        if _settled(found):
            break
    return found


def _settled(orders):
    """Whether the last order differs little from the two before."""
    return len(orders) > 2 and max(orders[-3:]) - min(orders[-3:]) < _SETTLED


def _quotient(coarse, middle, fine):
    first, second = float(max(abs(coarse - middle))), float(max(abs(middle - fine)))
    return log2(first / second) if 0 < second < first < np.inf else 0.0


def _orders_in_doubles(method, problem):
    states = [_in_doubles(method, problem, n) for n in (4, 8)]
    for n in (2**i for i in range(4, 14)):
        states = [*states[-2:], _in_doubles(method, problem, n)]
        error = max(abs(states[-1] - states[-2]))
        if not error > _ROUNDING * max(abs(states[-1])):
            return
        yield _quotient(*states)


def _in_doubles(method, problem, n_steps):
    if not problem.system:
        return twin.run(method, problem, 1 / n_steps, n_steps)
    from ..integrate import integrate
    from ..systems import systems

    solution = integrate(
        systems[problem.system], problem.initial, dt=1 / n_steps, n_steps=n_steps, method=method,
        save="final", on_failure="ignore",
    )  # fmt: skip
    return solution.final


def _orders_in_many_digits(method, problem):
    numbers = twin.many_digits(_DIGITS + 10)
    for time in (Fraction(1, 4**i) for i in range(2, 12)):
        states = [twin.run(method, problem, numbers.make(time / n), n, numbers) for n in (4, 8, 16)]
        # The numbers themselves are good to so many digits.
        if not max(abs(states[1] - states[2])) > 10.0 ** (4 - _DIGITS) * float(time):
            return
        yield _quotient(*states)


# ---- single steps --------------------------------------------------------------------------------


def _count_evaluations(method):
    """Calls of the force that a further step costs, once steps share what they can."""
    calls = 0

    def force(q, numbers):
        nonlocal calls
        calls += 1
        return twin.PENDULUM.force(q, numbers)

    counts = []
    for n_steps in (2, 3):
        calls = 0
        twin.run(method, twin.PENDULUM, 0.01, n_steps, force=force)
        counts.append(calls)
    return counts[1] - counts[0]


def _symplecticity_defect(method):
    """max |J' S J - S| for the Jacobian J of a step, by dual numbers."""
    problem, dof = twin.KEPLER, twin.KEPLER.dof
    start = [twin.Dual(x, unit) for x, unit in zip(problem.initial, np.eye(2 * dof), strict=True)]
    state = twin.run(method, problem, _STEP, 1, twin.DUALS, start)
    J = np.array([x.gradient for x in state])
    S = np.kron([[0, 1], [-1, 0]], np.eye(dof))
    return float(abs(J.T @ S @ J - S).max())


def _reversal_defect(method):
    """max |step(-h) step(h) y - y|."""
    there = twin.run(method, twin.KEPLER, _STEP, 1)
    back = twin.run(method, twin.KEPLER, -_STEP, 1, initial=there)
    return float(max(abs(back - np.array(twin.KEPLER.initial))))
