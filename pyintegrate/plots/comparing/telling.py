"""What tells curves apart: their names in the legend, their colours and line styles."""

import numpy as np

from ..style import PALETTE, axis_label, colours, line_style, on_ground, title_of, unit_of
from ..thinning import batch_of


def texts_of(solutions, names, labels):
    """The names of solutions in the legend."""
    if labels is not None and not hasattr(labels, "get"):
        if len(labels) != len(names) or isinstance(labels, str):
            raise ValueError(f"labels: expected {len(names)} texts, got {labels!r}")
        return list(labels)
    texts = []
    for solution, name in zip(solutions, names, strict=True):
        text = (labels or {}).get(name, title_of(solution.method))
        if names.count(name) > 1:
            alike = [one for one, other in zip(solutions, names, strict=True) if other == name]
            told = _told_apart([_run_with(one, ...) for one in alike])
            place = next(i for i, one in enumerate(alike) if one is solution)
            text += f", {told[place] or _step(solution)}"
        texts.append(text)
    return texts


def parts_of(solution):
    """The names of the trajectories of a small batch."""
    batch = batch_of(solution)
    return _told_apart([_run_with(solution, index) for index in np.ndindex(batch)])


def _run_with(solution, index):
    """What trajectories were run with, as texts by name."""
    system, batch = solution.system, batch_of(solution)
    said = {"step": _step(solution)} if index is ... else {}
    values = {n: v for n, v in system.params.items() if np.ndim(v) == len(system.batch_shapes[n])}
    values |= {n: solution.initial[..., i] for i, n in enumerate(system.state_names)}
    for name, value in values.items():
        value = np.broadcast_to(value, batch)[index]
        text = ("initial " if name in system.state_names else "") + axis_label(system, name)
        text, _, unit = text.partition(" [")
        same = value.size and value.min() == value.max()
        said[name] = f"{text} = {value.flat[0]:.4g} {unit[:-1]}".rstrip() if same else ""
    return said


def _told_apart(runs):
    """Of what several were run with, only what differs."""
    differ = [name for name in runs[0] if len({run.get(name) for run in runs}) > 1]
    return [", ".join(filter(None, (run.get(name) for name in differ))) for run in runs]


def looks_of(names, ax):
    """The colour and line style of curves by these methods."""
    palette, looks = colours(names), []
    used = [] if ax is None else [line.get_color() for line in ax.get_lines()]
    seen: dict[str, int] = {}  # curves by a method so far
    for name in names:
        turn = seen[name] = seen.get(name, -1) + 1
        colour = palette[name]
        if turn == 0 or len(palette) == 1:
            start = PALETTE.index(colour)
            free = [c for c in PALETTE[start:] + PALETTE[:start] if on_ground(c) not in used]
            colour = (free or [colour])[0]
            used.append(on_ground(colour))
            turn = 0 if free else turn
        looks.append({"color": on_ground(colour), "linestyle": line_style(colour, turn)})
    return looks


def _step(solution):
    """The step or the tolerance, which distinguishes solutions by one method."""
    if not hasattr(solution, "dt"):
        rtol = np.asarray(solution.rtol, dtype=np.float64)
        same = rtol.size and rtol.min() == rtol.max()
        return f"to {f'{rtol.min():.3g}' if same else 'various tolerances'}"
    dt = np.asarray(solution.dt, dtype=np.float64)
    step = f"{dt.min():g}" if dt.size and dt.min() == dt.max() else "various"
    return f"dt = {step} {unit_of(solution.system, 't')}".rstrip()
