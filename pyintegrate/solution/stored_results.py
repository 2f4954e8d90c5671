"""Results of watches and events in the header of a file and its arrays: written, checked, read.

Names are in the header, as they may be any text; arrays are named by index. Functions are
not stored: a loaded solution has the results.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..errors import Status
from ..watching.event_log import EventLog, Events
from ..watching.events import MOST_EVENTS
from ..watching.plan import MOST_SUMS
from ..watching.watched import Watched
from .jumps import has_jumped
from .stored_fields import refuse

_MOST_RESULTS = 8 * MOST_SUMS
_MOST_IMAGE = 1 << 28  # items in a result without batch axes
_EDGES = (".edges", ".x_edges", ".y_edges")
_PARTS = ("t", "y", "values", "count", "unresolved")


def results_to_data(solution, arrays):
    """The fields `watched` and `events` of a header; the arrays are added to `arrays`."""
    watched, events = solution.watched, solution.events
    about: dict = {"watched": [], "events": []}
    for i, (name, value) in enumerate(watched.items()):
        arrays[f"watched_{i}"] = value
        kind = list(watched._kinds.get(name, ()))
        about["watched"].append([name, kind, {"array": f"watched_{i}"}])
    for i, (name, one) in enumerate(events.items()):
        fields = {part: f"event_{i}_{part}" for part in _PARTS}
        arrays |= {key: np.asarray(getattr(one, part)) for part, key in fields.items()}
        about["events"].append([name, {part: {"array": key} for part, key in fields.items()}])
    if events:
        names = [*events]
        which = np.full(solution.stopped_by.shape, -1, np.int8)
        for i, name in enumerate(names):
            which[solution.stopped_by == name] = i
        arrays |= {"stopped_at": solution.stopped_at, "stopped_by": which}
        about["stopped"] = {"at": {"array": "stopped_at"}, "by": {"array": "stopped_by"}}
    if np.any(has_jumped(solution)):
        arrays["first_jump"] = np.asarray(solution._first_jump)
        about["first_jump"] = {"array": "first_jump"}
    return about


def _array_of(data, field):
    if not isinstance(data, dict) or set(data) != {"array"} or not isinstance(data["array"], str):
        refuse(field, f"{data!r:.80}, expected the name of an array")
    return data["array"]


def _listed(header, field, length, most):
    """The entries of a list, which begin with distinct names."""
    rows = header[field]
    fits = isinstance(rows, list) and len(rows) <= most
    if not fits or not all(isinstance(row, list) and len(row) == length for row in rows):
        refuse(field, f"{rows!r:.80}, expected at most {most} lists of {length}")
    names = [row[0] for row in rows]
    if not all(isinstance(name, str) and name for name in names) or len({*names}) < len(names):
        refuse(field, f"{names!r:.80}, expected different names")
    return rows


def _bins(shape):
    """How many bins edges of this shape have; 0: it is none of edges."""
    return shape[0] - 1 if len(shape) == 1 else 0


def check_results(header, arrays):
    """Shapes and types of the arrays, before any is read; their names.

    Parameters
    ----------
    header : dict
        Whose other fields have been checked.
    arrays : StoredArrays
    """
    batch, dim, known = tuple(header["batch"]), len(header["state_names"]), set()

    def about(data, field, kinds):
        name = _array_of(data, field)
        known.add(name)
        shape, kind = arrays.about(name)
        if kind not in kinds:
            refuse(field, f"{name} has the type {kind}, expected {' or '.join(map(str, kinds))}")
        return shape

    def expect(data, field, kind, expected):
        shape = about(data, field, [np.dtype(kind)])
        if shape != expected:
            refuse(field, f"it has the shape {shape}, expected {expected}")

    shapes, named = {}, set()
    for name, kind, data in _listed(header, "watched", 3, _MOST_RESULTS):
        words = isinstance(kind, list) and all(isinstance(word, str) for word in kind)
        if not words or len(kind) not in (0, 2):
            refuse("watched", f"{kind!r:.80}, expected a function of pi.watch and its quantity")
        named |= {name} if kind else set()
        shapes[name] = about(data, "watched", [np.dtype(np.float64), np.dtype(np.int64)])
    for name, shape in shapes.items():
        bins = tuple(_bins(shapes[name + end]) for end in _EDGES if name + end in shapes)
        of, _, last = name.rpartition(".")
        edges = f".{last}" in _EDGES and of in shapes and _bins(shape) > 0
        # A user's own reduction may have any axis.
        rest = bins if bins or name in named else shape[len(batch) :][:1]
        own = prod(rest) <= MOST_SUMS and shape == (*batch, *rest)
        if not (edges or own or (bins and shape == bins and prod(bins) <= _MOST_IMAGE)):
            refuse("watched", f"{name:.80} has the shape {shape}, and the batch is {batch}")
    events = _listed(header, "events", 2, MOST_EVENTS)
    for name, parts in events:
        if not isinstance(parts, dict) or set(parts) != {*_PARTS}:
            refuse("events", f"{parts!r:.80}, expected {', '.join(_PARTS)}")
        field = f"events: {name:.80}"
        shape = about(parts["t"], field, [np.dtype(np.float64)])
        kept = shape[-1] if len(shape) == len(batch) + 1 else 0
        expect(parts["t"], field, np.float64, (*batch, kept))
        expect(parts["y"], field, np.float64, (*batch, kept, dim))
        expect(parts["count"], field, np.int64, batch)
        expect(parts["unresolved"], field, np.bool_, batch)
        last = about(parts["values"], field, [np.dtype(np.float64)])[-1:]
        if last > (MOST_SUMS,):
            refuse(field, f"{last[0]} values, at most {MOST_SUMS}")
        expect(parts["values"], field, np.float64, (*batch, kept, *last))
    if events:
        stopped = header.get("stopped")
        if not isinstance(stopped, dict) or set(stopped) != {"at", "by"}:
            refuse("stopped", f"{stopped!r:.80}, expected at and by")
        expect(stopped["at"], "stopped", np.float64, batch)
        expect(stopped["by"], "stopped", np.int8, batch)
    if "first_jump" in header:
        expect(header["first_jump"], "first_jump", np.float64, batch)
    return known


def give_results(solution, header, arrays):
    """Add the results of a file to the solution that was made from it."""
    watched = _listed(header, "watched", 3, _MOST_RESULTS)
    results = {name: arrays[data["array"]] for name, _, data in watched}
    kinds = {name: tuple(kind) for name, kind, _ in watched if kind}
    logs = {}
    for name, parts in header["events"]:
        t, y, values, count, unresolved = (arrays[parts[part]["array"]] for part in _PARTS)
        if np.any(count < 0):
            refuse(f"events: {name:.80}", "a count below 0")
        names, overflow = solution.system.state_names, count > t.shape[-1]
        logs[name] = EventLog(names, t, y, values, count, overflow, unresolved)
    told = {"watched": Watched(results, kinds), "events": Events(logs)}
    if "first_jump" in header:
        solution._first_jump = arrays[header["first_jump"]["array"]]
    if logs:
        at, which = (arrays[header["stopped"][key]["array"]] for key in ("at", "by"))
        stopped = solution.status == Status.STOPPED
        if np.any(~((which >= -1) & (which < len(logs)))) or np.any((which >= 0) != stopped):
            refuse("stopped", "expected the number of an event where a trajectory has stopped")
        if np.any(np.isfinite(at) & ~stopped):
            refuse("stopped", "a time where no trajectory has stopped")
        told |= {"stopped_at": at, "stopped_by": np.array([*logs, ""])[which]}
    if results or logs:
        told.setdefault("stopped_at", solution.stopped_at)
        told.setdefault("stopped_by", solution.stopped_by)
        solution.__dict__.update(told)
    return solution
