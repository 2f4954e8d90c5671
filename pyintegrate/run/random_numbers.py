"""The random numbers of a run: seed, numbers of the trajectories, substeps; and ``noise``."""

from __future__ import annotations

from math import prod

import numpy as np

from .. import _core
from ..values.checks import broadcast_shape, integer, numbers
from ..values.named import Named
from ..values.types import Any, ArrayLike, Floats
from .times import first_of

_STEPS, _TRAJECTORIES, _COMPONENTS = 1 << 49, 1 << 48, 1 << 16
SEED_ROWS = slice(2, 5)
OF_NOISE = ("seed", "first_trajectory", "substeps")  # options
_PART, _MASK = 24, (1 << 24) - 1  # bits of a whole number in a row of parameters


def noise(
    seed: int, trajectory: ArrayLike, step: ArrayLike, component: ArrayLike = 0, stream: int = 0
) -> Floats:
    """The random numbers of runs with noise, to repeat one in other software.

    The generator is Philox4x32-10. Its key is the seed; its counter of 128 bits is, from the lowest
    bit on, step // 2 (48 bits), the component (16), the trajectory (48) and the stream (16). The
    first and second 64 bits of the result make a pair of normals by Box and Muller, for an even
    step and the odd one after it.

    Parameters
    ----------
    seed : int
        Below 2**64.
    trajectory, step, component : array_like of int
        They broadcast. Below 2**48, 2**49 and 2**16. Steps count substeps.
    stream : {0, 1, 2, 3}
        0: the standard normals z of dW, which is sqrt(dt / substeps) times the sum of those of the
        substeps. 1: further normals u, for the integral of W over a step: it is the sum of
        k (W + sqrt(k) (z + u / sqrt(3)) / 2) over substeps of length k, W being that before the
        substep. 2: numbers between 0 and 1. 3: the normals of bridges.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError, ValueError
        Numbers that are not whole, or out of range.

    References
    ----------
    Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC '11.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> z = pi.noise(7, np.arange(100_000), step=0)
    >>> bool(abs(z.mean()) < 0.02), bool(abs(z.std() - 1) < 0.01)
    (True, True)
    """
    seed, stream = checked_seed(seed), integer("stream", stream, 0, 3)
    given = (
        _whole("trajectory", trajectory, _TRAJECTORIES),
        _whole("step", step, _STEPS),
        _whole("component", component, _COMPONENTS),
    )
    names = ("trajectory", "step", "component")
    shape = broadcast_shape({n: a.shape for n, a in zip(names, given)})
    counters = np.empty((prod(shape), 3), np.uint64)
    for column, array in zip(counters.T, given):
        column[...] = np.broadcast_to(array, shape).ravel()
    out = np.empty(shape)
    _core.noise(seed, stream, counters, out)
    return out


def _whole(name, value, end):
    """An array of whole numbers from 0 to below an end."""
    array = numbers(name, value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype}")
    outside = (array < 0) | (array >= end)
    if outside.any():
        raise ValueError(f"{name} must be from 0 to {end - 1}, got {first_of(array, outside)}")
    return array


def checked_seed(seed):
    return integer("seed", seed, 0, (1 << 64) - 1)


class RandomNumbers(Named):
    """What the random numbers of a run depend on."""

    seed: int
    first_trajectory: Any  # int, or an array over the batch
    substeps: int

    @classmethod
    def checked(cls, system, dt, seed=None, first_trajectory=0, substeps=1):
        """None for a system without noise."""
        quiet = getattr(system, "noise", None) is None  # something else is refused later
        first = _first(first_trajectory)
        substeps = integer("substeps", substeps, 1, _MASK)
        if quiet:
            defaults = (seed is None, type(first) is int and first == 0, substeps == 1)
            if not all(defaults):
                name = OF_NOISE[defaults.index(False)]
                raise ValueError(
                    f"{name} was given, and {system.name!r} has no noise: leave it out, or"
                    " make a system with noise by @pi.sde or pi.langevin"
                )
            return None
        if seed is None:
            raise ValueError(
                f"{system.name!r} has noise and needs a seed, a whole number: seed=1; the same seed"
                " gives the same noise"
            )
        if np.any(np.asarray(dt) < 0):
            raise ValueError(f"dt must be positive where there is noise, got {np.min(dt)}")
        return cls(seed=checked_seed(seed), first_trajectory=first, substeps=substeps)

    def __repr__(self):
        return f"that of {', '.join(f'{name}={value}' for name, value in vars(self).items())}"

    def __eq__(self, other):
        if not isinstance(other, RandomNumbers):
            return NotImplemented
        pairs = zip(vars(self).values(), vars(other).values())
        return all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self):
        """Of the batch, as far as the numbers of the trajectories give it."""
        return np.shape(self.first_trajectory)

    def rows(self, dt, batch, n_steps):
        """The parameters of the run, in the order of csrc/tiles.h: floats or arrays."""
        if n_steps * self.substeps >= _STEPS:
            raise ValueError(f"{n_steps} steps of {self.substeps} substeps are 2**49 or more")
        numbers = self.first_trajectory
        if not self.shape:
            numbers = numbers + np.arange(prod(batch), dtype=np.int64).reshape(batch)
            if numbers.size:
                _whole("first_trajectory and the places in the batch", numbers, _TRAJECTORIES)
        return (dt, float(self.substeps), *seed_parts(self.seed),
                *(_row(numbers >> bits & _MASK) for bits in (0, _PART)), 0.0)  # fmt: skip


def seed_parts(seed):
    """In the rows that SEED_ROWS are of `RandomNumbers.rows`."""
    return [float(seed >> bits & _MASK) for bits in (0, _PART, 2 * _PART)]


def seed_in(rows):
    """The seed in the parameters of a run, one column for each trajectory."""
    return sum(int(part) << _PART * i for i, part in enumerate(rows[SEED_ROWS, 0]))


def _first(first_trajectory):
    array = _whole("first_trajectory", first_trajectory, _TRAJECTORIES)
    return array.astype(np.int64) if array.ndim else int(array)


def _row(numbers):
    """One number for all trajectories if they are equal."""
    if numbers.size and np.all(numbers == numbers.flat[0]):
        return float(numbers.flat[0])
    return numbers.astype(np.float64)


def check_without(options):
    """Refuse what noise does not go with."""
    if options.compensated:
        raise ValueError(
            "compensated= does not go with noise, which is larger than any rounding error: leave it"
            " out"
        )


def numbered(first, shapes, arange):
    """The numbers of the trajectories of a batch of these shapes."""
    batch = np.broadcast_shapes(*shapes)
    return first if np.ndim(first) else (first + arange(prod(batch))).reshape(batch)
