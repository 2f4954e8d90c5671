"""How a system is drawn: what hangs, slides, travels or turns, and its components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..system.system import System

SPRINGS = ("oscillator", "spring", "momentum_spring")
ANGLES = ("theta", "phi", "angle", "alpha")
# Components across and up, if others than the first two show more.
VIEWS = {"lorenz": (0, 2), "projectile": (0, 2), "projectile_drag": (0, 2)}
BODIES = {"three_body": 2, "n_body": 3}  # axes of each body


def scene(system: System) -> dict[str, Any]:
    """The description that the front end needs to draw a state: its kind, and its components.

    Parameters
    ----------
    system : System

    Returns
    -------
    dict
        "kind" is "spring", "pendulum" (with "length", a parameter or 1), "double_pendulum", "bead"
        (one component, on a line), "path", "bodies" or "box" (a body that turns); "places" has the
        components across and up, a pair for each point; "centre" whether something is drawn at the
        origin, "tied" whether a spring goes to it.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> scene(pi.systems.lorenz)["kind"], scene(pi.systems.lorenz)["places"]
    ('path', [[0, 2]])
    """
    name, first = system.name, system.state_names[0]
    if system.structure == "rigid_body":
        return {"kind": "box", "places": [[0, 2]], "units": "same"}
    if name in SPRINGS:
        return {"kind": "spring", "places": [[0, 0]]}
    if name == "double_pendulum":
        return {"kind": "double_pendulum", "places": [[0, 0], [1, 1]], "lengths": ["l1", "l2"]}
    if system.dof == 1 and first in ANGLES:
        lengths = [known for known in ("length", "l", "L") if known in system.params]
        return {"kind": "pendulum", "places": [[0, 0]], "lengths": lengths[:1]}
    if system.dof == 1 or system.dim == 1:
        return {"kind": "bead", "places": [[0, 0]]}
    if name in BODIES:
        axes = BODIES[name]
        pairs = [[axes * i, axes * i + 1] for i in range(system.dof // axes)]
        return {"kind": "bodies", "places": pairs}
    across, up = VIEWS.get(name, (0, 1))
    centre, tied = name in ("kepler", "spring_3d"), name == "spring_3d"
    units = "same" if system.dof else "different"  # axes with one scale, or each with its own
    return {
        "kind": "path",
        "places": [[across, up]],
        "centre": centre,
        "tied": tied,
        "units": units,
    }


def turning(system: System, states: Any) -> Any:
    """The fastest eigenvalues of the Jacobian along some states: how fast a motion turns.

    Parameters
    ----------
    system : System
    states : array_like, shape (n, dim)

    Returns
    -------
    ndarray of complex, shape (dim,)
        All eigenvalues at the state where the largest of them is largest; zeros if none is
        finite.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> turning(pi.systems.oscillator(omega=3.0), [[1.0, 0.0]]).tolist()
    [3j, -3j]
    """
    states = np.asarray(states)
    states = states[np.isfinite(states).all(axis=-1)]
    jacobians = system.jacobian(0.0, states)
    jacobians = jacobians[np.isfinite(jacobians).all(axis=(-2, -1))]
    if not len(jacobians):
        return np.zeros(system.dim, dtype=complex)
    values = np.linalg.eigvals(jacobians)
    return values[np.argmax(abs(values).max(axis=-1))].astype(complex)
