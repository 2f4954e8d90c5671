"""The trajectories of a run that failed: which, why, and at which step."""

from functools import lru_cache

import numpy as np

from ..errors import Status, summarize
from .times import time_of

_UNSOLVED = (
    " If a solve does not converge, take a smaller dt, or pi.solve(..., method='radau_iia5'),"
    " which chooses its steps."
)


class Failures:
    """Trajectories that did not come to the end: why, and when.

    Parameters
    ----------
    status : ndarray of int8, shape (lanes,)
        See ``pi.Status``.
    step : ndarray of int64, shape (lanes,)
        The first step that each has not completed, where its status says so.
    """

    __slots__ = ("status", "step", "count")

    def __init__(self, status, step):
        self.status, self.step, self.count = status, step, np.count_nonzero(status)

    def __reduce__(self):  # none takes no room
        return (Failures, (self.status, self.step)) if self.count else (none, self.status.shape)

    def __len__(self):
        return self.count

    @property
    def index(self):
        """Indices of these trajectories in the flattened batch."""
        return np.flatnonzero(self.status)

    def __iter__(self):
        index = self.index
        return iter((index, self.status[index], self.step[index]))

    def until(self, step):
        """The trajectories that failed at this step or before."""
        return Failures(np.where(self.step <= step, self.status, 0), self.step)

    def failed(self):
        """Only the failures, without trajectories that an event stopped."""
        if not self.count:
            return self
        return Failures(np.where(self.status == Status.STOPPED, 0, self.status), self.step)

    def statuses(self, problem):
        """The status of every trajectory, (*batch)."""
        return self.status.copy().reshape(problem.batch)

    def steps(self, problem):
        """The first step that each trajectory has not completed, -1 if all, (*batch)."""
        return np.where(self.status == 0, -1, self.step).reshape(problem.batch)

    def report(self, batch, t0, dt):
        """A readable sentence."""
        if not len(self):
            return "no trajectory failed"

        def time(i, n):
            start, step = (np.broadcast_to(a, batch).reshape(-1)[i] for a in (t0, dt))
            return time_of(start, step, n)

        index, status, step = self
        text = summarize(status, step, index, batch, time)
        return text + _UNSOLVED if np.any(self.status == Status.NOT_CONVERGED) else text


@lru_cache(maxsize=64)
def none(lanes):
    """No failures, in no memory."""
    return Failures(np.broadcast_to(np.int8(0), lanes), np.broadcast_to(np.int64(-1), lanes))
