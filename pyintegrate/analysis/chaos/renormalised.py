"""A motion with tangents that the core renormalises between steps: csrc/watching/renormalise.h."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...run.core import WORTH_THREADS
from ...run.failures import NONE, Failures
from ...values.memory import fresh

INDICATORS = 3  # sums besides the exponents: the largest L, the sums of L and of MEGNO's Y


class Renormalised:
    """A run that is continued part by part.

    Parameters
    ----------
    problem : Problem
        With tangents and a one-step method.
    options : Options
        Only the workers are used.
    rows : ndarray of int, shape (vectors, components)
        The components of each tangent in the state.
    every : int
        Steps from one renormalisation to the next.
    orthogonal : bool
        Whether each tangent is made orthogonal to those before.
    indicators : bool
        Whether sums for FLI and MEGNO are kept, of the first tangent.
    """

    def __init__(self, problem, options, rows, every, orthogonal, indicators=False):
        self._problem, self._options, self.rows = problem, options, rows
        self._every, self._orthogonal, self._indicators = every, orthogonal, indicators
        vectors = len(rows)
        self._sums = np.zeros((vectors + INDICATORS * indicators, problem.stride))
        if indicators:
            self._sums[vectors] = -np.inf
        self._state, self.failures = problem.initial, NONE
        self.steps = 0

    def go(self, n_steps, report=None):
        """Continue for n_steps; `report` gets the number of steps done."""
        problem = self._problem
        if not n_steps:
            return
        if problem.lanes:
            self._state, self.failures = self._part(n_steps, report)
        self.steps += n_steps

    def _part(self, n_steps, report):
        problem, done = self._problem, self.steps
        work = problem.lanes * problem.system.dim * n_steps * max(problem.method.evaluations, 1)
        workers = self._options.workers if work >= WORTH_THREADS else 1
        shape, one = problem.initial.shape, self._state.strides[1] == 0
        state = fresh(shape, problem.dtype), fresh(shape, problem.dtype)
        renormalise = {
            "every": self._every, "vectors": len(self.rows), "dim": self.rows.shape[1],
            "orthogonal": int(self._orthogonal), "indicators": int(self._indicators),
            "places": np.ascontiguousarray(self.rows, np.int64), "sums": self._sums,
        }  # fmt: skip
        run = _core.start(problem.core_fields(
            self._options, save_every=n_steps, method=problem.method.handle, first=done,
            n_steps=n_steps, workers=workers, params=problem.rows_params,
            initial=self._state[:, 0].copy() if one else self._state,
            state_a=state[0], state_b=state[1], renormalise=renormalise,
        ))  # fmt: skip
        if len(self.failures):
            run.fail(*self.failures)
        run.work(None if report is None else lambda steps: report(done + steps), workers - 1)
        where, count = run.outcome()[1:3]
        failed = NONE
        if count:
            failed = Failures.room(count)
            run.failures(*failed)
        return state[where - 1], failed

    # ---- current values ----
    def tangents(self):
        """The current tangents, (vectors, components, lanes)."""
        lanes = self._problem.lanes
        state = np.broadcast_to(self._state, self._problem.initial.shape)
        return state[self.rows][..., :lanes].astype(np.float64)

    def growth(self):
        """log |u| of each tangent, (vectors, lanes)."""
        with np.errstate(all="ignore"):  # for those that failed
            size = np.log(np.sqrt(np.sum(self.tangents() ** 2, axis=1)))
        return self._sums[: len(self.rows), : self._problem.lanes] * np.log(2.0) + size

    def sums(self):
        """The largest L, the sums of L and of MEGNO's Y: (3, lanes)."""
        return self._sums[len(self.rows) :, : self._problem.lanes].copy()
