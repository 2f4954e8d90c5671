"""Which steps of a run are saved."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..values.checks import integer


def check_save(save):
    """ "all", "final" or a number of steps from one save to the next."""
    if isinstance(save, str):
        if save not in ("all", "final"):
            raise ValueError(f"save must be 'all', 'final' or a number of steps, got {save!r}")
        return save
    return integer("save", save, 1)


@lru_cache(maxsize=64)
def saves_of(save, n_steps):
    """The Saves of a run, which are the same for every run of so many steps."""
    return Saves(save, n_steps)


class Saves:
    """The saves of a run of `n_steps`: steps 0, k, 2k, ... and the last, or the last alone.

    Attributes
    ----------
    every : int
        Steps from one save to the next; at most `n_steps`.
    final_only : bool
    n_steps : int
    given : ndarray of int or None
        The saves of joined parts, which no interval need give.
    """

    __slots__ = ("every", "final_only", "given", "n_steps")

    def __init__(self, save, n_steps, given=None):
        self.final_only, self.n_steps = save == "final" and given is None, n_steps
        self.given = given
        whole = max(n_steps, 1)
        self.every = whole if save == "final" else 1 if save == "all" else min(save, whole)

    @property
    def count(self):
        if self.given is not None:
            return len(self.given)
        return 1 if self.final_only else 1 - -self.n_steps // self.every

    @property
    def steps(self):
        """Numbers of the saved steps, counted from the first of the run."""
        if self.given is not None:
            return self.given
        if self.final_only:
            return np.array([self.n_steps])
        steps = np.arange(0, self.n_steps + 1, self.every)
        return steps if steps[-1] == self.n_steps else np.append(steps, self.n_steps)

    def until(self, completed):
        """The number of saves in a run that ended after `completed` steps."""
        return int(np.searchsorted(self.steps, completed, side="right"))
