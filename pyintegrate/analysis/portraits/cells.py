"""The cells of a box, and the sets of cells that motions keep coming back to."""

from __future__ import annotations

import numpy as np

SHIFT = 0.381966  # of a cell: a resting point seldom lies where round numbers meet
OUTSIDE = -1


class Cells:
    """A box divided into cells, each with a number.

    Parameters
    ----------
    box : Box
    along : ndarray of int
        (k,): how many along each bounded component.
    """

    def __init__(self, box, along):
        self.box, self.along = box, along
        self.width = (box.high - box.low) / along

    def of(self, y):
        """The numbers of the cells of states (..., dim); -1 outside the box."""
        inside = np.moveaxis(y[..., self.box.places], -1, 0)
        found, good = np.zeros(inside.shape[1:], np.int64), np.ones(inside.shape[1:], bool)
        for x, low, width, n in zip(inside, self.box.low, self.width, self.along, strict=True):
            with np.errstate(invalid="ignore"):
                at = np.floor((x - low) / width + SHIFT)
                good &= (at >= 0) & (at <= n)
            found = found * (n + 1) + np.where(good, at, 0).astype(np.int64)
        return np.where(good, found, OUTSIDE)

    def centres(self, numbers):
        """The bounded components (m, k) at the centres of cells."""
        places = np.stack(np.unravel_index(numbers, tuple(self.along + 1)), axis=-1)
        return self.box.low + (places + 0.5 - SHIFT) * self.width


def coming_back(history):
    """The share of the samples of the last quarter in cells of the quarter before, of any motion.

    Parameters
    ----------
    history : ndarray of int
        (samples, lanes): numbers of cells.

    Returns
    -------
    ndarray
        (lanes)
    """
    half, late = len(history) // 2, len(history) * 3 // 4
    before = np.unique(history[half:late])
    return np.isin(history[late:], before[before != OUTSIDE]).mean(axis=0)


def joined_sets(sets, share):
    """Sets of cells that have a share in common are one.

    Parameters
    ----------
    sets : list of ndarray of int
        None of them empty. Their order does not matter.
    share : float
        Of the cells of a set that must be among those of the others.

    Returns
    -------
    ndarray of int
        (sets): the number of the set that each is part of: one of those that are.

    Examples
    --------
    >>> joined_sets([np.array([1, 2]), np.array([7]), np.array([2, 3])], 0.1).tolist()
    [0, 1, 0]
    """
    part, left = np.full(len(sets), -1), sorted(range(len(sets)), key=lambda i: tuple(sets[i]))
    while left:
        cells, near, own = sets[left[0]], [left[0]], []
        while near:
            own += near
            cells = np.unique(np.concatenate([cells, *(sets[i] for i in near)]))
            left = [i for i in left if i not in set(near)]
            flat = np.concatenate([np.empty(0, np.int64), *(sets[i] for i in left)])
            sizes = np.array([len(sets[i]) for i in left], int)
            known = np.isin(flat, cells)
            found = np.bincount(np.repeat(np.arange(len(left)), sizes), known, len(left))
            near = [i for i, common in zip(left, found / sizes, strict=True) if common >= share]
        part[own] = min(own)
    return part
