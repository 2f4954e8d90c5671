"""The directions of a system's tangents: what they are called, and where they lie."""

from __future__ import annotations

import warnings

import numpy as np

from ..system.definition import SystemDefinition
from ..system.system import components_of
from ..user_system.component_names import free_names
from ..values.checks import broadcast_shape, numbers
from ..values.types import Any, ArrayLike, Floats


class Directions:
    """The additional attributes of a system with tangents.

    Attributes
    ----------
    base : System
        The system without tangents, with the same parameters.
    directions : tuple of str
        For each tangent: "1" .. "k" for the free ones, then the parameters.
    """

    name: Any
    initial: Any
    params: Any
    definition: Any

    @property
    def base(self):
        """The system without tangents, with the same parameters."""
        return self.definition.base(**self.params)

    def closed_form(self, what):
        return self.definition.base.closed_form(what) if what == "jumps" else None

    @property
    def directions(self):
        return self.definition.directions

    @property
    def free(self):
        """The number of tangents along no parameter."""
        return sum(name.isdigit() for name in self.directions)

    def __reduce__(self):
        along = (name.partition("[")[0] for name in self.directions[self.free :])
        return tangent_again, (self.base, self.free, tuple(dict.fromkeys(along)))

    def parts(self, y):
        """The base's state and its tangents.

        Parameters
        ----------
        y : ndarray, shape (..., dim)

        Returns
        -------
        ndarray, shape (..., base.dim), and ndarray, shape (..., base.dim, directions)
        """
        y = np.asarray(y)
        whole = y[..., self.places]
        return whole[..., 0], whole[..., 1:]

    def initial_state(
        self,
        x0: ArrayLike | None = None,
        v0: ArrayLike | None = None,
        *,
        tangents: ArrayLike | None = None,
    ) -> Floats:
        """The state of a motion and its tangent (deviation) vectors, to integrate from.

        Parameters
        ----------
        x0, v0 : array_like, optional
            Where the motion begins, as of ``integrate``: the whole state of the base (*batch, dim),
            or positions and velocities; the base's own by default.
        tangents : array_like, optional
            Shape (*batch, base.dim, k): the k free vectors are its columns, in the order of the
            base's components; (base.dim,) for a single one. Default: unit vectors. Vectors along
            parameters begin at 0, unless (*batch, base.dim, directions) gives them too.

        Returns
        -------
        ndarray, shape (*batch, dim)
            The ``x0`` of this system; ``parts`` takes it apart again.

        Raises
        ------
        ValueError
            `tangents` has another shape.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> system = pi.systems.oscillator.tangent(1)
        >>> start = system.initial_state(1.0, 0.0, tangents=[0.0, 1.0])
        >>> y, dy = system.parts(pi.integrate(system, start, dt=0.01, t_end=1.0).final)
        >>> dy[:, 0].round(6).tolist()  # sin t, cos t
        [0.841471, 0.540302]
        """
        base, n, k = self.definition.base, len(self.directions), self.free
        units = self.parts(self.initial)[1]
        if x0 is None is v0 is base.initial:  # the base has no initial state
            x0 = np.zeros(base.dim)
        components, shapes = components_of(base, x0, v0)
        dy = units if tangents is None else numbers("tangents", tangents)
        if k == 1 and dy.ndim == 1:
            dy = dy[:, np.newaxis]
        if dy.shape[-2:] == (len(units), k):
            along = np.broadcast_to(units[:, k:], (*dy.shape[:-2], len(units), n - k))
            dy = np.concatenate([dy, along], axis=-1)
        if dy.shape[-2:] != units.shape:
            raise ValueError(
                f"tangents has shape {dy.shape}: expected (..., {len(units)}, {k}), the {k} vectors"
                f" as columns{f', or {n} columns with those along parameters' if n > k else ''}"
            )
        batch = broadcast_shape(shapes | {"tangents": dy.shape[:-2]})
        dtype = np.result_type(np.float32, *map(np.asarray, components))
        found = np.empty((*batch, units.size + len(units)), dtype)
        components = self.base.ready(components, dtype)
        for place, component in zip(self.places[:, 0], components):
            found[..., place] = component
        found[..., self.places[:, 1:]] = dy
        return found

    @property
    def places(self):
        """The index of component d of the base and of each tangent, (base.dim, 1 + n)."""
        base = self.definition.base
        return places_of(base.dim, base.dof, len(self.directions))


def tangent_again(base, k, parameters):
    """``base.tangent`` for a pickle or a file, without its warnings, which have been given."""
    with warnings.catch_warnings(action="ignore"):
        return base.tangent(k, parameters)


def places_of(dim, dof, n):
    component = np.arange(dim)[:, np.newaxis]
    which = np.arange(1 + n)
    dof = dof or dim
    half, within = np.divmod(component, dof)
    return half * (dof * (1 + n)) + which * dof + within


def described(system, k, elements, **more):
    """The definition of a system with tangents; more: the fields of its force."""
    old = system.definition
    n, directions = k + len(elements), [str(j + 1) for j in range(k)]
    directions += [name for name, _ in elements]
    units, initial, dim = system.units, system.initial, system.dim
    initial = np.zeros(dim) if initial is None else initial
    rows = []
    for d, (name, value) in enumerate(zip(system.state_names, initial)):
        rows.append((name, units[name], value))
        for j, along in enumerate(directions):
            if j < k:
                rows.append((f"d{name}_{along}", units[name], j % dim == d))
            else:
                per = units[along.partition("[")[0]]
                rows.append((f"d{name}_d{along}", f"{units[name]} / ({per})", 0.0))
    rows = [rows[i] for i in places_of(dim, system.dof, n).ravel().argsort()]
    names = free_names(tuple(name for name, _, _ in rows), old.shapes)
    state = [(name, unit, float(value), "") for name, (_, unit, value) in zip(names, rows)]
    return SystemDefinition(
        name=f"{system.name}_tangent",
        title=f"{system.title} with {n} tangent{'s' * (n > 1)}",
        equation="",
        reference=system.reference,
        structure=system.structure,
        dim=dim * (1 + n),
        dof=system.dof * (1 + n),
        state=state,
        params=old.params,
        time_unit=old.time_unit,
        base=system(**old.defaults),
        directions=tuple(directions),
        **more,
    )
