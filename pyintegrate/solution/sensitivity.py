"""Derivatives of saved states with respect to the start and parameters: ``sensitivity=``.

The motion is integrated with its tangents (``System.tangent``); its Solution keeps that solution.
"""

from math import prod

import numpy as np

from ..run.arguments import checked_dtype, checked_system
from ..run.core import Outcome
from ..values.checks import some_of
from ..values.names import ByName
from .origin import Origin

STARTS = ("x0", "v0")


def checked_names(system, sensitivity):
    """The names to differentiate with respect to: "x0", "v0" and parameters.

    Raises
    ------
    TypeError, ValueError
    """
    starts = STARTS if system.positions else STARTS[:1]
    names = some_of("sensitivity", sensitivity, dict.fromkeys((*starts, *system.params)))
    if both := set(starts) & set(names) & set(system.params):
        name = both.pop()
        raise ValueError(
            f"sensitivity {name!r} is the start and a parameter of {system.name!r}: rename the"
            " parameter"
        )
    return names


def start_components(system, name):
    """Which components of the state "x0" or "v0" stands for."""
    lead = system.positions or system.dim
    return range(lead) if name == "x0" else range(lead, system.dim)


def check_alone(given):
    """Refuse the arguments of a run that would act on the tangents as well."""
    for name in ("watch", "events", "across", "bound", "out", "components"):
        if given.get(name) is not None:
            raise ValueError(
                f"sensitivity and {name} exclude each other, because {name} would act on the"
                f" tangents as well: integrate system.tangent(...) with {name}"
            )


def with_tangents(system, sensitivity, x0, v0, dtype, more=()):
    """A system with the requested tangents, and its first state.

    more: an array (..., dim, 1) of one more tangent at the start, or nothing.

    Returns
    -------
    System, tuple of str, ndarray of shape (..., dim), dtype
        The system with tangents, the names, its state, and the dtype of the run.
    """
    names = checked_names(checked_system(system), sensitivity)
    both, moved = tangents_of(system, names, len(more) > 0)
    dtype = checked_dtype(dtype, x0, v0)
    units = np.eye(system.dim)[:, moved]
    if len(more):
        units = np.concatenate([np.broadcast_to(units, (*more.shape[:-1], len(moved))), more], -1)
    return both, names, both.initial_state(x0, v0, tangents=units), dtype


def moved_by(system, names):
    """The components of the start that are among checked names."""
    return [d for name in names if name in STARTS for d in start_components(system, name)]


def tangents_of(system, names, more=0):
    """The system with tangents along checked names, and `more`; and which components move at the
    start."""
    moved = moved_by(system, names)
    return system.tangent(len(moved) + more, [n for n in names if n not in STARTS]), moved


def motion_alone(both):
    """(problem, options, outcome) of the base motion of a solution with tangents."""
    system = both.system.base
    rows, dim = both.system.places[:, 0], both.system.dim
    problem, options = both._problem, both._options
    origin = problem.origin
    if origin is not None:
        origin = Origin(origin.state[rows], origin.step)
    problem = problem.changed(system=system, initial=problem.initial[:dim][rows], origin=origin)
    last = None if both._last is None else both._last[rows]
    outcome = Outcome(
        completed=both.n_steps, states=base_states(both), last=last, failures=both._failures
    )
    return problem, options, outcome


def base_states(both):
    """The saved states of the base motion, in memory of their own."""
    inside = np.moveaxis(both.y, -1, 1)[:, both.system.places[:, 0]]
    return np.moveaxis(np.ascontiguousarray(inside), 1, -1)


def derivatives(both, names):
    """The derivatives of the saved states, by name.

    Returns
    -------
    dict of str to ndarray
        By "x0" and "v0" (n_saved, *batch, dim, components); by a parameter (n_saved, *batch, dim)
        followed by the axes of the parameter.
    """
    base, columns = both.system.base, both.system.parts(both.y)[1]
    found, first = ByName.fromkeys(names), 0
    for name in sorted(names, key=lambda name: name not in STARTS):  # as the tangents lie
        start = name in STARTS
        shape = (len(start_components(base, name)),) if start else base.shapes[name]
        first = first if start else max(first, both.system.free)
        part = columns[..., first : first + prod(shape)]
        found[name] = part.reshape(*part.shape[:-1], *shape)
        first += prod(shape)
    return found
