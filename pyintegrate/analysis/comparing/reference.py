"""The true motion where no closed form is known: a run to a tolerance, and its possible error."""

import numpy as np

from ...solving import solve

FINE, COARSE = 1e-13, 1e-11  # relative tolerances
MOST = 1 << 18  # numbers that are judged: runs to a tolerance take longer than those at fixed steps
_STEPS = 1 << 16


def reference(known, solution):
    """States at the saved times by `solve`, and how far they may be off.

    Parameters
    ----------
    known : dict
        Keeps what is found, for solutions of the same motion.
    solution : Solution

    Returns
    -------
    tuple of ndarray, shape (n_saved, *batch, dim), or None
        NaN where a trajectory failed. None for runs with events, a drive or noise, in float32, and
        for more than 2^18 numbers.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.lorenz, dt=0.01, t_end=1.0)
    >>> states, doubt = reference({}, sol)
    >>> bool(abs(sol.y - states).max() > 100 * doubt.max())
    True
    """
    problem, start, t = solution._problem, solution.origin, solution.t
    special = problem.driven or problem.random is not None or solution.events
    if special or solution.y.dtype != np.float64 or not 0 < solution.y.size <= MOST:
        return None
    unit = np.max(np.abs(start), initial=1e-300, where=np.isfinite(start))

    def states(rtol):
        found = solve(
            solution.system, start, t0=solution._origin_time, t_end=t[-1], times=t, rtol=rtol,
            atol=1e-3 * rtol * unit, max_steps=_STEPS, on_failure="ignore",
        )  # fmt: skip
        return np.where((found.status == 0)[..., np.newaxis], found.y, np.nan)

    key = start.tobytes(), t.tobytes()
    if key not in known:
        try:
            fine = states(FINE)
            known[key] = fine, np.abs(fine - states(COARSE))
        except ValueError:  # it takes no tolerance
            known[key] = None
    return known[key]
