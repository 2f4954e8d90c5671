"""The function that opens the lab in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..system.system import System
    from ..values.types import ArrayLike, Methods
    from .widget import Lab


def lab(
    system: System | str | None = None,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    methods: Methods | None = None,
    dt: float | None = None,
    t_end: float | None = None,
    equal_work: bool = False,
) -> Lab:
    """Open the lab in a notebook: methods side by side over the true motion, to touch.

    A canvas for each method shows the motion over its ghost, the true motion, with the energy and
    phase errors as they grow, and the phase portrait. The step, the parameters and the start are
    moved by hand, the mass itself too; time runs, or goes step by step, in both directions.

    Parameters
    ----------
    system : System or str, optional
        What moves, one's own traced systems too: points, on a line or in a plane; of motions in
        space a projection. The front end also offers the systems of the catalogue. Default: the
        oscillator of omega^2 = 15.
    x0, v0 : array_like, optional
        The start of one trajectory, as in `integrate`; the system's own by default.
    methods : sequence of str or Method, optional
        As in `compare`: rk4 and the simplest that fits by default.
    dt : float, optional
        Step, in the system's unit of time. Default: about a sixteenth of a turn.
    t_end : float, optional
        The end; the nearest whole number of steps is taken, 20,000 at most. Default: some forty
        turns.
    equal_work : bool, optional
        Begin with the same number of force evaluations for all, instead of the same step.

    Returns
    -------
    Lab
        A widget. Its `solution` is the `Comparison` on the screen, whose arrays are those of
        `compare`, digit for digit; `python` the lines that make it.

    Raises
    ------
    ImportError
        Without anywidget: ``pip install pyintegrate[lab]``.
    TypeError, ValueError
        Arguments that `compare` refuses, batches, and rigid bodies, which are not points.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> lab = pi.lab(pi.systems.pendulum, 2.0, 0.0, methods=["rk4", "velocity_verlet"], dt=0.05)
    >>> lab.solution["rk4"].dt
    0.05
    """
    try:
        import anywidget  # noqa: F401
    except ImportError as missing:
        raise ImportError(
            "pi.lab is a widget of anywidget, which is not installed: pip install pyintegrate[lab]"
            " (without a notebook: python -m pyintegrate lab opens it in the browser)"
        ) from missing
    from .widget import Lab

    return Lab(system, x0, v0, methods=methods, dt=dt, t_end=t_end, equal_work=equal_work)
