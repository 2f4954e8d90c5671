"""Observables of a solution: energy, exact solution, phase; None for those that it lacks."""

from collections.abc import Mapping

import numpy as np

from ..run.random_numbers import numbered
from ..run.times import time_of
from ..values.parameters import system_at, taken


def check_solution(value, name, argument="solution"):
    """The Solution; that of a lazy one, which is computed. What is none is refused, especially
    several of them, with how to iterate over those."""
    if hasattr(value, "to_zarr"):  # a DaskSolution
        return value.compute()
    if hasattr(value, "final"):
        return value
    cure = ""
    if hasattr(value, "table") and hasattr(value, "items"):
        cure = (
            f": take one of it, comparison[{next(iter(value))!r}], or all,"
            f" {{key: {name}(sol) for key, sol in comparison.items()}}"
        )
    raise TypeError(f"{name} takes a Solution as {argument}, got {type(value).__name__}{cure}")


def times(solution):
    """Saved times in a shape that broadcasts against the batch.

    Parameters
    ----------
    solution : Solution
        With `t` of shape (n_saved,) or (n_saved, *batch).

    Returns
    -------
    ndarray
        (n_saved, 1, ..., 1) or (n_saved, *batch).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> spring = pi.systems.spring(k=[1.0, 2.0, 3.0])
    >>> times(pi.integrate(spring, dt=0.1, n_steps=5)).shape
    (6, 1)
    """
    return solution._column(solution.t)


def start_time(solution):
    """Time of `initial`: t0, or the time of a resume; a float or (*batch)."""
    if not hasattr(solution, "dt"):  # to a tolerance
        return solution.t0
    return time_of(solution.t0, solution.dt, solution._problem.first)


def some_saves(solution):
    """The argument that asks for some saves of a run like this one."""
    return "save=k" if hasattr(solution, "dt") else "times="


def only_the_end(solution):
    """Whether only the last of several states was saved."""
    end = solution._problem.first + solution.n_steps
    return len(solution) == 1 and solution.n_steps > 0 and solution.steps[0] == end


def last_is_the_end(solution):
    """Whether the last save is the end of the run, (*batch): saves may end before."""
    places = [solution.system.state_names.index(name) for name in solution.components]
    return ~np.any(np.abs(solution.y[-1] - solution.final[..., places]) > 0, axis=-1)


def every_step(solution):
    """Whether every step was saved, so that the largest of the saves is the true maximum."""
    return len(solution) == solution.n_steps + 1


def largest_of(solutions, watched=False):
    """How a maximum over time is described: words before and after its name.

    watched: the runs have included every step.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> for save in ("all", 5, "final"):
    ...     sol = pi.integrate(pi.systems.oscillator, dt=0.01, n_steps=9, save=save)
    ...     print("{}energy error{}".format(*largest_of([sol])))
    largest energy error
    largest energy error of the saves
    energy error at the end
    """
    if watched:
        return "largest ", ""
    if any(map(only_the_end, solutions)):
        return "", " at the end"
    return "largest ", "" if all(map(every_step, solutions)) else " of the saves"


def found(solution, function, quantity, suffix=""):
    """The watched result for a quantity over all steps, (*batch), if the saves lack some; or None.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
    ...                    watch="energy_drift")
    >>> bool(found(sol, "max_abs", "energy_error") > 0)
    True
    """
    watched = getattr(solution, "watched", None)
    if not watched or every_step(solution):
        return None
    return watched.find(function, quantity, suffix)


def cure(*needed):
    """Watches as code, for pairs (function, quantity): ``pi.watch.last("x")``."""
    return " and ".join(f'pi.watch.{function}("{quantity}")' for function, quantity in needed)


def exact_states(solution):
    """Exact states at the saved times, (n_saved, *batch, dim), or None."""
    try:
        return solution.exact()
    except ValueError:  # the system has no closed form
        return None


def energies(solution):
    """Energy at the saved times and at the start, (n_saved, *batch) and (*batch), or None, as
    where only some components were saved.

    The start is the origin of the motion, not the first save: they differ if only the end is
    kept, and if a run was resumed.
    """
    if not (solution.system.has_energy and solution._complete):
        return None
    return solution.energy(), solution.system.energy(solution.origin, solution._origin_time)


def at(values, index):
    """The entries of (n, *batch) values at one index (*batch) for each trajectory."""
    return np.take_along_axis(values, index[np.newaxis], 0)[0]


def systems_by_name(systems):
    """Several systems by name: their own, or the parameters that distinguish them."""
    if isinstance(systems, Mapping):
        named = dict(systems)
    else:
        named = {_difference(one, systems): one for one in systems}
    for one in named.values():
        if not hasattr(one, "rhs"):
            raise TypeError(f"system must be a System or several, got {type(one).__name__}")
    if len(named) != len(systems) or not named:
        raise ValueError("systems to compare must differ, and there must be one at least")
    return named


def _difference(system, systems):
    """A label that distinguishes a system from others: `k = 15, b = 0.1`, or its name."""
    if not hasattr(system, "rhs"):
        return str(system)
    kin = [one for one in systems if getattr(one, "name", "") == system.name]
    parts = []
    for name, value in system.params.items():
        if any(not np.array_equal(one.params[name], value) for one in kin):
            text = f"{value:g}" if np.ndim(value) == 0 else f"{np.size(value)} values"
            parts.append(f"{name} = {text}")
    others = len(kin) < len(systems)
    return ", ".join([system.name] * (others or not parts) + parts)


def batch_of(solution):
    """The batch shape of a solution."""
    return solution.final.shape[:-1]


def again(solution, lane):
    """Arguments of ``integrate`` that repeat some trajectories from their start, to the bit."""
    batch, random = batch_of(solution), solution._problem.random
    noise = {}
    if random is not None:
        own = taken(numbered(random.first_trajectory, [batch], np.arange), batch, lane)
        noise = {"seed": random.seed, "substeps": random.substeps, "first_trajectory": own}
    return noise | {
        "system": system_at(solution.system, batch, lane),
        "x0": solution.initial.reshape(-1, solution.initial.shape[-1])[lane],
        "dt": taken(solution.dt, batch, lane),
        "t0": taken(solution.t0, batch, lane),
        "n_steps": solution.n_steps,
        "dtype": solution.initial.dtype,
    }
