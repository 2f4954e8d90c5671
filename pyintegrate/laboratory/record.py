"""All numbers of the lab: a state of the front end in, a comparison and its arrays out."""

from __future__ import annotations

import warnings
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.phase import phase_drift
from ..analysis.side_by_side import Comparison, compare
from ..errors import RecordWarning
from ..solving import solve
from .descriptions import LONGEST, stability_of
from .python_lines import python_lines
from .scenes import turning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..solution.solution import Solution
    from ..system.system import System

RTOL, ATOL = 1e-11, 1e-13  # of the true motion, if it has no closed form
MOST_TRIED = 50_000  # its steps: with more, sliders would not respond in time
SAMPLES = 32  # states at which the rate of turning of the true motion is computed
CROSSINGS = 3  # of the centre, from which a motion counts as an oscillation


def steps_of(dt: float, t_end: float) -> int:
    """The whole number of steps nearest to a time, from 1 to 20,000.

    Examples
    --------
    >>> steps_of(0.1, 90.0)
    900
    """
    if not (0 < dt < inf and 0 < t_end < inf):
        raise ValueError(f"dt and t_end must be positive and finite, got {dt!r} and {t_end!r}")
    return int(min(max(round(min(t_end / dt, LONGEST)), 1), LONGEST))


def make_record(
    system: System, state: Mapping[str, Any], methods: Mapping[str, Any]
) -> tuple[Comparison, dict[str, Any]]:
    """Integrate the motion of a state, and measure it.

    Parameters
    ----------
    system : System
        That of the state, with the state's parameters.
    state : mapping
        From the front end: "start", "dt", "t_end", "methods", "equal_work".
    methods : mapping
        Methods by the names in the state.

    Returns
    -------
    comparison : Comparison
    record : dict
        "runs", in the order of the methods: "t" (n,), "y" and "ghost" (n, dim), "energy" and
        "ghost_energy" (n,) or None, "phase" (n,) [rad] or None, "distance" (n,) from the true
        position (of a rigid body from its orientation [rad]), all float64; "dt", "failed" (the
        first step not completed, or -1), "evaluations", "stability". Also "ghost" (the kind of the
        true motion), "turning" (eigenvalues), "python".

    Raises
    ------
    TypeError, ValueError
        As `compare`.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> state = {"start": [1.0, 0.0], "dt": 0.1, "t_end": 1.0, "methods": ["rk4"],
    ...          "equal_work": False}
    >>> _, record = make_record(pi.systems.oscillator, state, pi.methods)
    >>> record["ghost"], record["runs"][0]["y"].shape
    ('the exact solution', (11, 2))
    """
    dt, chosen = float(state["dt"]), [methods[name] for name in state["methods"]]
    n_steps = steps_of(dt, float(state["t_end"]))
    comparison = compare(
        system, np.asarray(state["start"], dtype=np.float64), methods=chosen, dt=dt,
        n_steps=n_steps, equal_work=bool(state["equal_work"]), on_failure="ignore",
    )  # fmt: skip
    truths: dict[float, Any] = {}
    runs = []
    for solution in comparison.values():
        step = float(solution.dt)
        if step not in truths:
            truths[step] = true_motion(solution)
        runs.append(_measured(solution, *truths[step]))
    exact, first = truths[float(next(iter(comparison.values())).dt)]
    rows = exact[:: max(1, len(exact) // SAMPLES)]
    record = {
        "runs": runs,
        "ghost": "the exact solution" if first is None else f"pi.solve, rtol = {RTOL:g}",
        "turning": [[z.real, z.imag] for z in turning(system, rows)],
        "python": python_lines(system, state, dt, n_steps),
    }
    return comparison, record


def true_motion(solution: Solution) -> tuple[Any, Solution | None]:
    """The true states at the saved times, (n, dim), and the Solution that holds them, if any.

    The exact solution; if it has no closed form, or loses its digits, a run to a tolerance.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> states, made = true_motion(pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=50))
    >>> states.shape, made.method.name
    ((51, 3), 'verner98')
    """
    t = np.asarray(solution.t)
    exact = solution.system.exact(t, solution.origin)
    if exact is not None and np.isfinite(exact).all():
        return exact, None
    made = solve(
        solution.system, solution.origin, t_end=t[-1], times=t, rtol=RTOL, atol=ATOL,
        max_steps=MOST_TRIED, on_failure="ignore",
    )  # fmt: skip
    return np.where(made.valid[:, np.newaxis], made.y, np.nan), made


def _measured(solution, truth, made):
    """The arrays of one run, compared with the true motion."""
    system, y = solution.system, np.ascontiguousarray(solution.y)
    positions = system.dof or system.dim
    with np.errstate(over="ignore", invalid="ignore"):
        if system.structure == "rigid_body":
            away = _angle(y[:, 3:7], truth[:, 3:7])
        else:
            away = np.sqrt(((y - truth)[:, :positions] ** 2).sum(axis=-1))
    return {
        "method": solution.method.name, "dt": float(solution.dt), "t": np.asarray(solution.t),
        "y": y, "ghost": np.ascontiguousarray(truth), "distance": away,
        "energy": solution.energy_error() if system.has_energy else None,
        "ghost_energy": _energy_of(solution, truth), "phase": _phase(solution, truth, made),
        "failed": int(solution.failed_step), "evaluations": int(solution.evaluations),
        "stability": stability_of(solution.method),
    }  # fmt: skip


def _angle(p, q):
    """The angle of the turn from one orientation to another, (n,), of quaternions (n, 4)."""
    p, q = (one / np.linalg.norm(one, axis=-1, keepdims=True) for one in (p, q))
    apart = np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    return 4 * np.arcsin(apart / 2)


def _energy_of(solution, truth):
    """(E - E0)/|E0| of the true motion: 0 unless something drives or brakes it."""
    if not solution.system.has_energy:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        energy = solution.system.energy(truth, np.asarray(solution.t))
        first = solution.system.energy(solution.origin, solution._origin_time)
        return (energy - first) / (abs(first) or 1.0)


def _phase(solution, truth, made):
    """The phase drift, or None if the motion does not turn."""
    system = solution.system
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RecordWarning)
        try:
            if system.phase(solution.origin) is not None:
                return phase_drift(solution, made)
            if system.dof != 1 or made is None or _crossings(truth[:, 0]) < CROSSINGS:
                return None
            return phase_drift(solution, made)
        except ValueError:
            return None


def _crossings(x):
    """How often a motion passes its centre."""
    side = x > (np.nanmin(x) + np.nanmax(x)) / 2
    return np.count_nonzero(side[1:] != side[:-1])
