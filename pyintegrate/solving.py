"""The verb for those who know the error and not the step: `solve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .adaptive.adaptive_solution import AdaptiveSolution
from .adaptive.arguments import USUAL_RTOL, make_journey
from .adaptive.sensitivity import make_journey_with_tangents
from .solution.sensitivity import check_alone
from .values.keywords import explains_keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from .method.method import Method
    from .system.system import System
    from .values.types import ArrayLike, DTypeLike
    from .watching.events import Event
    from .watching.reductions import Reduction


@explains_keywords()
def solve(
    system: System,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    t_end: ArrayLike,
    t0: ArrayLike = 0.0,
    rtol: ArrayLike = USUAL_RTOL,
    atol: ArrayLike = 1e-9,
    method: str | Method = "auto",
    save: Literal["all", "final"] | None = None,
    times: ArrayLike | None = None,
    first_step: ArrayLike | None = None,
    max_step: ArrayLike | None = None,
    max_steps: int = 10**6,
    bound: float | None = None,
    components: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    workers: int = 1,
    progress: bool | Callable[[int, int], object] = False,
    on_failure: Literal["warn", "raise", "ignore"] = "warn",
    out: Any = None,
    watch: str | Sequence[str] | Mapping[str, str | Reduction] | None = None,
    events: Mapping[str, Event] | None = None,
    sensitivity: str | Sequence[str] | None = None,
) -> AdaptiveSolution:
    """Integrate a batch of trajectories to a tolerance, each at steps of its own.

    Parameters
    ----------
    system : System
        What moves: one of ``pi.systems``, with parameters that may be arrays over the batch.
    x0, v0 : array_like, optional
        The start, as in ``pi.integrate``.
    t_end : array_like
        The last time, later or earlier than `t0`; one for all or one for each trajectory. It is
        reached exactly.
    t0 : array_like
        The first time.
    rtol, atol : array_like
        The error of a step in component y is at most atol + rtol |y|, in the mean square of the
        components. Numbers, arrays over the batch, or with a last axis of the components (as long
        as there are components): one for each. `rtol` below 100 roundings of the dtype is raised
        to that, with a warning.
    method : str or Method
        A Runge-Kutta method with an estimate of its error (`embedded`); "auto" takes "verner87",
        and "verner98" where the smallest `rtol` is below 1e-8; a trajectory that turns out to be
        stiff goes on by "radau_iia5" (`stiff_since`).
    save : {"all", "final"}, optional
        All accepted steps, or the last state. Default: all of a single trajectory, the last state
        of a batch.
    times : array_like, optional
        The times to save at instead, between `t0` and `t_end` and in their order: (n,), or
        (n, *batch) with times of its own for each trajectory.
    first_step, max_step : array_like, optional
        Positive numbers, for each trajectory or all. Default: found from the problem; no limit.
    max_steps : int
        The most steps to try, accepted or not; a trajectory that needs more fails.
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
        What to do when a trajectory fails: it keeps its last good state, and the others go on.
    out : ndarray, optional
        Where the saved states go, of ``times`` or of ``save="final"``: (n_saved, *batch,
        components), of the run's dtype.
    watch : str, sequence of str, or mapping of str to a name or to a watch, optional
        As in ``pi.integrate``: each accepted step is looked at, from the first state on. What adds
        up (mean, rms, variance, std, slope, integral) is weighed by time, by the trapezoidal rule;
        total, histogram, density and ``every=`` count steps, and are refused. A step that ends in a
        jump is seen on both its sides.
    events : mapping of str to Event, optional
        As in ``pi.integrate``: located to rounding, by steps of the method that are made shorter. A
        jump ends the step, and the next begins from it. ZENO: more jumps in a row than
        `max_per_step` that come no further in time.
    sensitivity : str or sequence of str, optional
        By what the derivatives of all saved states are kept, in ``solution.sensitivity["k"]``: as
        in ``pi.integrate``, exact for the steps made. The steps are chosen for the motion alone, as
        without; to have the errors of the tangents judged as well, solve ``system.tangent(...)``.

    Returns
    -------
    AdaptiveSolution
        A ``Solution`` with `steps_taken`, `rejected`, `evaluations`, `last_step` and
        `stiff_since`, (*batch).

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs; a method without an estimate of its error.
    MemoryError
        More accepted steps than the machine can hold; its ``solution`` has the last states.
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
    given = {
        "t_end": t_end, "t0": t0, "rtol": rtol, "atol": atol, "method": method, "save": save,
        "times": times, "first_step": first_step, "max_step": max_step, "max_steps": max_steps,
        "bound": bound, "components": components, "dtype": dtype, "workers": workers,
        "progress": progress, "on_failure": on_failure, "out": out, "watch": watch,
        "events": events,
    }  # fmt: skip
    if sensitivity is not None:
        check_alone(watch=watch, events=events, bound=bound, out=out, components=components)
        *laid_out, names = make_journey_with_tangents(system, x0, v0, sensitivity, given)
        return AdaptiveSolution._with_tangents(
            lambda: AdaptiveSolution.of_journey(*laid_out), names
        )
    return AdaptiveSolution.of_journey(*make_journey(system, x0, v0, given))
