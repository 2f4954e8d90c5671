"""Whether the saves of a run are close enough together to count turns.

A difference of two phases is known modulo a turn, so that between two saves it must change by less
than half a turn. Two bounds of its change over k steps decide this:

1. Both motions turn forwards: it changes by no more than the faster of them turns.
2. Two periods of the motion, integrated with every step saved, have a drift D in m steps and a
   range r within them. Over k steps the bound is k (|D| + d)/m + r, where the change d of a single
   step stands for the part of a period that m steps miss. If the motion turns faster or slower
   at the saves than in these periods, because it has lost or gained energy, that is added.

A run that has watched its phase knows its turns, whatever it has saved.
"""

import numpy as np

from ..integration import integrate
from .observables import blocks, found, times

SAMPLES = 32  # saves at which the speed of turning is computed
MARGIN = 1.5  # between values measured at some places and possible values elsewhere
WORK = 1 << 20  # states of a trial period: about a tenth of a second
HALF = np.pi


def gaps(solution, counted):
    """Steps from each save to the one before, (n_saved,); the first from where turns are known.

    Parameters
    ----------
    solution : Solution
    counted : bool
        Whether they are known at the beginning of this resumed part; else at its origin.
    """
    problem = solution._problem
    known = problem.first if counted or problem.origin is None else problem.origin.step
    return np.diff(solution.steps, prepend=known)


def uncounted(solution, reference, drift, angle, phase, counted):
    """Where the turns of a phase difference are unknown, and the steps that would be short enough.

    Parameters
    ----------
    solution : Solution
    reference : Solution or None
        The solution to compare with; None: the exact motion.
    drift : callable
        ``phase_drift``.
    angle, phase : callable
        The compared angle, and the user's.
    counted : bool
        As in ``gaps``.

    Returns
    -------
    None, or a tuple of ndarray
        None: nowhere; or marks, bool (n_saved, *batch), and steps between saves, float (*batch).
    """
    steps = gaps(solution, counted)
    if steps.max(initial=0) <= 1:
        return None
    runs = [solution] if reference is None else [solution, reference]
    dt = np.abs(solution.dt)
    with np.errstate(all="ignore"):
        turn = dt * np.max(np.broadcast_arrays(*(turning(one, angle) for one in runs)), axis=0)
        most = HALF / turn
        if not np.all(steps.max() < most):
            pairs = [_drifting(one, drift, phase) for one in runs]
            rate = dt * sum(pair[0] for pair in pairs)
            swing = sum(pair[1] for pair in pairs)
            most = np.fmax(most, (HALF - swing) / rate)
        most = np.where(np.isnan(most), 0, most)
    different, places = np.unique(steps, return_inverse=True)
    far = different.reshape(-1, *(1,) * most.ndim) >= np.maximum(most, 1.5)
    return (np.maximum.accumulate(far[places], axis=0), most) if far.any() else None


def turning(solution, angle):
    """How fast a motion turns at most, rad per unit of time; broadcasts to (*batch)."""
    system, t, y = solution.system, times(solution), solution.y
    some = np.unique(np.linspace(0, len(y) - 1, SAMPLES).round().astype(int))
    if angle == system.phase and system.period(solution.origin) is not None:
        rate = 2 * np.pi / np.asarray(system.period(solution.origin))
        for rows in blocks(len(y), rate.size):
            faster = 2 * np.pi / np.asarray(system.period(y[rows]))
            rate = np.fmax(rate, np.fmax.reduce(faster, axis=0))
        return MARGIN * rate
    y = np.concatenate([y[some], solution.origin[np.newaxis]])
    start = np.broadcast_to(solution._origin_time, np.shape(t)[1:])[np.newaxis]
    t = np.concatenate([t[some], start])
    short = 1e-3 * np.abs(np.asarray(solution.dt))
    moved = y + short[..., np.newaxis] * system.rhs(t, y)
    change = np.asarray(angle(moved, t)) - np.asarray(angle(y, t))
    change -= 2 * np.pi * np.rint(change / (2 * np.pi))
    return MARGIN * np.fmax.reduce(np.abs(change) / short, axis=0)


def _drifting(solution, drift, phase):
    """Bound 2: rad per unit of time that accumulate, and rad that do not; inf if unknown."""
    system, problem, origin = solution.system, solution._problem, solution.origin
    unknown = np.inf, 0.0
    period = system.period(origin)
    if period is None or problem.driven:
        return unknown
    dt = np.abs(np.asarray(solution.dt))
    steps = np.broadcast_to(np.ceil(2 * period / dt), problem.batch)
    steps = steps[np.isfinite(steps)]
    count = int(min(steps.max(initial=0), WORK)) + solution.method.stages
    if count * problem.lanes > WORK:
        return unknown
    rates, swings, swinging = [], [], np.inf
    for start in (origin, solution.final):
        trial = integrate(
            system, start, dt=solution.dt, n_steps=count, method=solution.method,
            dtype=problem.dtype, on_failure="ignore",
        )  # fmt: skip
        try:
            ahead = drift(trial, phase=phase)
        except ValueError:  # there is no exact motion
            return unknown
        apart = np.abs(np.diff(ahead, axis=0)).max(axis=0)
        rates.append((np.abs(ahead[-1] - ahead[0]) + apart) / (count * dt))
        swings.append(np.ptp(ahead, axis=0))
        swinging = np.minimum(swinging, _swing(2 * np.pi / np.asarray(system.period(trial.y))))
    off = 0.0
    for rows in blocks(len(solution.y), problem.lanes):
        frequency = 2 * np.pi / np.asarray(system.period(solution.y[rows]))
        off = np.fmax(off, np.abs(frequency - 2 * np.pi / period).max(axis=0))
    rate = MARGIN * (np.maximum(*rates) + np.maximum(off - swinging, 0))
    return np.where(np.isnan(rate), np.inf, rate), np.maximum(*swings)


def _swing(frequency):
    """The variation of a frequency within each of two periods; 0 if it shifts between them."""
    first, second = np.array_split(frequency, 2)
    swing = np.minimum(np.ptp(first, axis=0), np.ptp(second, axis=0))
    moved = np.abs(first.mean(axis=0) - second.mean(axis=0))
    return np.where(moved < 0.1 * swing, swing, 0)


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
    apart = _phase(solution, solution.origin) - _phase(reference, reference.origin)
    return advance - other + apart - _whole(apart)


def _phase(solution, state):
    return np.asarray(solution.system.phase(state))


def _whole(angle):
    return 2 * np.pi * np.rint(angle / (2 * np.pi))


def _advance(solution):
    """The change of the phase since the beginning, (*batch)."""
    turns = found(solution, "windings", "phase")
    if turns is None:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        if np.any(np.abs(solution.dt) * turning(solution, solution.system.phase) >= HALF):
            return None  # a step may turn by half a turn
    part = _phase(solution, solution.final) - _phase(solution, solution.origin)
    return part + _whole(2 * np.pi * turns - part)


def _exact_advance(solution):
    """The same for the exact motion."""
    system, origin, start = solution.system, solution.origin, solution._origin_time
    end = np.asarray(solution.t)[-1]
    turned = 2 * np.pi * (end - start) / np.asarray(system.period(origin))
    if system.phase_is_uniform:
        return turned
    # A damped phase turns in equal times, and deviates in between by less than half a turn.
    part = system.exact_phase(np.asarray(solution.t)[-1:], origin, start)[0] - _phase(
        solution, origin
    )
    return part + _whole(turned - part)
