"""Phase planes: field lines, nullclines, manifolds of saddles, and marks of equilibria."""

from __future__ import annotations

import matplotlib
import numpy as np

from ...analysis.portraits.resting_points import Box, without_drive
from ...analysis.portraits.resting_points import equilibria as found_equilibria
from ...analysis.results import quiet
from ...run.arguments import checked_system
from ...solving import solve
from ...values.checks import places_of, some_of
from ...values.types import (
    Any,
    ArrayLike,
    Equilibria,
    EquilibriumBranches,
    Mapping,
    PeriodicOrbits,
    Sequence,
    System,
)
from ..curves import parts_of_results
from ..pictures import picture
from ..solution_curves import phase_portrait
from ..style import (
    BLUE,
    GREEN,
    ORANGE,
    PALETTE,
    VERMILLION,
    axis_label,
    on_dark,
    on_ground,
    sign_of,
)

GRID = 121  # points along each axis, of the field
BEYOND = 1e-9  # of the box: the nullclines on its border are within


@picture("legend")
def phase_plane(
    page,
    system: System,
    box: Mapping[str, Sequence[float]] | ArrayLike,
    *,
    solution: Any = None,
    t: float | None = None,
    n: int = 400,
    length: float = 3.0,
    nullclines: bool = True,
    **keywords: Any,
):
    """Draw the phase plane of a motion with two components.

    Field lines with arrows, nullclines (where one component stands still), all equilibria found,
    by kind, and the stable and unstable manifolds of saddles.

    Parameters
    ----------
    system : System
        With two components.
    box : mapping of str to (low, high), or array_like, shape (2, 2)
        The plane: bounds of both components.
    solution : Solution or sequence of them, optional
        Drawn on top; of a large batch 30 trajectories.
    t : float, optional
        Freezes a driven motion at this time; by default it is drawn without its drive, as a note
        says.
    n : int, optional
        Starts of the search for equilibria, as of ``pi.analysis.equilibria``.
    length : float, optional
        Of the manifolds, in widths of the box; 0 for none.
    nullclines : bool, optional
        Whether to draw them.
    legend : bool, optional
        Whether to name what is drawn.
    **keywords
        For `Axes.streamplot`: density, color, ...

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For another number of components, a batch of parameters, or a wrong box.

    References
    ----------
    Strogatz (2015), Nonlinear Dynamics and Chaos, chapter 6.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = phase_plane(pi.systems.duffing, {"x": (-2, 2), "v": (-1.5, 1.5)})
    >>> ax.get_title(loc="right")
    'without its drive: γ = 0'
    """
    checked_system(system)
    if system.dim != 2 or system.batched:
        raise ValueError(
            f"a phase plane is that of one motion with two components, and {system.name!r} has"
            f" {system.dim} components and parameters of shapes {dict(system.batch_shapes)}"
        )
    room = Box(system, box)
    if len(room.names) != 2:
        raise ValueError(f"box must bound both {' and '.join(system.state_names)}, got {box!r}")
    if t is None:
        system, drive = without_drive(system, room)
        note = f"without its drive: {axis_label(system, drive).split(' [')[0]} = 0" if drive else ""
    else:
        note = f"the field at t = {t:g}"
    found = found_equilibria(system, box, n, t=t)
    ax = page((7.4, 4.8))
    # Not to the border: where a component stands still there, it changes its sign beyond.
    share = np.stack(np.meshgrid(*[np.linspace(-BEYOND, 1 + BEYOND, GRID)] * 2), axis=-1)
    y = room.filled(share.reshape(-1, 2))
    plane = y.reshape(GRID, GRID, 2)
    with quiet():
        field = system.rhs(0.0 if t is None else t, plane)
    _draw_field(ax, plane, field, nullclines, system, keywords)
    if length:
        _draw_manifolds(ax, found, length)
    if solution is not None:
        # As wide as field lines at least, however many turns there are.
        phase_portrait(solution, ax=ax, exact=False, legend=False, zorder=3.5, linewidth=1.1)
    mark(ax, found.points[:, 0], found.points[:, 1], found, {})
    wide, high = room.filled(np.array([[0, 0], [1, 1]])).T
    ax.set(xlim=wide, ylim=high)
    lost = found.lost / found.starts
    if lost > 0.05:
        note += f"{'; ' * bool(note)}{lost:.0%} of Newton's starts found no equilibrium"
    right, up = (axis_label(system, name) for name in system.state_names)
    return ax, right, up, note


def _draw_field(ax, plane, field, nullclines, system, keywords):
    x, y = plane[0, :, 0], plane[:, 0, 1]
    grey = "0.45" if on_dark() else "0.7"
    own = {"color": grey, "linewidth": 0.7, "arrowsize": 0.8, "density": 1.3, "zorder": 1}
    with quiet():
        ax.streamplot(x, y, field[..., 0], field[..., 1], **(own | keywords))
    if not nullclines:
        return
    for d, (colour, style) in enumerate(((ORANGE, "--"), (GREEN, "-."))):
        f = np.ma.masked_invalid(field[..., d])
        if f.count() and f.min() < 0 < f.max():
            lines = ax.contour(x, y, f, [0.0], colors=[on_ground(colour)], linestyles=[style],
                               linewidths=1.2, zorder=2.6)  # fmt: skip
            lines.set_clip_on(False)  # seen on the border, too
            name = sign_of(system.state_names[d])
            ax.plot([], [], color=on_ground(colour), linestyle=style, linewidth=1.2,
                    label=f"d{name}/dt = 0")  # fmt: skip


def _draw_manifolds(ax, found, length):
    # Dashes, where the unstable one of a saddle is the stable one of another.
    looks = (BLUE, "-"), (VERMILLION, (0, (4, 2)))
    for (name, lines), (colour, dashes) in zip(sorted(found.manifolds(length).items()), looks):
        for i, line in enumerate(lines):
            label = f"{name} manifold" if not i else None
            own = {"color": on_ground(colour), "linestyle": dashes, "linewidth": 1.6}
            ax.plot(*line.T, **own, zorder=3, label=label)


SHAPES = {"node": "o", "focus": "D", "saddle": "s", "centre": "o", "degenerate": "v"}


@picture("legend")
def equilibria(
    page,
    found: Equilibria,
    *,
    components: tuple[str, str] | str | None = None,
    **keywords: Any,
):
    """Draw equilibria by kind, in a plane or over a parameter.

    Stable ones are filled, unstable ones open; saddles are squares, half filled.

    Parameters
    ----------
    found : Equilibria
        Of ``pi.analysis.equilibria``, for one set of parameters or a batch of one axis.
    components : str or tuple of two str, optional
        The plane to draw, or the component over the parameter; by default the first of the box.
    legend : bool, optional
        Whether to name the kinds.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For a batch of several axes.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> systems = pi.systems.duffing(gamma=0.0, alpha=np.linspace(-1, 1, 41))
    >>> ax = equilibria(pi.analysis.equilibria(systems, {"x": (-2, 2)}, n=64))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('α [1/s^2]', 'x [m]')
    """
    system, over = found.system, found.count.ndim
    if over > 1:
        raise ValueError(f"equilibria are drawn of one parameter, got a batch {found.count.shape}")
    names = found.box.names if components is None else components
    names = some_of("components", names, system.state_names)
    if not over:  # a plane: also of a single component
        names = [*names, *(name for name in system.state_names if name not in names)]
    values = [found.points[..., place] for place in places_of(names[:2], system)]
    labels = [axis_label(system, name) for name in names[:2]]
    if over:
        varied = [name for name, shape in system.batch_shapes.items() if shape]
        at = system.params[varied[0]] if varied else np.arange(len(found.count))
        values.insert(0, np.broadcast_to(at[:, np.newaxis], found.kinds.shape))
        labels.insert(0, axis_label(system, varied[0]) if varied else "batch")
        keywords = {"markersize": 3.0, "markeredgewidth": 0.6} | keywords
    else:  # a single component along a line
        values.append(np.zeros_like(values[0]))
        labels.append("")
    ax = page((7.2, 4.4))
    mark(ax, values[0], values[1], found, keywords)
    return ax, *labels[:2], "" if np.any(found.count) else "none was found"


@picture("legend")
def periodic_orbits(
    page, found: PeriodicOrbits, *, components: str | Sequence[str] | None = None, **keywords: Any
):
    """Draw periodic orbits, each over one period; those that did not close are left out.

    Parameters
    ----------
    found : PeriodicOrbits
        Of ``pi.analysis.periodic_orbits``.
    components : sequence of two str, optional
        As of ``phase_portrait``.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For unknown components, or where no orbit closed.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = periodic_orbits(pi.analysis.periodic_orbits(pi.systems.van_der_pol, [2.0, 0.0], 6.5))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'v')
    """
    closed = found.failures == ""
    if not closed.any():
        raise ValueError(f"no orbit closed: {found.failures}")
    starts = np.where(closed[..., np.newaxis], found.starts, np.nan)
    once = solve(found.system, starts, t_end=np.where(closed, found.periods, 0.0), save="all",
                 rtol=1e-9, atol=1e-12, on_failure="ignore")  # fmt: skip
    return phase_portrait(once, components=components, exact=False, ax=page((6.2, 5.2)), **keywords)


LINES = {"stable": "-", "unstable": "--", "neutral": ":"}
POINTS = {"fold": "s", "Hopf": "o", "branch point": "D"}


@picture("legend")
def branches(page, found: EquilibriumBranches, component: str | None = None, **keywords: Any):
    """Draw branches of equilibria over the parameter: stable ones in full lines, up to six named.

    Parameters
    ----------
    found : EquilibriumBranches
        Of ``pi.analysis.continue_equilibria``.
    component : str, optional
        Default: the first.
    legend : bool, optional
        Whether to name lines and marks.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        For an unknown component.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> lorenz = pi.systems.lorenz
    >>> found = pi.analysis.continue_equilibria(lorenz, "rho", (30, 0), [8.0, 8.0, 29.0])
    >>> branches(found).get_xlabel()
    'ρ'
    """
    name = found.system.state_names[0] if component is None else component
    (place,) = places_of((name,), found.system)
    ax, n = page((7.2, 4.4)), found.values.shape[-1]
    along = found.values, found.points[..., place], found.stability, found.kinds
    x, y, stability, kinds = (part.reshape(-1, n) for part in along)
    stability = np.where(kinds != "", np.roll(stability, -1, axis=-1), stability)
    parts = parts_of_results(found.system, found.values.shape[:-1])
    for label, style in LINES.items():
        if (stability == label).any():
            # A piece of line belongs to the stability of its first point.
            here = (stability == label) | np.roll(stability == label, 1, axis=-1)
            own = {"color": on_ground(BLUE), "linestyle": style, "linewidth": 1.6} | keywords
            lines = ax.plot(x.T, np.where(here, y, np.nan).T, **own)
            for line, colour in zip(lines if parts else (), PALETTE):
                line.set(**{"color": on_ground(colour)} | keywords)
            ax.plot([], [], **own | {"color": "0.5"} if parts else own, label=label)
    for part, colour in zip(parts, PALETTE):
        ax.plot([], [], label=part, **{"color": on_ground(colour), "linewidth": 1.6} | keywords)
    for label, shape in POINTS.items():
        if (kinds == label).any():
            ax.plot(x[kinds == label], y[kinds == label], shape, markersize=6.0, zorder=4,
                    color=on_ground(VERMILLION), label=label)  # fmt: skip
    return ax, axis_label(found.system, found.parameter), axis_label(found.system, name)


continue_equilibria = branches


def mark(ax, x, y, found, keywords):
    """A mark at each equilibrium, with a name in the legend for each kind."""
    colour = matplotlib.rcParams["text.color"]
    ground = ax.get_facecolor()
    for kind in sorted(set(found.kinds.flat) - {""}, key=_stable_first):
        which = found.kinds == kind
        for stability in sorted(set(found.stability[which])):
            here = which & (found.stability == stability)
            name = kind if stability in kind or kind == "centre" else f"{kind} ({stability})"
            saddle = kind.startswith("saddle")
            shape = next(mark for word, mark in SHAPES.items() if word in kind)
            own = {
                "linestyle": "none", "marker": shape, "markersize": 7.0, "color": colour,
                "fillstyle": "left" if saddle else "full", "markerfacecoloralt": ground,
                "markerfacecolor": colour if saddle or stability == "stable" else ground,
                "zorder": 4, "label": kind if saddle else name,
            }  # fmt: skip
            ax.plot(x[here], y[here], **(own | keywords))


def _stable_first(kind):
    return ("stable" not in kind or "unstable" in kind, kind)
