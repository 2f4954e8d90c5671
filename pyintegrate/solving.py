"""`solve`: integration to a tolerance, with steps that are chosen for each trajectory."""

from __future__ import annotations

from .adaptive.adaptive_solution import AdaptiveSolution
from .adaptive.arguments import DEFAULT_RTOL, make_adaptive_run
from .adaptive.sensitivity import make_adaptive_run_with_tangents, warn_of_errors
from .solution.sensitivity import check_alone
from .values.keywords import explains_keywords
from .values.types import (
    Any,
    ArrayLike,
    Callable,
    DTypeLike,
    Event,
    Literal,
    Mapping,
    Method,
    Reduction,
    Sequence,
    Statistic,
    System,
)


@explains_keywords()
def solve(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: ArrayLike,
    t0: ArrayLike = 0.0,
    rtol: ArrayLike = DEFAULT_RTOL,
    atol: ArrayLike = 1e-9,
    method: str | Method = "auto",
    save: Literal["all", "final"] | None = None,
    times: ArrayLike | None = None,
    first_step: ArrayLike | None = None,
    max_step: ArrayLike | None = None,
    max_steps: int = 10**6,
    breaks: ArrayLike | None = None,
    bound: float | None = None,
    components: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    progress: bool | Callable[[int, int], object] = False,
    on_failure: Literal["warn", "raise", "ignore"] = "warn",
    out: Any = None,
    watch: str | Sequence[str] | Mapping[str, str | Reduction] | None = None,
    events: Mapping[str, Event] | None = None,
    across: Mapping[str, Statistic] | None = None,
    sensitivity: str | Sequence[str] | None = None,
) -> AdaptiveSolution:
    """Integrate a batch of trajectories to a tolerance, each with its own steps.

    Parameters
    ----------
    system : System
        One of ``pi.systems`` or a user-defined system; parameters may be arrays over the batch.
    x0, v0 : array_like, optional
        The start, as in ``pi.integrate``.
    t_end : array_like
        The last time, later or earlier than `t0`; one for all or one for each trajectory. It is
        reached exactly.
    t0 : array_like
        The first time.
    rtol, atol : array_like
        The error of a step in component y is at most atol + rtol |y|, in the root mean square over
        the components. Numbers, arrays over the batch, or arrays whose last axis is that of the
        components (recognised by its length). `atol` is in their units: of a motion of 1e-9 m the
        default of 1e-9 is all. `rtol` below 100 times the rounding unit of the
        dtype is raised to that, with a warning.
    method : str or Method
        A Runge-Kutta method with an error estimate (`embedded`), or for x'' = a(t, x) a Nystrom
        pair. "auto" takes "verner98"; or "verner87" where `rtol` is at least 1e-8 and the force
        is built in, or made of sines, cosines, branches and polynomials up to degree 9. For
        x'' = a(t, x) it takes "dormand_prince_rkn86", or "dormand_prince_rkn1210" below 1e-5. A
        trajectory that turns out to be stiff continues with "radau_iia5" (`stiff_since`), and with
        the first method where it is stiff no more. "rodas5p" is another method for stiff problems.
    save : {"all", "final"}, optional
        All accepted steps, or only the last state. Default: all for a single trajectory, the last
        state for a batch.
    times : array_like, optional
        The times to save at instead, between `t0` and `t_end` and in their order: (n,), or
        (n, *batch) with different times for each trajectory.
    first_step, max_step : array_like, optional
        Positive numbers, one for each trajectory or for all. Default: the first step is estimated
        from the problem; no limit.
    max_steps : int
        The most steps to try, accepted or rejected; a trajectory that needs more fails.
    breaks : array_like, optional
        Times at which a step ends and the next begins anew, (n,) or (n, *batch), in any order;
        those outside the run are ignored, until ``resume`` comes to them.
    bound : float, optional
        Largest magnitude of a component.
    components : sequence of str, optional
        Names of the components to save; default: all.
    dtype : float32 or float64, optional
        As in ``pi.integrate``.
    workers : int
        Threads; -1 for all cores. The result has the same bits for every value.
    progress : bool or callable
        True shows a bar; a callable gets (trajectories that have arrived, trajectories).
    on_failure : {"warn", "raise", "ignore"}
        What to do when a trajectory fails. It keeps its last good state, and the others continue.
    out : ndarray, optional
        Where the states saved by ``times`` or ``save="final"`` go: (n_saved, *batch,
        components), of the run's dtype.
    watch : str, sequence of str, or mapping of str to a name or to a watch, optional
        As in ``pi.integrate``, but over the whole motion, within steps too: means and the like are
        integrals over time. total, count and ``every=`` count steps, and are refused. Both sides of
        a jump are seen.
    events : mapping of str to Event, optional
        As in ``pi.integrate``, located to rounding by shortened steps of the method. A jump ends
        the step, and the next begins from it. ZENO: more than `max_per_step` jumps in a row
        without progress in time.
    across : mapping of str to statistics, optional
        As in ``pi.integrate``, of the states at `times`.
    sensitivity : str or sequence of str, optional
        Keep the derivatives of all saved states with respect to these, in
        ``solution.sensitivity["k"]``: as in ``pi.integrate``, exact for the steps taken. The steps
        are chosen for the motion alone, and the states agree to the tolerance with those of a run
        without this option; to include the tangents in the error control, solve
        ``system.tangent(...)``. After close encounters give a smaller `rtol`.

    Returns
    -------
    AdaptiveSolution
        A ``Solution`` with `steps_taken`, `rejected`, `evaluations`, `last_step` and
        `stiff_since`, (*batch).

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs; a method without an error estimate.
    MemoryError
        More accepted steps than fit the machine's memory; its ``solution`` has the last states.
    IntegrationError
        A failed trajectory and ``on_failure="raise"``; its ``solution`` has the rest.
    KeyboardInterrupt
        Ctrl-C; in its ``solution`` the trajectories that had not arrived are CANCELLED.

    References
    ----------
    Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.4. Gustafsson
    (1994), ACM Trans. Math. Softw. 20, 496-517.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> e = np.linspace(0.1, 0.9, 9)  # orbits of period 2 pi, begun at the pericentre
    >>> x0 = np.stack([1 - e, 0 * e, 0 * e, np.sqrt((1 + e) / (1 - e))], axis=-1)
    >>> sol = pi.solve(pi.systems.kepler, x0, t_end=2 * np.pi, rtol=1e-9, atol=1e-12)
    >>> bool(abs(sol.final - x0).max() < 1e-6), sol.steps_taken.shape
    (True, (9,))
    """
    given = locals()
    if sensitivity is not None:
        check_alone(given)
        *laid_out, names = make_adaptive_run_with_tangents(system, x0, v0, sensitivity, given)
        return AdaptiveSolution._with_tangents(
            lambda: warn_of_errors(AdaptiveSolution.of_run(*laid_out), names), names
        )
    return AdaptiveSolution.of_run(*make_adaptive_run(system, x0, v0, given))
