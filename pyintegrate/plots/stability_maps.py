"""Plot of stability over stiffness and damping, by simulation, with the theoretical boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.accuracy import listed
from ..analysis.growth import spring_growth
from ..analysis.regions import joined, level_segments
from ..integration import integrate
from ..method.catalogue import find_method
from ..method.method import Method
from ..system.catalogue import systems
from .frame import figure_size, several_axes, wrapped
from .style import axis_label, title_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..values.types import Axes, Methods

STEPS = 400  # of the simulation: growth by 2 % per step then appears as a factor of 3000
CLIP = 0.3  # growth or decay per step beyond which the colour is saturated


def stability_map(
    methods: Methods = ("semi_implicit_euler", "rk4"),
    *,
    dt: float = 0.1,
    stiffness: float | None = None,
    damping: float | None = None,
    points: int = 160,
    ax: Axes | None = None,
    labels: Mapping[Any, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw where a damped spring of 1 kg decays and where it explodes: one panel for each method.

    Every point of the map is one spring, simulated for 400 steps; its colour is its growth or
    decay per step. The line is the theoretical boundary. A real spring always decays.

    Parameters
    ----------
    methods : str, Method or sequence of them, optional
    dt : float, optional
        Step [s].
    stiffness, damping : float, optional
        Largest k [N/m] and b [kg/s] shown; from the methods' limits by default.
    points : int, optional
        Springs along each axis.
    ax : Axes, or sequence of Axes, optional
        Where to draw, one for each method; a new figure by default.
    labels : dict, optional
        Title of a panel by method name.
    title : str, optional
        Above all panels.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.

    Returns
    -------
    Axes, or ndarray of Axes
        An array for several methods.

    Raises
    ------
    ValueError
        For another number of axes than methods.

    Examples
    --------
    >>> ax = stability_map("semi_implicit_euler", points=20)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('damping b [kg/s]', 'stiffness k [N/m]')
    """
    one = isinstance(methods, str | Method)
    chosen = [find_method(method) for method in listed(methods)]
    size = figure_size(figsize, (3.1 * len(chosen) + 1.5, 3.7))
    axes = several_axes(ax, (1, len(chosen)), size, sharey=True)[0]
    limits = [min(m.stability_limit, 4.0) for m in chosen]
    if stiffness is None:
        stiffness = 1.35 * max(max(limits), 2.0) ** 2 / dt**2
    if damping is None:
        damping = 3.0 / dt
    b, k = np.meshgrid(np.linspace(0, damping, points), np.linspace(0, stiffness, points))
    system = systems["spring"]
    for panel, method in zip(axes, chosen, strict=True):
        mesh = _panel(panel, method, k, b, dt)
        name = (labels or {}).get(method.name, title_of(method))
        wide = panel.get_position().width * panel.figure.get_figwidth()
        panel.set_title(wrapped(name, wide, "font.size"), loc="left", fontsize="medium")
        panel.set_xlabel(f"damping {axis_label(system, 'b')}")
    axes[0].set_ylabel(f"stiffness {axis_label(system, 'k')}")
    unit = unit_of(system, "t")
    bar = axes[-1].figure.colorbar(mesh, ax=list(axes), pad=0.02)
    bar.set_ticks([-CLIP, 0, CLIP], labels=["decays", "neither", "explodes"])
    bar.set_label(f"amplitude in a step of {dt:g} {unit}")
    if title is not None:
        axes.figure.suptitle(title)
    return axes[0] if one else axes


def simulated_growth(method, k, b, dt, n_steps=STEPS):
    """Logarithm of the growth of a spring of 1 kg in one step, from a simulation.

    Parameters
    ----------
    method : Method
    k, b : ndarray
        Stiffness [N/m] and damping [kg/s], (*batch).
    dt : float
    n_steps : int, optional

    Returns
    -------
    ndarray
        (*batch), positive where it explodes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> k, b = np.array([1.0]), np.array([0.0])
    >>> grown = simulated_growth(pi.methods["explicit_euler"], k, b, 0.1)
    >>> print(f"{grown[0]:.5f}, in theory {np.log(1.01) / 2:.5f}")
    0.00498, in theory 0.00498
    """
    spring = systems["spring"](k=k, b=b, m=1.0)
    run = {"dt": dt, "method": method, "save": "final", "on_failure": "ignore", "workers": -1}
    sol = integrate(spring, 1.0, 0.0, n_steps=n_steps, **run)
    with np.errstate(all="ignore"):
        # In units in which a turn of the undamped spring is a circle.
        size = np.hypot(sol.x[-1], sol.v[-1] / np.sqrt(np.maximum(k, 1e-300)))
        growth = np.log(size) / n_steps
    done = np.where(sol.failed_step > 0, sol.failed_step, n_steps)
    return np.where(sol.status != 0, np.maximum(700 / done, CLIP), np.nan_to_num(growth, neginf=-9))


def _colours():
    """Light blue for decay, dark red for explosion: distinct in grey too."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("growth", ["#7fbfe8", "#ffffff", "#c04500"])


def _panel(ax, method, k, b, dt):
    """The simulation as colours, the theory as a line."""
    grown = simulated_growth(method, k, b, dt)
    shown = np.clip(grown, -CLIP, CLIP)
    mesh = ax.pcolormesh(
        b,
        k,
        shown,
        cmap=_colours(),
        vmin=-CLIP,
        vmax=CLIP,
        shading="nearest",
        rasterized=True,
    )
    with np.errstate(divide="ignore"):
        theory = np.log(np.minimum(spring_growth(method, k * dt**2, b * dt), 1e300))
    for line in joined(level_segments(b[0], k[:, 0], theory - 1e-9)):
        ax.plot(line.real, line.imag, color="k", linewidth=1.4, label="boundary of theory")
    ax.set(xlim=(b.min(), b.max()), ylim=(k.min(), k.max()))
    return mesh
