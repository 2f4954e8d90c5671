"""The initial state of a run: x0, v0 and dtype, checked."""

from __future__ import annotations

from types import NoneType

import numpy as np

from ..values.checks import numbers

_WEAK = frozenset((NoneType, bool, int, float))
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def checked_dtype(dtype, x0, v0):
    """The dtype of a run; by default float32 if all arrays of the state are."""
    if dtype is None:
        # A Python number has no precision of its own, as in NumPy (NEP 50).
        if type(x0) in _WEAK and type(v0) in _WEAK:
            return _DOUBLE
        for a in (x0, v0):
            if type(a) not in _WEAK and getattr(a, "dtype", None) != _SINGLE:
                return _DOUBLE
        return _SINGLE
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be float32 or float64, got {dtype!r}") from None
    if dtype not in (np.float32, np.float64) or not dtype.isnative:
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    return dtype


def components_of(system, x0, v0):
    """Components of the state, each an array of batch shape, and the named batch shapes."""
    dim, lead = system.dim, system.positions
    if x0 is None:
        if v0 is not None:
            raise ValueError("v0 was given without x0: give both, or the whole state as x0")
        if system.initial is None:
            raise ValueError(f"x0 must be given: {system.name!r} here has no default state")
        return list(system.initial), {}
    if dim == 2 and lead and type(x0) is float is type(v0):
        return [x0, v0], {}
    x0 = numbers("x0", x0)
    if v0 is None:
        if x0.ndim == 0 or x0.shape[-1] != dim:
            names = ", ".join(system.state_names)
            raise ValueError(
                f"x0 has shape {x0.shape}: without v0 it is the whole state, whose last axis holds"
                f" the {dim} components ({names}) of {system.name!r}"
            )
        return [x0[..., d] for d in range(dim)], {"x0": x0.shape[:-1]}
    if not lead:
        raise ValueError(
            f"v0 was given, and {system.name!r} is first_order: give the whole state as x0"
        )
    v0 = numbers("v0", v0)
    if dim == 2:
        return [x0, v0], {"x0": x0.shape, "v0": v0.shape}
    if v0.ndim == 0:  # the same for all components: usually at rest
        v0 = np.broadcast_to(v0, (dim - lead,))
    for name, value, size in (("x0", x0, lead), ("v0", v0, dim - lead)):
        if value.ndim == 0 or value.shape[-1] != size:
            raise ValueError(
                f"{name} has shape {value.shape}: with x0 and v0 given, its last axis holds the"
                f" {size} {'positions' if name == 'x0' else 'velocities'} of {system.name!r}"
            )
    shapes = {"x0": x0.shape[:-1], "v0": v0.shape[:-1]}
    return [*np.moveaxis(x0, -1, 0), *np.moveaxis(v0, -1, 0)], shapes
