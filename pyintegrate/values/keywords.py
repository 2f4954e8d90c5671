"""Keywords of other packages: the error of a call with one says what to write here."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

import numpy as np

from .._core import to_nearest

Function = TypeVar("Function", bound=Callable)

_STEP = (
    "the step is fixed: give dt; pi.solve(system, t_end=..., rtol=...) goes to a tolerance, and"
    " pi.advise(system, t_end=..., error=...) finds a step"
)
_A_PAIR = "; methods=[('dop853', pi.tolerance(1e-9))] goes to one beside fixed steps"
_STATE = "give the start as x0, the whole state, or as x0 and v0"
_END = "the last time is t_end; the first is t0, 0 by default"
_TOLERANCES = "rtol", "atol", "first_step", "max_step"
_STEPS = "give dt, and t_end or n_steps"
_ESTIMATE = "the weights of the error estimate are b_embedded="
_METHOD = "name the {method}; pi.methods.table() shows them"
_SYSTEM = "the system is the first argument: a System, made of a function by @pi.rhs(dim=...)"

_TIMES = "times= keeps the states at any times, save= those of every k-th step or of named steps"
# The words of SciPy and others -> what to write here.
_ELSEWHERE = {
    "args": "parameters belong to the system: system(k=15.0), where the force takes k by name",
    "params": "parameters belong to the system: system(k=15.0)",
    "events": "pi.integrate, pi.solve and pi.Stepper do: events={{'hit': pi.event(g)}}",
    "dt": "its steps are found, and differ between trajectories; pi.integrate takes dt",
    "n_steps": "runs end at t_end=; a pi.Stepper makes n steps by stepper.step(n)",
    "max_steps": "pi.solve does, and its resume uses the same number; steps of one length"
    " are counted by n_steps=",
    "drive": "pi.integrate takes it, and stepper.params change between steps; for pi.solve the"
    " force has the time as t, and breaks= are where it jumps",
    "start": "pi.integrate and pi.Stepper take it, for methods that remember earlier states",
    "on_failure": "status tells which trajectories failed",
    "min_step": "steps are as small as the tolerance needs; max_steps= is the most of them",
    "T": "the last time is t_end",
    "t": f"{_END}; sol.at(t) gives the states at any times",
    "dense_output": "sol.at(t) gives the states at any times within the run",
    "vectorized": "a force is written for one trajectory, and runs over any batch",
    "sensitivity": "pi.integrate and pi.solve take sensitivity=",
    "terminal": "stop=True ends the trajectory there, stop=n at the n-th time",
    "affect": "then=lambda t, x, v: (x, -v) gives the state after the event",
    "p0": f"{_STATE}; a fit begins at the parameters of its system, system(k=1.0)",
    "bounds": "free={{'k': (low, high)}} bounds a parameter",
    "bridge": "an event has one: events={{'top': pi.event('y', stop=True, bridge=True)}}",
    "Mass": "of M y' = f return inverse @ f, with inverse = np.linalg.inv(M) outside",
    "callback": "pi.integrate has watch={{...}} for quantities at each step, and progress=; a"
    " pi.Stepper hands over the state at each step",
}
for _cure_of, _words in {
    _STATE: "y0 u0 q0 z0 initial",
    "pi.integrate takes systems with noise, at fixed steps: dt=..., seed=...": "seed substeps",
    "noise has a seed, a whole number: seed=1": "rng random_state",
    _TIMES: "t_eval saveat save_at save_every ts",
    "threads are workers=, -1 for all cores": "n_jobs parallel n_threads num_workers",
    _END: "t_span tspan t1 tf tmax t_final",
    _STEP: "rtol atol tol reltol abstol first_step max_step dt0 dtmax initialstep maxstep",
    _STEPS: "h step step_size timestep N num_steps",
    _SYSTEM: "fun func f",
    _METHOD: "integrator solver alg",
    "the batch has the shape of the starts and parameters: x0 of shape (n, dim)": "batch"
    " batch_size num_envs n_envs trajectories n_trajectories num_trajectories n_paths",
    "transient= is the time that is left out at the start": "Ttr",
    "what is crossed is subtracted, lambda t, y: y[2] - 27; an event takes level=, crossings of a"
    " component value=": "value level",
    _ESTIMATE: "b_hat bhat",
    "implicit methods take the Jacobian from the system, which derives it by itself": "jac Dfun"
    " jacobian",
}.items():
    _ELSEWHERE |= dict.fromkeys(_words.split(), _cure_of)

# Some of these are said only by functions that take this argument.
_NEEDED = {_STATE: "x0", _STEP: "dt", _STEPS: "dt"}
_NEEDED |= {_ELSEWHERE["dt"]: "rtol", _ELSEWHERE["T"]: "t_end", _ELSEWHERE["bounds"]: "free"}

# Attributes of solve_ivp's result -> those of a Solution.
RESULTS = {
    "params": "sol.system.params are those of the system",
    "states": "sol.y are the states at the times sol.t",
    "times": "sol.t are the times of the saves",
    "time": "sol.t are the times of the saves",
    "to_csv": "sol.to_pandas().to_csv('run.csv') writes a table",
    "to_netcdf": "sol.to_xarray().to_netcdf('run.nc') writes one",
    "nfev": "sol.evaluations counts those of the force",
    "success": "sol.n_failed counts the trajectories that failed, and sol.status has one for each",
    "message": "sol.failures() says which trajectories failed, when and why",
    "t_events": "sol.events['name'].t are the times of an event",
    "y_events": "sol.events['name'].y are the states at an event",
    "sol": "sol.at(t) gives the states at any times within the run",
}


def explains_keywords(
    *rest: Callable, by: Callable | None = None
) -> Callable[[Function], Function]:
    """A decorator for functions of a system: the error for a wrong keyword says what to write.

    A call that succeeds is unchanged, except that it rounds to nearest. In IPython an error of an
    argument shows the call, not how it was checked. Signature and types stay as they are.

    Parameters
    ----------
    *rest : callable
        The functions that take its ``**options``: their names are known too.
    by : callable, optional
        The function that is called in its place, with the arguments that were given alone.

    Examples
    --------
    >>> @explains_keywords()
    ... def run(system, *, dt):
    ...     return dt
    >>> run("spring", h=0.1)
    Traceback (most recent call last):
    TypeError: run takes no h: give dt, and t_end or n_steps
    """

    def decorate(function):
        work = by or function
        work.__qualname__ = function.__qualname__  # which its errors name

        @wraps(function)
        def checked(*arguments, **keywords):
            try:
                return to_nearest(work, *arguments, **keywords)
            except TypeError as error:
                message = _explanation(function, rest, arguments, keywords, error)
                if not message:
                    _shorten(error)
                    raise
            except (ValueError, LookupError) as error:
                _shorten(error)
                if str(error).startswith("setting an array element"):  # of NumPy
                    _refuse_ragged(dict(zip(inspect.signature(function).parameters, arguments)))
                    _refuse_ragged(keywords)
                raise
            raise TypeError(message)

        return checked

    return decorate


def _refuse_ragged(given):
    for name, value in given.items():
        try:
            np.shape(value)
        except ValueError as error:
            raise ValueError(f"{name} must be a regular array: {error}") from None


def _shorten(error):
    """Take the frames within this package, if there are no others, from an error in IPython."""
    if not hasattr(builtins, "__IPYTHON__"):
        return
    from traceback import walk_tb

    frames = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    if all(n.startswith("pyintegrate.") for n in frames):
        error.__traceback__ = None


def _explanation(function, rest, arguments, keywords, error):
    """The mistake in a call that raised a TypeError, if it is in its keywords or their order."""
    signature = inspect.signature(function)
    taken = [p for f in (function, *rest) for p in inspect.signature(f).parameters.values()]
    named = (p.name for p in taken if p.kind is not p.VAR_KEYWORD and p.name != "self")
    known = list(dict.fromkeys(named))
    place = "pi.dask." if function.__module__.endswith(".dask") else ""  # it has solve, too
    name = place + function.__qualname__.removesuffix(".__init__")
    placed = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    given = dict(zip(placed, arguments)) | keywords
    system, wrong = given.get("system"), [word for word in keywords if word not in known]
    is_function = callable(system) and not hasattr(system, "rhs")
    parts = []
    times = {"dt", "t_end", "n_steps"}  # words that solve_ivp does not have
    timed = given.keys() & times or not times & {*known}
    start = given.get("x0")
    pair = isinstance(start, tuple | list) and len(start) == 2 and "x0" not in keywords
    if not timed and pair and (is_function or "v0" in given):
        parts.append(
            f"{name} takes (system, x0, v0), not solve_ivp's (fun, t_span, y0), which"
            f" pi.solve_ivp takes: {_STATE}; {_END}"
        )
    for word in wrong:
        parts.append(f"{name} takes no {word}: {_cure(word, known, system)}")
        if name == "compare" and _ELSEWHERE.get(word) is _STEP:
            parts[-1] += _A_PAIR
    if isinstance(start[0] if isinstance(start, list | tuple) and start else start, str):
        start = str(error).partition(": x0 is")[0]  # of a function that it calls
        parts.append(f"{start}: x0 is the start; {_METHOD.format(method=_method(known))}")
    if hasattr(system, "failures"):
        parts.append(f"{name} takes a system, not a solution: that of a solution is sol.system")
    others = [f"{word}=..." for word in known if word not in placed][:3]
    if not parts and others and len(arguments) > len(placed):
        own = ", ".join(word for word in placed if word != "self")
        parts.append(f"{name} takes {own} by place, all else by name: {', '.join(others)}")
    for word, cure in (("dt", _STEP), ("t_end", _END)):
        needed = signature.parameters.get(word)
        absent = needed and needed.default is needed.empty and word not in given
        if not parts and absent and f"'{word}'" in str(error):
            missing = re.sub(r"^[\w.]+\(\)", f"{name}()", str(error))  # whichever function checked
            parts.append(f"{missing}: {cure}")
    if parts and is_function and not any(_SYSTEM in part for part in parts):
        parts.append(_SYSTEM)
    return "\n".join(parts)


def _cure(word, known, system=None):
    if word.rstrip("_0") in getattr(system, "state_names", ()):
        return f"{_STATE}; the state is ({', '.join(system.state_names)})"
    if word in getattr(system, "params", ()):
        if "params" in known:  # of pi.dask
            return f"what varies goes into params={{{word!r}: ...}}"
        return f"parameters belong to the system: {system.name}({word}=...)"
    lower = word.lower()  # MATLAB has RelTol, MaxStep
    cure = _ELSEWHERE.get(word) or (lower not in known and _ELSEWHERE.get(lower))
    if cure is _STEPS and "dt" not in known:
        cure = _ELSEWHERE["dt"]
    if cure is _STEP and "rtol" in known:
        return f"it takes {', '.join(n for n in known if n in _TOLERANCES)}"
    if cure is _TIMES and "times" not in known:
        return f"pi.integrate and pi.solve take them: {_TIMES}"
    if cure and _NEEDED.get(cure, known[0]) in known:
        return cure.format(method=_method(known))
    from difflib import get_close_matches

    if near := get_close_matches(word, known, n=2):
        return f"did you mean {' or '.join(near)}?"
    on = "a run goes on as it began; " * (known[:2] == ["n_steps", "t_end"])
    return f"{on}it takes {', '.join(known)}"


def _method(known):
    return "methods=[...]" if "methods" in known else "method=..."
