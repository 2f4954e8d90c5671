"""The trajectories of a run that failed: which, why, and at which step."""

import numpy as np

from ..errors import Status, summarize
from .times import time_of

_UNSOLVED = (
    " If a solve does not converge, take a smaller dt, or pi.solve(..., method='radau_iia5'),"
    " which chooses its steps."
)


class Failures:
    """Trajectories that failed, in the order of the batch.

    Parameters
    ----------
    index : ndarray of int64, shape (n,)
        Indices in the flattened batch.
    status : ndarray of int8, shape (n,)
        See ``pi.Status``.
    step : ndarray of int64, shape (n,)
        The first step not completed.
    """

    __slots__ = ("index", "status", "step")

    def __init__(self, index, status, step):
        self.index, self.status, self.step = index, status, step

    @classmethod
    def of(cls, status, step):
        """From what the core writes: of each trajectory its status, and that step if it failed."""
        index = np.flatnonzero(status)
        return cls(index, status[index], step[index])

    def __len__(self):
        return len(self.index)

    def __iter__(self):
        return iter((self.index, self.status, self.step))

    def until(self, step):
        """The trajectories that failed at this step or before."""
        keep = self.step <= step
        return Failures(*(part[keep] for part in self))

    def failed(self):
        """Only the failures, without trajectories that an event stopped."""
        if not self.index.size:
            return self
        keep = self.status != Status.STOPPED
        return Failures(*(part[keep] for part in self))

    def statuses(self, problem):
        """The status of every trajectory, (lanes,)."""
        return self._spread(problem, np.zeros(problem.lanes, np.int8), self.status)

    def steps(self, problem):
        """The first step that each trajectory has not completed, -1 if all, (lanes,)."""
        return self._spread(problem, np.full(problem.lanes, -1), self.step)

    def _spread(self, problem, out, values):
        out[self.index] = values
        return out.reshape(problem.batch)

    def report(self, batch, t0, dt):
        """A readable sentence."""
        if not len(self):
            return "no trajectory failed"

        def time(i, n):
            start, step = (np.broadcast_to(a, batch).reshape(-1)[i] for a in (t0, dt))
            return time_of(start, step, n)

        text = summarize(self.status, self.step, self.index, batch, time)
        return text + _UNSOLVED if np.any(self.status == Status.NOT_CONVERGED) else text


NONE = Failures.of(np.zeros(0, np.int8), np.zeros(0, np.int64))
