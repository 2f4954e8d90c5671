"""Colours of the orbits of a section: one each, or by a number that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...analysis.sections.lanes import taken
from ..style import PALETTE, axis_label, on_ground, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.poincare import Section

FEW = len(PALETTE)  # colours that are told apart, with a name each in the legend
DIGITS = 6  # of an energy
ORBITS, ENERGY = "orbit", "energy"


class Orbits:
    """What the colours of a section's points say.

    Parameters
    ----------
    section : Section
    by : str or None
        "orbit", "energy", a parameter; None: what varies.
    plain : bool
        Whether the caller has chosen the colours.

    Attributes
    ----------
    note : str
        How many orbits share the colours, where they do.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pull = pi.systems.pendulum(length=[1.0, 2.0, 3.0])
    >>> found = pi.analysis.crossings(pull, "omega", 1.0, 0.0, dt=0.05, t_end=20.0)
    >>> Orbits(found, None, False).by
    'length'
    """

    def __init__(self, section: Section, by: str | None, plain: bool):
        self.system, self.batch, self.note = section.system, section.batch, ""
        self.orbits, self.which = np.unique(section.trajectory, return_inverse=True)
        varying = _varying(section)
        if by is None:
            by = next(iter(varying)) if len(varying) == 1 else ORBITS
            by = by if len(self.orbits) > 1 and not plain else None
        self.by = by
        self.numbers: Any = None
        if by is None:
            return
        if by == ENERGY and self.system.has_energy:
            first = np.unique(section.trajectory, return_index=True)[1]
            one = _system_of(section, self.orbits)
            energies = np.asarray(one.energy(section.y[first], section.t[first]))
            # Those that differ less are the same but for what the method has lost.
            self.numbers = np.array([float(f"{energy:.{DIGITS}g}") for energy in energies])
        elif by in varying:
            self.numbers = varying[by][self.orbits]
        elif by != ORBITS:
            known = [ORBITS, *[ENERGY] * self.system.has_energy, *varying]
            raise ValueError(f"by must be one of {', '.join(map(repr, known))}, got {by!r}")
        elif len(self.orbits) > FEW:
            self.note = f"{len(self.orbits):,} orbits in {FEW} colours"

    def look(self) -> dict[str, Any]:
        """Keywords for `Axes.scatter`."""
        if self.by is None:
            return {}
        if self.numbers is None or self._few:
            palette = np.array([on_ground(colour) for colour in PALETTE])
            return {"color": palette[self._class[self.which] % FEW]}
        return {"c": self.numbers[self.which], "cmap": "viridis"}

    def explain(self, ax, points) -> None:
        """A legend of few colours, a scale of many."""
        if self.by is None or self.note:
            return
        if self.numbers is None or self._few:
            for turn, name in enumerate(self._names()):
                look = {"color": on_ground(PALETTE[turn % FEW]), "label": name}
                ax.plot([], [], linestyle="", marker="o", markersize=4, **look)
        else:
            ax.figure.colorbar(points, ax=ax, pad=0.02).set_label(self._label)

    @property
    def _few(self):
        return len(np.unique(self.numbers)) <= FEW

    @property
    def _class(self):
        """Which colour each orbit has."""
        if self.numbers is None:
            return np.arange(len(self.orbits))
        return np.unique(self.numbers, return_inverse=True)[1]

    @property
    def _label(self):
        if self.by == ENERGY:
            return with_unit("energy", unit_of(self.system, ENERGY))
        return axis_label(self.system, self.by)

    def _names(self):
        if self.numbers is None:
            places = [np.unravel_index(one, self.batch or (1,)) for one in self.orbits]
            return [f"orbit {', '.join(str(int(i)) for i in place)}" for place in places]
        text, _, unit = self._label.partition(" [")
        unit = unit.rstrip("]")
        return [f"{text} = {value:.4g} {unit}".strip() for value in np.unique(self.numbers)]


def _varying(section):
    """Scalar parameters that differ over the batch, each with a value for every trajectory."""
    found = {}
    for name, shape in section.system.batch_shapes.items():
        value = np.asarray(section.system.params[name])
        if shape and value.shape == shape and np.ptp(value) > 0:
            found[name] = np.broadcast_to(value, section.batch).reshape(-1)
    return found


def _system_of(section, lanes):
    """The system with the parameters of some trajectories."""
    system, params = section.system, {}
    for name, shape in system.batch_shapes.items():
        if shape:
            value = np.asarray(system.params[name])
            params[name] = taken(value, section.batch, lanes, value.shape[len(shape) :])
    return system(**params) if params else system
