"""Whether a trajectory that took too many steps is stiff: its fastest decay at its last state.

An explicit step is stable if h |lambda| of the fastest decay is below the method's limit on the
negative real axis, about 2 to 6. A step that the tolerance has chosen is well below it; one that
stability limits is there: Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2.
"""

import numpy as np

from ..values.parameters import system_at

STIFF = 0.6  # of the limit


def border(method):
    """The first z < 0 with |R(z)| > 1, R(z) = 1 + z b (1 - z A)^-1 1, to a twentieth."""
    A, b = (np.asarray(method.coefficients[name], np.float64) for name in ("A", "b"))
    one = np.ones(len(b))
    for z in -np.arange(1, 400) / 20:
        if abs(1 + z * b @ np.linalg.solve(np.eye(len(b)) - z * A, one)) > 1:
            return float(-z)
    return 20.0


def fastest_decay(solution, lane):
    """h |Re lambda| of the fastest decay at the end of a trajectory; None if it is unknown."""
    system = system_at(solution.system, solution._problem.batch, lane)
    state = np.asarray(solution._last)[:, lane].astype(np.float64)
    try:
        jacobian = system.jacobian(solution._reached[lane], state)
    except (ValueError, TypeError, NotImplementedError):  # raised by a force that is called back
        return None
    if not np.all(np.isfinite(jacobian)):
        return None
    h = solution.last_step.reshape(-1)[lane]
    return max(0.0, float(np.max(-h * np.linalg.eigvals(jacobian).real)))


def told(solution, lane):
    """A sentence on a trajectory that took too many steps."""
    pair = next(pair for pair, lanes in solution._pairs if lanes[lane])
    if pair.family == "nystrom":
        return (
            " It is not stiff: a force that does not depend on the velocity has no decay. The run"
            " is long, the motion fast, or the tolerance tight; max_steps= allows more."
        )
    if pair.implicit or np.isfinite(solution.stiff_since.reshape(-1)[lane]):
        return (
            " Decay does not limit the steps of its implicit method: the run is"
            " long, or the tolerance tight; max_steps= allows more."
        )
    decay = fastest_decay(solution, lane)
    if decay is None:
        return ""
    most = border(pair)
    if decay >= STIFF * most:
        return (
            f" It is stiff there: its last step times the rate of the fastest decay is {decay:.2g},"
            f" and {pair.name} is stable up to {most:.2g}. Use method='radau_iia5'."
        )
    return (
        " It is not stiff there (its last step times the rate of the fastest decay is"
        f" {decay:.2g}): the run is long, or the tolerance tight; max_steps= allows more."
    )
