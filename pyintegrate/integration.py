"""`integrate`, the main function: arguments become a run, and the run a Solution."""

from __future__ import annotations

from functools import partial

from .method.catalogue import RK4
from .run.arguments import checked_run
from .run.output import check_out
from .solution.fixed_steps import FixedSolution
from .solution.sensitivity import check_alone, with_tangents
from .values.keywords import explains_keywords
from .values.types import (
    Any,
    ArrayLike,
    Callable,
    DTypeLike,
    Event,
    Floats,
    Integers,
    Literal,
    Mapping,
    Method,
    Reduction,
    Sequence,
    Statistic,
    SupportsIndex,
    System,
)


def _integrate(system, x0=None, v0=None, *, sensitivity=None, **given):
    """`integrate`, from the keywords that it was given."""
    if sensitivity is not None:
        check_alone(given)
        both, names, state, dtype = with_tangents(system, sensitivity, x0, v0, given.get("dtype"))
        call = partial(integrate, both, state, **given | {"dtype": dtype})
        return FixedSolution._with_tangents(call, names)
    problem, options = checked_run(system, x0, v0, **given)
    if options.out is not None:
        names = ("dt", "t0", "t_end", "start")
        inputs = {"x0": x0, "v0": v0, **{name: given.get(name) for name in names}}
        check_out(problem, options, inputs | dict(given.get("drive") or {}))
    if options.watch is not None and options.watch.groups and problem.n_steps:
        from .watching.beginning import check_watched

        check_watched(options.watch, problem)
    return FixedSolution.of_run(problem, options)


@explains_keywords(by=_integrate)
def integrate(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    dt: ArrayLike,
    t_end: ArrayLike | None = None,
    n_steps: SupportsIndex | None = None,
    t0: ArrayLike = 0.0,
    method: str | Method = RK4,
    save: Literal["all", "final"] | SupportsIndex | Sequence[int] | Integers | Floats = "all",
    times: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    progress: bool | Callable[[int, int], object] = False,
    on_failure: Literal["warn", "raise", "ignore"] = "warn",
    bound: float | None = None,
    compensated: bool = False,
    start: str | Method | ArrayLike | None = None,
    drive: Mapping[str, ArrayLike] | None = None,
    out: Any = None,
    components: Sequence[str] | None = None,
    watch: Mapping[str, Reduction | str] | Sequence[str] | str | None = None,
    events: Mapping[str, Event] | None = None,
    across: Mapping[str, Statistic] | None = None,
    sensitivity: str | Sequence[str] | None = None,
    seed: SupportsIndex | None = None,
    first_trajectory: ArrayLike = 0,
    substeps: SupportsIndex = 1,
) -> FixedSolution:
    """Integrate a batch of trajectories at a fixed step.

    Parameters
    ----------
    system : System
        One of ``pi.systems`` or a user-defined system; parameters may be arrays over the batch.
    x0, v0 : array_like, optional
        ``x0`` alone is the whole state, shape (*batch, dim). With ``v0`` they are positions and
        velocities, each (*batch, dof), or (*batch) if dof = 1. A single number ``v0`` applies to
        every component; ``x0`` must give all of them. A non-separable Hamiltonian takes q0 and
        p0 in the same way. Default: ``system.initial``.
    dt : array_like
        The step [units of "t"], negative to integrate backwards; one for all or one for each
        trajectory.
    t_end : array_like, optional
        The last time; (t_end - t0)/dt must be an integer. Give it or `n_steps`.
    n_steps : int, optional
    t0 : array_like
        The first time. Step n is at t0 + n dt.
    method : str or Method
        Default for a system with noise: milstein, euler_maruyama if its noise is general,
        heun_stratonovich for a Stratonovich equation, baoab for a heat bath. Without noise: rk4.
    save : {"all", "final"}, int, or increasing array of int
        Every step; only the last state; every k-th step and the last; or the steps with these
        indices: ``np.unique(np.geomspace(1, n_steps, 100).round())``,
        ``range(n_steps - 1000, n_steps + 1)``.
    times : array_like, optional
        Instead of `save`: times within the run, (n,) or (n, *batch), in its direction. The states
        there are those of ``solution.at``: a part of the step that passes a time, made again by
        the method; with noise on the chord. Nothing else is stored, and nothing goes across a
        jump or a stop of `events`; after a stop or a failure the last state is repeated.
    dtype : float32 or float64, optional
        Default: float32 only if x0 (and v0) are float32 arrays or NumPy scalars, where Python
        numbers are ignored; float64 otherwise.
    workers : int
        Threads; -1 for all cores. The result has the same bits for every value.
    progress : bool or callable
        True shows a bar (tqdm if installed); a callable gets (steps done, steps).
    on_failure : {"warn", "raise", "ignore"}
        What to do when a trajectory fails: it is frozen at its last good state, and the others
        continue.
    bound : float, optional
        Largest magnitude of a component.
    compensated : bool
        Carry the rounding error of each addition to the state along, so that it does not
        accumulate: compensated sums, for every method except those of rigid motion and of planets.
        The cost is small if the force is expensive, and up to a factor of 10 if a step is cheap
        (docs/rounding.md); it needs memory for a second state. ``resume`` and files keep it.
    start : str, Method or array_like, optional
        The starter of a method that is not self-starting: a Runge-Kutta method for its first steps
        (default: one of sufficient order); for "stormer_verlet" "taylor" (the default,
        x0 - h v0 + h^2 a0 / 2) or the positions one step before the first, (*batch, dof), or
        (*batch) if dof = 1.
    drive : mapping of str to array_like, optional
        Parameters that change at every step: arrays (n_steps, *batch, *shape), whose entry n
        holds from step n to step n + 1. The force sees them; energies see the system's own, and
        functions of watches, events and statistics across the batch may not name them, and `times`
        is refused. Methods of several steps and Wisdom-Holman methods with a corrector remember the
        entries before, which makes them of order 1.
    out : ndarray, memmap or zarr array, optional
        Where the saved states go: shape (n_saved, *batch, components), of the run's dtype. It may
        be larger than memory. The `y` of an earlier solution is fastest, since it has the memory
        layout that the core writes.
    components : sequence of str, optional
        Names of the components to save; default: all.
    watch : mapping of str to watches, or names of analyses, optional
        Quantities to reduce for each trajectory without storing its states, from ``pi.watch``:
        ``{"swing": pi.watch.max_abs("energy_error")}``. Results are in ``solution.watched``. Names
        of analyses, alone, in a list or as values, watch everything that these need:
        "energy_drift", "phase_drift", "period_error". Then ``pi.analysis.energy_drift(solution)``
        and the like, and ``pi.plots.heatmap``, use all steps even if only the end was saved.
    events : mapping of str to events, optional
        Zeros to locate within the steps, from ``pi.event``, in order to record, stop or jump:
        ``{"ground": pi.event("z", direction=-1, stop=True)}``. Results are in ``solution.events``,
        ``solution.stopped_at`` and ``solution.stopped_by``.
    across : mapping of str to statistics, optional
        Statistics of quantities over the whole batch at steps 0, every, 2 every, ..., from
        ``pi.across``: ``{"band": pi.across.quantiles("x", [0.05, 0.5, 0.95], every=10)}``. Results
        are in ``solution.across``; memory does not grow with the batch.
    sensitivity : str or sequence of str, optional
        Keep the derivatives of all saved states with respect to these: "x0", "v0" and parameters.
        They are in ``solution.sensitivity["k"]``, and exact for the steps taken
        (``System.tangent``). The states agree to rounding with those of a run without this option.
        Not with watch, across, events, bound, out or components: integrate
        ``system.tangent(...)`` for those.
    seed : int, optional
        For a system with noise, which needs it: a whole number below 2**64. The noise depends on
        it, on the number of the trajectory and on the step, and on nothing else.
    first_trajectory : int or array_like of int
        The number of the first trajectory; or an array over the batch with that of each. The same
        number is the same noise: an array of zeros gives all parameters of a batch one path.
    substeps : int
        With noise: dW of a step is the sum of so many finer ones, so that dt with substeps=2 is
        driven by the path of dt/2.

    Returns
    -------
    FixedSolution

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs.
    MemoryError
        The result does not fit the machine's memory.
    IntegrationError
        A failed trajectory and ``on_failure="raise"``; its ``solution`` has the rest.
    KeyboardInterrupt
        Ctrl-C; its ``solution`` ends with the last block of steps that every trajectory completed.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.oscillator, np.linspace(0, 1, 5), 0.0, dt=0.01, n_steps=100)
    >>> sol.x.shape
    (101, 5)
    """
    raise NotImplementedError  # explains_keywords calls _integrate, with what was given alone
