"""A rigid body in space: its parameters, and how they go to the C core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..values.checks import numbers
from ..values.differences import jacobian_by_differences
from ..values.parameters import checked
from ..values.types import ArrayLike, Floats, Never
from .definition import SystemDefinition, sized
from .system import System

_DESCRIPTOR, _handle = sized("rigid_body")


# The parameters that change the momentum and the angular momentum, unless they are neutral.
_CHANGED_BY = {
    "momentum": {"stiffness", "gravity", "force", "drag", "linear_damping", "linear_factor"},
    "angular": {"stiffness", "torque", "torque_body", "angular_damping", "angular_factor"},
}


class RigidBody(System):
    """A rigid body; ``pi.systems.rigid_body`` is at rest, under gravity.

    The state is position (3), unit quaternion w x y z from body axes to world axes (4), velocity
    (3), and angular velocity in world axes (3). ``x0`` is the first seven, ``v0`` the last six; a
    quaternion that is not of length 1 is normalised before the run, and where a Stepper's ``x`` or
    ``y`` is assigned.

    Parameters are ``gravity`` (an acceleration), ``force`` at the centre and ``torque`` in world
    axes, ``torque_body`` in body axes, ``drag`` (force -drag abs(v) v), ``inverse_mass`` and
    ``inverse_inertia`` (if zero, forces or torques do not move the body), the rates
    ``linear_damping`` and ``angular_damping`` of v' = -c v, and factors that multiply both
    velocities at each step. Springs hold ``attachments`` in body axes to ``anchors``, each (n, 3),
    with ``stiffness`` and ``rest_lengths``, each (n,).

    ``invariants(y)`` has the momentum and the angular momentum about the centre in world axes.

    ``inverse_inertia`` is a matrix (*batch, 3, 3) in body axes, or its diagonal (*batch, 3);
    a shape that ends in (3, 3) is a matrix, so that three diagonals are (3, 1, 3) or matrices.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> body = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1/2, 1/3))
    >>> sol = pi.integrate(body, [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0], dt=0.01,
    ...                    n_steps=1000, method="rigid_splitting4")
    >>> sol.x.shape, sol.v.shape, bool(abs(sol.energy_error()).max() < 1e-8)
    ((1001, 7), (1001, 6), True)
    """

    core = property(lambda self: _handle(self._springs))
    dof = property(lambda self: 6)
    _springs = property(lambda self: self.shapes["stiffness"][0])

    def __call__(self, /, *given: Never, **params: ArrayLike) -> RigidBody:
        """The same body with other parameters; the parameters of springs are given all together.

        Raises
        ------
        ValueError
            A negative mass, an inverse inertia that is not symmetric or neither positive definite
            nor zero, springs that do not fit one another.
        """
        shapes, values = dict(self.shapes), dict(self.params)
        if "inverse_inertia" in params:
            params["inverse_inertia"] = _matrix(params["inverse_inertia"])
        if "anchors" in params:
            shape = np.shape(params["anchors"])
            if len(shape) < 2 or shape[-1] != 3:
                raise ValueError(
                    f"parameter anchors has shape {shape}: expected (..., n, 3), the points that n"
                    " springs hang from"
                )
            n = shape[-2]
            if n != self._springs:
                fresh = {"attachments": (n, 3), "stiffness": (n,), "rest_lengths": (n,)}
                shapes |= {"anchors": (n, 3), **fresh}
                for name, form in fresh.items():
                    values[name] = checked(name, np.full(form, float(name == "stiffness")), form)
        made = RigidBody(replace(self.definition, shapes=shapes), values)
        made = System.__call__(made, *given, **params)
        if np.any(made.params["inverse_mass"] < 0):
            raise ValueError("parameter inverse_mass must not be negative")
        _check_inertia(made.params["inverse_inertia"])
        return made

    def refusal(self, method):
        factors = "linear_factor", "angular_factor"
        if method.requires == "rigid_body" or all(np.all(self.params[f] == 1) for f in factors):
            return None
        return (
            f"method {method.name!r} knows no linear_factor and angular_factor: use a method that"
            " requires 'rigid_body', such as 'rigid_rk4', or linear_damping and angular_damping"
        )

    def ready(self, components, dtype, name="x0"):
        """Quaternions normalised to length 1; one of length 0 is refused."""
        parts = np.broadcast_arrays(*components[3:7])
        q = np.stack(parts, axis=-1).astype(np.float64)
        norm = np.hypot(np.hypot(q[..., 0], q[..., 1]), np.hypot(q[..., 2], q[..., 3]))
        if np.any(norm == 0):
            lane = tuple(int(i) for i in np.argwhere(norm == 0)[0])
            place = f" in trajectory {lane}" if lane else ""
            raise ValueError(f"the quaternion of {name} is zero{place}: expected one of length 1")
        with np.errstate(invalid="ignore"):
            off = abs(norm - 1) > 8 * np.finfo(dtype).eps
            q = np.where(off[..., np.newaxis], q / norm[..., np.newaxis], q)
        return [*components[:3], *np.moveaxis(q, -1, 0), *components[7:]]

    jacobian = jacobian_by_differences

    def invariants(self, y, t=0.0):
        """The length of the quaternion; momenta if no force, torque or factor changes them."""
        acts = {k for k, value in self.params.items() if np.any(value != k.endswith("factor"))}
        values = super().invariants(y, t)
        for kind, changed_by in _CHANGED_BY.items():
            if acts & changed_by:
                values = {k: v for k, v in values.items() if not k.startswith(kind)}
        return values

    def angular_momentum(self, y: ArrayLike) -> Floats:
        """Angular momentum about the centre in world axes, shape (*batch, 3).

        Examples
        --------
        >>> import pyintegrate as pi
        >>> body = pi.systems.rigid_body(inverse_inertia=(1, 1/2, 1/3))
        >>> body.angular_momentum([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1]).round(12)
        array([1., 2., 3.])
        """
        return np.stack([*System.invariants(self, y).values()][4:], axis=-1)


def _matrix(value):
    """An inverse inertia as matrices (*batch, 3, 3); other shapes are refused later."""
    value = numbers("parameter inverse_inertia", value)
    diagonal = value.shape[-1:] == (3,) and value.shape[-2:] != (3, 3)
    return value[..., np.newaxis] * np.eye(3) if diagonal else value


def _check_inertia(value):
    B = value.reshape(-1, 3, 3)
    B = B[np.isfinite(B).all(axis=(1, 2))]
    size = abs(B).max(axis=(1, 2), initial=0)
    skew = abs(B - B.swapaxes(1, 2)).max(axis=(1, 2), initial=0)
    if np.any(skew > 1e-12 * size):
        raise ValueError("parameter inverse_inertia is not symmetric")
    turned = B[size > 0] / size[size > 0, np.newaxis, np.newaxis]
    least = np.linalg.eigvalsh(turned)[:, 0] if len(turned) else np.ones(1)
    if np.any(least <= 1e-14):
        raise ValueError(
            "parameter inverse_inertia is singular or negative: its eigenvalues, the inverse"
            " principal moments, must be positive, or all zero for a body that torques do not turn"
        )


_ARRAYS = {
    "gravity": (0.0, 0.0, -9.81),
    "inverse_inertia": np.eye(3),
    **dict.fromkeys(("force", "torque", "torque_body"), np.zeros(3)),
    **dict.fromkeys(("anchors", "attachments"), np.zeros((0, 3))),
    **dict.fromkeys(("stiffness", "rest_lengths"), np.zeros(0)),
}
_PARAMS = [
    (name, unit, checked(name, _ARRAYS.get(name, value)), text)
    for name, unit, value, text in _DESCRIPTOR["params"]
]
_DEFINITION = SystemDefinition(
    **{**_DESCRIPTOR, "params": _PARAMS},
    positions=7,
)
rigid_body = RigidBody(_DEFINITION, _DEFINITION.defaults)
