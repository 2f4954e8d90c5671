"""Certificates: the properties of a method, proved from its numbers and measured on motions."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, zip_longest

import numpy as np

from ..method.catalogue import find_method
from ..method.method import Method
from ..theory import order_conditions
from ..theory.conditions import Conditions
from ..theory.multistep_conditions import palindromic
from ..theory.stability import a_stable, decay_limit, l_stable, stability_angle
from ..values.named import Named
from . import twin
from .findings import Findings
from .measured_order import measured_order
from .number_kinds import COMPLEX, FLOATS, TINY

_SEVERAL = 3  # steps of a method that is not self-starting
# The length of single steps for derivatives and reversal, the longer one for orders above 10: the
# errors must be far above rounding.
_STEP, _LONG_STEP, _SHORT_UP_TO = 0.25, 1.0, 10
_ORDER_TOLERANCE, _SYMPLECTIC, _REVERSIBLE = 0.1, 1e-13, 1e-12
# Problems on which a method is measured, by its requirement.
_PROBLEMS = {
    "any": (twin.PENDULUM, twin.KEPLER, twin.LOTKA_VOLTERRA),
    "second_order": (twin.PENDULUM, twin.KEPLER),
    "separable": (twin.PENDULUM, twin.KEPLER, twin.RELATIVISTIC),
    "quadratic_kinetic": (twin.PENDULUM, twin.KEPLER),
    "n_body": (twin.BODIES,),
}


class Certificate(Findings, Named):
    """The properties of a method, declared and found; prints as text, shows as HTML.

    Attributes
    ----------
    method : Method
    conditions : tuple of Conditions
        For every order up to the declared one, and for the next.
    rounding : float
        Relative error of the coefficients used; 0 if these are exact.
    computed_order : int
        The highest order whose conditions hold.
    error_constant : float
        2-norm of the principal error: by how much the conditions of the next order fail.
    measured_order : dict of (float, int)
        By problem: log2 of the ratio of errors when the step is halved, and with how many digits
        it was measured.
    embedded_orders : tuple of int
        Orders of the weights that estimate the error, by their conditions; () without them.
    evaluations : int
        Force evaluations per step, counted.
    symplecticity_defect, reversal_defect : float or None
        Largest entry of J'SJ - S, with J the Jacobian of a step; largest difference to the start
        after a step forward and one back. None for a multistep method, whose step begins with a
        history (except Stormer-Verlet, whose step begins with a position and a velocity).
    palindromic : bool or None
        Whether the formula of a multistep method is the same in reverse.
    stability_limit : float
        omega dt on the undamped oscillator.
    real_stability_limit : float or None
        lambda dt on y' = -lambda y.
    a_stable, l_stable : bool or None
        On y' = lambda y; None for methods of positions and velocities.
    stability_angle : float or None
        alpha of A(alpha)-stability, in degrees.
    failures : tuple of str
        Differences between what was declared and what was found.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> certificate = pi.methods["velocity_verlet"].certificate()
    >>> certificate.evaluations, certificate.computed_order, certificate.holds
    (1, 2, True)
    """

    method: Method
    conditions: tuple[Conditions, ...]
    rounding: float
    computed_order: int
    error_constant: float
    measured_order: dict[str, tuple[float, int]]
    embedded_orders: tuple[int, ...]
    evaluations: int
    symplecticity_defect: float | None
    reversal_defect: float | None
    palindromic: bool | None
    stability_limit: float
    real_stability_limit: float | None
    a_stable: bool | None
    l_stable: bool | None
    stability_angle: float | None

    @property
    def residual(self):
        """The largest residual of the order conditions up to the declared order, a Fraction."""
        return max((c.largest for c in self.conditions[:-1]), default=Fraction(0))

    @property
    def next_residual(self):
        """The largest residual of the next order: not zero, so that the order is not higher."""
        return self.conditions[-1].largest

    def rows(self):
        m, count = self.method, sum(c.number for c in self.conditions[:-1])
        proof = "exact" if not self.rounding else f"numbers good to {self.rounding:.0e}"
        yield ("order conditions", m.order, self.computed_order,
               f"{count} conditions, largest residual {_small(self.residual)} ({proof})",
               self.computed_order == m.order)  # fmt: skip
        yield (f"conditions of order {m.order + 1}", "-", _small(self.next_residual),
               "largest residual: the order is not higher", True)  # fmt: skip
        yield ("error constant", "-", f"{self.error_constant:.6g}",
               "2-norm of the principal error", True)  # fmt: skip
        told = m.embedded or {}
        orders = [told[name] for name in ("order", "order2") if name in told]
        weights = zip_longest(orders, self.embedded_orders)
        for n, (declared, found) in enumerate(weights, 1):
            name = f"order of weights {n} of the error estimate"
            yield name, declared, found, "conditions", declared == found
        for name, (value, digits) in self.measured_order.items():
            how = "in doubles" if digits == 16 else f"in {digits} digits"
            agree = abs(value - m.order) <= _ORDER_TOLERANCE
            yield f"order on {name}", m.order, f"{value:.3f}", how, agree
        yield ("force evaluations a step", m.evaluations, self.evaluations,
               "counted" + ", of one Newton iteration" * (m.implicit and m.family != "rosenbrock"),
               self.evaluations == m.evaluations)  # fmt: skip
        yield from self._structure()
        yield "stable to omega dt", "-", f"{self.stability_limit:.6g}", "undamped oscillator", True
        limit = self.real_stability_limit
        yield ("stable to lambda dt", "-", "-" if limit is None else f"{limit:.6g}",
               "y' = -lambda y", True)  # fmt: skip
        if m.implicit and self.a_stable is not None:
            angle = f"A(alpha)-stable, alpha = {self.stability_angle:.6g} degrees"
            yield "A-stable", "-", _yes(self.a_stable), angle, True
            yield "L-stable", "-", _yes(self.l_stable), "infinitely fast decay vanishes", True

    def _structure(self):
        m, defect, back = self.method, self.symplecticity_defect, self.reversal_defect
        if back is None or defect is None:
            history = "not defined: a step begins with a history"
            yield "symplectic", _yes(m.symplectic), "-", history, not m.symplectic
            yield ("reversible", _yes(m.symmetric), _yes(self.palindromic),
                   "whether the formula is the same in reverse",
                   m.symmetric == self.palindromic)  # fmt: skip
            return
        steps = "a step" if m.self_starting else f"{_SEVERAL} steps"
        where = f"{_problem(m).name}, h = {_step(m)}"
        yield ("symplectic", _yes(m.symplectic), f"{defect:.1e}", f"J'SJ - S of {steps}, {where}",
               m.symplectic == (defect <= _SYMPLECTIC))  # fmt: skip
        yield ("reversible", _yes(m.symmetric), f"{back:.1e}",
               f"{steps} forward and back, {where}",
               m.symmetric == (back <= _REVERSIBLE))  # fmt: skip


def _small(x):
    return "0" if not x else f"{float(x):.1e}"


def _yes(flag):
    return "yes" if flag else "no"


def certify(method, measure=True):
    """Prove and measure the properties of a method.

    Parameters
    ----------
    method : str or Method
    measure : bool
        Whether to measure the order on nonlinear problems, too: a moment in doubles, to order 6;
        seconds in many digits, for higher orders. With noise the orders are always measured.

    Returns
    -------
    Certificate or NoiseCertificate

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
    if method.family == "noise":
        from .orders_with_noise import certify as measured

        return measured(method)
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
        embedded_orders=tuple(order_conditions.embedded_orders(method)) if method.embedded else (),
        evaluations=_count_evaluations(method),
        symplecticity_defect=_symplecticity_defect(method),
        reversal_defect=_reversal_defect(method),
        palindromic=_palindromic(method),
        stability_limit=method.stability_limit,
        real_stability_limit=decay_limit(method),
        a_stable=a_stable(method),
        l_stable=l_stable(method),
        stability_angle=stability_angle(method),
    )


# ---- single steps --------------------------------------------------------------------------------


def _problem(method):
    return _PROBLEMS[method.requires][method.requires != "n_body"]


def _count_evaluations(method):
    """Calls of the force per further step, once steps share what they can."""
    calls, start = [], twin.column(_problem(method).initial)
    for n_steps in (method.stages + 1, method.stages + 2):
        motion = twin.Motion(_problem(method), FLOATS)
        twin.RUNS[method.family](method, motion, 0.01, n_steps, start)
        calls.append(motion.calls)
    return calls[1] - calls[0]


def _step(method):
    return _STEP if method.order <= _SHORT_UP_TO else _LONG_STEP


def _remembers(method):
    """Whether a step depends on more than the state at its beginning.

    Velocities that are differences of positions give the previous position.
    """
    return method.family == "multistep" and not (
        method.self_starting or method.starts_from_positions
    )


def _palindromic(method):
    """Whether alpha and beta of a multistep method are the same in reverse, up to a sign."""
    if method.family != "multistep":
        return None
    if method.coefficients["predictor"]:
        return False
    exact, _ = method.exact_coefficients
    return palindromic(exact["alpha"], exact["beta"], method.derivative)


def _symplecticity_defect(method):
    """max |J' S J - S| for the Jacobian J of a step, by imaginary parts."""
    if _remembers(method):
        return None
    problem, steps = _problem(method), 1 if method.self_starting else _SEVERAL
    dof = problem.dof
    starts = (np.array(problem.initial) + 1j * TINY * np.eye(2 * dof)).tolist()
    how = method, problem, _step(method), steps, COMPLEX
    J = np.array([twin.run(*how, start) for start in starts], complex).imag.T / TINY
    S = np.kron([[0, 1], [-1, 0]], np.eye(dof))
    return float(abs(J.T @ S @ J - S).max())


def _reversal_defect(method):
    """max |step(-h) step(h) y - y|."""
    if _remembers(method):
        return None
    steps = 1 if method.self_starting else _SEVERAL
    h, problem = _step(method), _problem(method)
    there = twin.run(method, problem, h, steps)
    back = twin.run(method, problem, -h, steps, initial=there)
    return float(max(abs(back - np.array(problem.initial))))
