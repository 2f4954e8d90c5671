"""Systems and methods as the front end needs them: plain data, from their descriptors."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..run.arguments import check_structure, usual_methods
from ..system.catalogue import systems as catalogue
from ..theory.stability import decay_limit, stability_polynomial
from .scenes import scene, turning

if TYPE_CHECKING:
    from ..method.method import Method
    from ..system.system import System

MOST_ELEMENTS = 3  # of an array parameter with sliders
MAY_VANISH = (
    *("b", "c", "damping", "delta", "gamma", "amplitude", "coupling", "softening", "mu"),
    *("drag", "linear_damping", "angular_damping"),
)
TURNS, PER_TURN = 40, 16  # of the default run
# Step and end for motions whose initial turning says little: they do not turn, or are chaotic.
RUNS = {
    "constant_force": (0.5, 10.0), "acceleration_profile": (0.5, 8.0), "projectile": (0.1, 2.0),
    "projectile_drag": (0.1, 1.8), "logistic": (0.5, 12.0), "kepler": (0.1, 60.0),
    "double_pendulum": (0.05, 20.0), "duffing": (0.2, 100.0), "lorenz": (0.01, 20.0),
    "rossler": (0.1, 100.0), "three_body": (0.05, 40.0), "rigid_body": (0.1, 40.0),
}  # fmt: skip
# What the catalogue has at rest, shown as it tumbles: a turn about the middle axis is unstable.
TUMBLING = {"gravity": (0.0, 0.0, 0.0), "inverse_inertia": (1.0, 1 / 2, 1 / 3)}
STARTS = {"rigid_body": [0.0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.01, 1, 0]}
LONGEST = 20_000  # steps


def describe_system(system: System) -> dict[str, Any]:
    """A system as plain data: its equation, components, parameters, scene and default run.

    Parameters
    ----------
    system : System
        For one trajectory.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        A batch.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> about = describe_system(pi.systems.oscillator(omega=15**0.5))
    >>> about["dt"], about["t_end"], about["params"]["omega"]["value"]
    (0.1, 60.0, 3.872983346207417)
    """
    if any(system.batch_shapes.values()):
        names = [name for name, shape in system.batch_shapes.items() if shape]
        raise ValueError(
            f"the lab shows one trajectory, and {', '.join(names)} of {system.name!r} are arrays"
            " over a batch: give numbers"
        )
    drawn = scene(system)
    start = np.array(STARTS.get(system.name, system.initial))
    dt, t_end = (0.1, 50.0) if start is None else usual_run(system, start)
    params = {}
    for name, value in system.params.items():
        if not np.size(value):  # springs of a body that has none
            continue
        shape = np.shape(value)
        matrix = len(shape) == 2 and shape[0] == shape[1]
        values = np.diagonal(value) if matrix else np.ravel(value)
        sliders = (matrix or len(shape) < 2) and values.size <= MOST_ELEMENTS
        low, high = zip(*(_range(name, float(x)) for x in values), strict=True) if sliders else (
            (), ())  # fmt: skip
        params[name] = {
            "value": np.asarray(value, dtype=float).tolist(),
            "low": list(low), "high": list(high), "unit": _unit(system, name),
        }  # fmt: skip
    return {
        "title": system.title or system.name, "equation": system.equation, "dim": system.dim,
        "dof": system.dof, "structure": system.structure, "scene": drawn, "params": params,
        "state": [{"name": n, "unit": _unit(system, n)} for n in system.state_names],
        "start": None if start is None else start.tolist(), "time_unit": _unit(system, "t"),
        "dt": dt, "t_end": t_end, "energy": system.has_energy,
        "methods": list(usual_methods(system)),
    }  # fmt: skip


def drawable() -> dict[str, System]:
    """The systems of the catalogue as the lab shows them, by name.

    Examples
    --------
    >>> "rigid_body" in drawable(), "lorenz" in drawable()
    (True, True)
    """
    return {**catalogue, "rigid_body": catalogue["rigid_body"](**TUMBLING)}


def describe_method(method: Method) -> dict[str, Any]:
    """A method as plain data, with the numbers that show one of its steps.

    Parameters
    ----------
    method : Method

    Returns
    -------
    dict

    Examples
    --------
    >>> import pyintegrate as pi
    >>> describe_method(pi.methods.velocity_verlet)["kick"]
    [0.5, 0.5]
    """
    about: dict[str, Any] = {
        "title": method.title, "formula": method.formula, "order": method.order,
        "evaluations": method.evaluations, "family": method.family, "stages": method.stages,
        "symplectic": method.symplectic, "implicit": method.implicit,
    }  # fmt: skip
    if method.family in ("explicit_rk", "composition"):
        about |= {name: method.coefficients[name] for name in method.coefficients
                  if name in ("A", "b", "c", "kick", "drift")}  # fmt: skip
    return about


@cache
def stability_of(method: Method) -> dict[str, Any]:
    """How far a method is stable: for oscillations, for decay, and R(z) if it is a polynomial.

    Parameters
    ----------
    method : Method

    Returns
    -------
    dict
        "oscillation" and "decay": the largest |h lambda|, None if there is no limit or it is
        unknown; "R": coefficients, the lowest first, or None.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> stability_of(pi.methods.semi_implicit_euler)
    {'oscillation': 2.0, 'decay': None, 'R': None}
    """
    limits = {"oscillation": method.stability_limit, "decay": decay_limit(method)}
    limits = {k: v if v is not None and isfinite(v) else None for k, v in limits.items()}
    explicit = method.family == "explicit_rk"
    return limits | {"R": [float(c) for c in stability_polynomial(method)] if explicit else None}


def fitting(system: System, methods: Any) -> list[str]:
    """The names of those methods that can integrate a system.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> fitting(pi.systems.lorenz, [pi.methods.rk4, pi.methods.velocity_verlet])
    ['rk4']
    """
    names = []
    for method in methods:
        try:
            check_structure(method, system)
        except ValueError:
            continue
        names.append(method.name)
    return names


def usual_run(system: System, start: Any = None) -> tuple[float, float]:
    """A step of about a sixteenth of a turn and a time of about fifty turns, as round numbers.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> usual_run(pi.systems.lorenz)
    (0.01, 20.0)
    """
    if system.name in RUNS:
        return RUNS[system.name]
    start = np.asarray(system.initial if start is None else start, dtype=float)
    period = system.period(start)
    turn = 2.0 if period is None or not np.isfinite(period) else float(period)
    if period is None:
        with np.errstate(all="ignore"):
            moves = np.linalg.norm(system.rhs(0.0, start)) / (np.linalg.norm(start) + 1e-3)
        rate = max(float(abs(turning(system, [start])).max()), float(moves))
        turn = 2 * np.pi / rate if 0 < rate < np.inf else turn
    return round_number(turn / PER_TURN), round_number(TURNS * turn)


def round_number(value: float) -> float:
    """The nearest number of one digit, or 1.5 times a power of ten, by ratio.

    Examples
    --------
    >>> round_number(0.0103), round_number(81.1)
    (0.01, 80.0)
    """
    power = 10.0 ** np.floor(np.log10(value))
    digit = min((1, 1.5, 2, 3, 4, 5, 6, 8, 10), key=lambda d: abs(np.log(value / power / d)))
    return float(f"{digit * power:.3g}")


def _range(name, value):
    """The limits of the slider of a parameter."""
    if value < 0:
        return 3 * value, -3 * value
    if value == 0:
        return (0.0, 2.0) if name in MAY_VANISH else (-2.0, 2.0)
    return (0.0 if name in MAY_VANISH else round_number(value / 10)), round_number(3 * value)


def _unit(system, name):
    unit = system.units.get(name, "")
    return "" if unit == "1" else unit
