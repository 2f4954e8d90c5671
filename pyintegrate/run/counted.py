"""Statistics across the batch of states at times: those of a Stepper, or of a run to a tolerance.

A Stepper counts the states at the steps that each statistic counts. Each time is a run without
steps.
"""

import numpy as np

from ..errors import Status
from ..values.checks import broadcast_shape
from ..values.memory import pad
from ..watching.batch.results import (
    Across,
    check_same_times,
    of_run,
    one_after_the_other,
    ranges_of,
)
from ..watching.batch.statistics import check_states
from ..watching.plan import Plan
from .arguments import default_stepper, make_run
from .output import begin
from .random_numbers import seed_in


class Counted:
    """The counted steps, each with its Across.

    Parameters
    ----------
    across : mapping of str to Statistic
    problem : Problem
    """

    def __init__(self, across, problem):
        plan = Plan(problem.system, None, across=across)
        self._across = plan.across
        check_states(self._across)
        check_same_times(problem)
        self.names, self.steps, self._plans = [*across], [], {}
        self._ranges = ranges_of(problem)
        self.meaning = [  # of what is counted
            (*(one := self._across[name]).told, None if one.by is None else one.by.tolist(), code)
            for group in plan.groups for name, code in group.signatures.items()
        ]  # fmt: skip
        batch = broadcast_shape({"the Stepper": problem.batch} | plan.shapes)
        if batch != problem.batch:
            raise ValueError(f"by asks for the batch {batch}, and the Stepper has {problem.batch}")

    def stepping(self, stepper, step):
        """The function `step` of a Stepper, which counts."""

        def stepped(n=1):
            """Advance n steps, in place."""
            self.count(stepper)
            if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
                step(n)  # refuses it
            end = stepper.n + int(n)
            while (here := stepper.n) < end:
                due = ((here // one.every + 1) * one.every for one in self._across.values())
                step(min(end, *due) - here)
                self.count(stepper)

        return stepped

    def counting(self, stepper, half):
        """The function `half`, a kick or a drift of a Stepper, which counts."""

        def counted():
            self.count(stepper)
            half()
            self.count(stepper)

        return counted

    def count(self, stepper):
        """The state at this step, once."""
        n = stepper.n
        due = {name: one for name, one in self._across.items() if n % one.every == 0}
        if not due or (self.steps and self.steps[-1][0] >= n):
            return
        system = stepper._system_now()
        going = stepper.status == Status.OK
        seed = seed_in(stepper._param_rows[-1]) if self._ranges else None  # no step is made
        if tuple(due) not in self._plans:
            self._plans[tuple(due)] = Plan(system, None, across=due)
        plan = self._plans[tuple(due)]
        t = np.ravel(stepper.t)[0]
        self.steps.append((n, across_at(plan, system, stepper.y, going, t, seed)))

    def across(self):
        """The Across of all steps until here."""
        found = one_after_the_other([one for _, one in self.steps])
        asked = {name: found._asked[name] for name in self._across}
        ranges = ((seed, *numbers) for seed, *_ in found._ranges for _, *numbers in self._ranges)
        return Across(asked, found._system, tuple(sorted(ranges)))


def plan_across(across, system, given, numbers):
    """The Plan of `across` of solve; what has no states at common times is refused, and statistics
    that need the steps between."""
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
    """The Across of an AdaptiveSolution."""
    plan, valid = solution._options.across, solution.valid
    cancelled = solution.status == Status.CANCELLED
    whole = np.all(valid | ~cancelled, axis=tuple(range(1, valid.ndim)))
    if plan is None or not np.any(whole):
        return Across({})
    return one_after_the_other([
        across_at(plan, solution.system, solution.y[k], valid[k], solution.t[k])
        for k in np.flatnonzero(whole)
    ])  # fmt: skip


def across_at(plan, system, y, going, t, seed=None):
    """The Across of states at a time, of the trajectories that go on: of a run without steps."""
    problem, options = make_run(
        system, np.full_like(y, np.nan), dt=1.0, n_steps=0, save="final", seed=seed,
        method=default_stepper(system), t0=t, dtype=y.dtype, on_failure="ignore",
    )  # fmt: skip
    # As they are: a start would be made ready, such as quaternions of length 1.
    rows = np.moveaxis(np.where(going[..., np.newaxis], y, np.nan), -1, 0)
    problem = problem.changed(initial=pad([*rows], problem.batch, y.dtype))
    run = begin(problem, options.changed(watch=plan))
    run.go()
    return of_run(plan, problem, run.outcome().kept)
