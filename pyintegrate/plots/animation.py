"""Moving picture: the motion, and the point in phase space that it is."""

import numpy as np

from ..analysis.observables import start_time
from .curves import batch_of, collect, exact_curve
from .paths import component_names, smooth_times
from .style import EXACT, axis_label, unit_of

FRAMES = 240  # at most: ten seconds
PER_SECOND = 24
TRAIL = 0.12  # of the run: how long a trail stays visible


def animate(
    *sources, seconds=None, components=None, labels=None, figsize=(9.0, 4.0), title=None, **keywords
):
    """Show one or several motions as they happen: in space or time, and in phase space.

    In a notebook, ``HTML(animate(sol).to_jshtml())`` plays it; ``.save("motion.gif")`` keeps it.

    Parameters
    ----------
    *sources : Solution or Comparison
        What moves: one trajectory each, or a small batch.
    seconds : float, optional
        How long it plays: as long as the motion takes, but 2 to 10 seconds, by default.
    components : sequence of two str, optional
        The plane of the left picture; by default that of `phase_portrait` is on the right, and the
        path, or the position against time, on the left.
    labels : dict, optional
        Legend text by method name.
    figsize : tuple of float, optional
        Width and height in inches.
    title : str, optional
        Above; the system's title by default.
    **keywords
        For `Axes.plot` of the trails.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Keep it in a variable while it plays.

    Raises
    ------
    ValueError, TypeError
        For systems of a single component, or nothing saved to show.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> moving = animate(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> moving.to_jshtml()  # doctest: +SKIP
    """
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation

    curves = collect(sources, labels)
    system = curves[0].solution.system
    if system.dim < 2:
        raise ValueError(f"animate needs two components, {system.name!r} has one")
    if any(len(curve.solution) < 2 for curve in curves):
        raise ValueError("animate needs two saves or more: integrate with save='all' or save=k")
    if any(np.ndim(curve.solution.t) > 1 for curve in curves):
        raise ValueError("animate needs one time for all: dt and t0 differ between trajectories")
    names = component_names(system, components)[:2]
    panes = [(names[0], names[1])] if len(names) == 2 else [("t", names[0])]
    panes.append((system.state_names[0], system.state_names[system.dof or 1]))
    if panes[0] == panes[1]:  # a first-order system of two components: against time as well
        panes[0] = ("t", names[0])
    figure, axes = pyplot.subplots(1, 2, figsize=figsize, layout="constrained")
    end = max(float(curve.solution.t[-1]) for curve in curves)
    begin = float(start_time(curves[0].solution))
    if seconds is None:
        seconds = float(np.clip(abs(end - begin), 2.0, FRAMES / PER_SECOND))
    count = max(2, min(FRAMES, round(seconds * PER_SECOND)))
    moments = np.linspace(begin, end, count)
    movers = [
        _Mover(ax, curve, pane, keywords)
        for pane, ax in zip(panes, axes, strict=True)
        for curve in curves
    ]
    for pane, ax in zip(panes, axes, strict=True):
        _still(ax, curves, pane)
    clock = axes[0].set_title("", loc="left", fontsize=10)
    figure.suptitle(title or system.title, x=0.01, ha="left", fontweight="bold")
    handles, names = axes[0].get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    unit = unit_of(system, "t")

    def show(frame):
        clock.set_text(f"t = {moments[frame]:.2f} {unit}".rstrip())
        return [clock, *(artist for mover in movers for artist in mover.show(moments[frame]))]

    show(0)
    return FuncAnimation(figure, show, frames=count, interval=1000 * seconds / count, blit=True)


class _Mover:
    """A dot with its trail for every trajectory of one solution in one pane."""

    def __init__(self, ax, curve, pane, keywords):
        self.solution, self.pane = curve.solution, pane
        style = curve.keywords | {"linewidth": 1.2} | keywords
        flat = self._values(pane[0]).shape[1]
        self.trails = [ax.plot([], [], **style)[0] for _ in range(flat)]
        dot = {"marker": "o", "linestyle": "", "markersize": 6, "color": style["color"]}
        (self.dots,) = ax.plot([], [], **dot, label=curve.label)

    def _values(self, name):
        """(n_saved, trajectories) of a component, or of the time."""
        solution = self.solution
        count = int(np.prod(batch_of(solution)))
        if name == "t":
            return np.broadcast_to(np.asarray(solution.t)[:, np.newaxis], (len(solution), count))
        values = np.asarray(solution[name], dtype=float).reshape(len(solution), -1)
        valid = np.broadcast_to(solution.valid, solution.y.shape[:-1]).reshape(len(solution), -1)
        return np.where(valid, values, np.nan)

    def show(self, moment):
        t = np.asarray(self.solution.t)
        sense = 1 if t[-1] >= t[0] else -1
        now = int(np.searchsorted(sense * t, sense * moment + 1e-12, side="right")) - 1
        now = min(max(now, 0), len(t) - 1)
        old = 0 if self.pane[0] == "t" else max(0, now - max(2, int(TRAIL * len(t))))
        x, y = (self._values(name)[: now + 1] for name in self.pane)
        stride = max(1, (now - old) // 2000)
        for number, trail in enumerate(self.trails):
            trail.set_data(x[old::stride, number], y[old::stride, number])
        self.dots.set_data(x[-1], y[-1])
        return [*self.trails, self.dots]


def _still(ax, curves, pane):
    """What does not move: limits, labels, the true motion."""
    solution = curves[0].solution
    system, extents = solution.system, []
    t = smooth_times(solution)
    states = exact_curve(solution, t) if int(np.prod(batch_of(solution))) == 1 else None
    parts = []
    for name in pane:
        values = [
            np.asarray(curve.solution.t if name == "t" else curve.solution[name], dtype=float)
            for curve in curves
        ]
        good = np.concatenate([one[np.isfinite(one)].ravel() for one in values])
        if states is not None:
            true = t if name == "t" else states[..., system.state_names.index(name)].ravel()
            parts.append(true)
            size = np.ptp(true) or 1.0  # what explodes leaves the picture
            good = np.clip(good, true.min() - size, true.max() + size)
        margin = 0.06 * (np.ptp(good) or 1.0)
        extents.append((good.min() - margin, good.max() + margin))
    if states is not None:
        ax.plot(*parts, **EXACT)
    ax.set(xlim=extents[0], ylim=extents[1])
    ax.set(xlabel=axis_label(system, pane[0]), ylabel=axis_label(system, pane[1]))
    ax.spines[["top", "right"]].set_visible(False)
    if all(name in system.state_names[: system.dof] for name in pane) and system.dof > 1:
        ax.set_aspect("equal", adjustable="box")
