"""The run behind all indicators of chaos: a motion with tangents in generic directions."""

from __future__ import annotations

import numpy as np

from ...method.catalogue import find_method
from ...run.arguments import checked_dtype, checked_system, components_of, make_run
from ...tangents.directions import Directions
from ...values.checks import integer
from ...values.table import Tabled
from .renormalised import Renormalised

_ALONE = 100  # steps in which a single tangent in double precision cannot overflow


class Measured(Tabled):
    """Results for a batch, of which some may have failed: a base class."""

    status: np.ndarray
    _report: str

    @property
    def n_failed(self) -> int:
        """The number of trajectories that failed."""
        return int(np.count_nonzero(self.status))

    def failures(self) -> str:
        """A readable report of the trajectories that failed."""
        return self._report


def with_directions(system, k):
    """The base and a system with k tangents: one that has them already, or a new one."""
    checked_system(system)
    if not isinstance(system, Directions):
        k = integer("k", k, 1)
        if k > system.dim:
            raise ValueError(f"k is {k}, and {system.name!r} has {system.dim} components")
        return system, system.tangent(k)
    if len(system.directions) != k or any(name in system.params for name in system.directions):
        raise ValueError(
            f"{system.name} has the tangents {', '.join(system.directions)}, and k is {k}: make it"
            f" with tangent({k})"
        )
    return system.base, system


def generic(dim, k):
    """k orthonormal columns (dim, k) in a direction of no symmetry; always the same."""
    Q, _ = np.linalg.qr(np.random.default_rng(20).normal(size=(dim, dim)))
    return Q[:, :k]


def set_out(
    system, x0, v0, k, *, dt, t_end, t0, method, renormalise, dtype, workers, progress,
    orthogonal, indicators=False,
):  # fmt: skip
    """The problem of a motion with k tangents, its options, and its run.

    Returns
    -------
    Problem, Options, Renormalised
    """
    base, both = with_directions(system, k)
    every = integer("renormalise", renormalise, 1)
    method = find_method(method)
    if method.family == "multistep":
        raise ValueError(
            f"{method.name!r} remembers earlier states, which cannot be renormalised: use a"
            " one-step method such as 'rk4' or 'velocity_verlet'"
        )
    dtype = checked_dtype(dtype, x0, v0)
    components, shapes = components_of(base, x0, v0)
    components = base._ready(components, dtype)
    batch = np.broadcast_shapes(*shapes.values()) if shapes else ()
    state, places = np.zeros((*batch, both.dim), dtype), both.places
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for d, component in enumerate(components):
            state[..., places[d, 0]] = component
        state[..., places[:, 1:]] = generic(base.dim, k)
    problem, options = make_run(
        both, state, dt=dt, t_end=t_end, t0=t0, method=method, dtype=dtype,
        options={"save": "final", "workers": workers, "progress": progress},
    )  # fmt: skip
    if k == 1 and not indicators and dtype == np.float64:
        # Powers of two are exact: the result is the same, and calls of a kernel are longer.
        every = max(every, _ALONE)
    return problem, options, Renormalised(
        problem, options, places[:, 1:].T, every, orthogonal, indicators
    )  # fmt: skip
