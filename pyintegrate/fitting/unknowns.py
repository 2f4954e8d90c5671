"""The unknowns of a fit: parameters and starting values, their bounds, priors and first guesses."""

from collections.abc import Mapping

import numpy as np

from ..values.checks import floats, numbers, some_of
from ..values.parameters import elements_of
from ..values.sobol_points import sobol_points


class Unknowns:
    """What is free: starting values, then parameters, those that are shared last.

    Parameters
    ----------
    system : System
    free, free_start, shared, priors
        As of ``fit``.

    Attributes
    ----------
    names : tuple of str
        Components of the start and elements of parameters, in the order of the unknowns.
    starts : list of int
        The components of the start that are free.
    parameters : dict
        The free parameters, and the places of their elements among those that follow the starting
        values.
    elements : list
        (name, row) of each element of the free parameters.
    local : int
        How many elements are not shared.
    """

    def __init__(self, system, free, free_start, shared, priors):
        self.system = system
        free = _named("free", free)
        known = system.state_names
        if isinstance(free_start, bool | np.bool):
            free_start = known if free_start else ()
        starts = _named("free_start", free_start)
        some_of("free_start", starts, known, 0)
        for name in free:
            if name not in system.shapes:
                cure = " (a component of the start: free_start)" if name in known else ""
                raise ValueError(
                    f"free has {name!r}{cure}: {system.name} has the parameters"
                    f" {', '.join(system.shapes) or 'none'}"
                )
        ranges = starts | free
        if not ranges:
            raise ValueError(
                "nothing is free: name parameters, free={'k': (low, high)}, or the start,"
                " free_start=True"
            )
        shared = some_of("shared, of what is free,", shared, free, 0)
        free = sorted(free, key=shared.__contains__)
        self.starts, self.elements = [*map(known.index, starts)], elements_of(system, free)
        bases = [_base(name) for name, _ in self.elements]
        self.parameters = {name: [i for i, of in enumerate(bases) if of == name] for name in free}
        self.local = sum(name not in shared for name in bases)
        self.names = (*starts, *(name for name, _ in self.elements))
        self.ranges = [ranges[_base(name)] for name in self.names]
        priors = {} if priors is None else priors
        if not isinstance(priors, Mapping):
            raise TypeError(
                f"priors must map names to (mean, standard deviation), got {priors!r:.80}"
            )
        some_of("priors, of what is free,", priors, ranges | dict.fromkeys(self.names), 0)
        self.priors = {}
        for j, name in enumerate(self.names):
            given = priors.get(name, priors.get(_base(name)))
            if given is not None:
                pair = floats(f"priors[{name!r}]", given)
                if pair.shape != (2,) or not (np.isfinite(pair[0]) and pair[1] > 0):
                    raise ValueError(
                        f"priors[{name!r}] must be (mean, standard deviation), got {given!r}"
                    )
                self.priors[j] = (*pair,)

    def bounds(self, batch):
        """The bounds, each (p, *batch)."""
        found = np.empty((2, len(self.names), *batch))
        for j, (name, pair) in enumerate(zip(self.names, self.ranges)):
            pair = (None, None) if pair is None or pair is ... else pair
            try:
                low, high = pair
                for side, end, none in ((0, low, -np.inf), (1, high, np.inf)):
                    found[side, j] = none if end is None else numbers("", end)
                good = np.all(found[0, j] < found[1, j])
            except (TypeError, ValueError):
                good = False
            if not good:
                raise ValueError(
                    f"the bounds of {name!r} must be (low, high), None or ... for none, got"
                    f" {pair!r}; a first guess goes into {_begun(self, j)}"
                )
        return found

    def guesses(self, start, batch, bounds, starts, seed):
        """Where the fits begin, (p, starts, *batch): the own values, then Sobol points."""
        rows = self.system.parameter_rows
        values = [start[..., d] for d in self.starts]
        values += [rows[row] for _, row in self.elements]
        own = np.stack([np.broadcast_to(value, batch) for value in values])
        low, high = bounds
        outside = ~((own >= low) & (own <= high))
        if outside.any():
            j, *at = np.argwhere(outside)[0]
            place = (j, *at)
            raise ValueError(
                f"the bounds of {self.names[j]!r}, {low[place]:g} to {high[place]:g}, exclude the"
                f" start {own[place]:g}: begin within, {_begun(self, j)}, or widen them"
            )
        each = np.stack([own, low, high]).reshape(3, len(own), -1)
        uneven = (each != each[..., :1]).any(axis=(0, 2))[len(self.starts) + self.local :]
        if uneven.any():
            name = self.names[uneven.argmax() - len(uneven)]
            raise ValueError(
                f"{name!r} is shared, and its values or bounds differ over the batch: give it one"
                " value and one pair of bounds"
            )
        if starts > 1 and not np.isfinite(bounds).all():
            j = np.argwhere(~np.isfinite(low) | ~np.isfinite(high))[0][0]
            which = "free_start" if j < len(self.starts) else "free"
            raise ValueError(
                f"starts={starts} fill the bounds, and {self.names[j]!r} has none:"
                f" {which}={{{_base(self.names[j])!r}: (low, high)}}"
            )
        found = np.repeat(own[:, np.newaxis], starts, axis=1)
        if starts > 1:
            share = sobol_points(starts, len(self.names), seed)[1:].T
            share = share.reshape(*share.shape, *(1,) * len(batch))
            found[:, 1:] = low[:, np.newaxis] + share * (high - low)[:, np.newaxis]
        return found


def _begun(unknowns, j):
    name = unknowns.names[j]
    return "x0=" if j < len(unknowns.starts) else f"system({_base(name)}=...)"


def _base(name):
    return name.partition("[")[0]


def _named(argument, given):
    """A mapping of names to bounds; names alone have none."""
    if isinstance(given, str):
        given = (given,)
    try:
        return dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
    except TypeError:
        raise TypeError(
            f"{argument} must be names, or {{name: (low, high)}}, got {given!r}"
        ) from None
