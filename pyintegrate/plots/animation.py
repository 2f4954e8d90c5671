"""Animation: the motion, and its point in phase space."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

from ..analysis.observables import start_time
from .bodies import NAMED, bodies_of, letter_label, letters_of
from .curves import collect, exact_curve
from .frame import figure_size, left_out, legend_below, line_keywords, muted, wrapped
from .moving.films import drawn_once, gif_writer
from .moving.scenes import Scene, has_scenes, latest
from .paths import component_names, smooth_times, widest
from .style import axis_label, exact_look, unit_of
from .thinning import batch_of, batch_size, chosen_trajectories, jumps_between, parted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.animation import FuncAnimation

    from ..values.types import Labels

PER_SECOND = 20
LONGEST = 10.0  # seconds, by default
TRAIL = 0.12  # of the run: how long a trail stays visible
FULL = 0.8  # of the size that Matplotlib embeds in a page
LEAST_DPI = 30  # of a frame in a page
TOLD = {"codec", "bitrate", "extra_args", "metadata"}  # to a writer of Matplotlib's choice
FILMS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ogv")  # that need ffmpeg


def animate(
    *sources: Any,
    seconds: float | None = None,
    components: str | Sequence[str] | None = None,
    labels: Labels | None = None,
    figsize: tuple[float, float] | None = None,
    title: str | None = None,
    **keywords: Any,
) -> FuncAnimation:
    """Animate one or several motions: in space or time, and in phase space.

    Pendulums swing on their rods, masses hang on springs and rigid bodies turn as boxes, each
    solution beside the others (up to four) over the grey ghost of the exact motion, if it has a
    closed form. Bodies leave trails; for all other systems the path is drawn, or the position
    against time. Only saved states are shown, and no line joins two of them across a jump of an
    event.

    At the end of a notebook's cell it plays (``HTML(animate(sol).to_jshtml())`` elsewhere in one; a
    few seconds pass while the frames are drawn); ``.save("motion.gif")`` saves it,
    and ``.save("motion.mp4")`` if ffmpeg is installed. A page holds all frames, which are made
    small enough for ``rcParams["animation.embed_limit"]``.

    Parameters
    ----------
    *sources : Solution or Comparison
        One trajectory each, or a batch; of a large batch 30 trajectories, with a note.
    seconds : float, optional
        Duration: by default that of the motion, but 2 to 10 seconds.
    components : sequence of two str, optional
        The plane of the left picture, instead of the default; that of
        `phase_portrait` is on the right. All of several bodies (`n_body`) are shown,
        in a plane or in space: ("x", "y") or ("x", "y", "z").
    labels : dict, optional
        Legend text by method name.
    figsize : tuple of float, optional
        Width and height in inches.
    title : str, optional
        Title; the system's title by default.
    **keywords
        For `Axes.plot` of the trails.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Keep a reference to it while it plays.

    Raises
    ------
    ValueError, TypeError
        If there is nothing to show, or the times differ between trajectories.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> moving = animate(pi.integrate(pi.systems.spring, dt=0.05, t_end=5.0))
    >>> moving.to_jshtml()  # doctest: +SKIP
    """
    curves, keywords = collect(sources, labels), line_keywords(keywords)
    system = curves[0].solution.system
    if any(len(curve.solution) < 2 for curve in curves):
        raise ValueError("animate needs two saves or more: integrate with save='all' or save=k")
    if any(np.ndim(curve.solution.t) > 1 for curve in curves):
        raise ValueError("animate needs one time for all: dt and t0 differ between trajectories")
    letters = letters_of(curves[0].solution, components)
    scenes = len(curves) if components is None and not letters and has_scenes(curves) else 0
    panes = [letters] if letters else _panes(curves[0].solution, components)
    figure, axes = _figure(figsize, panes, scenes, system)
    end = max(float(curve.solution.t[-1]) for curve in curves)
    begin = float(start_time(curves[0].solution))
    if seconds is None:
        seconds = float(np.clip(abs(end - begin), 2.0, LONGEST))
    count = max(2, round(seconds * PER_SECOND))
    moments = np.linspace(begin, end, count)
    movers: list[Any] = []
    if scenes:
        movers = [Scene(ax, curve, keywords) for ax, curve in zip(axes, curves, strict=False)]
        panes = _beside(panes, system)
    if letters:
        movers += _moving_bodies(axes[0], curves, letters, keywords)
    else:
        movers += [
            _Mover(ax, curve.solution, pane, curve.keywords, curve.label, keywords)
            for pane, ax in zip(panes, axes[scenes:], strict=True)
            for curve in curves
        ]
    for pane, ax in zip(panes, axes[scenes:], strict=True):
        _still(ax, curves, pane, [mover for mover in movers if mover.ax is ax], bool(letters))
    clock = axes[0].set_title("", loc="left", fontsize="medium")
    if note := left_out(curves):
        axes[-1].set_title(note, loc="right", fontsize="small", **muted())
    text = wrapped(title or system.title, figure.get_figwidth(), "figure.titlesize", True)
    figure.suptitle(text, x=0.01, ha="left", fontweight="bold")
    handles, names = axes[-1].get_legend_handles_labels()
    if len(names) > 1:
        legend_below(figure, handles, names)
    unit = unit_of(system, "t")

    def show(frame):
        clock.set_text(f"t = {moments[frame]:.2f} {unit}".rstrip())
        return [clock, *(artist for mover in movers for artist in mover.show(moments[frame]))]

    show(0)
    figure.canvas.draw()
    figure.set_layout_engine("none")  # computed once: only the motion changes between frames
    interval = 1000 * seconds / count
    return _kind()(
        figure, show, count, interval=interval, blit=not any(hasattr(ax, "get_zlim") for ax in axes)
    )


def _beside(panes, system):
    """The pane beside moving scenes: phase space; beside boxes none."""
    return [] if system.structure == "rigid_body" else panes[1:] or panes


def _figure(figsize, panes, scenes, system):
    """A figure with axes for each scene and each pane."""
    from matplotlib import pyplot

    solid = [system.structure == "rigid_body"] * scenes
    solid += [len(pane) == 3 for pane in (_beside(panes, system) if scenes else panes)]
    usual = {1: (6.0, 5.0), 2: (9.0, 4.0)}.get(len(solid), (3.3 * len(solid), 3.9))
    figure = pyplot.figure(figsize=figure_size(figsize, usual), layout="constrained")
    axes = [
        figure.add_subplot(1, len(solid), number, **({"projection": "3d"} if deep else {}))
        for number, deep in enumerate(solid, 1)
    ]
    return figure, axes


def _panes(solution, components):
    """The components of the two panes, if they were saved; "t" is the time."""
    system, saved = solution.system, solution.components
    names = component_names(system, components, saved)
    if len(names) == 3 and components is None:
        names = widest(solution, names)
    names = names[:2]
    for name in names:
        solution[name]  # raises for a component that was not saved
    panes = [names] if len(names) == 2 else [("t", names[0])]
    if system.dim == 1:
        return panes
    first = system.state_names.index(names[-1]) if system.dof == 3 else 0
    pair = (system.state_names[first], system.state_names[first + (system.dof or 1)])
    if set(pair) <= set(saved):
        if panes[0] == pair:  # a first-order system of two components: against time as well
            panes[0] = ("t", names[0])
        panes.append(pair)
    return panes


def _moving_bodies(ax, curves, letters, keywords):
    """A mover for every body of every solution; legends name the bodies of the first."""
    movers = []
    for turn, curve in enumerate(curves):
        bodies = bodies_of(curve.solution)
        for body in bodies:
            names = [body.components[letter] for letter in letters]
            style = {"color": body.colour, "linestyle": ("-", "--", ":", "-.")[turn % 4]}
            label = body.name if turn == 0 and len(bodies) <= NAMED else "_nolegend_"
            movers.append(_Mover(ax, curve.solution, names, style, label, keywords))
    return movers


class _Mover:
    """A dot with its trail for every trajectory of one solution in one pane."""

    def __init__(self, ax, solution, names, style, label, keywords):
        self.ax, self.t, self.solution = ax, np.asarray(solution.t), solution
        self.chosen = chosen = chosen_trajectories(batch_of(solution))
        self.parts = [_values(solution, name, chosen) for name in names]
        self.old = names[0] != "t"  # only curves against time keep their whole trail
        empty: list = [[]] * len(names)
        style = style | {"linewidth": 1.2} | keywords
        self.trails = [ax.plot(*empty, **style | {"label": "_nolegend_"})[0] for _ in chosen]
        dot = {"marker": "o", "linestyle": "", "markersize": 6, "color": style["color"]}
        (self.dots,) = ax.plot(*empty, **dot, label=label)

    def show(self, moment):
        t, now = self.t, latest(self.t, moment)
        old = max(0, now - max(2, int(TRAIL * len(t)))) if self.old else 0
        stride = max(1, (now - old) // 2000)
        for number, trail in enumerate(self.trails):
            seen = slice(old, now + 1, stride)
            jumps = jumps_between(self.solution, self.chosen[number], t[seen])
            _move(trail, parted(jumps, *(part[seen, number] for part in self.parts)))
        _move(self.dots, [part[now] for part in self.parts])
        return [*self.trails, self.dots]


def _move(line, parts):
    """Give a line of two or three dimensions other points."""
    (line.set_data_3d if len(parts) == 3 else line.set_data)(*parts)


def _values(solution, name, chosen):
    """(n_saved, trajectories) of a component, NaN after a failure; or of the time."""
    if name == "t":
        return np.repeat(np.asarray(solution.t)[:, np.newaxis], len(chosen), axis=1)
    values, valid = solution[name], np.asarray(solution.valid)
    columns = [
        np.where(valid[(slice(None), *one)], values[(slice(None), *one)], np.nan) for one in chosen
    ]
    return np.array(columns, dtype=float).reshape(len(chosen), len(solution)).T


def _still(ax, curves, pane, movers, bodies):
    """Draw everything that does not move: limits, labels, the true motion."""
    solution = curves[0].solution
    system = solution.system
    t = smooth_times(solution)
    states = exact_curve(solution, t) if batch_size(solution) == 1 and not bodies else None
    extents, parts = [], []
    for place, name in enumerate(pane):
        found = np.concatenate([mover.parts[place].ravel() for mover in movers])
        good = found[np.isfinite(found)]
        good = good if good.size else np.zeros(1)
        if states is not None:
            true = t if name == "t" else states[..., system.state_names.index(name)].ravel()
            parts.append(true)
            if np.isfinite(true).all():
                size = np.ptp(true) or 1.0  # exploding motions leave the picture
                good = np.clip(good, true.min() - size, true.max() + size)
        margin = 0.06 * (np.ptp(good) or 1.0)
        extents.append((good.min() - margin, good.max() + margin))
    if states is not None and np.isfinite(parts).all():
        ax.plot(*parts, **exact_look())
    for letter, extent in zip("xyz", extents, strict=False):
        getattr(ax, f"set_{letter}lim")(*extent)
    for letter, name in zip("xyz", pane, strict=False):
        text = letter_label(solution, name) if bodies else axis_label(system, name)
        getattr(ax, f"set_{letter}label")(text)
    if len(pane) == 2:
        ax.spines[["top", "right"]].set_visible(False)
    positions = system.state_names[: system.dof]
    if bodies or (system.dof > 1 and set(pane) <= set(positions)):
        ax.set_aspect("equal", adjustable="box")


def _has_writer(writers):
    """Whether Matplotlib finds what writes films: ffmpeg, or what its settings name."""
    named = matplotlib.rcParams["animation.writer"]
    return writers.is_available(named) or writers.is_available("ffmpeg")


@cache
def _kind():
    """The class of the result; Matplotlib's own is imported when first needed."""
    from matplotlib.animation import FuncAnimation, writers

    class Motion(FuncAnimation):
        """An animation whose frames all fit in a page."""

        def __init__(self, figure, show, count, **keywords):
            self.figure, self.show, self.count, self.filmed = figure, show, count, False
            self.rate = 1000 / keywords["interval"]  # frames a second
            super().__init__(figure, show, frames=count, **keywords)

        def __repr__(self):
            return f"<animation of {self.count} frames>"

        def save(self, filename, writer=None, *arguments, **keywords):
            """Write a film: `matplotlib.animation.Animation.save`."""
            name = str(filename)
            if writer is None and name.lower().endswith(FILMS) and not _has_writer(writers):
                raise OSError(
                    f"{name!r} is made by ffmpeg, which is not installed: install it (apt-get"
                    " install ffmpeg, brew install ffmpeg, conda install ffmpeg), or save a .gif,"
                    " or HTML by to_jshtml()"
                )
            told = bool(arguments) or bool({*keywords} & TOLD)
            if writer is None and name.lower().endswith(".gif") and not told:
                writer = gif_writer()(fps=keywords.pop("fps", None) or self.rate)
            self.filmed = True
            try:
                with drawn_once(self.figure, self.show(0)):
                    return super().save(filename, writer, *arguments, **keywords)
            finally:
                self.filmed = False

        def _post_draw(self, framedata, blit):
            if not self.filmed:  # nobody looks
                super()._post_draw(framedata, blit)  # type: ignore[misc]

        def to_jshtml(self, fps=None, embed_frames=True, default_mode=None):
            """Frames with controls, as HTML: `matplotlib.animation.Animation.to_jshtml`."""
            if not embed_frames:
                return super().to_jshtml(fps, embed_frames, default_mode)
            limit = matplotlib.rcParams["animation.embed_limit"]
            # The frames were measured: the second limit only prevents losing some by a wrong guess.
            settings: Any = {"savefig.dpi": self._dpi(limit), "animation.embed_limit": 8 * limit}
            with matplotlib.rc_context(settings):
                return super().to_jshtml(fps, embed_frames, default_mode)

        def _repr_html_(self):
            """At the end of a cell: frames that play, in the place of a still picture."""
            if "inline" not in matplotlib.get_backend():
                return super()._repr_html_()
            from matplotlib import pyplot

            pyplot.close(self.figure)
            return self.to_jshtml()

        def _dpi(self, limit):
            """Dots per inch at which all frames together stay below a limit in megabytes."""
            frames, dpi = self.count, float(self.figure.dpi)
            room = FULL * limit * 2**20 * 3 / 4 / frames  # base64 makes four letters of three bytes
            while dpi > LEAST_DPI:
                size = max(self._bytes(share, dpi) for share in (0.25, 0.5, 0.75, 1.0))
                if size <= room:
                    break
                dpi = max(LEAST_DPI, dpi * max(0.5, min(0.9, (room / size) ** 0.6)))
            return dpi

        def _bytes(self, share, dpi):
            """Size of one frame."""
            self.show(round(share * (self.count - 1)))
            page = BytesIO()
            self.figure.savefig(page, format="png", dpi=dpi)
            return page.tell()

    return Motion
