"""Derivatives of the states of a run to a tolerance: ``solve(..., sensitivity=)``.

The tangents follow the steps that the motion alone would take, so that they are the derivative of
these steps. The norm of an error is sqrt(sum_d (e_d / tolerance_d)^2 / components): with n tangents
there are 1 + n times as many components. The tangents have infinite tolerances, and those of the
motion are sqrt(1 + n) times smaller.
"""

from math import prod

import numpy as np

from ..errors import quiet, warn_caller
from ..solution.sensitivity import STARTS, base_states, checked_names, moved_by, with_tangents
from ..values.checks import MOST_COMPONENTS
from .arguments import make_adaptive_run


def make_adaptive_run_with_tangents(system, x0, v0, sensitivity, given):
    """``make_adaptive_run`` for the system with tangents, and the names of `sensitivity`.

    Returns
    -------
    Problem, Options, StepControl, and a tuple of str
    """
    problem, options, control = make_adaptive_run(system, x0, v0, given)
    start = problem.initial[:, : problem.lanes].T.reshape(*problem.batch, system.dim)
    if given["max_step"] is None:
        _warn_of_rest(system, start, problem, control)
    names = checked_names(system, sensitivity)
    more = _along_the_motion(system, names, problem.t0, start)
    both, names, state, _ = with_tangents(system, names, start, None, problem.dtype, more)
    with_both, options, long = make_adaptive_run(
        both, state, None,
        given | {"rtol": 1.0, "atol": 1.0, "method": problem.method, "dtype": problem.dtype},
    )  # fmt: skip
    shorter = problem.dtype.type(1 / np.sqrt(1 + len(both.directions)))
    fields = {name: getattr(control, name) for name in ("rtol", "atol", "automatic", "loose")}
    for name, free in (("rows_rtol", 0.0), ("rows_atol", np.inf)):
        rows = [row * shorter for row in getattr(control, name)]
        fields[name] = _spread(rows, both, free)
    return with_both, options, long.changed(**fields), names


def _along_the_motion(system, names, t0, start):
    """dy/dt at the start, (*batch, dim, 1), a tangent for `warn_of_errors`; () where all of the
    start is asked for, which tells as much, or no tangent becomes dy/dt at the end."""
    asked = len(moved_by(system, names))
    n = asked + sum(prod(system.shapes[name]) for name in names if name not in STARTS)
    whole = system.dim in (asked, 0) or system.dim * (2 + n) > MOST_COMPONENTS
    if whole or system.definition.time_dependent:
        return ()
    with quiet():
        return np.asarray(system.rhs(t0, start))[..., np.newaxis]


def _warn_of_rest(system, start, problem, control):
    span = np.subtract(control.t_end, problem.t0)
    tolerances = _of_components(system, control)
    still = np.isfinite(longest_steps(system, start, problem.t0, span, *tolerances))
    if still.any():
        warn_caller(
            f"{np.count_nonzero(still)} of {problem.lanes} trajectories stay where they begin, at"
            " rest, or the fastest parts of them do: long steps suit them, but not their"
            " sensitivities: give max_step=, or solve system.tangent(...), whose tolerance is that"
            " of the tangents too"
        )


LOST = 0.01  # of the derivatives by the start
WHOLE = 0.3  # of dy/dt, where not all of those are known
ALLOWED = 100  # tolerances, of the state at the end


def warn_of_errors(both, names):
    """Check M, the derivatives of the end by the start, by M f(y0) = f(y): dy/dt is a tangent.

    That is so where f does not depend on time; `along`: f(y0) was a tangent. A close encounter
    stretches tangents and shrinks them again, but not their errors. Components are in units of what
    they are at both ends, or move there in a step. The slower end counts: M forgets the fast
    transients of a stiff motion.

    Returns
    -------
    The solution with tangents, as it came.
    """
    base, dim = both.system.base, both.system.base.dim
    moved = len(moved_by(base, names))
    along = both.system.free > moved  # is dy/dt itself a tangent?
    if (moved < dim and not along) or base.definition.time_dependent:
        return both
    begin, end = both._origin_time, both._arrived
    (y0, first), (y, M) = both.system.parts(both.origin), both.system.parts(both.final)
    rtol, atol = _of_components(base, both)
    with quiet():
        f0, f, J = base.rhs(begin, y0), base.rhs(end, y), abs(base.jacobian(end, y))
        step = abs(both._step_lengths)[..., np.newaxis]
        unit = abs(y0) + abs(y) + step * (abs(f0) + abs(f))
        speed = np.fmax.reduce(abs(np.stack([f0, f])) / unit, axis=-1, keepdims=True).min(axis=0)
        if along:
            arrives, size = M[..., moved], WHOLE * speed * unit
        else:
            M, order = M[..., :dim], first[..., :dim]  # of its columns: v0 may be before x0
            arrives = _times(M, _times(order, f0))
            rounding = 8 * np.finfo(M.dtype).eps * abs(f0)
            size = _times(abs(M), _times(order, LOST * speed * unit + rounding))
        lost = np.any(abs(arrives - f) - ALLOWED * _times(J, atol + rtol * abs(y)) > size, axis=-1)
    if count := np.count_nonzero(lost & (both.status == 0)):
        warn_caller(
            f"sensitivities of {count} of {lost.size} trajectories are off by"
            f" more than {LOST} of their size, as after a close encounter or sudden changes (they"
            " do not make of dy/dt at the start that at the end): give a smaller rtol"
        )
    return both


def _times(M, y):
    return (M @ y[..., np.newaxis])[..., 0]


def _of_components(system, control):
    """The tolerances, with an axis over the components, of length 1 or all."""
    given = np.asarray(control.rtol), np.asarray(control.atol)
    return (a if a.shape[-1:] == (system.dim,) else a[..., np.newaxis] for a in given)


RESTING = 1_000  # least steps, with tangents, of a motion at rest
FASTER = 3.0  # rates of what rests, in those of what moves, that are too fast for its steps
EXACT = 8.0  # steps for each radian that what rests would turn
MOST = 32  # components up to which eigenvalues cost little
HIDDEN = 1e-10  # a sum, of its terms, that is zero but for rounding


def longest_steps(system, start, t0, span, rtol, atol):
    """The longest steps that suit the tangents: those of the motion, inf, unless it is at rest.

    That is, it would not leave its start by its tolerance, at three of its times; or it has no part
    along eigenvectors of the Jacobian whose eigenvalues are much larger than those of the others.
    The tolerances have an axis over the components, of length 1 or all.
    """
    span = np.broadcast_to(span, start.shape[:-1])
    with quiet():
        forces = np.stack([system.rhs(t0 + share * span, start) for share in (0.0, 0.37, 0.71)])
        far = np.max(abs(forces * span[..., np.newaxis]), axis=0)
        rests = far <= atol + rtol * abs(start)
        whole, steps = rests.all(axis=-1) & (span != 0), abs(span) / RESTING
        if system.dim > MOST:
            return np.where(whole, steps, np.inf)
        J = np.clip(np.nan_to_num(system.jacobian(t0, start)), -1e100, 1e100)
        f = np.where(rests, 0, forces)[..., np.newaxis]
        squared = J @ J  # which mixes no positions and velocities: eigenvalues cost much more
        sizes = [np.linalg.norm(one, axis=(-2, -1)) for one in (squared, squared @ f, f)]
        doubt = ~(sizes[0] <= FASTER**2 * np.fmax.reduce(sizes[1] / sizes[2], axis=0))
        rates, left = np.linalg.eig(np.swapaxes(J[doubt], -1, -2))
        left, f = np.swapaxes(left, -1, -2), f[:, doubt]
        moves = np.any((abs(left @ f) > HIDDEN * (abs(left) @ abs(f)))[..., 0], axis=0)
        slow, fast, turns = (
            abs(one * shown).max(axis=-1)
            for one, shown in ((rates, moves), (rates, ~moves), (rates.imag, ~moves))
        )
        still = whole[doubt] | (fast > FASTER * slow) & (fast * abs(span[doubt]) > 1)
        # A power of 2, whatever the last bits of the eigenvalues.
        least = np.exp2(-np.ceil(np.log2(np.fmax(fast, EXACT * turns))))
        longest = np.where(whole, steps, np.inf)
        longest[doubt] = np.where(still, np.fmin(steps[doubt], least), np.inf)
        return longest


def _spread(rows, both, free):
    """Rows for all components: those of the motion, one row or one each; `free` for tangents."""
    found = [free] * both.dim
    for d, place in enumerate(both.places[:, 0]):
        found[place] = rows[d if len(rows) > 1 else 0]
    return tuple(found)


def adaptive_motion_alone(both):
    """The parts of the solution of the motion alone, from one with tangents."""
    problem, control, before = both._problem, both._control, both._before
    system, rows = both.system.base, both.system.places[:, 0]
    tolerances = {name: getattr(control, name) for name in ("rows_rtol", "rows_atol")}
    outcome = both._outcome.changed(
        state=both._last[rows], states=base_states(both), moments=both._moments,
        counts=both._counts, within=None, onward=None,
    )  # fmt: skip
    return (
        problem.changed(system=system, initial=problem.initial[rows]),
        both._options,
        control.changed(**{k: tuple(v[i] for i in rows) for k, v in tolerances.items()}),
        outcome,
        both._save,
        before and (before[0][..., rows], before[1]),
    )
