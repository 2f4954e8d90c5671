"""``pi.tolerance``: the tolerance of a method in a comparison with methods of fixed steps."""

from __future__ import annotations

from ..values.keywords import explains_keywords
from ..values.table import extent
from ..values.types import Any, ArrayLike
from .arguments import checked_tolerance

_ABSOLUTE = 1e-3  # of the relative one: that of solve


class Tolerance:
    """The tolerances of one method; made by ``pi.tolerance``."""

    def __init__(self, rtol: Any, atol: Any = None) -> None:
        self.rtol = checked_tolerance("rtol", rtol)
        self.atol = checked_tolerance("atol", _ABSOLUTE * self.rtol if atol is None else atol)

    def __str__(self) -> str:
        return extent(self.rtol)

    def __repr__(self) -> str:
        return f"<pi.tolerance of {self}>"


@explains_keywords()
def tolerance(rtol: ArrayLike, atol: ArrayLike | None = None) -> Tolerance:
    """Tolerances for a method in ``pi.compare``, beside methods of fixed steps.

    Parameters
    ----------
    rtol, atol : array_like
        As in ``pi.solve``. Default of `atol`: a thousandth of `rtol`, in the units of the
        components; it must be small beside them.

    Returns
    -------
    Tolerance
        For ``methods=["rk4", ("dop853", pi.tolerance(1e-9))]``; its solution has the key
        "dop853 to 1e-09".

    Examples
    --------
    >>> import pyintegrate as pi
    >>> c = pi.compare(pi.systems.pendulum, methods=["rk4", ("dop853", pi.tolerance(1e-9))],
    ...                dt=0.05, t_end=20.0)
    >>> list(c), c["rk4"].n_steps, int(c["dop853 to 1e-09"].steps_taken)
    (['rk4', 'dop853 to 1e-09'], 400, 209)
    """
    return Tolerance(rtol, atol)
