"""How far the numerical motion runs ahead of the true one: as an angle, and as a period error."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..errors import of_lanes, one_record_warning, silent_record_warning, warn_record
from ..integration import integrate
from ..solution.jumps import has_jumped, until_jump
from ..solving import solve
from ..values.table import evenly
from ..values.types import Floats, Solution
from ..watching.quantity import has_exact_phase
from ..watching.reductions import last, maximum, minimum
from .observables import (
    check_solution,
    cure,
    exact_states,
    found,
    last_is_the_end,
    only_the_end,
    some_saves,
    times,
)
from .results import quiet


def phase_drift(solution: Solution, reference: Solution | None = None) -> Floats:
    """Phase of a solution minus the phase of its reference, in radians; positive = ahead.

    The difference is unwrapped along time, not the two phases: it drifts slowly even if the
    saves are too far apart to follow the motion itself. At the start (for a resumed run that of its
    first part) the branch nearest zero is taken. If the difference may change by half a turn or
    more between two saves, its turns are unknown: it is NaN from there on, with one
    `RecordWarning`. The possible change is estimated from how fast the motion turns, and from two
    periods of it, integrated with every step. A run that has watched "phase_drift" or
    ``pi.watch.windings("phase")`` has counted its turns, and an entry at its end is known.

    Parameters
    ----------
    solution : Solution
        A solution of a system with a phase, (n_saved, *batch) states.
    reference : Solution, optional
        What to compare with: a solution saved at the same times, with the same batch or one
        that broadcasts to it. The exact solution by default.
        A motion of one degree of freedom whose system has no phase gets the angle around the
        centre of its reference, each axis in units of the reference's amplitude.

    Returns
    -------
    ndarray
        (n_saved, *batch) in rad. NaN from the save on where a trajectory failed, its turns are
        unknown, or an event made it jump and there is no reference; NaN if there is no phase:
        at rest, on a separatrix, on an orbit that does not close.

    Raises
    ------
    ValueError
        If the system has no phase or no exact solution, or the reference has other times.

    Examples
    --------
    Symplectic methods keep the energy and pay in phase:

    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, t_end=90.0,
    ...                    method="semi_implicit_euler")
    >>> print(f"{pi.analysis.phase_drift(sol)[-1]:.4f} rad ahead")
    0.0746 rad ahead
    """
    solution = check_solution(solution, "phase_drift")
    solution._need_all("the phase")
    if reference is not None:
        reference = check_solution(reference, "phase_drift", "reference")
        reference._need_all("the phase")
    angle = _phase_of(solution, reference)
    count, batch, valid = len(solution.y), solution.y.shape[1:-1], solution.valid
    if reference is None:
        reference_angle = _exact_phase(solution)
    else:
        check_times(solution, reference)
        reference_angle = _align(angle(reference.y, times(reference)), len(batch) + 1)
        batch = np.broadcast_shapes(batch, reference.y.shape[1:-1])
        valid = valid & _align(reference.valid, len(batch) + 1)
    end, origin = None, solution._problem.origin
    ahead = None  # where turns were counted before this resumed part
    if reference is None:
        with silent_record_warning():  # of jumps, of which the last line tells
            end = found(solution, "last", "phase_drift")
        ahead = getattr(origin, "ahead", None)
    end = drift_from_turns(solution, reference) if end is None else end
    with quiet():
        drift = angle(solution.y, times(solution)) - reference_angle
        drift = np.array(np.broadcast_to(drift, (count, *batch)), float)
        _unwrap(drift, 0.0 if ahead is None else ahead)
    drift[~np.broadcast_to(valid, drift.shape)] = np.nan
    if angle == solution.system.phase:
        _forget_rest(solution, drift)
    unknown, lost = None, _gains(solution, angle, solution.final[np.newaxis])[0]
    if end is None or count > 1 or lost.any():
        unknown = uncounted(solution, reference, angle, ahead is not None)
    counted = np.False_  # where the last save is the end, of which more is known
    if end is not None and count:
        both = (solution,) if reference is None else (solution, reference)
        counted = np.logical_and.reduce(np.broadcast_arrays(*map(last_is_the_end, both), ~lost))
        drift[-1] = np.where(counted & ~np.isnan(drift[-1]), end, drift[-1])
    if unknown is not None:
        marks, most = np.array(np.broadcast_to(unknown[0], drift.shape)), unknown[1]
        marks[-1:] &= ~counted
        _forget(drift, marks, most, origin is not None, _has_own_steps(solution))
    # The exact motion has no jumps, even if an event causes one.
    return until_jump(solution, drift, "the phase drift") if reference is None else drift


def drift_at_end(solution):
    """The last of ``phase_drift``, (*batch), or None if it is not defined; without a warning."""
    try:
        with silent_record_warning():
            return phase_drift(solution)[-1]
    except ValueError:
        return None


def _forget(drift, marks, most, resumed, own_steps):
    """NaN for the differences whose turns are unknown, and a warning."""
    marks = np.broadcast_to(marks, drift.shape) & ~np.isnan(drift)
    lanes = marks.any(axis=0)
    if not lanes.any():
        return
    drift[marks] = np.nan
    # A little less than the bound, as closer saves show other states, and so another bound.
    steps = 0.8 * float(np.min(np.broadcast_to(most, lanes.shape)[lanes]))
    less = " or a smaller dt"
    if own_steps:
        less = f", or times= at most {steps:.3g} apart"
    elif 2 <= steps < 2**53:
        less += f", or save=k with k up to {int(steps)}"
    warn_record(
        f"the phase drift{of_lanes(lanes)} is NaN: between two saves it may change by half a turn"
        ' or more, so that its turns cannot be counted. Integrate with save="all"'
        f"{less}, or, for the end, with"
        f' watch={{"turns": {cure(("windings", "phase"))}}}'
        + ", or join the parts of this resumed run with pi.concatenate"
        * resumed
    )


def _forget_rest(solution, drift):
    """NaN for trajectories at rest, and where a motion has died, (n, *batch) for the last n saves.

    A rate below the smallest normal number over the rounding unit has lost digits.
    """
    system, t, y = solution.system, times(solution)[-len(drift) :], solution.y[-len(drift) :]
    about = np.finfo(y.dtype)
    least = about.smallest_normal / about.eps

    def at_rest(t, y, least):
        with quiet():
            return ~np.any(np.abs(system.rhs(t, y)) >= least, axis=-1)

    still = at_rest(solution._origin_time, solution.origin, about.smallest_subnormal)
    drift[:, np.broadcast_to(still, drift.shape[1:])] = np.nan
    if not len(y) or not at_rest(t[-1], y[-1], least).any():
        return
    dead = np.broadcast_to(at_rest(t, y, least), drift.shape) & ~np.isnan(drift)
    drift[dead] = np.nan
    if dead.any():
        warn_record(
            "the phase drift is NaN where the motion has died: its rates are below"
            f" {least:.0e}, where numbers lose their digits. End earlier (t_end=)"
        )


@one_record_warning()
def period_error(solution: Solution, reference: Solution | None = None) -> Floats:
    """Relative error of the period, from the slope of the phase drift; positive = too slow.

    The slope is that of the least-squares line through all valid saves: variations within a
    period average out, to about one part in the number of periods. A run that has watched
    "period_error" has the line through all its steps, whatever it has saved: its slope [rad/s] is
    ``watched["period_error.phase_slope"]``.

    Parameters
    ----------
    solution, reference
        As in `phase_drift`. Without a period in closed form, the reference must be saved at least
        three times in every period.

    Returns
    -------
    ndarray
        (*batch): numerical period / true period - 1. NaN if there is no period (at rest, on a
        separatrix, on an orbit that does not close), if fewer than two saves are valid, and if
        `phase_drift` is; too few saves give one `RecordWarning`.

    Raises
    ------
    ValueError
        If there is no phase, or nothing to compare it with.

    Examples
    --------
    Semi-implicit Euler turns by 2 arcsin(omega dt / 2) per step instead of omega dt:

    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, t_end=1000.0,
    ...                    method="semi_implicit_euler")
    >>> print(f"{pi.analysis.period_error(sol):.3e}, in theory {0.05 / np.arcsin(0.05) - 1:.3e}")
    -4.170e-04, in theory -4.170e-04
    """
    from .conserved_energy import fit_line

    solution = check_solution(solution, "period_error")
    slope = found(solution, "slope", "phase_drift") if reference is None else None
    if slope is not None:
        slope = slope[np.newaxis].copy()
        _forget_rest(solution, slope)
        lost = _gains(solution, solution.system.phase, solution.final[np.newaxis])[0]
        if lost.any():
            warn_record(
                f"the period error{of_lanes(lost)} is NaN: a step may gain half a turn. Integrate"
                " with a smaller dt"
            )
        slope = np.where(has_jumped(solution) | lost, np.nan, slope[0])
    else:
        if only_the_end(solution):
            warn_record(
                "the period error is NaN: it is the slope of a line through the saves, and there is"
                f' one save. Run it with save="all", with {some_saves(solution)} and some saves a'
                " period, or with"
                f' watch={{"period": {cure(("slope", "phase_drift"))}}}'
            )
        drift = phase_drift(solution, reference)
        slope, _ = fit_line(np.broadcast_to(times(solution), drift.shape), drift)
    if solution.system.period(solution.origin) is not None:
        frequency = solution.system._frequency(solution.origin)
    else:
        true = solution if reference is None else reference
        angle = _phase_of(solution, reference)
        states = exact_states(solution) if reference is None else reference.y
        turned = np.unwrap(angle(states, times(true)), axis=0)
        t = np.broadcast_to(times(true), turned.shape)
        frequency, _ = fit_line(t, turned)
        frequency = _where_followed(solution, angle, frequency)
    with quiet():
        return (-slope / (frequency + slope))[()]


def _where_followed(solution, angle, frequency):
    """A frequency counted in saves, NaN if a motion may turn half a turn between two."""
    apart = np.abs(np.diff(times(solution), axis=0))
    widest = np.fmax.reduce(apart, axis=0, initial=0.0)
    with quiet():
        lost = np.broadcast_to(widest * turning(solution, angle) >= np.pi, frequency.shape)
    if not lost.any() or len(solution) < 2:
        return frequency
    warn_record(
        f"the period error of {np.count_nonzero(lost):,} of {lost.size:,} trajectories is NaN:"
        ' there are fewer than two saves a period. Run it with save="all", or closer'
        f" {some_saves(solution)}"
    )
    return np.where(lost, np.nan, frequency)


# ---- phases --------------------------------------------------------------------------------------


def _phase_of(solution, reference):
    """The function (y, t) -> angle that measures a motion."""
    system = solution.system
    if system.phase(solution.origin, solution._origin_time) is not None:
        return system.phase
    if system.dof == 1 and reference is not None:
        return _angle_around(reference, np.ndim(solution.y) - 1)
    cure = "give a reference solution"
    if system.dof != 1:
        cure = "compare an angle by np.unwrap(angle(sol.y) - angle(reference.y), axis=0)"
    raise ValueError(f"phase_drift needs a phase, and the system {system.name!r} has none: {cure}")


def _angle_around(reference, ndim):
    """The angle in the plane of position and velocity around the centre of a motion."""
    middle, swing = (
        _align(mean(reference.y, axis=0, keepdims=True), ndim + 1)
        for mean in (np.nanmean, np.nanstd)
    )

    def angle(y, t):
        with quiet():  # of a motion at rest it is NaN
            x, v = np.moveaxis((y - middle) / swing, -1, 0)
        return np.arctan2(-v, x)

    return angle


def _exact_phase(solution):
    """The phase of the exact motion at the saves, (n_saved, *batch)."""
    system = solution.system
    found = system.exact_phase(solution.t, solution.origin, solution._origin_time)
    if found is None:
        raise ValueError(
            f"the system {system.name!r} has no exact solution: give phase_drift a reference, "
            "for example the same run with a smaller dt and the matching save interval"
        )
    return found


# ---- unwrapping ----------------------------------------------------------------------------------


def _unwrap(drift, before):
    """Make angles continuous along the first axis, in place, from what was before."""
    turned = np.diff(drift, axis=0, prepend=np.broadcast_to(before, drift[:1].shape))
    drift -= 2 * np.pi * np.cumsum(np.rint(turned / (2 * np.pi)), axis=0)


# ---- references ----------------------------------------------------------------------------------


def check_times(solution, reference):
    """Refuse a reference that is saved at other times."""
    t = times(solution)
    t_reference = _align(times(reference), np.ndim(t))
    if len(t) != len(t_reference):
        raise ValueError(
            f"the reference has {len(t_reference)} saves and the solution {len(t)}: "
            "equal times are compared, choose save= so that they agree"
        )
    long, late, apart = (
        np.max(np.abs(t - other), initial=0.0) for other in (solution._origin_time, 0, t_reference)
    )
    if apart > 1e-9 * long + 1e-14 * late:
        raise ValueError(
            f"the reference is saved at other times than the solution (up to {apart:.3g} apart): "
            "equal times are compared, choose save= so that they agree"
        )


def _align(values, ndim):
    """Put missing batch axes after time, so that batches broadcast from their last axis."""
    first, *batch = values.shape
    return values.reshape(first, *(1,) * (ndim - values.ndim), *batch)


SAMPLES = 32  # saves at which the speed of turning is computed
MARGIN = 1.5  # between values measured at some places and possible values elsewhere
WORK = 1 << 20  # states of a trial: about a tenth of a second
TRIED = 2  # periods of it
HALF = np.pi


def uncounted(solution, reference, angle, counted):
    """Where the turns of a phase difference are unknown, and the steps that would be short enough.

    Parameters
    ----------
    solution : Solution
    reference : Solution or None
        The solution to compare with; None: the exact motion.
    angle : callable
        What is compared.
    counted : bool
        Whether they are known at the beginning of this resumed part; else at its origin.

    Returns
    -------
    None, or a tuple of ndarray
        None: nowhere; or marks, bool (n_saved, *batch), and steps between saves, float (*batch);
        of a run to a tolerance, times between saves.
    """
    problem = solution._problem
    known = problem.first if counted or problem.origin is None else problem.origin.step
    if _has_own_steps(solution):
        if solution._save == "all":
            return None
        saved = times(solution)
        begin = np.broadcast_to(solution._origin_time, saved[:1].shape)
        steps, dt = np.abs(np.diff(saved, axis=0, prepend=begin)), 1.0
    else:
        steps, dt = solution._column(solution.steps), np.abs(solution.dt)
        steps = np.diff(steps, axis=0, prepend=np.full_like(steps[:1], known))
        if steps.max(initial=0) <= 1:  # only what gains half a turn in a step is lost
            far = np.maximum.accumulate(_gains(solution, angle, solution.y), axis=0)
            return (far, np.ones(())) if far.any() else None
    runs = [solution] if reference is None else [solution, reference]
    with quiet():
        turn = dt * np.max(np.broadcast_arrays(*(turning(one, angle) for one in runs)), axis=0)
        most = HALF / turn
        if not np.all(steps.max(initial=0) < most) and angle == solution.system.phase:
            rates, swings = zip(*map(_drifting, runs))
            most = np.fmax(most, (HALF - sum(swings)) / (dt * sum(rates)))
        most = np.where(np.isnan(most), 0, most)
    if _has_own_steps(solution):
        far = steps > most
    else:
        far = _align(steps, 1 + most.ndim) >= np.maximum(most, 1.5)
    return (np.maximum.accumulate(far, axis=0), most) if far.any() else None


def _gains(solution, angle, y):
    """Whether states (n, *batch, dim) gain half a turn in a step, perhaps; bool (n, *batch)."""
    system = solution.system
    period = system.period(solution.origin) if angle == system.phase else None
    if period is None or _has_own_steps(solution):
        return np.zeros(y.shape[:-1], bool)
    with quiet():
        off = _frequency(system, y) - 2 * np.pi / np.asarray(period)
        return MARGIN * np.abs(solution.dt * off) >= HALF


def _has_own_steps(solution):
    """Whether each trajectory took steps of its own length: those of ``pi.solve``."""
    return not hasattr(solution, "dt")


def _frequency(system, y):
    return 2 * np.pi / np.asarray(system.period(y))


def turning(solution, angle):
    """How fast a motion turns at most, rad per unit of time; broadcasts to (*batch)."""
    system, t, y = solution.system, times(solution), solution.y
    some = evenly(len(y), SAMPLES)
    if angle == system.phase and system.period(solution.origin) is not None:
        fastest = np.fmax.reduce(_frequency(system, y), axis=0, initial=-np.inf)
        return MARGIN * np.fmax(_frequency(system, solution.origin), fastest)
    y = np.concatenate([y[some], solution.origin[np.newaxis]])
    start = np.broadcast_to(solution._origin_time, np.shape(t)[1:])[np.newaxis]
    t = np.concatenate([t[some], start])
    step = solution.last_step if _has_own_steps(solution) else solution.dt
    short = 1e-3 * np.abs(step)
    moved = y + short[..., np.newaxis] * system.rhs(t, y)
    change = angle(moved, t) - angle(y, t)
    return MARGIN * np.fmax.reduce(np.abs(change - _whole(change)) / short, axis=0)


def _drifting(solution):
    """Bound 2: rad per unit of time that accumulate, and rad that do not; inf if unknown."""
    system, problem, origin = solution.system, solution._problem, solution.origin
    period = system.period(origin)
    if period is None or problem.driven or not has_exact_phase(system):
        return np.inf, 0.0
    span = TRIED * np.where(np.isfinite(period), period, 0.0)
    if _has_own_steps(solution):
        count, control = 100, solution._control
        run = partial(solve, t_end=span, rtol=control.rtol, atol=control.atol, save="final")
    else:
        dt = np.abs(solution.dt)
        count = int(np.max(np.minimum(np.ceil(span / dt), WORK), initial=0))
        count += solution.method.stages
        span = count * dt
        run = partial(integrate, dt=solution.dt, n_steps=count, save=-(-count // SAMPLES))
    if count * problem.lanes > WORK:
        return np.inf, 0.0
    kinds = {"last": last, "most": maximum, "least": minimum}
    tried = run(
        system, np.stack(np.broadcast_arrays(origin, solution.final)), method=solution.method,
        watch={name: kind("phase_drift") for name, kind in kinds.items()}, dtype=problem.dtype,
        on_failure="ignore",
    )  # fmt: skip
    seen = tried.watched
    wide = seen["most"] - seen["least"]
    swing = np.max(wide - np.abs(seen["last"]), axis=0)
    met = tried.y.reshape(-1, *solution.final.shape), solution.y
    away = (np.abs(_frequency(system, y) - 2 * np.pi / period) for y in met)
    off = np.fmax(*(np.fmax.reduce(one, axis=0, initial=0.0) for one in away))
    rate = MARGIN * (np.max(wide / span, axis=0) + off)
    return np.where(np.isnan(rate), np.inf, rate), swing


# ---- turns counted by the run --------------------------------------------------------------------


def drift_from_turns(solution, reference):
    """The phase drift at the end, (*batch), from the turns that the run has counted; or None.

    The exact motion is evaluated once, at the end; a reference has counted its own turns.
    """
    advance = _advance(solution)
    if advance is None:
        return None
    if reference is None:
        return advance - _exact_advance(solution)
    other = _advance(reference)
    if other is None:
        return None
    apart = solution.system.phase(solution.origin) - reference.system.phase(reference.origin)
    return advance - other + apart - _whole(apart)


def _whole(angle):
    return 2 * np.pi * np.rint(angle / (2 * np.pi))


def _advance(solution):
    """The change of the phase since the beginning, (*batch)."""
    turns = found(solution, "windings", "phase")
    if turns is None:
        return None
    angle = solution.system.phase
    with quiet():
        if not _has_own_steps(solution) and np.any(
            np.abs(solution.dt) * turning(solution, angle) >= HALF
        ):
            return None  # a step may turn by half a turn
    part = angle(solution.final) - angle(solution.origin)
    return part + _whole(2 * np.pi * turns - part)


def _exact_advance(solution):
    """The same for the exact motion."""
    system, origin, start = solution.system, solution.origin, solution._origin_time
    turned = 2 * np.pi * (solution.t[-1] - start) / np.asarray(system.period(origin))
    if system.phase_is_uniform:
        return turned
    # A damped phase turns in equal times, and deviates in between by less than half a turn.
    part = system.exact_phase(solution.t[-1:], origin, start)[0] - system.phase(origin)
    return part + _whole(turned - part)
