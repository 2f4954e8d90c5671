"""Statistics across a batch that goes to a tolerance: of its states at the requested times."""

import numpy as np

from ..errors import Status
from ..integration import integrate
from ..watching.batch.results import Across, one_after_the_other
from ..watching.batch.statistics import check_states
from ..watching.events import event
from ..watching.plan import Plan


def check_across(across, system, given, numbers):
    """Refuse what has no states at common times, or statistics that need the steps between."""
    if given["times"] is None or np.ndim(given["times"]) > 1:
        raise ValueError(
            "across= of solve counts the states at times that all trajectories share: give"
            " times=np.linspace(0, 10, 101)"
        )
    if given.get("components") is not None:
        raise ValueError("across= needs all components of the states: leave components= out")
    for name, one in Plan(system, None, numbers, across=across).across.items():
        if one.every != 1:
            raise ValueError(f"across[{name!r}] has every={one.every}: solve counts each of times=")
    check_states(across)


def across_times(solution):
    """The Across of an AdaptiveSolution: each time is a run without steps."""
    across, valid = solution._options.across, solution.valid
    cancelled = solution.status == Status.CANCELLED
    whole = np.all(valid | ~cancelled, axis=tuple(range(1, valid.ndim)))
    if across is None or not np.any(whole):
        return Across({})
    events, plan = None, solution._options.events
    if plan is not None:  # whose numbers functions take
        params = {name: value for name, value in plan.given.items() if value is not None}
        events = {"none": event(solution.components[0], keep=0, params=params)}
    return one_after_the_other([
        integrate(
            solution.system, np.where(valid[k, ..., np.newaxis], solution.y[k], np.nan), dt=1.0,
            n_steps=0, t0=solution.t[k], dtype=solution.y.dtype, across=across, save="final",
            on_failure="ignore", events=events,
        ).across
        for k in np.flatnonzero(whole)
    ])  # fmt: skip
