"""The true motion where no closed form is known: a run to a tolerance, and its possible error."""

import numpy as np

from ...solving import solve

FINE, COARSE = 1e-13, 1e-11  # relative tolerances
MOST = 1 << 18  # numbers that are judged: runs to a tolerance take longer than those at fixed steps
_STEPS = 1 << 16


class References:
    """References of solutions of one motion, made once for those with the same times.

    Called with a Solution it returns the states at its saved times by `solve`, and how far they may
    be off at each, both (n_saved, *batch, dim), NaN where a trajectory failed. It returns None for
    runs with events, a drive or noise, in float32, and for more than 2^18 numbers.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, t_end=1.0)
    >>> states, doubt = References()(sol)
    >>> bool(abs(sol.y - states).max() > 100 * doubt.max())
    True
    """

    def __init__(self):
        self._found = {}

    def __call__(self, solution):
        problem, y = solution._problem, solution.y
        special = problem.driven or problem.random is not None or solution.events
        if special or y.dtype != np.float64 or not 0 < y.size <= MOST:
            return None
        key = y.shape, np.asarray(solution.t).tobytes(), np.asarray(solution.origin).tobytes()
        if key not in self._found:
            fine, coarse = (_states(solution, rtol) for rtol in (FINE, COARSE))
            known = fine is not None and coarse is not None
            self._found[key] = (fine, np.abs(fine - coarse)) if known else None
        return self._found[key]


def _states(solution, rtol):
    start, t = solution.origin, solution.t
    unit = np.max(np.abs(start), initial=1e-300, where=np.isfinite(start))
    try:
        found = solve(
            solution.system, start, t0=solution._origin_time, t_end=t[-1], times=t, rtol=rtol,
            atol=1e-3 * rtol * unit, max_steps=_STEPS, on_failure="ignore",
        )  # fmt: skip
    except ValueError:  # it takes no tolerance
        return None
    return np.where((found.status == 0)[..., np.newaxis], found.y, np.nan)
