"""The starter of a method that is not self-starting: the argument ``start`` of ``integrate``."""

from ..method.catalogue import find_method
from ..method.method import Method
from ..values.checks import numbers


def default_starter(method):
    """The default starter of a multistep method: the one-step method that the C core uses.

    None if the previous positions come from Taylor's formula.
    """
    return None if method.starter is None else find_method(method.starter)


def check_start(start, method, system):
    """The starter, or the previous positions, of a multistep method."""
    if start is None or (isinstance(start, str) and start == "taylor"):
        if start is not None and not method.starts_from_positions:
            raise ValueError(f"start='taylor' is for 'stormer_verlet', not {method.name!r}")
        return None, []
    if method.self_starting:
        raise ValueError(f"start was given, and {method.name!r} starts by itself")
    if isinstance(start, str | Method):
        starter = find_method(start)
        if method.starts_from_positions:
            raise TypeError(
                f"start of {method.name!r} must be 'taylor' or the positions one step before the"
                f" first, got the method {starter.name!r}: it finds them by a step backwards,"
                f" pi.integrate(..., dt=-dt, n_steps=1, method={starter.name!r}).x[-1]"
            )
        if starter.family not in ("explicit_rk", "implicit_rk"):
            raise ValueError(
                f"start must be a Runge-Kutta method, got {starter.name!r} ({starter.family})"
            )
        return starter, []
    if not method.starts_from_positions:
        raise TypeError(f"start must be the name of a method or a Method, got {start!r}")
    previous = numbers("start", start)
    if system.dof == 1:
        return None, [previous]
    if previous.ndim == 0 or previous.shape[-1] != system.dof:
        raise ValueError(
            f"start has shape {previous.shape}: its last axis holds the {system.dof} positions of"
            f" {system.name!r} one step before the first"
        )
    return None, [previous[..., d] for d in range(system.dof)]
