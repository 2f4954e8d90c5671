"""Picture: one solution at a glance, in the panels that fit its system."""

from .curves import collect
from .dashboard_panels import dashboard, possible_panels

PANELS = ("motion", "energy")


def solution(solution, *, panels=None, **keywords):
    """Draw a solution: its motion, and its energy where the system has one.

    Parameters
    ----------
    solution : Solution
    panels : sequence of str, optional
        Any of `dashboard`; by default the motion and the energy.
    **keywords
        As of `dashboard`: ax, title, figsize, labels, and others for `Axes.plot`.

    Returns
    -------
    ndarray of Axes
        (panels,); the figure is ``.figure``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> axes = solution(pi.integrate(pi.systems.pendulum, dt=0.05, t_end=10.0))
    >>> [ax.get_title("left") for ax in axes]
    ['position', 'energy']
    """
    if panels is None:
        possible = possible_panels(collect([solution]))
        panels = [panel for panel in PANELS if panel in possible]
    return dashboard(solution, panels=panels, **keywords).ravel()
