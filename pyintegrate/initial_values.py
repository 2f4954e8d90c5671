"""`solve_ivp`: the arguments and the result of SciPy's, over `solve`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from .adaptive.arguments import rounded_times
from .errors import Status
from .solving import solve
from .system.system import System
from .trace.frozen import Holders, writes
from .user_system.callback import CallbackSystem, write_rows
from .user_system.definition import Definition
from .values.checks import floats, truth
from .values.keywords import explains_keywords
from .values.types import Any, ArrayLike, Callable, Floats, Function, Method, Sequence
from .watching.events import event

_FAR = 1e300  # where a run without an end ends
# Arguments of solve without a place here.
_OWN = {
    "system", "x0", "v0", "t0", "t_end", "save", "times", "components", "out", "watch", "across",
    "sensitivity", "on_failure",
}  # fmt: skip
_OTHERS = {"BDF": "radau_iia5", "LSODA": "auto"}
_MESSAGES = (
    "The solver successfully reached the end of the integration interval.",
    "A termination event occurred.",
    "Required step size is less than spacing between numbers.",
)
_MOST_IN_ARRAYS = 4000  # beyond which to call a function takes as long as to run its byte code


@dataclass(eq=False)
class OdeResult(Mapping[str, Any]):
    """The result of ``pi.solve_ivp``, with SciPy's fields, as attributes or items.

    Attributes
    ----------
    t : ndarray, shape (n_points,)
    y : ndarray, shape (n, n_points)
    sol : callable or None
        ``sol(t)``: the states at any times of the run, (n,) or (n, len(t)); ``sol.ts`` are those
        of its steps, from ``sol.t_min`` to ``sol.t_max``.
    t_events, y_events : list of ndarray or None
        The times of each event, (n_found,), and the states there, (n_found, n).
    nfev, njev, nlu : int
        Evaluations of the force, of its Jacobian, factorizations.
    status : int
        0 at the end of `t_span`, 1 at a terminal event, -1 where the run failed.
    message : str
    success : bool
        Whether `status` is 0 or 1.
    """

    t: Floats
    y: Floats
    sol: Callable[[ArrayLike], Floats] | None
    t_events: list[Floats] | None
    y_events: list[Floats] | None
    nfev: int
    njev: int
    nlu: int
    status: int
    message: str
    success: bool

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))


@explains_keywords(solve)
def solve_ivp(
    fun: Function,
    t_span: Sequence[float],
    y0: ArrayLike,
    method: str | Method | type = "RK45",
    t_eval: ArrayLike | None = None,
    dense_output: bool = False,
    events: Function | Sequence[Function] | None = None,
    vectorized: bool = False,
    args: Sequence[Any] | None = None,
    *,
    rtol: ArrayLike = 1e-3,
    atol: ArrayLike = 1e-6,
    jac: Any = None,
    jac_sparsity: Any = None,
    lband: Any = None,
    uband: Any = None,
    **options: Any,
) -> OdeResult:
    """Solve y' = fun(t, y): SciPy's ``solve_ivp``, with its arguments and its results.

    A function that can be traced runs in C, any other is called as SciPy calls it, and so is one
    that keeps values outside of it or computes with large arrays (some thousand elements).
    ``pi.solve`` takes batches, and what is watched.

    Parameters
    ----------
    fun : callable
        ``fun(t, y, *args)`` -> n real numbers.
    t_span : (float, float)
        First and last time; the last may be infinite.
    y0 : array_like, shape (n,)
    method : str, Method or class
        "RK23", "RK45", "DOP853", "Radau", or any other that ``pi.solve`` takes. "BDF" runs
        "radau_iia5" and "LSODA" runs "auto", for the same problems.
    t_eval : array_like, optional
        Times of the result, in order; default: the steps.
    dense_output : bool
        Whether the result has ``sol(t)``.
    events : callable or sequence of callable, optional
        ``event(t, y, *args)`` -> a number, with the attributes ``terminal`` (True or a count) and
        ``direction``; traced, and located as ``pi.event`` says. A zero at the start counts.
    vectorized : bool
        Whether `fun` takes y of shape (n, k).
    args : sequence, optional
        Further arguments of `fun` and of the events.
    rtol, atol : float or array_like, shape (n,)
    jac, jac_sparsity, lband, uband
        Not used: derivatives are those of the traced function, or differences.
    **options
        Those of ``pi.solve``: `first_step`, `max_step`, `max_steps`, `workers`.

    Returns
    -------
    OdeResult
        With t, y (n, n_points), sol, t_events, y_events, nfev, njev, nlu, status, message, success.

    Raises
    ------
    TypeError, ValueError
        A wrong argument, before anything runs; a time outside of the run in ``sol(t)``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> def fall(t, y):
    ...     return [y[1], -9.8]
    >>> def ground(t, y):
    ...     return y[0]
    >>> ground.terminal, ground.direction = True, -1
    >>> res = pi.solve_ivp(fall, (0, 100), [0, 49], events=ground)
    >>> res.message, res.t_events[0].round(9)
    ('A termination event occurred.', array([10.]))
    """
    for word in options.keys() & _OWN:
        raise TypeError(f"solve_ivp takes no {word}, which is an argument of pi.solve")
    if isinstance(fun, System) or not callable(fun):
        raise TypeError(f"fun must be a function of (t, y), got {fun!r}; pi.solve takes a System")
    span = floats("t_span", t_span)
    if span.shape != (2,):
        raise ValueError(f"t_span must be the first and the last time, got {t_span!r}")
    t0, t_end = np.clip(span, -_FAR, _FAR)
    try:
        start = np.atleast_1d(floats("y0", y0))
    except TypeError as error:
        cure = "y0 is complex: let u = (y.real, y.imag) be the state, two numbers for each"
        raise (TypeError(cure) if np.iscomplexobj(y0) else error) from None
    if start.ndim != 1 or not np.isfinite(start).all():
        raise ValueError(f"y0 must be finite numbers in one dimension, got {y0!r}")
    for word, value in {"rtol": rtol, "atol": atol, **options}.items():
        shape = np.asarray(value).shape  # also of a type
        one = {"rtol": start.shape, "atol": start.shape, "breaks": shape[:1]}
        if shape not in ((), one.get(word)):
            fits = f"a number or {len(start)} of them, as y0; " if word in one else ""
            raise ValueError(f"{word} has shape {shape}: {fits}pi.solve takes batches")
    try:
        args = () if args is None else tuple(args)
    except TypeError:
        raise TypeError(f"args must be a tuple, got {args!r}: args=({args!r},)") from None
    several = events if isinstance(events, list | tuple) else [] if events is None else [events]
    for one in several:
        if not callable(one):
            raise TypeError(f"events must be functions of (t, y), got {one!r}")
    looked_at = [_bound(one, args) for one in several]
    times = None if t_eval is None else rounded_times(t_eval, t0, t_end, (), float, "t_eval")
    bound = _bound(fun, args)
    system = None if writes(fun) else _traced(bound, start)
    system = system or _called(bound, start, vectorized)
    name: Any = getattr(method, "__name__", method)
    if isinstance(name, str):
        name = _OTHERS.get(name.upper(), name)
    keep = 100
    while True:
        run = solve(
            system, start, t0=t0, t_end=t_end, method=name, save="all",
            rtol=rtol, atol=atol, on_failure="ignore", **options,
            events={str(i): event(one, keep=keep) for i, one in enumerate(looked_at)} or None,
        )  # fmt: skip
        most = max([int(one.count) for one in run.events.values()], default=0)
        if most <= keep:
            break
        keep = most
    near = run.t[:2][-1], run.y[:2][-1]
    last, end, found, status = run.t[-1], None, [], 0 if run.status == Status.OK else -1
    for i, one in enumerate(looked_at):
        kept = run.events[str(i)]
        t, y = kept.t[np.isfinite(kept.t)], kept.y[np.isfinite(kept.t)]
        if one(t0, start) == 0 <= one(*near) * getattr(one, "direction", 0):  # as SciPy counts
            t, y = np.append(t0, t), np.append(start[None], y, axis=0)
        found.append((t, y))
        count = int(getattr(one, "terminal", 0) or keep + 2)
        if len(t) >= count and abs(t[count - 1] - t0) <= abs(last - t0):
            last, end, status = t[count - 1], y[count - 1], 1
    found = [(t[seen], y[seen]) for t, y in found for seen in [abs(t - t0) <= abs(last - t0)]]
    before = abs(run.t - t0) < abs(last - t0)
    steps, end = np.append(run.t[before], last), run.y[-1] if end is None else end
    if times is None:
        times, states = steps, np.append(run.y[before], end[np.newaxis], axis=0)
    else:
        ended = abs(times - last) <= 2e-15 * abs(last)  # an event stops just before its time
        kept = ended | (abs(times - t0) < abs(last - t0))
        times, ended = times[kept], ended[kept]
        states = run.at(np.where(ended, last, times))
        states[ended] = end
    dense = partial(_states, run)
    vars(dense).update(ts=steps, t_min=min(t0, last), t_max=max(t0, last))
    jacobians = int(run.steps_taken + run.rejected if run.method.implicit else run._stiff_tries)
    return OdeResult(
        times, states.T, dense if truth("dense_output", dense_output) else None,
        None if events is None else [t for t, _ in found],
        None if events is None else [y if len(t) else t for t, y in found],
        int(run.evaluations), jacobians, jacobians, status,
        run.failures() if run.status == Status.TOO_MANY_STEPS else _MESSAGES[status], status >= 0,
    )  # fmt: skip


def _states(run, t):
    return run.at(t).T


def _bound(function, args):
    """The function of (t, y) alone, with its attributes."""

    def bound(t, y):
        return function(t, y, *args)

    for word in ("terminal", "direction"):
        if hasattr(function, word):  # also of its class
            setattr(bound, word, getattr(function, word))
    bound.__name__ = getattr(function, "__name__", "fun")
    return bound


def _traced(fun, start):
    """The function as a traced System, or None: it is called."""
    system, outside = None, Holders(fun)
    definition = Definition("rhs", fun, len(start), {"name": "fun", "initial": start})
    definition.most_in_arrays = _MOST_IN_ARRAYS
    with suppress(Exception):  # whatever it does with symbols: it is called with numbers
        system = definition.system()
    return system if not outside.restored() else None


def _called(fun, start, vectorized):
    """The function as a System that calls it."""

    def one(lane, t, y):
        """The first lane is of the run; others may be idle, at the start or at any numbers."""
        try:
            value = fun(t, y[:, np.newaxis] if vectorized else y)
            found = np.array(value).ravel()
        except Exception:
            if lane == 0:
                raise
            return np.full(len(start), np.nan)
        if len(found) != len(start):
            got = "None" if value is None else f"{len(found)} numbers"
            raise ValueError(f"{fun.__name__}() returns {got}, y0 has {len(start)} numbers")
        if found.dtype.kind != "f":  # whatever is no number is refused
            given, found = found[:, np.newaxis], np.empty(len(start))
            write_rows(fun, given, found[:, np.newaxis])
        return found

    idle, known, slopes = None, {}, np.empty(0)  # of the last call

    def each(t, y):
        nonlocal idle, known, slopes
        now = np.concatenate((t[np.newaxis], y))
        others = now.shape, now.dtype, now[:, 1:].tobytes()
        if others == idle:
            lanes = range(1)
        else:
            lanes, slopes = range(len(t)), np.empty_like(y)
        before, known, idle = known, {}, None  # nothing is known, if the function fails
        for lane in lanes:
            at = now[:, lane].copy()
            if (key := at.tobytes()) not in known:
                known[key] = before[key] if key in before else one(lane, at[0], at[1:])
            slopes[:, lane] = known[key]
        idle = others
        return slopes

    each.__name__ = fun.__name__
    options = {"name": "fun", "initial": start, "trace": False}
    called = Definition("rhs", each, len(start), options).called()
    return _OneMotion(called.definition, {})


class _OneMotion(CallbackSystem):
    """A force without parameters, which answers the core at once."""

    def _asked(self):
        return self._answer

    def _answer(self, question, lanes, t, y, v, p, out):
        dtype = f"f{len(t) // lanes}"
        with np.errstate(all="ignore"):
            t, y = np.frombuffer(t, dtype), np.frombuffer(y, dtype).reshape(-1, lanes)
            np.frombuffer(out, dtype)[:] = self.definition.function(t, y).ravel()
