"""Any number of bodies that attract one another, and predefined initial states."""

from __future__ import annotations

import re

import numpy as np

from .. import _core
from ..errors import warn_caller
from ..values.checks import MOST_COMPONENTS, choice, floats, integer
from ..values.parameters import checked
from ..values.types import ArrayLike
from .definition import SystemDefinition, sized
from .system import System

# Figure eight: Chenciner, Montgomery (2000), Ann. Math. 152, 881-901; Simo's state, refined to the
# last digit in extended precision. All masses and g are 1, the period is 6.32591398292621.
_PLANE = next(item["state"] for item in _core.systems if item["name"] == "three_body")
_EIGHT = np.pad(np.reshape([row[2] for row in _PLANE], (6, 2)), ((0, 0), (0, 1)))
# Sun with the inner planets, Jupiter, Saturn, Uranus, Neptune, Pluto on 5 September 1994, 0 h, in
# astronomical units, days and masses of the sun: Hairer, Lubich, Wanner (2006), Geometric Numerical
# Integration, I.2.4.
_OUTER = (
    (0.0, 0.0, 0.0),
    (-3.5023653, -3.8169847, -1.5507963),
    (9.0755314, -3.0458353, -1.6483708),
    (8.3101420, -16.2901086, -7.2521278),
    (11.4707666, -25.7294829, -10.8169456),
    (-15.5387357, -25.2225594, -3.1902382),
    (0.0, 0.0, 0.0),
    (0.00565429, -0.00412490, -0.00190589),
    (0.00168318, 0.00483525, 0.00192462),
    (0.00354178, 0.00137102, 0.00055029),
    (0.00288930, 0.00114527, 0.00039677),
    (0.00276725, -0.00170702, -0.00136504),
)
_OUTER_MASSES = (
    1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546,
    0.0000517759138449, 1 / 1.3e8,
)  # fmt: skip
_SI = {"length": "m", "mass": "kg", "time": "s"}
_OUTER_BODIES = ("Sun", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto")
# Name to state, parameters, units and names of the bodies.
_READY: dict = {
    "figure_eight": (_EIGHT, {}, _SI, ()),
    "outer_solar_system": (
        _OUTER,
        {"g": 2.95912208286e-4, "masses": _OUTER_MASSES},
        {"length": "AU", "mass": "solar mass", "time": "day"},
        _OUTER_BODIES,
    ),
}

_DESCRIPTOR, _handle = sized("n_body")


class NBody(System):
    """Bodies under their gravity; start from ``pi.systems.n_body``.

    Call it with ``n`` for another number of bodies, with ``initial`` for a predefined state, and
    with parameters: ``g``, ``masses`` (*batch, n), ``softening``. The methods ``wisdom_holman`` and
    ``wisdom_holman17`` are for points about a heavy first body.

    Attributes
    ----------
    n : int
    initial : ndarray of shape (6 n,), or None
        Positions of all bodies, then velocities; None if there is no default state.
    bodies : tuple of str
        Their names: those of the predefined state, or "body 1", "body 2", ...

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.systems.n_body(n=4, softening=0.1).state_names[:4]
    ('x1', 'y1', 'z1', 'x2')
    >>> planets = pi.systems.n_body(initial="outer_solar_system")
    >>> planets.n, planets.units["t"], planets.bodies[1]
    (6, 'day', 'Jupiter')
    """

    _also = "n", "initial"
    n = property(lambda self: self.definition.n)
    core = property(lambda self: _handle(self.n))

    @property
    def initial(self):
        state = super().initial
        return None if np.isnan(state).any() else state

    @property
    def bodies(self):
        state = super().initial
        for known, _, _, names in _READY.values():
            if names and np.array_equal(np.ravel(known), state):
                return names
        return tuple(f"body {i + 1}" for i in range(self.n))

    def __call__(  # type: ignore[override]
        self, n: int | None = None, initial: str | ArrayLike | None = None, **params: ArrayLike
    ) -> NBody:
        """Another number of bodies, another initial state, other parameters.

        Parameters
        ----------
        n : int, optional
            At least 1. Default: unchanged, or the number of bodies in the predefined state.
        initial : {"figure_eight", "outer_solar_system"} or array_like of shape (6 n,), optional
            A predefined state, with its parameters and units, or any other state.
        **params
            g, masses (..., n) and softening.

        Returns
        -------
        NBody

        Raises
        ------
        ValueError
            A negative mass, a wrong shape, an unknown predefined state.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.n_body(n=2, masses=(3.0, 1.0)).params["masses"]
        array([3., 1.])
        """
        if n is None and initial is None:
            shape = np.shape(params.get("masses", 0.0))
            if shape and shape[-1] != self.n:
                raise ValueError(
                    f"masses has shape {shape}: its last axis holds those of the {self.n} bodies;"
                    f" n={shape[-1]} makes as many bodies"
                )
            made = super().__call__(**params)
        elif isinstance(initial, str):
            state, own, units, _ = _READY[choice("initial", initial, _READY)]
            count = len(state) // 2
            if n not in (None, count):
                raise ValueError(f"initial={initial!r} has {count} bodies, got n={n}")
            made = restore_bodies(count, np.ravel(state), units, own | params)
        else:
            n = self.n if n is None else integer("n", n, 1, MOST_COMPONENTS // 6)
            state = np.ravel(_EIGHT) if n == 3 else np.full(6 * n, np.nan)
            if initial is not None:
                state = floats("initial", initial)
                if state.shape != (6 * n,) or not np.isfinite(state).all():
                    raise ValueError(
                        f"initial must be {6 * n} finite numbers for n={n} bodies, positions, then"
                        f" velocities, or one of {', '.join(_READY)}, got shape {state.shape}"
                    )
            own = {k: v for k, v in self.params.items() if n == self.n or k != "masses"}
            made = restore_bodies(n, state, self.definition.in_units, own | params)
        if np.any(made.params["masses"] < 0):
            raise ValueError("parameter masses must not be negative")
        return made

    def ready(self, components, dtype, name="x0"):
        """Refuse bodies that coincide, unless softening separates them."""
        x = np.stack(np.broadcast_arrays(*components[: self.dof]), axis=-1)
        x = x.reshape(*x.shape[:-1], self.n, 3)
        points = np.asarray(self.params["softening"]) == 0
        if not points.any():
            return components
        for shift in range(1, self.n // 2 + 1):
            same = np.all(x == np.roll(x, -shift, axis=-2), axis=-1) & points[..., np.newaxis]
            if same.any():
                *lane, body = (int(i) for i in np.argwhere(same)[0])
                raise ValueError(
                    f"bodies {body + 1} and {(body + shift) % self.n + 1} of {name} coincide"
                    + (f" in trajectory {tuple(lane)}" if lane else "")
                    + ": move one, or give softening"
                )
        return components

    def refusal(self, method):
        if method.requires != "n_body":
            return None
        m = self.params["masses"]
        reasons = {
            "knows no softening: leave it 0": self.params["softening"] != 0,
            "moves the others about the first body, whose mass is 0: begin with the heaviest":
                m[..., 0] == 0,
        }  # fmt: skip
        for reason, holds in reasons.items():
            if np.any(holds):
                return f"method {method.name!r} {reason}, or use another, such as 'velocity_verlet'"
        if np.any(m[..., 2:] > np.cumsum(m, axis=-1)[..., 1:-1]):
            warn_caller(
                f"method {method.name!r} moves each body about those before it, and one is heavier"
                " than all of these: begin with the heaviest, unless it is far from them"
            )
        return None

    # ---- equality and pickling ----
    def _bits(self):
        return (self.n, super().initial.tobytes(), *super()._bits())

    def __reduce__(self):
        state, units = super().initial, self.definition.in_units
        return restore_bodies, (self.n, state, units, dict(self.params))

    def __repr__(self):
        return f"n_body(n={self.n}, {super().__repr__().removeprefix('n_body(')}"


def restore_bodies(n, state, units, params):
    """A system from its parts (pickling, loading): the core's descriptor for n bodies, in units."""
    at = {"m": units["length"], "kg": units["mass"], "s": units["time"]}

    def unit(text):
        return re.sub(r"(?<![a-z])(kg|m|s)(?![a-z])", lambda found: at[found[0]], text)

    thirds = _DESCRIPTOR["state"]
    names = [
        (f"{name}{i + 1}", unit(u), f"{meaning} of body {i + 1}")
        for half in (thirds[:3], thirds[3:])
        for i in range(n)
        for name, u, _, meaning in half
    ]
    values = {"g": 1.0, "masses": checked("masses", np.ones(n), (n,)), "softening": 0.0}
    changed = {
        "dim": 6 * n,
        "dof": 3 * n,
        "state": [(*row[:2], float(x), row[2]) for row, x in zip(names, state, strict=True)],
        "params": [(name, unit(u), values[name], m) for name, u, _, m in _DESCRIPTOR["params"]],
        "invariants": [(name, unit(u), v, m) for name, u, v, m in _DESCRIPTOR["invariants"]],
    }
    definition = SystemDefinition(
        **_DESCRIPTOR | changed,
        n=n,
        time_unit=units["time"],
        in_units=units,
    )
    return System.__call__(NBody(definition, definition.defaults), **params)


n_body = restore_bodies(3, np.ravel(_EIGHT), _SI, {})
