"""Animation: the motion, its point in phase space, moving objects, and the frames of a film."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import combinations, product
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter, writers
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ..adaptive.dense_output import filled
from ..analysis.observables import batch_of
from ..analysis.results import unit_of
from ..errors import Status
from ..system.exact.rigid_body import rotation
from ..values.checks import positive
from ..values.parameters import system_at
from ..values.table import evenly
from ..values.types import Any, Callable, Labels, Sequence
from .bodies import letter_label, letters_of, looks_of_bodies
from .curves import (
    batch_size,
    calm_limits,
    chosen_trajectories,
    collect,
    dotted,
    exact_curve,
    jumps_between,
    of_one,
    parted,
    smooth_times,
    valid_values,
)
from .pictures import check_types, left_out, legend_below, say, several_axes, wrapped
from .solution_curves import component_names, widest
from .style import axis_label, exact_look, in_space, line_keywords

FORMATS = ("rgba", "raw", "png")  # of frames as those who write films ask for them


@contextmanager
def drawn_once(figure, artists):
    """Within it ``figure.savefig`` draws these artists alone, over all others as they were first.

    Parameters
    ----------
    figure : Figure
    artists : list of Artist
        What moves.
    """
    artists = sorted(artists, key=lambda artist: artist.get_zorder())
    animated = [artist.get_animated() for artist in artists]
    usual, canvas, usual_dpi, ground = figure.savefig, figure.canvas, figure.dpi, None

    def savefig(target, *, format=None, dpi=None, **keywords):
        """A frame, as Matplotlib writes figures."""
        nonlocal ground
        if format not in FORMATS or dpi is None:
            usual(target, format=format, dpi=dpi, **keywords)
            return
        if ground is None:
            for artist in artists:
                artist.set_animated(True)  # and so not drawn with the others
            figure.dpi = dpi
            FigureCanvasAgg(figure).draw()
            ground = figure.canvas.copy_from_bbox(figure.bbox)
        figure.canvas.restore_region(ground)
        for artist in artists:
            figure.draw_artist(artist)
        pixels = np.asarray(figure.canvas.buffer_rgba())
        if format == "png":
            from matplotlib.image import imsave

            imsave(target, pixels, format="png", dpi=dpi)
        else:
            target.write(pixels.tobytes())

    figure.savefig = savefig
    try:
        yield
    finally:
        del figure.savefig
        figure.dpi = usual_dpi
        figure.set_canvas(canvas)
        for artist, was in zip(artists, animated):
            artist.set_animated(was)


class OnePalette(PillowWriter):
    """All frames have the colours of the first: to find those of each takes longest."""

    palette = None
    _frames: list[Any]

    def grab_frame(self, **keywords):
        super().grab_frame(**keywords)
        frame = self._frames[-1].convert("RGB")
        if self.palette is None:
            self.palette = frame.quantize(256)
        held = frame.quantize(palette=self.palette, dither=0)
        # The ground, which is at the corner, is as it is, not the mean of what is near it.
        colours, ground = held.getpalette(), 3 * held.getpixel((0, 0))
        colours[ground : ground + 3] = frame.getpixel((0, 0))
        held.putpalette(colours)
        self._frames[-1] = held


TURNS = 9  # of a drawn spring
WIDTH = 0.09  # of a drawn spring, by the length at rest
GAP = np.full(3, np.nan)
SHOWN = 200  # states that the axes of a scene are laid around


@dataclass(frozen=True)
class Shape:
    """How a state is drawn: `outline(state, parameters)` -> (n, dimensions), masses at its `last`.

    Its marker is a square for sliding, a disc for swinging masses; None for an extended body.
    """

    outline: Callable
    last: int = 1
    marker: str | None = "o"
    dimensions: int = 2


def _rods(*lengths):
    """Rods that hang one on the other, by the names of their lengths."""

    def outline(state, parameters):
        ends = [
            (size * np.sin(angle), -size * np.cos(angle))
            for angle, size in zip(state, (parameters.get(name, 1.0) for name in lengths))
        ]
        return np.cumsum([(0.0, 0.0), *ends], axis=0)

    return outline


def _spring(state, parameters):
    """A zigzag from a wall, so far away that the largest swing leaves a quarter of it."""
    wall = -1.6 * parameters["reach"]
    x = np.linspace(wall, state[0], 2 * TURNS + 1)
    height = np.zeros_like(x)
    height[1:-1:2], height[2:-1:2] = 1.0, -1.0
    return np.stack([x, WIDTH * parameters["reach"] * height], axis=1)


def _car(state, parameters):
    return np.array([[state[0], 0.0]])


def _box(state, parameters):
    """Twelve edges of a box with these moments of inertia, turned by its quaternion."""
    signs = np.array([*product((-1, 1), repeat=3)])
    q = state[3:7] / np.linalg.norm(state[3:7])
    corners = state[:3] + (signs * parameters["half"]) @ rotation(q).T
    edges = [
        part
        for i, j in combinations(range(8), 2)
        if np.count_nonzero(signs[i] != signs[j]) == 1
        for part in (corners[i], corners[j], GAP)
    ]
    return np.array(edges)


_SPRINGS = "oscillator", "spring", "momentum_spring", "duffing", "van_der_pol"
SHAPES = {
    **dict.fromkeys(("pendulum", "driven_pendulum"), Shape(_rods("length"))),
    "double_pendulum": Shape(_rods("l1", "l2"), last=2),
    **dict.fromkeys(_SPRINGS, Shape(_spring, marker="s")),
    **dict.fromkeys(("constant_force", "acceleration_profile"), Shape(_car, marker="s")),
    "rigid_body": Shape(_box, last=0, marker=None, dimensions=3),
}


def half_lengths(inverse_inertia):
    """Half the edges of a box with these moments of inertia, the longest 1.

    A homogeneous box of edges a, b, c has the moments m (b^2 + c^2) / 12 and so on. If there is
    no such box, as for a body that nothing turns, it is a cube.

    Parameters
    ----------
    inverse_inertia : array_like
        (3, 3) in body axes.

    Returns
    -------
    ndarray
        (3,).

    Examples
    --------
    >>> import numpy as np
    >>> half_lengths(np.diag([1 / 5, 1 / 10, 1 / 13])).round(2)  # edges as 3, 2, 1
    array([1.  , 0.67, 0.33])
    """
    diagonal = np.diag(np.asarray(inverse_inertia, float))
    if not (np.isfinite(diagonal) & (diagonal > 0)).all():
        return np.ones(3)
    moments = 1 / diagonal
    squares = moments.sum() - 2 * moments
    squares = np.maximum(squares, 0.01 * squares.max())  # a plate is drawn with some thickness
    return np.sqrt(squares / squares.max())


MOST = 4  # solutions side by side; more are drawn into one picture


def has_scenes(curves):
    """Whether each solution is shown as a moving object, side by side.

    Parameters
    ----------
    curves : list of Curve

    Returns
    -------
    bool
        False if a component that the shape needs was not saved.
    """
    whole = all(len(c.solution.components) == c.solution.system.dim for c in curves)
    return whole and len(curves) <= MOST and curves[0].solution.system.name in SHAPES


def latest(t, moment):
    """Index of the last save at or before a moment, also of times that run backwards.

    Examples
    --------
    >>> import numpy as np
    >>> latest(np.array([0.0, 0.1, 0.2]), 0.15)
    1
    """
    sense, slack = (1 if t[-1] >= t[0] else -1), 1e-12 * abs(t[-1] - t[0])
    return max(0, int(np.searchsorted(sense * t, sense * moment + slack, side="right")) - 1)


class Scene:
    """A line and its masses for each trajectory of one solution, and grey ones for the truth.

    Parameters
    ----------
    ax : Axes
        With as many dimensions as the shape.
    curve : Curve
    keywords : dict
        For `Axes.plot` of the lines.
    """

    def __init__(self, ax, curve, keywords):
        solution = curve.solution
        self.ax, self.solution = ax, solution
        self.shape = SHAPES[solution.system.name]
        chosen = chosen_trajectories(solution)
        self.t, parts = _motions(solution, solution.components, chosen)
        self.states = np.moveaxis(parts, 0, -1)
        true = exact_curve(solution, self.t) if batch_size(solution) == 1 else None
        if true is not None:
            whole = true.reshape(len(self.t), -1)  # NaN after a jump or a stop
            true = whole if np.isfinite(whole[0]).all() else None
        calm = self.states if true is None else [true]  # what explodes leaves the picture
        away = np.abs(np.concatenate(calm)[:, 0])
        self.reach = away.max(initial=0.0, where=np.isfinite(away)) or 1.0
        self.parameters = [self._parameters(index) for index in chosen]
        nameless = {"label": "_nolegend_"}
        line = {"linewidth": 1.6} | curve.keywords | {"linestyle": "-"} | keywords | nameless
        both = list(zip(self.states, self.parameters))
        # What is drawn in one look, that of the lines and that of the masses.
        looks = [(both, line, {"markersize": 11.0})]
        if curve.parts:
            looks = [
                ([one], line | part | {"linestyle": "-"} | keywords, looks[0][2])
                for one, part in zip(both, curve.parts)
            ]
        if true is not None:
            grey = exact_look() | {"zorder": 1} | nameless, {"markersize": 13, "zorder": 1.2}
            looks.insert(0, ([(true, self.parameters[0])], *grey))
        self.drawn, empty = [], [[]] * self.shape.dimensions
        for shown, look, mark in looks:
            lines = [ax.plot(*empty, **look)[0] for _ in shown]
            dots = {"linestyle": "", "marker": self.shape.marker} | nameless | mark
            (masses,) = ax.plot(*empty, color=look["color"], **dots)
            self.drawn.append((lines, masses, shown))
        self._frame(curve, calm)

    def show(self, moment):
        """Draw the last states at or before a moment: nothing is interpolated."""
        now, artists = latest(self.t, moment), []
        for lines, masses, shown in self.drawn:
            ends = []
            for line, (one, given) in zip(lines, shown):
                outline = self.shape.outline(one[now], given)
                move(line, outline.T)
                ends.append(outline[len(outline) - self.shape.last :])
            move(masses, np.concatenate(ends).T)
            artists += [*lines, masses]
        return artists

    def _parameters(self, index):
        """Those of one trajectory, and what its outline needs besides."""
        system, batch = self.solution.system, batch_of(self.solution)
        lane = np.ravel_multi_index(index, batch) if index else 0
        given = {**system_at(system, batch, lane).params, "reach": self.reach}
        if "inverse_inertia" in given:
            given["half"] = half_lengths(given["inverse_inertia"])
        return given

    def _frame(self, curve, motions):
        """A square, or a cube, around the object wherever it goes; a scale if it slides."""
        ax, deep = self.ax, self.shape.dimensions == 3
        write = ax.text2D if deep else ax.text
        look = {"ha": "center", "transform": ax.transAxes}
        look |= {} if curve.parts else {"color": curve.keywords["color"]}
        below = self.shape.marker == "o"  # where a pendulum hangs there is no room
        write(0.5, 0.0 if below else 0.01, curve.label, va="top" if below else "bottom", **look)
        if below:  # as far as it reaches, hanging down
            motions = [np.zeros((1, len(one.T))) for one in self.states]
        points = np.concatenate([
            self.shape.outline(states[i], given)
            for states, given in zip(motions, self.parameters)
            for i in evenly(len(states), SHOWN)
        ])  # fmt: skip
        points = points[np.isfinite(points).all(axis=1)]
        points = np.concatenate([points, -points]) if below else points
        low, high = points.min(axis=0), points.max(axis=0)
        half = 0.57 * (high - low).max() or 1.0
        for letter, middle in zip("xyz", (low + high) / 2):
            getattr(ax, f"set_{letter}lim")(middle - half, middle + half)
        ax.set_box_aspect((1, 1, 1) if deep else 1)
        if self.shape.marker != "s":
            ax.set_axis_off()
            return
        ax.set_yticks([])
        ax.spines[["left", "top", "right"]].set_visible(False)
        name = self.solution.system.state_names[0]
        ax.set_xlabel(axis_label(self.solution.system, name))


def move(line, parts):
    """Give a line of two or three dimensions other points."""
    (line.set_data_3d if len(parts) == 3 else line.set_data)(*parts)


PER_SECOND = 20
LONGEST = 10.0  # seconds, by default
TRAIL = 0.12  # of the run: how long a trail stays visible
FULL = 0.8  # of the size that Matplotlib embeds in a page
LEAST_DPI = 30  # of a frame in a page
TOLD = {"codec", "bitrate", "extra_args", "metadata"}  # to a writer of Matplotlib's choice
FILMS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")  # that need ffmpeg


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
    against time. Only saved states are shown, and those within the steps of `pi.solve`; no line
    joins two of them across a jump of an event.

    At the end of a notebook's cell it plays (``HTML(animate(sol).to_jshtml())`` elsewhere in one; a
    few seconds pass while the frames are drawn); ``.save("motion.gif")`` and
    ``.save("motion.html")`` save it, and ``.save("motion.mp4")`` if ffmpeg is installed. A page
    holds all frames, which are made small enough for ``rcParams["animation.embed_limit"]``.

    Parameters
    ----------
    *sources : Solution or Comparison
        One trajectory each, or a batch: a small one in colours of its own, of a large one 30
        trajectories in one, with a note.
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
    if wrong := {"fps", "frames", "interval", "save"} & {*keywords}:
        raise TypeError(
            f"animate takes no {min(wrong)}: seconds= is how long it plays, and what it returns has"
            " .save('motion.gif', fps=...)"
        )
    check_types({"title": title})
    curves, keywords = collect(sources, labels), line_keywords(keywords)
    solutions = [curve.solution for curve in curves]
    first, system = solutions[0], solutions[0].system
    if any(len(one) < 2 for one in solutions):
        raise ValueError("animate needs two saves or more: integrate with save='all' or save=k")
    if not all(np.isfinite(one.y).all(axis=-1).any() for one in solutions):
        raise ValueError("animate needs a trajectory with finite states, and there is none")
    if any(one.t.ndim > 1 for one in solutions):
        raise ValueError("animate needs one time for all: dt and t0 differ between trajectories")
    letters = letters_of(first, components)
    scenes = len(curves) if components is None and not letters and has_scenes(curves) else 0
    panes = [letters] if letters else _panes(first, components)
    if scenes:  # beside them phase space; beside boxes nothing
        panes = [] if system.structure == "rigid_body" else panes[1:] or panes
    wide = scenes + len(panes)
    usual = {1: (6.0, 5.0), 2: (9.0, 4.0)}.get(wide, (3.3 * wide, 3.9))
    deep = len(letters) == 3 or (scenes and system.structure == "rigid_body")
    space = {"subplot_kw": {"projection": "3d"}} if deep else {}
    axes = several_axes(None, (1, wide), usual, figsize, **space)[0]
    figure = axes.figure
    runs = np.array([one.t[[0, -1]] for one in solutions], float)
    sense = 1 if runs[0, 1] >= runs[0, 0] else -1
    begin, end = sense * (sense * runs).min(), sense * (sense * runs).max()
    usual_time = float(np.clip(abs(end - begin), 2.0, LONGEST))
    seconds = usual_time if seconds is None else positive("seconds", seconds)
    if seconds > 3600:
        raise ValueError(f"seconds must be at most 3600, got {seconds:g}: all frames are drawn")
    count = max(2, round(seconds * PER_SECOND))
    moments = np.linspace(begin, end, count)
    movers: list[Any] = [Scene(ax, curve, keywords) for ax, curve in zip(axes[:scenes], curves)]
    for pane, ax in zip(panes, axes[scenes:]):
        for turn, curve in enumerate(curves):
            looks: Any = [(pane, curve.keywords, curve.label)]
            if curve.parts:
                looks = [(pane, one, one["label"], i) for i, one in enumerate(curve.parts)]
            if letters:
                looks = looks_of_bodies(curve.solution, letters, turn)
            movers += [_Mover(ax, curve.solution, keywords, *look) for look in looks]
        _still(ax, curves, pane, [mover for mover in movers if mover.ax is ax], bool(letters))
    clock = axes[0].set_title("", loc="left", fontsize="medium")
    say(axes[-1], "", left_out(curves))
    text = wrapped(title or system.title, figure.get_figwidth(), "figure.titlesize", True)
    figure.suptitle(text, x=0.01, ha="left", fontweight="bold")
    handles, names = axes[-1].get_legend_handles_labels()
    if len(names) > 1:
        legend_below(figure, handles, names)
    unit = unit_of(system, "t")
    digits = max(2, 2 - int(np.floor(np.log10(abs(end - begin) or 1.0))))

    def show(frame):
        clock.set_text(f"t = {moments[frame]:.{digits}f} {unit}".rstrip())
        return [clock, *(artist for mover in movers for artist in mover.show(moments[frame]))]

    show(0)
    figure.canvas.draw()
    figure.set_layout_engine("none")  # computed once: only the motion changes between frames
    interval = 1000 * seconds / count
    return Motion(figure, show, count, interval=interval, blit=not deep)


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


class _Mover:
    """A dot with its trail for every trajectory of one solution in one pane, or for one of them."""

    def __init__(self, ax, solution, keywords, names, style, label, number=None):
        self.ax, self.solution = ax, solution
        chosen = chosen_trajectories(solution)
        self.chosen = chosen = chosen if number is None else chosen[number : number + 1]
        self.t, parts = _motions(solution, names, chosen)
        self.parts = np.swapaxes(parts, 1, 2)
        self.old = names[0] != "t"  # only curves against time keep their whole trail
        empty = [[]] * len(names)
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
            trail.set(**dotted(jumps))
            move(trail, parted(jumps, *(part[seen, number] for part in self.parts)))
        move(self.dots, [part[now] for part in self.parts])
        return [*self.trails, self.dots]


def _motions(solution, names, chosen):
    """Times and (names, trajectories, times) of components, NaN after a failure; "t" is the time.

    A motion solved to a tolerance has long steps, and is shown within them too.
    """
    own = [name for name in names if name != "t"]
    values, columns = [solution[name] for name in own], []
    for index in chosen:
        parts = [valid_values(solution, one, index) for one in values]
        if solution.status[index] == Status.STOPPED:  # it stays where it has landed
            parts = [of_one(one, index) for one in values]
        t, parts = filled(solution, index, own, solution.t, parts)
        found = dict(zip(own, parts), t=t)
        columns.append([found[name] for name in names])
    return t, np.array(columns, float).swapaxes(0, 1)


def _still(ax, curves, pane, movers, bodies):
    """Draw everything that does not move: limits, labels, the true motion."""
    solution = curves[0].solution
    system, true = solution.system, None
    if batch_size(solution) == 1 and not bodies:
        t = smooth_times(solution)
        states = exact_curve(solution, t)
        if states is not None:
            names = system.state_names
            true = [t if n == "t" else states[..., names.index(n)].ravel() for n in pane]
            true = true if np.isfinite(true).any(axis=1).all() else None
    settings = {}
    for place, (letter, name) in enumerate(zip("xyz", pane)):
        found = np.concatenate([mover.parts[place].ravel() for mover in movers])
        good = found[np.isfinite(found)]
        good = good if good.size else np.zeros(1)
        if true is not None and np.isfinite(true).all():  # it does not end at a jump
            low, high = np.min(true[place]), np.max(true[place])
            size = high - low or 1.0  # exploding motions leave the picture
            good = np.clip(good, low - size, high + size)
        margin = 0.06 * (np.ptp(good) or 1.0)
        each = [one for mover in movers for one in mover.parts[place].T]
        # A star beside its planets hardly moves.
        limits = calm_limits(each) if true is None and not bodies else None
        settings[f"{letter}lim"] = limits or (good.min() - margin, good.max() + margin)
        text = letter_label(solution, name) if bodies else axis_label(system, name)
        settings[f"{letter}label"] = text
    if true is not None:
        ax.plot(*true, **exact_look())
    ax.set(**settings)
    if len(pane) == 2:
        ax.spines[["top", "right"]].set_visible(False)
        ax.locator_params(axis="x", nbins=6)  # numbers such as -0.75 are wide
    if bodies or in_space(system, pane):
        ax.set_aspect("equal", adjustable="box")
        if len(pane) == 2:  # a long narrow path has room beside it
            box = ax.viewLim
            wide = box.expanded(*np.maximum(1, box.size.max() / 2 / box.size))
            ax.set(xlim=wide.intervalx, ylim=wide.intervaly)


def _has_writer():
    """Whether Matplotlib finds what writes films: ffmpeg, or what its settings name."""
    named = matplotlib.rcParams["animation.writer"]
    return writers.is_available(named) or writers.is_available("ffmpeg")


class Motion(FuncAnimation):
    """An animation whose frames all fit in a page."""

    def __init__(self, figure, show, count, **keywords):
        self.figure, self.show, self.count, self.filmed = figure, show, count, False
        self.rate = 1000 / keywords["interval"]  # frames a second
        super().__init__(figure, show, frames=count, **keywords)

    def __repr__(self):
        return f"<animation of {self.count} frames>"

    def save(self, filename, writer=None, *arguments, **keywords):
        """Write a film: `matplotlib.animation.Animation.save`; or a page, by `to_jshtml`."""
        kind = "" if writer else str(filename).lower()
        if kind and not kind.endswith((".gif", ".html", ".webp", ".apng", *FILMS)):
            raise ValueError(
                f"{str(filename)!r} is no film: it ends in .gif, .html, or, by ffmpeg, in"
                f" {', '.join(FILMS)}; writer= makes others"
            )
        if kind.endswith(FILMS) and not _has_writer():
            raise OSError(
                f"{str(filename)!r} is made by ffmpeg, which is not installed: install it (apt-get"
                " install ffmpeg, brew install ffmpeg, conda install ffmpeg), or save a .gif or"
                " a .html"
            )
        if kind.endswith(".html"):
            Path(filename).write_text(self.to_jshtml(*arguments, **keywords), encoding="utf-8")
            return None
        told = bool(arguments) or bool({*keywords} & TOLD)
        if kind.endswith(".gif") and not told:
            writer = OnePalette(fps=keywords.pop("fps", None) or self.rate)
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
        limit = matplotlib.rcParams["animation.embed_limit"]
        settings: Any = {}
        if embed_frames:
            # They were measured: the second limit only prevents losing some by a wrong guess.
            settings = {"savefig.dpi": self._dpi(limit), "animation.embed_limit": 8 * limit}
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
        # base64 makes four letters of three bytes
        dpi, room = float(self.figure.dpi), FULL * limit * 2**20 * 3 / 4 / self.count
        size = max(self._bytes(share, dpi) for share in (0.25, 0.5, 0.75, 1.0))
        return dpi if size <= room else max(LEAST_DPI, dpi * room / size)

    def _bytes(self, share, dpi):
        """Size of one frame."""
        self.show(round(share * (self.count - 1)))
        page = BytesIO()
        self.figure.savefig(page, format="png", dpi=dpi)
        return page.tell()
