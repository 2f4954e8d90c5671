"""One solution as an object that moves in space, over the ghost of the exact motion."""

from __future__ import annotations

import numpy as np

from ..curves import exact_curve
from ..style import exact_look, unit_of
from ..thinning import batch_of, batch_size, chosen_trajectories
from .shapes import SHAPES, half_lengths

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
    sense = 1 if t[-1] >= t[0] else -1
    now = int(np.searchsorted(sense * t, sense * moment + 1e-12, side="right")) - 1
    return min(max(now, 0), len(t) - 1)


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
        self.ax, self.solution, self.t = ax, solution, np.asarray(solution.t)
        self.shape = SHAPES[solution.system.name]
        self.chosen = chosen_trajectories(batch_of(solution))
        states = [np.asarray(solution.y, dtype=np.float64)[(slice(None), *i)] for i in self.chosen]
        valid = [np.asarray(solution.valid)[(slice(None), *i)] for i in self.chosen]
        self.states = [np.where(v[:, None], s, np.nan) for s, v in zip(states, valid, strict=True)]
        self.true = exact_curve(solution, self.t) if batch_size(solution) == 1 else None
        if self.true is not None:
            whole = self.true.reshape(len(self.t), -1)
            self.true = whole if np.isfinite(whole).all() else None
        self.reach = self._reach()
        self.parameters = [self._parameters(index) for index in self.chosen]
        empty: list = [[]] * self.shape.dimensions
        grey = exact_look() | {"zorder": 1}
        self.ghosts = [ax.plot(*empty, **grey)[0]] if self.true is not None else []
        style = {"linewidth": 1.6} | curve.keywords | {"linestyle": "-"} | keywords
        self.lines = [ax.plot(*empty, **style | {"label": "_nolegend_"})[0] for _ in self.chosen]
        mark = {"linestyle": "", "marker": self.shape.marker, "label": "_nolegend_"}
        dark, light = mark | {"color": style["color"]}, mark | {"color": grey["color"]}
        (self.masses,) = ax.plot(*empty, **dark | {"markersize": 11})
        if self.ghosts:
            (self.ghost_masses,) = ax.plot(*empty, **light | {"markersize": 13, "zorder": 1.2})
        self._frame(curve)

    def show(self, moment):
        """Draw the last saved states at or before a moment: nothing is interpolated."""
        now = latest(self.t, moment)
        ends = []
        for line, states, given in zip(self.lines, self.states, self.parameters, strict=True):
            outline = self._place(line, states[now], given)
            ends.append(outline[-self.shape.last :] if self.shape.last else outline[:0])
        _move(self.masses, np.concatenate(ends))
        if self.true is not None:
            outline = self._place(self.ghosts[0], self.true[now], self.parameters[0])
            _move(self.ghost_masses, outline[-self.shape.last :] if self.shape.last else [])
            return [*self.ghosts, self.ghost_masses, *self.lines, self.masses]
        return [*self.lines, self.masses]

    def _place(self, line, state, given):
        outline = self.shape.outline(state, given)
        _move(line, outline)
        return outline

    def _reach(self):
        """How far the object moves, by the true motion, else by the calmest of the others."""
        motions = [self.true] if self.true is not None else self.states
        with np.errstate(invalid="ignore", over="ignore"):
            places = 3 if self.shape.dimensions == 3 else 1
            far = [np.nanmax(np.abs(one[:, :places]), initial=0.0) for one in motions]
        far = [one for one in far if np.isfinite(one) and one > 0]
        return min(max(far, default=1.0), 1e6 * min(far, default=1.0)) or 1.0

    def _parameters(self, index):
        batch, given = batch_of(self.solution), {"reach": self.reach}
        for name, value in self.solution.system.params.items():
            value = np.asarray(value, dtype=np.float64)
            if name == "inverse_inertia":
                value = np.broadcast_to(value, (*batch, 3, 3))[index]
                given["half"] = half_lengths(value)
            elif value.ndim <= len(batch) and name in ("length", "l1", "l2"):
                given[name] = float(np.broadcast_to(value, batch)[index])
        return given

    def _frame(self, curve):
        """Axes with fixed limits: only the object, and a scale if it slides."""
        ax, far = self.ax, self.reach
        write = ax.text2D if self.shape.dimensions == 3 else ax.text
        look = {"ha": "center", "color": curve.keywords["color"], "transform": ax.transAxes}
        below = self.shape.marker == "o"  # where a pendulum hangs there is no room
        write(0.5, 0.0 if below else 0.01, curve.label, va="top" if below else "bottom", **look)
        if self.shape.dimensions == 3:
            size = 1.2 * max(np.linalg.norm(g["half"]) for g in self.parameters)
            middle = np.nanmean(self.states[0][:, :3], axis=0)
            spread = np.nanmax(np.abs(self.states[0][:, :3] - middle), initial=0.0)
            for letter, centre in zip("xyz", middle, strict=True):
                getattr(ax, f"set_{letter}lim")(centre - size - spread, centre + size + spread)
            ax.set_box_aspect((1, 1, 1))
            ax.set_axis_off()
        elif self.shape.marker == "o":
            lengths = [
                g.get("l1", g.get("length", 1.0)) + g.get("l2", 0.0) for g in self.parameters
            ]
            ax.set(xlim=(-1.15 * max(lengths), 1.15 * max(lengths)))
            ax.set(ylim=(-1.15 * max(lengths), 1.15 * max(lengths)))
            ax.set_aspect("equal", adjustable="box")
            ax.set_axis_off()
        else:
            x = np.concatenate([states[:, 0] for states in self.states])
            low = -1.7 * far if self.shape.outline is SHAPES["spring"].outline else 0.0
            x = x[np.isfinite(x)]
            low = min(low, max(x.min(initial=0.0), -1.7 * far))
            ax.set(xlim=(low - 0.05 * far, 1.35 * far), ylim=(-far, far), yticks=[])
            ax.spines[["left", "top", "right"]].set_visible(False)
            name = self.solution.system.state_names[0]
            ax.set_xlabel(f"{name} [{unit_of(self.solution.system, name) or '1'}]")


def _move(line, points):
    """Give a line of two or three dimensions other points, (n, dimensions)."""
    points = np.asarray(points, dtype=np.float64).reshape(
        -1, 3 if hasattr(line, "set_data_3d") else 2
    )
    (line.set_data_3d if points.shape[1] == 3 else line.set_data)(*points.T)
