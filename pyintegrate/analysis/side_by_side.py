"""Several methods on one motion: the same start, the same steps or the same work."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from math import lcm
from time import perf_counter
from typing import Any, cast, overload

import numpy as np

from ..adaptive.tolerances import Tolerance
from ..errors import one_record_warning
from ..integration import integrate
from ..method.catalogue import find_method
from ..method.method import Method
from ..run.arguments import checked_system, default_methods, steps_between
from ..solving import solve
from ..values.checks import integer, numbers, truth
from ..values.keywords import explains_keywords
from ..values.table import Several, pandas
from ..values.types import (
    ArrayLike,
    AxesArray,
    FuncAnimation,
    Methods,
    Sequence,
    Solution,
    SupportsIndex,
    System,
    Systems,
    Table,
    ToATolerance,
)
from ..watching.analyses import of_comparison
from .accuracy import different, evaluations_a_step, listed
from .measures import measured
from .observables import systems_by_name

MOST_SUBSTEPS = 100  # in a step, of runs over one path of noise


def same_work(system, first, method, n, span):
    """Steps of a method that cost as many force evaluations as `n` of the first method."""
    share = evaluations_a_step(system, first) / evaluations_a_step(system, method)
    steps = max(1, round(n * share))
    return {"dt": span / steps, "n_steps": steps}


def over_one_path(runs, substeps):
    """Give runs over noise substeps of one length: steps of any length then see the same path."""
    spans = [span for one, span in runs if getattr(one.method, "strong_order", None)]
    steps = np.array([np.mean(span["dt"]) for span in spans])
    if not (steps > 0).all() or (steps == steps[:1]).all():  # what is wrong is refused later
        return
    shares = [Fraction(one).limit_denominator(MOST_SUBSTEPS) for one in steps / steps.min()]
    counts = [int(one * lcm(*(two.denominator for two in shares))) for one in shares]
    if max(counts) > MOST_SUBSTEPS or not np.allclose(counts / steps, counts[0] / steps[0], 1e-9):
        raise ValueError(
            f"steps of {', '.join(f'{one:.6g}' for one in steps)} have no common part, and so no"
            " common path of noise: take numbers of steps that are multiples of each other"
        )
    for span, count in zip(spans, counts):
        span["substeps"] = count * integer("substeps", substeps, 1)


class Chosen:
    """A method, and its tolerance or None."""

    def __init__(self, given):
        method, self.tolerance = given, None
        if isinstance(given, tuple):
            if len(given) != 2 or not isinstance(given[1], Tolerance):
                raise TypeError(
                    f"methods has {given!r}: expected a method, or (method, pi.tolerance(1e-9))"
                )
            method, self.tolerance = given
        if not isinstance(method, str | Method):
            cure = ": ('auto', pi.tolerance(1e-9))" if isinstance(method, Tolerance) else ""
            raise TypeError(f"methods must be names or Methods, got {method!r}{cure}")
        self.method = method if method == "auto" and self.tolerance else find_method(method)
        self.name = str(self.method)
        if self.tolerance is not None:
            self.name += f" to {self.tolerance}"


def to_a_tolerance(one, span, options):
    """The arguments of `solve` in place of those of `integrate`."""
    how = dict(options)
    how.pop("compensated", None)  # steps to a tolerance always carry rounding errors along
    for name in ("drive", "start"):
        if how.pop(name, None) is not None:
            raise ValueError(f"{name} is for steps of one length, and {one.name!r} chooses its own")
    if how.get("times") is None:
        save = how.setdefault("save", "all")
        if not isinstance(save, str):
            raise ValueError(
                f"save={save!r} counts steps of one length, and {one.name!r} chooses its own: give"
                " save='all', 'final', or times="
            )
    if span["t_end"] is None:
        if span["n_steps"] is None or span["dt"] is None:
            raise ValueError("give t_end, or n_steps and dt")
        span["t_end"] = options.get("t0", 0.0) + span["n_steps"] * span["dt"]
    elif span["n_steps"] is not None:
        raise ValueError("give exactly one of n_steps and t_end")
    tolerance = one.tolerance
    return how | {"t_end": span["t_end"], "rtol": tolerance.rtol, "atol": tolerance.atol}


def methods_in(methods):
    """One method, or several, as a list."""
    pair = isinstance(methods, tuple) and len(methods) == 2 and isinstance(methods[1], Tolerance)
    if pair or isinstance(methods, Tolerance):
        return [methods]
    return listed(methods)


@overload
def compare(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike | None = None,
    **options: Any,
) -> Comparison: ...
@overload
def compare(
    system: Systems,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike | None = None,
    **options: Any,
) -> Comparisons: ...
@explains_keywords(integrate)
def compare(
    system: System | Systems,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    methods: Methods | ToATolerance | Sequence[str | Method | ToATolerance] | None = None,
    dt: ArrayLike | None = None,
    t_end: ArrayLike | None = None,
    n_steps: SupportsIndex | None = None,
    equal_work: bool = False,
    **options: Any,
) -> Comparison | Comparisons:
    """Integrate one motion with several methods, and compare them side by side.

    Parameters
    ----------
    system : System, or sequence or mapping of them
        One or several, for example springs of different stiffness; each is compared by itself. The
        keys of a mapping name them.
    x0, v0 : array_like, optional
        Initial state as in `integrate`; each system's own by default.
    methods : sequence of str or Method, optional
        Names, aliases or user-defined methods. Default: rk4 and semi_implicit_euler; if these
        do not fit, rk4 and explicit_euler (first order), or implicit_midpoint (a non-separable
        Hamiltonian), or rigid_rk4 and rigid_semi_implicit_euler (a rigid body). A pair (method,
        ``pi.tolerance(1e-9)``) integrates to a tolerance instead (``pi.solve``).
    dt : float or sequence of float
        Step, in the system's unit of time. A sequence means one run for each. Not needed if all
        methods integrate to a tolerance.
    t_end, n_steps : optional
        Exactly one of them: the end or the number of steps.
    equal_work : bool, optional
        Use the same number of force evaluations instead of the same number of steps: dt is that of
        the first method, with n steps; a method that needs m times its evaluations per step
        takes round(n/m) steps over the same span. Runs with noise and other steps share its path,
        by their `substeps`.
    **options
        Other arguments of `integrate`: t0, save, dtype, workers, bound, watch and others. With
        ``save="final"`` "energy_drift" and "phase_drift" are watched, for the table. Methods with a
        tolerance take the arguments of `solve`; by default they save all accepted steps.

    Returns
    -------
    Comparison
        A mapping from method names to solutions, from (name, dt) if dt is a sequence; a method
        with a tolerance has a name like "dop853 to 1e-09". For several
        systems a `Comparisons`, a mapping from their names to comparisons.

    Raises
    ------
    TypeError, ValueError
        For arguments that `integrate` refuses, unknown or repeated methods or steps.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.oscillator(omega=15**0.5), dt=0.1, t_end=90.0)
    >>> list(c)
    ['rk4', 'semi_implicit_euler']
    >>> print(f"{c.summary()['rk4']['energy_ratio']:.9f}")
    0.959447735
    """
    if not hasattr(system, "rhs") and isinstance(system, Mapping | list | tuple):
        run: dict[str, Any] = {"methods": methods, "dt": dt, "t_end": t_end, "n_steps": n_steps}
        run |= {"equal_work": equal_work} | options
        named = systems_by_name(system)
        return Comparisons({key: compare(one, x0, v0, **run) for key, one in named.items()})
    system = cast("System", checked_system(system))
    if "method" in options:
        raise TypeError("compare takes methods=(...), one or several; method= belongs to integrate")
    if methods is None:
        methods = default_methods(system)
    chosen = [Chosen(one) for one in methods_in(methods)]
    different("methods", chosen, lambda one: one.name)
    if dt is None and not all(one.tolerance for one in chosen):
        raise TypeError("dt is missing: only methods with a tolerance choose their own steps")
    steps = numbers("dt", 1.0 if dt is None else dt)
    several = steps.ndim > 0
    if steps.ndim > 1 or steps.size == 0:
        raise ValueError(f"dt must be a number or a sequence of numbers, got shape {steps.shape}")
    equal_work = truth("equal_work", equal_work)
    solutions = {}
    seconds = {}
    found = {}  # to a tolerance: the same beside every dt
    options = of_comparison(system, options)
    runs: dict[Any, Any] = {}
    for step in different("dt", steps.tolist(), float) if several else [dt]:
        for one in chosen:
            span = {"dt": step, "t_end": t_end, "n_steps": n_steps}
            if equal_work and one.tolerance is not None:
                raise ValueError(f"equal_work gives steps, and {one.name!r} chooses its own")
            if equal_work and one is not chosen[0] and (t_end is None) != (n_steps is None):
                t0 = options.get("t0", 0.0)
                if t_end is None:
                    n = integer("n_steps", n_steps, 0)
                    length = n * step
                else:
                    n, length = steps_between(step, t0, t_end), np.subtract(t_end, t0)
                span = same_work(system, chosen[0].method, one.method, n, length)
            runs[(one.name, step) if several else one.name] = one, span
    if system.noise is not None:
        over_one_path(runs.values(), options.get("substeps", 1))
    for key, (one, span) in runs.items():
        begin = perf_counter()
        if one.name in found:
            solutions[key], seconds[key] = found[one.name]
            continue
        if one.tolerance is None:
            solutions[key] = integrate(system, x0, v0, method=one.method, **options | span)
        else:
            how = to_a_tolerance(one, span, options)
            solutions[key] = solve(system, x0, v0, method=one.method, **how)
        seconds[key] = perf_counter() - begin
        if one.tolerance is not None and n_steps is None:
            found[one.name] = solutions[key], seconds[key]
    return Comparison(system, solutions, equal_work=equal_work, seconds=seconds)


class Comparison(Several["Solution"]):
    """Solutions of one motion by several methods, by name; made by `compare`.

    Parameters
    ----------
    system : System
        The system that was integrated.
    solutions : dict
        Solutions by method name, or by (name, dt) if several steps are compared.
    equal_work : bool, optional
        Whether all use the same number of force evaluations.
    seconds : dict, optional
        How long each run took, by the same keys.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.oscillator, methods=["rk4", "midpoint"], dt=[0.1, 0.2], t_end=9.0)
    >>> len(c), c["rk4", 0.2].n_steps
    (4, 45)
    """

    def __init__(
        self,
        system: System,
        solutions: Mapping[Any, Solution],
        *,
        equal_work: bool = False,
        seconds: Mapping[Any, float] | None = None,
    ) -> None:
        self.system = system
        self.equal_work = equal_work
        self._seconds, self._found = dict(seconds or {}), dict(solutions)

    def __getitem__(self, key: Any) -> Solution:
        if key in self._found:
            return self._found[key]
        name, *step = key if isinstance(key, tuple) else (key,)
        with suppress(TypeError, ValueError):  # no such method: the message below is clearer
            whole = not step or isinstance(step[0], Tolerance)
            resolved = Chosen(key).name if whole else (Chosen(name).name, *step)
            if resolved in self._found:
                return self._found[resolved]
        keys = ", ".join(map(repr, self._found))
        known = [k[0] if isinstance(k, tuple) else k for k in self._found]
        near = get_close_matches(str(name), known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near and near[0] != name else ""
        raise KeyError(f"{key!r} was not compared{hint} (there are {keys})")

    def summary(self) -> dict[Any, dict[str, Any]]:
        """Measure every solution, per trajectory.

        Returns
        -------
        dict of dict
            By key of the comparison: `energy_ratio` E(end)/E(0), `energy_change` (the last of
            `Solution.energy_error`), `max_energy_error` (largest
            |E - E0|/|E0| of the saves), `phase_error` at the end [rad, positive = ahead],
            `max_position_error` (largest distance of the saves from the exact position; from the
            exact state for a first-order system), each of the batch shape, None if it does not
            exist; `energy_error` and `position_error`, the same at the end (NaN for one that
            failed); `evaluations` of the
            force, for one trajectory; and the `seconds` of the run of the whole batch, None
            if not timed. Without a closed form the motion by ``pi.solve`` at rtol = 1e-13 counts as
            exact, and `reference_error` is the largest distance from that at 1e-11. The largest
            errors are NaN, with one `RecordWarning`, if only the end was saved without a watch, as
            are phase errors whose turns were not counted.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> c = pi.compare(pi.systems.oscillator, dt=0.1, t_end=90.0)
        >>> print(f"{c.summary()['rk4']['phase_error']:.5e} rad")
        -7.47323e-05 rad
        """
        return {key: dict(measures) for key, measures in self._measures.items()}

    @cached_property
    def _measures(self):
        known = {}
        with one_record_warning():
            return {
                key: measured(solution, known) | {"seconds": self._seconds.get(key)}
                for key, solution in self._found.items()
            }

    def table(self) -> Table:
        """Show the main results, a row per solution, as text or HTML.

        For a batch every cell gives the median and the worst trajectory. If the system has an
        exact solution, its energy comes first: a damped spring should lose some. Where E0 <= 0, for
        any trajectory, E(end)/E(0) gives way to the change of the energy, as in `energy_error`.

        Returns
        -------
        Table
            With `columns` and `rows` of text.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> c = pi.compare(pi.systems.oscillator, dt=0.1, t_end=90.0)
        >>> c.table().columns[:3]
        ('method', 'E(end)/E(0)', 'max energy error')
        """
        from .comparison_table import comparison_table

        return comparison_table(self)

    def plot(self, **keywords: Any) -> AxesArray:
        """Draw position, phase error, energy and phase portrait, a row of panels per dt.

        Parameters
        ----------
        **keywords
            As in `pyintegrate.plots.comparison`: panels, window, figsize, title and others.

        Returns
        -------
        ndarray of Axes
            (number of dt, number of panels); the figure is ``.figure``.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> c = pi.compare(pi.systems.oscillator, dt=[0.1, 0.25], t_end=90.0)
        >>> c.plot().shape  # doctest: +SKIP
        (2, 4)
        """
        from ..plots import comparison

        return comparison(self, **keywords)

    def to_pandas(self) -> Any:
        """The numbers of `summary()` as a DataFrame of pandas, a row for each solution."""
        return pandas().DataFrame.from_dict(self.summary(), orient="index")

    def animate(self, **keywords: Any) -> FuncAnimation:
        """Show the motions as an animation: see ``pi.plots.animate``."""
        from ..plots import animate

        return animate(self, **keywords)


class Comparisons(Several[Comparison]):
    """Comparisons of several systems by name; made by `compare`.

    Parameters
    ----------
    comparisons : dict
        Comparison by the name of the system, or by a label that distinguishes it from the others.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> springs = [pi.systems.spring(k=k, b=0.0) for k in (1.0, 15.0)]
    >>> c = pi.compare(springs, dt=0.1, t_end=9.0)
    >>> list(c), list(c["k = 1"])
    (['k = 1', 'k = 15'], ['rk4', 'semi_implicit_euler'])
    """

    _missing = "nothing compared is named", ""

    def __init__(self, comparisons: Mapping[Any, Comparison]) -> None:
        self._found = dict(comparisons)

    def summary(self) -> dict[Any, dict[Any, dict[str, Any]]]:
        """The numbers of `Comparison.summary`, by the names of the systems."""
        return {name: comparison.summary() for name, comparison in self.items()}

    def table(self) -> Table:
        """The tables of all comparisons in one.

        Returns
        -------
        Table
        """
        from .comparison_table import joint_table

        return joint_table(self)

    plot = Comparison.plot  # a row of panels for each system and dt
