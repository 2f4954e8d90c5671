"""Statistics across a batch that goes to a tolerance: of its states at the requested times."""

import numpy as np

from ..errors import Status
from ..run.counted import across_at
from ..watching.batch.results import Across, one_after_the_other
from ..watching.batch.statistics import check_states
from ..watching.plan import Plan


def plan_across(across, system, given, numbers):
    """The Plan of `across`; what has no states at common times is refused, and statistics that need
    the steps between."""
    if given["times"] is None or np.ndim(given["times"]) > 1:
        raise ValueError(
            "across= of solve counts the states at times that all trajectories share: give"
            " times=np.linspace(0, 10, 101)"
        )
    if given.get("components") is not None:
        raise ValueError("across= needs all components of the states: leave components= out")
    plan = Plan(system, None, numbers, across=across)
    for name, one in plan.across.items():
        if one.every != 1:
            raise ValueError(f"across[{name!r}] has every={one.every}: solve counts each of times=")
    check_states(across)
    return plan


def across_times(solution):
    """The Across of an AdaptiveSolution: each time is a run without steps."""
    plan, valid = solution._options.across, solution.valid
    cancelled = solution.status == Status.CANCELLED
    whole = np.all(valid | ~cancelled, axis=tuple(range(1, valid.ndim)))
    if plan is None or not np.any(whole):
        return Across({})
    return one_after_the_other([
        across_at(plan, solution.system, solution.y[k], valid[k], solution.t[k])
        for k in np.flatnonzero(whole)
    ])  # fmt: skip
