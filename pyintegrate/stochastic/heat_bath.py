"""``langevin``: a mechanical system in a heat bath."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from ..errors import quiet, warn_caller
from ..system.system import System
from ..tangents.tangent_system import force_of
from ..trace.graph import Graph, placed
from ..trace.tracing import Traced
from ..values.keywords import explains_keywords
from ..values.parameters import checked, ones_of_batch
from ..values.types import Any, ArrayLike, Never, Self
from .noisy_system import NoisySystem
from .step import OF_RUN

_FAR = 1024.0  # velocities at which the kinetic energy is read: large, and exact as a square


@explains_keywords()
def langevin(
    system: System,
    *,
    friction: ArrayLike,
    temperature: ArrayLike,
    mass: ArrayLike | None = None,
) -> LangevinSystem:
    """The system in a heat bath: dv = a dt - friction v dt + sqrt(2 friction temperature / m) dW.

    Friction and noise balance: the law of positions and velocities tends to exp(-E / temperature),
    if the forces come from a potential.

    Parameters
    ----------
    system : System
        Of positions and velocities, x'' = a(t, x), built-in or traced.
    friction : array_like
        [1 / the unit of "t"]; one for all, or one for each trajectory.
    temperature : array_like
        kT, in the system's unit of energy; also over the batch.
    mass : array_like, optional
        One for all coordinates, or one for each, the last axis. Default: read from the energy, as
        d2E/dv2.

    Returns
    -------
    NoisySystem
        Of the same structure, with the further parameters friction, temperature and mass
        (bath_mass, if the system has a mass of its own).

    Raises
    ------
    TypeError, ValueError
        A system without velocities or a formula; a mass that is not constant, or not one for each
        coordinate; negative values.

    Warns
    -----
    UserWarning
        The system has damping or a drive of its own, which breaks the balance.

    References
    ----------
    Leimkuhler, Matthews (2015), Molecular Dynamics, Springer, chapters 6 and 7.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> warm = pi.langevin(pi.systems.oscillator, friction=1.0, temperature=0.5)
    >>> sol = pi.integrate(warm, np.zeros(4000), 0.0, dt=0.1, n_steps=200, seed=1, save="final")
    >>> bool(abs(np.mean(sol.x**2) - 0.5) < 0.05)
    True
    """
    if not isinstance(system, System):
        raise TypeError(f"system must be a System, got {type(system).__name__}")
    if system.structure != "second_order" or isinstance(system, NoisySystem):
        raise ValueError(
            f"{system.name!r} is {system.structure}"
            f"{' with noise' if isinstance(system, NoisySystem) else ''}: a heat bath needs"
            " x'' = a(t, x), as @pi.acceleration and @pi.potential make it"
        )
    force = force_of(system)
    if force is None:
        raise ValueError(
            f"the force of {system.name!r} is called, and noise needs its formula: leave trace= out"
        )
    heavy = _name_of_mass(system)
    taken = {"friction", "temperature", heavy} & set(system.params)
    if taken:
        raise ValueError(f"{system.name!r} has a parameter {min(taken)!r}: give it another name")
    each = _mass(system) if mass is None else mass
    # One for each coordinate, or one for all.
    own = (system.dof,) if system.dof > 1 and np.shape(each)[-1:] == (system.dof,) else ()
    shapes = {"friction": (), "temperature": (), heavy: own}
    given = {"friction": friction, "temperature": temperature, heavy: each}
    values = {name: checked(name, value, shapes[name]) for name, value in given.items()}
    for name, value in values.items():
        least_ok = value > 0 if name == heavy else value >= 0
        if not np.all(least_ok | np.isnan(value)):
            raise ValueError(f"{name} must be {'positive' if name == heavy else 'at least 0'},"
                             f" got {value!r:.80}")  # fmt: skip
    _tell_of_own_damping(system)
    old, traced = system.definition, _heated(force, system.dof, bool(own))
    definition = replace(
        old,
        title=f"{system.title} in a heat bath",
        params=[*old.params, *((n, "1", np.ones(s)[()], "") for n, s in shapes.items())],
        shapes=None,
        invariants=[],
        exact=None,
        compiled=None,
        interpretation="ito",
        base=system,
        traced=traced,
        velocity_dependent=True,
        time_dependent=traced.time_dependent,
    )
    return LangevinSystem(definition, {**system.params, **values})


class LangevinSystem(NoisySystem):
    """A mechanical system in a heat bath; made by ``pi.langevin``. Its energy is the system's."""

    def __call__(self, /, *values: Never, **params: Any) -> Self:
        """The same system with other parameters. Warns if its mass was read from the energy with
        the old ones, and of damping or a drive."""
        made = super().__call__(*values, **params)
        whole = params.keys() >= self.params.keys()  # as tangents and files rebuild it
        if params.keys() & self.definition.base.params.keys() and not whole:
            _tell_of_own_damping(made._cold)
        heavy = _name_of_mass(self._cold)
        if heavy not in params and self._has_its_mass() and not made._has_its_mass():
            warn_caller(
                f"the mass of {self.name!r} was read from its energy with other parameters, and"
                f" stays: the law is not exp(-E / temperature); give {heavy}= too, or the"
                " parameters before the heat bath, pi.langevin(system(...), ...)"
            )
        return made

    def _has_its_mass(self):
        try:
            mass = self.params[_name_of_mass(self._cold)]
            return self.has_energy and np.allclose(mass, _mass(self._cold), atol=0)
        except ValueError:  # the batches differ
            return False

    @property
    def _cold(self):
        base = self.definition.base
        return base(**{name: self.params[name] for name in base.params})

    @property
    def has_energy(self) -> bool:
        return self.definition.base.has_energy

    def energy(self, y, t=0.0):
        return self._cold.energy(y, t)


def _heated(force, dof, one_each):
    """The force, the drift and the diffusion, as a Traced."""
    rows = force.n_params
    graph = Graph(2 * dof, dof)
    state = [graph.state(i) for i in range(2 * dof)]
    accelerations = placed(graph, force.outputs["acceleration"], state.__getitem__)
    friction, temperature = graph.parameter(rows), graph.parameter(rows + 1)
    zero, diffusion, drift, heat = graph.constant(0.0), [], [], []
    for i, a in enumerate(accelerations):
        mass = graph.parameter(rows + 2 + i * one_each)
        heat.append(temperature / mass)
        push = graph.make("sqrt", friction * heat[i] * 2.0)
        drift.append(a - friction * state[dof + i])
        diffusion += [push if k == i else zero for k in range(dof)]
    outputs = {
        "acceleration": drift,
        "force": accelerations,
        "bath": [friction, *heat],
        "diffusion": [zero] * dof**2 + diffusion,
    }
    if "energy" in force.outputs:
        outputs["energy"] = placed(graph, force.outputs["energy"], state.__getitem__)
    total = rows + 2 + (dof if one_each else 1) + OF_RUN
    return Traced(graph, outputs, total).without_dead_code()


def _place(system, size, shift):
    """Positions at which to evaluate a force or an energy, no two bodies at the same."""
    own = system.initial
    return size * ((np.arange(system.dof) if own is None else own[: system.dof]) + shift)


# ---- the mass ------------------------------------------------------------------------------------
def _name_of_mass(system):
    return "bath_mass" if "mass" in system.params else "mass"


def _mass(system):
    """d2E/dv2, of shape (*batch) or (*batch, dof), by differences: exact over any distance if E is
    quadratic in v, but for the rounding of the potential, large at places too far or too near."""
    if not system.has_energy:
        raise ValueError(f"{system.name!r} has no energy, from which the mass is read: give mass=")
    dof, one, found, rounding = system.dof, np.eye(system.dof), [], []
    v = np.stack([one[:, None] + one, one[:, None] - one])
    for size, (shift, speed) in product(_SIZES, ((0.0, _FAR), (0.3, _FAR / 2))):
        x = np.broadcast_to(_place(system, size, shift), v.shape)
        y = np.concatenate([x, speed * v], axis=-1)
        with quiet():
            E = system.energy(y.reshape(2, dof, dof, *ones_of_batch(system), 2 * dof))
            E = np.moveaxis(E, (1, 2), (-2, -1)) / (2 * speed**2)
            found.append(E[0] - E[1])
            rounding.append(2.0**-50 * np.abs(E).max(axis=0))
    several, room = np.array(found), np.array(rounding)  # (k, *batch, dof, dof)
    with quiet():
        rough = (room / np.abs(several))[..., range(dof), range(dof)].reshape(len(room), -1)
        rough = np.nan_to_num(rough.max(axis=1), nan=np.inf)
        best = np.maximum(rough, 1e-13).argmin()
        masses = several[best][..., range(dof), range(dof)]
        room = room + 1e-9 * np.where(one > 0, masses[..., None], np.max(masses))
        apart = np.abs(several - masses[..., None] * one) > room
    if rough[best] > 1e-9 or apart.any():
        raise ValueError(
            f"{system.name!r} has no constant mass for each coordinate, which a heat bath needs:"
            " d2E/dv2 couples them, or changes with the position or the velocity"
        )
    return masses[..., 0] if np.all(masses == masses[..., :1]) else masses


# ---- damping and drives --------------------------------------------------------------------------
_SIZES = 1e-3 ** np.array([0, 1, 2, 3, 4, -1, -2, -3, -4])  # of places, in any unit
# Factors of the times, and of the velocities, at which forces are compared.
_SCALES = np.geomspace(1e-12, 1e12, 49) * (-1.0) ** np.arange(49)


def _tell_of_own_damping(system):
    """Warn if the force depends on velocity or time, and name the parameters to set to 0."""
    causes, cures = [], []
    for what in ("velocity", "time"):
        if _changes(system, what):
            causes.append(what)
            cures += [f"{name}={f'np.zeros({shape})' if shape else 0}"
                      for name, shape in system.shapes.items()
                      if not _changes(system(**{name: np.zeros(shape)}), what)][:1]  # fmt: skip
    if causes:
        warn_caller(
            f"the force of {system.name!r} depends on the {' and the '.join(causes)}: its own"
            " damping or drive breaks the balance of friction and noise, and the law is not"
            f" exp(-E / temperature){'; set ' * bool(cures)}{', '.join(cures)}"
        )


def _changes(system, what):
    """Whether the force differs between velocities, or times, at places without symmetry."""
    draw, axes = np.random.default_rng(0), ones_of_batch(system)
    shift = draw.uniform(0.1, 0.4, system.dof)
    x = np.stack([_place(system, size, shift) for size in _SIZES]).reshape(-1, 1, *axes, system.dof)
    t, v = 0.3, draw.normal(size=system.dof)
    scale = _SCALES.reshape(-1, *axes)
    at = (t, x, v * scale[..., None]) if what == "velocity" else (t * scale, x, v)
    with quiet():
        first, then = system.acceleration(t, x, v), system.acceleration(*at)
    return bool(np.any((first != then) & ~(np.isnan(first) & np.isnan(then))))
