"""What single precision leaves of a force: numbers beyond its range make terms vanish silently."""

import numpy as np

from ..errors import quiet, warn_caller
from ..values.parameters import system_at

_LANES = 1 << 16  # of a batch, evenly spaced, that are looked at
_LARGE = 1e4  # ninth powers of smaller numbers, and of their inverses, are in the range
_OFF = 0.01  # of a component of the right-hand side
_MOVED = 2.0**-18  # of the state, 64 roundings: more than they change is lost
_NEARBY = 8  # places where it is, too, but not where terms cancel, or a phase is all rounding
_LEAST = 1e-37  # smaller ones have lost digits


def warn_of_range(solution, on_failure):
    """Warn of forces that are smaller in float32, the run's, than in float64 at the end.

    At r = 1e13 m, GM / r**3 is 0, because r**3 is infinite: the motion is a straight line.
    """
    problem, system = solution._problem, solution.system
    called = system.traced is None and not system.gentle  # a function of Python's: not once more
    if called or on_failure == "ignore":
        return
    sizes = abs(solution._last_rows[: system.dim, : problem.lanes])
    far = _far(sizes).any(axis=0).reshape(problem.batch)
    for row in system.parameter_rows:
        far |= _far(abs(row))
    lanes = np.flatnonzero(far)
    if not len(lanes):
        return
    lanes = lanes[:: -(-len(lanes) // _LANES)]
    t = np.broadcast_to(solution._origin_time, problem.batch).reshape(-1)[lanes].astype(np.float32)
    y = solution._last_rows[: system.dim, lanes].T
    system = system_at(system, problem.batch, lanes)
    less, random = np.ones(len(lanes), bool), np.random.default_rng(0)
    with quiet():
        for width in (0.0, *[0.06] * _NEARBY):
            near = y * random.uniform(1.0, 1.0 + width, system.dim).astype(np.float32)
            exact = near.astype(np.float64)
            by = 1.0 + _MOVED * random.standard_normal(system.dim)
            found, right = abs(system.rhs(t, near)), abs(system.rhs(t, exact))
            beside = abs(system.rhs(t * (1.0 + _MOVED), exact * by))
            lost = right - found > _OFF * right + abs(right - beside)
            less &= np.any(lost & (right > _LEAST), axis=-1)
            if not less.any():
                return
    warn_caller(
        f"{np.count_nonzero(less)} of {problem.lanes} trajectories end where the force of"
        f" {system.name!r} is smaller in float32 than in float64: numbers in it are outside"
        " 1e-38 to 3e38, and terms vanish: give dtype=np.float64, or other units"
    )


def _far(size):
    return (size > _LARGE) | ((size < 1 / _LARGE) & (size > 0))
