"""The function that opens the lab in a notebook."""

from __future__ import annotations

from ..values.keywords import explains_keywords
from ..values.lazily import optional
from ..values.types import ArrayLike, Lab, Methods, System


@explains_keywords()
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
    """Open the lab in a notebook: methods side by side over the true motion, interactively.

    A canvas for each method shows the motion over its ghost, the true motion, with the energy and
    phase errors as they grow, and the phase portrait. The step, the parameters and the start can be
    changed with sliders or by dragging the mass; time runs, or steps, in both directions.

    Parameters
    ----------
    system : System or str, optional
        The system, also a user-defined traced one, or one with noise: points on a line or in a
        plane, boxes that turn; motions in space are projected. The front end also offers the
        systems of the catalogue. Default: the oscillator of omega^2 = 15.
    x0, v0 : array_like, optional
        The start of one trajectory, as in `integrate`; the system's own by default.
    methods : sequence of str or Method, optional
        As in `compare`; default: rk4 and the simplest suitable one.
    dt : float, optional
        Step, in the system's unit of time. Default: about a sixteenth of a turn.
    t_end : float, optional
        The end; the nearest whole number of steps is taken, 20,000 at most. Default: about forty
        turns.
    equal_work : bool, optional
        Start with the same number of force evaluations for all, instead of the same step.

    Returns
    -------
    Lab
        A widget. Its `solution` is the `Comparison` on the screen, whose arrays are those of
        `compare`, digit for digit; `python` is the code that makes it.

    Raises
    ------
    ImportError
        Without anywidget: ``pip install anywidget``.
    TypeError, ValueError
        Arguments that `compare` refuses, and batches.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> lab = pi.lab(pi.systems.pendulum, 2.0, 0.0, methods=["rk4", "velocity_verlet"], dt=0.05)
    >>> lab.solution["rk4"].dt
    0.05
    """
    optional("anywidget", "pi.lab")
    from .widget import Lab

    return Lab(system, x0, v0, methods=methods, dt=dt, t_end=t_end, equal_work=equal_work)
