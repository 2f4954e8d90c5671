"""How far the numerical motion runs ahead of the true one: as an angle, and as a wrong period."""

import numpy as np

from .observables import blocks, check_solution, exact_states, start_time, times


def phase_drift(solution, reference=None, *, phase=None):
    """Phase of a solution minus the phase of its reference, in radians; positive = ahead.

    The difference is unwrapped along time, not the two phases: it drifts slowly even where the
    saves are too far apart to follow the motion itself. It must drift by less than pi between
    two saves; at the first save the branch nearest zero is taken, so that a run of which only
    the end was saved gives its drift modulo one turn.

    Parameters
    ----------
    solution : Solution
        Of a system with a phase, (n_saved, *batch) states.
    reference : Solution, optional
        What to compare with: a solution saved at the same times, of the same batch or of one
        that broadcasts to it. The exact solution by default.
    phase : callable, optional
        ``phase(y, t)`` -> angle [rad] (*batch) that grows along the motion, y being (*batch, dim).
        The system's own by default; without one, a motion of one degree of freedom gets the angle
        around the middle of its reference, each axis in units of the reference's swing.

    Returns
    -------
    ndarray
        (n_saved, *batch) in rad, NaN from the save on where a trajectory failed.

    Raises
    ------
    ValueError
        Where the system has no phase or no exact solution, or the reference other times.

    Examples
    --------
    Symplectic methods keep the energy and pay in phase:

    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, t_end=90.0,
    ...                    method="semi_implicit_euler")
    >>> print(f"{pi.analysis.phase_drift(sol)[-1]:.4f} rad ahead")
    0.0746 rad ahead
    """
    check_solution(solution, "phase_drift")
    if reference is not None:
        check_solution(reference, "phase_drift", "reference")
    angle = _phase_of(solution, reference, phase)
    count, batch = len(solution.y), solution.y.shape[1:-1]
    valid = solution.valid if solution.n_failed else None
    if reference is None:
        reference_angle = _exact_phase(solution, angle)
    else:
        _check_times(solution, reference)
        reference_angle = _recorded_phase(reference, angle, len(batch) + 1)
        batch = np.broadcast_shapes(batch, reference.y.shape[1:-1])
        if solution.n_failed or reference.n_failed:
            valid = solution.valid & _align(reference.valid, len(batch) + 1)
    y, t, before = solution.y, times(solution), None
    drift = np.empty((count, *batch))
    with np.errstate(invalid="ignore"):
        for rows in blocks(count, drift[:1].size):
            part = drift[rows]
            np.subtract(angle(y[rows], t[rows]), reference_angle(rows), out=part)
            if part.size:
                before = _unwrap(part, before)
    if valid is not None:
        drift[~np.broadcast_to(valid, drift.shape)] = np.nan
    return drift


def period_error(solution, reference=None, *, phase=None):
    """Relative error of the period, from the slope of the phase drift; positive = too slow.

    The slope is that of the least-squares line through all valid saves: what wobbles within a
    period averages out, by about one part in the number of periods.

    Parameters
    ----------
    solution, reference, phase
        As in `phase_drift`. Without a period in closed form, the reference must be saved at least
        three times in every period.

    Returns
    -------
    ndarray
        (*batch): numerical period / true period - 1; NaN where fewer than two saves are valid.

    Raises
    ------
    ValueError
        Where there is no phase, or nothing to compare it with.

    Examples
    --------
    Semi-implicit Euler turns by 2 arcsin(omega dt / 2) a step instead of omega dt:

    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, t_end=1000.0,
    ...                    method="semi_implicit_euler")
    >>> print(f"{pi.analysis.period_error(sol):.3e}, in theory {0.05 / np.arcsin(0.05) - 1:.3e}")
    -4.170e-04, in theory -4.170e-04
    """
    from .conserved_energy import fit_line

    check_solution(solution, "period_error")
    drift = phase_drift(solution, reference, phase=phase)
    t = np.broadcast_to(times(solution), drift.shape)
    slope, _ = fit_line(t, drift)
    period = solution.system.period(solution.initial) if phase is None else None
    if period is not None and np.any(np.isfinite(period)):
        frequency = 2 * np.pi / np.asarray(period)
    else:
        true = solution if reference is None else reference
        angle = _phase_of(solution, reference, phase)
        states = exact_states(solution) if reference is None else reference.y
        turned = np.unwrap(angle(states, times(true)), axis=0)
        t = np.broadcast_to(times(true), turned.shape)
        frequency, _ = fit_line(t, turned)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (-slope / (frequency + slope))[()]


# ---- phases --------------------------------------------------------------------------------------


def _phase_of(solution, reference, phase):
    """The function (y, t) -> angle by which a motion is measured."""
    system = solution.system
    if phase is not None:
        return phase
    if system.phase(solution.initial, start_time(solution)) is not None:
        return system.phase
    if system.dof == 1 and reference is not None:
        return _angle_around(reference, np.ndim(solution.y) - 1)
    cure = "give a reference solution, or phase=" if system.dof == 1 else "give phase="
    raise ValueError(
        f"phase_drift needs a phase, and the system {system.name!r} has none: "
        f"{cure}, a function (y, t) -> angle"
    )


def _angle_around(reference, ndim):
    """The angle in the plane of position and velocity around the middle of a motion."""
    middle = _align(np.nanmean(reference.y, axis=0, keepdims=True), ndim + 1)
    swing = _align(np.nanstd(reference.y, axis=0, keepdims=True), ndim + 1)

    def angle(y, t):
        x, v = np.moveaxis((y - middle) / swing, -1, 0)
        return np.arctan2(-v, x)

    return angle


def _exact_phase(solution, angle):
    """A function of a block of saves that gives the phase of the exact motion there."""
    t, start, system = times(solution), start_time(solution), solution.system
    if angle == system.phase and system.phase_is_uniform:
        first = np.asarray(angle(solution.initial, start))
        rate = 2 * np.pi / np.asarray(system.period(solution.initial))
        return lambda rows: first + rate * (t[rows] - start)
    if system.exact(t[:1], solution.initial, start) is None:
        raise ValueError(
            f"the system {system.name!r} has no exact solution: give phase_drift a reference, "
            "for example the same run with a smaller dt and the matching save interval"
        )
    flat = np.asarray(solution.t)
    if angle == system.phase:
        return lambda rows: system.exact_phase(flat[rows], solution.initial, start)
    return lambda rows: angle(system.exact(flat[rows], solution.initial, start), t[rows])


def _recorded_phase(reference, angle, ndim):
    """A function of a block of saves that gives the phase of a recorded motion there."""
    t = times(reference)
    return lambda rows: _align(angle(reference.y[rows], t[rows]), ndim)


# ---- unwrapping ----------------------------------------------------------------------------------


def _unwrap(angle, before):
    """Make a block continuous along the first axis, in place; return its last row.

    `before` is the row before it; the first row of all lands in [-pi, pi]. NaN stays NaN.
    """
    base = angle[:1] * 0 if before is None else before[np.newaxis]
    turns = angle - base
    turns *= 1 / (2 * np.pi)
    np.rint(turns, out=turns)
    turns *= 2 * np.pi
    angle -= turns
    np.subtract(angle, base, out=turns)
    # Within a quarter turn of their base no two rows are a half turn apart.
    if before is None or not (turns.max() < np.pi / 2 and turns.min() > -np.pi / 2):
        turns = np.diff(angle, axis=0)
        turns *= 1 / (2 * np.pi)
        np.rint(turns, out=turns)
        if np.any(turns):
            np.cumsum(turns, axis=0, out=turns)
            turns *= 2 * np.pi
            angle[1:] -= turns
    return angle[-1].copy()


# ---- references ----------------------------------------------------------------------------------


def _check_times(solution, reference):
    """Refuse a reference that is saved at other times."""
    t = times(solution)
    t_reference = _align(times(reference), np.ndim(t))
    if len(t) != len(t_reference):
        raise ValueError(
            f"the reference has {len(t_reference)} saves and the solution {len(t)}: "
            "phase_drift compares equal times, choose save= so that they agree"
        )
    tolerance = 1e-9 * max(1.0, float(np.max(np.abs(t), initial=0.0)))
    apart = float(np.max(np.abs(t - t_reference), initial=0.0))
    if apart > tolerance:
        raise ValueError(
            f"the reference is saved at other times than the solution (up to {apart:.3g} apart): "
            "phase_drift compares equal times, choose save= so that they agree"
        )


def _align(values, ndim):
    """Put missing batch axes after time, so that batches broadcast from their last axis."""
    values = np.asarray(values)
    shape = values.shape
    return values.reshape(shape[:1] + (1,) * (ndim - values.ndim) + shape[1:])
