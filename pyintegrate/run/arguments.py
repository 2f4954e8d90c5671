"""All checks and broadcasts of a run, once: arguments become a Problem and its Options."""

from contextlib import nullcontext
from math import isfinite, prod
from types import NoneType

import numpy as np

from .. import _core
from ..errors import quiet
from ..method.catalogue import RK4, DefaultMethod, find_method
from ..system.n_body import NBody
from ..system.system import System, components_of
from ..values.checks import DOUBLE, broadcast_shape, floats, integer
from ..values.memory import SPARE_BYTES, pad, padded, spread
from .options import DEFAULTS, Options, fitted, steps_of
from .problem import Problem, check_size
from .random_numbers import OF_NOISE, RandomNumbers, check_without
from .times import first_of, in_dtype

_WEAK = frozenset((NoneType, bool, int, float))
_SINGLE = np.dtype(np.float32)
_AS_IT_IS = nullcontext()


def make_run(*arguments, **keywords):
    """``checked_run`` with numbers rounded to nearest, whatever rounding mode has been set."""
    return _core.to_nearest(checked_run, *arguments, **keywords)


def checked_run(
    system, x0=None, v0=None, *, dt, t_end=None, n_steps=None, t0=0.0, method=RK4, dtype=None,
    start=None, drive=None, by_hand=False, **options,
):  # fmt: skip
    """Check the arguments of ``integrate`` and broadcast them; by_hand: those of a Stepper.

    Only what is given is looked at: an option that is left out has its default.

    Returns
    -------
    Problem, Options
    """
    method = fitting_method(system, method)
    noise = {name: options.pop(name) for name in OF_NOISE if name in options}
    options = Options.checked(system, options) if options else DEFAULTS
    if system.noise is not None:
        check_without(options)
    if plans := {} if options is DEFAULTS else _plans(system, method, options, by_hand):
        options = options.changed(**plans)
    dtype = checked_dtype(dtype, x0, v0)
    components, shapes = components_of(system, x0, v0)
    starter, past = None, []
    if start is not None:
        from .starter import check_start

        starter, past = check_start(start, method, system)
    remembered = 0
    if options.compensated or not method.self_starting:
        handle = system.core_for(method)
        remembered = _core.history_rows(handle, method.handle, options.compensated)
    components = system.ready(components, dtype)
    if system.batched:
        shapes |= system.batch_shapes
    dt = checked_times("dt", dt, dtype, shapes)
    t0 = checked_times("t0", t0, dtype, shapes)
    if drive is not None:
        from .drive import check_drive, driven_rows

        driven, driven_shapes = check_drive(drive, system, method, options)
        shapes |= driven_shapes
    if past:
        shapes["start"] = past[0].shape
    random = None
    if noise or system.noise is not None:
        random = RandomNumbers.checked(system, dt, **noise)
        if random is not None:
            shapes["first_trajectory"] = random.shape
            if random.substeps > 1 and method.strong_order is None:
                raise ValueError(
                    f"{method.name!r} is of weak order only: its steps are those of no path, so"
                    f" that substeps must be 1, got {random.substeps}; leave it out"
                )
    if t_end is not None:
        t_end = checked_times("t_end", t_end, DOUBLE, shapes)
    for plan in plans.values():
        shapes |= plan.shapes
    batch = broadcast_shape(shapes) if shapes else ()
    if (t_end is None) == (n_steps is None):
        got = "neither" if t_end is None else "both"
        raise ValueError(f"give exactly one of t_end and n_steps, got {got}")
    n_steps = integer("n_steps", n_steps, 0) if t_end is None else steps_between(dt, t0, t_end)
    if n_steps:
        check_steps(system, t0, dt, dtype)
    if options.steps is not None and (last := options.steps[-1]) > n_steps:
        raise ValueError(f"save has step {last}, and the run ends with step {n_steps}")
    if options.times is not None:
        if drive is not None:
            raise ValueError("times= goes between the steps, where a drive has no value: use save=")
        asked = fitted(options.times, batch, dt)
        places = steps_of(asked, t0, dt, n_steps, batch, dtype)
        options = options.changed(times=asked, steps=places)

    lanes = prod(batch)
    rows = system.dim + remembered
    if lanes * rows * (n_steps + 3) * dtype.itemsize >= SPARE_BYTES:
        check_size(system, batch, lanes, dtype, n_steps, options, rows)

    state = [*components, *past, *[0.0] * (remembered - len(past))] if remembered else components
    with _rounding(dtype, state):
        rows_dt = dt if type(dt) is float else _row(dt, batch, dtype)
        rows_t0 = t0 if type(t0) is float else _row(t0, batch, dtype)
        params = system.parameter_rows
        if random is not None:
            of_run = random.rows(dt, batch, n_steps)
            params = (*params[: -len(of_run)], *of_run)
        if random is not None or system.batched:
            params = tuple([_row(p, batch, dtype) for p in params])
        undriven, strides = params, None
        if drive:
            params, strides = driven_rows(driven, system, params, n_steps, batch, dtype)
        problem = Problem(
            system, method, dtype, batch, lanes, padded(lanes, dtype), dt, t0, rows_dt, rows_t0,
            params, undriven, spread(state, batch, dtype), n_steps, starter=starter,
            has_history=bool(past), drive_strides=strides, random=random,
        )  # fmt: skip
    if options.across is not None:
        from ..watching.batch.results import check_same_times

        check_same_times(problem)
    return problem, options


def _plans(system, method, options, by_hand):
    """What is watched, by the name of its option: with events a Plan, too, maybe of nothing."""
    plans: dict = {}
    numbers = {}
    if options.events is not None:
        from ..watching.events import EventPlan, check_method

        plans["events"] = EventPlan(system, options.events)
        check_method(method, plans["events"].events)
        numbers = plans["events"].given
    if plans or options.watch is not None or options.across is not None:
        from ..watching.plan import Plan

        plans["watch"] = Plan(system, options.watch, numbers, by_hand, across=options.across)
    return plans


def _row(value, batch, dtype):
    """A value as the core takes it: a float, or padded items; the same memory if it fits."""
    if type(value) is float:
        return value
    whole = value.shape == batch and value.dtype == dtype and value.flags.c_contiguous
    if whole and value.size == padded(value.size, dtype):  # read-only
        return value.reshape(-1)
    return pad([value], batch, dtype)[0]


def _rounding(dtype, rows):
    """Numbers may overflow or underflow in the run's dtype, without a warning."""
    if dtype is DOUBLE:
        for row in rows:
            if type(row) is not float and row.itemsize > 8:
                break
        else:
            return _AS_IT_IS
    return quiet()


# ---- system and method --------------------------------------------------------------------------

_REQUIREMENTS = _core.requirements

# Default methods: two to compare, and one to step by hand.
_DEFAULT_METHODS = {
    "first_order": ("rk4", "explicit_euler"),
    "second_order": ("rk4", "semi_implicit_euler"),
    "separable": ("rk4", "semi_implicit_euler"),
    "rigid_body": ("rigid_rk4", "rigid_semi_implicit_euler"),
}


def fitting_method(system, method):
    """The Method that a name stands for, which fits the structure of the system."""
    if not isinstance(system, System):
        checked_system(system)
    if type(method) is DefaultMethod:
        method = system.default_method
    if type(method) is str:  # one that fits the structure once always does
        if method not in system.fitting:
            found = find_method(method)
            check_structure(found, system)
            system.fitting[method] = found
        return system.fitting[method]
    method = find_method(method)
    check_structure(method, system)
    return method


def checked_system(system):
    """The system; a TypeError with the remedy if it is something else."""
    if isinstance(system, System):
        return system
    cure = ""
    if isinstance(system, str):
        cure = f": use pi.systems[{system!r}]"
    elif callable(system) and not isinstance(system, type):
        cure = (
            ": make one of the function with @pi.rhs, which takes f(t, y) with y' = f, or with"
            " @pi.acceleration, which takes a(t, x, v) with x'' = a"
        )
    raise TypeError(f"system must be a System, got {type(system).__name__}{cure}")


def checked_quiet(system):
    """The system; refused if it has noise."""
    if checked_system(system).noise is not None:
        raise ValueError(
            f"{system.name!r} has noise, and a start has many motions: make a system of its drift"
        )
    return system


def default_methods(system):
    """The two default methods of a comparison of a system; for any structure."""
    if system.noise is not None:
        return tuple(dict.fromkeys((system.default_method, "euler_maruyama")))
    if system.structure == "first_order" and system.positions:  # a non-separable Hamiltonian
        return ("rk4", "implicit_midpoint")
    return _DEFAULT_METHODS[system.structure]


def default_stepper(system):
    """The method that a Stepper of a system takes by default."""
    if system.noise is not None:
        return system.default_method
    return _DEFAULT_METHODS[system.structure][system.structure != "first_order"]


def check_structure(method, system):
    """Refuse a method that needs a structure which the system lacks."""
    meaning, structures = _REQUIREMENTS[method.requires]
    if method.family == "noise" and system.noise is None:
        raise ValueError(
            f"method {method.name!r} is for equations with noise, and {system.name!r} has none:"
            " make one by @pi.sde or pi.langevin, or use another method, such as 'rk4'"
        )
    if system.structure in structures and (
        method.requires != "n_body" or isinstance(system, NBody)
    ):
        if method.velocity_free and system.velocity_dependent:
            raise ValueError(
                f"method {method.name!r} is for x'' = a(t, x): it has no velocity to ask the force"
                f" with, and that of {system.name!r} sees the velocity; use one that requires"
                " 'any', such as 'rk4', or 'separable', such as 'velocity_verlet'"
            )
        if refusal := system.refusal(method):
            raise ValueError(refusal)
        return
    cure = "one that requires 'any', such as 'rk4'"
    if method.requires == "quadratic_kinetic" and system.structure == "separable":
        cure = "one that requires 'separable', such as 'blanes_moan4', or 'any', such as 'rk4'"
    raise ValueError(
        f"method {method.name!r} needs a {method.requires} system ({meaning}), and"
        f" {system.name!r} is {system.structure}; use {cure}"
    )


# ---- dtype --------------------------------------------------------------------------------------


def checked_dtype(dtype, x0, v0):
    """The dtype of a run; by default float32 if all arrays of the state are."""
    if dtype is None:
        # A Python number has no precision of its own, as in NumPy (NEP 50).
        if type(x0) in _WEAK and type(v0) in _WEAK:
            return DOUBLE
        for a in (x0, v0):
            if type(a) not in _WEAK:
                given = getattr(a, "dtype", None)
                if given is DOUBLE or given != _SINGLE:
                    return DOUBLE
        return _SINGLE
    try:
        dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype must be float32 or float64, got {dtype!r}") from None
    if dtype not in (np.float32, np.float64) or not dtype.isnative:
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    return dtype


# ---- times --------------------------------------------------------------------------------------


def checked_times(name, value, dtype, shapes):
    """A float, or a read-only array of floats: finite in the dtype too, and dt is not zero.

    The shape of an array goes into `shapes`.
    """
    if type(value) is float and dtype is DOUBLE and isfinite(value) and (value or name != "dt"):
        return value
    value = floats(name, value)
    value.flags.writeable = False
    with quiet():
        rounded = np.asarray(value, dtype)
    good = np.isfinite(rounded) & ((rounded != 0) | (name != "dt"))
    if not good.all():
        rule = "finite and non-zero" if name == "dt" else "finite"
        raise ValueError(f"{name} must be {rule}, got {first_of(value, ~good)} (in {dtype.name})")
    shapes[name] = value.shape
    return value if value.ndim else float(value)


def check_steps(system, t0, dt, dtype):
    """Refuse steps that take no time, if the force depends on it."""
    if (type(t0) is not float or t0) and system.definition.time_dependent:
        check_moves("dt", dt, t0 + dt, t0, dtype)


def check_moves(name, value, later, t0, dtype):
    """Refuse a later time that the run's dtype rounds to t0: the force would see no time go by."""
    lost = np.asarray(in_dtype(later, dtype) == in_dtype(t0, dtype))
    if later is value:  # t_end = t0 is a run of no steps
        lost = lost & (later != t0)
    if lost.any():
        raise ValueError(
            f"{name} = {first_of(value, lost)} is lost in the rounding of t0 = {first_of(t0, lost)}"
            f" to {dtype.name}: count the time from nearer to 0"
            + ", or give dtype=np.float64"
            * (dtype != DOUBLE)
        )


def fitting_end(t_end, dtype, batch):
    """An end time, which must fit a given batch."""
    shapes = {"the solution": batch}
    t_end = checked_times("t_end", t_end, dtype, shapes)
    if broadcast_shape(shapes) != batch:
        raise ValueError(f"t_end has shape {np.shape(t_end)}: it does not fit the batch {batch}")
    return t_end


def steps_between(dt, t0, t_end):
    """The number of steps from t0 to t_end, an integer and the same for every trajectory."""
    with quiet():
        quotient = (np.asarray(t_end, dtype=np.float64) - t0) / dt
    ratio = np.ravel(quotient)
    if np.any(abs(ratio) > 1 << 53) or not np.all(np.isfinite(ratio)):
        raise ValueError("(t_end - t0) / dt is more than 2**53 steps: t_end, t0 or dt is wrong")
    if not ratio.size:
        return 0
    n = np.rint(ratio)
    if n[0] < 0:
        raise ValueError(
            f"t_end = {np.ravel(t_end)[0]:g} is behind t0 = {np.ravel(t0)[0]:g}"
            f" for dt = {np.ravel(dt)[0]:g}"
        )
    if np.any(abs(ratio - n) > 1e-9 * np.maximum(1, n)):
        i = int(np.argmax(abs(ratio - n)))
        t, h, start = (float(np.broadcast_to(a, quotient.shape).flat[i]) for a in (t_end, dt, t0))
        low = int(np.floor(ratio[i]))
        raise ValueError(
            f"t_end = {t:.12g} is {ratio[i]:.12g} steps of dt = {h:.12g} from t0 ="
            f" {start:.12g}, not a whole number; the nearest are"
            f" t_end = {start + low * h:.12g} ({low} steps) and"
            f" t_end = {start + (low + 1) * h:.12g} ({low + 1} steps)"
        )
    if np.any(n != n[0]):
        raise ValueError(
            f"every trajectory must take the same number of steps: t_end, t0 and dt give from"
            f" {n.min():.0f} to {n.max():.0f}: make one call for each dt or t_end; or give"
            " pi.integrate n_steps=, with which trajectories end at different times, or"
            " pi.solve(..., rtol=...), which finds the steps, an array t_end"
        )
    return int(n[0])
