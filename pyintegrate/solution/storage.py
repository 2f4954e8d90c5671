"""A Solution as a header and arrays, and back, by one table of fields.

A file holds the arguments of a run (system, method, times, options), the saved states with the
component axis second, ``y`` (n_saved, n_components, *batch), the full first and last states that
``resume`` and ``energy_error`` start from, the failures, and the results of watches and events.
Systems and methods are stored by name, or as the plain data that their ``__reduce__`` gives; never
as code. Names of results are in the header, as they may be any text; their arrays are numbered.

Every field is checked before anything is made of it: the header by itself, then the types and
shapes of the arrays before any is read, then the ranges of their numbers. An error is a ValueError
that begins with the field's name.
"""

from __future__ import annotations

from importlib import import_module
from math import inf, prod
from typing import NamedTuple
from warnings import catch_warnings

import numpy as np

from .. import _core
from ..errors import Status, warn_caller
from ..run.options import Saves
from ..system.system import System
from ..values.checks import MOST_COMPONENTS, fits_batch
from ..values.memory import MAX_AXES, check_memory, outward, pad
from ..values.types import Any, Callable, PathLike, Solution
from ..watching.event_log import EventLog, Events
from ..watching.events import MOST_EVENTS
from ..watching.plan import MOST_SUMS
from ..watching.watched import Watched
from . import files
from .files import Mismatch, made, refuse
from .jumps import has_jumped, jumping
from .plain_data import method_from_data, system_from_data, system_to_data, to_data

_MOST_STEPS, _MOST_LANES = 1 << 53, 1 << 48  # in a run; 1 << 54 steps with those before it
_MOST_TRIES = (1 << 31) - 2  # steps of a trajectory, to a tolerance
_FINITE = float(np.finfo(float).max)


# ---- the table -----------------------------------------------------------------------------------
class Field(NamedTuple):
    """A field of the header.

    get : str or callable
        The attribute of a solution, or solution -> value.
    fits : tuple, range or callable
        The values that it may have; or (value, header) -> bool or range, where the fields before
        are checked.
    """

    get: str | Callable
    fits: Any = lambda value, header: True


class Array(NamedTuple):
    """An array.

    get : str or callable
        As above; one that is None is left out.
    kind : type
        None is that of the states.
    shape : str
        Names of axes: one that has no length yet takes that of the file. "fit": anything that
        broadcasts to the batch, or with an axis of components; "any".
    least, most : float or callable
        The range of the numbers, or header -> number.
    optional : bool
        Whether a file may lack it; what is made of the file says whether it needs it.
    """

    get: str | Callable
    kind: Any
    shape: str
    least: Any = None
    most: Any = None
    optional: bool = False


class Values(dict):
    """The arrays of a file by name; one that is asked for must be there."""

    def __missing__(self, name):
        refuse(name, "the file has no such array")


def _texts(value, header):
    fits = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    return fits and len(set(value)) == len(value)


def _batch(value, header):
    fits = isinstance(value, list) and len(value) <= MAX_AXES
    fits = fits and all(type(n) is int and 0 <= n <= _MOST_LANES for n in value)
    return fits and prod(n for n in value if n) <= _MOST_LANES


_FLAG, _STEPS, _LAST = (True, False), range(_MOST_STEPS + 1), max(Status)
_SHARED = {
    "system": Field(
        "system", lambda v, h: isinstance(v, dict) and isinstance(v.get("name"), str)
    ),
    "method": Field("method"),
    "coefficients": Field("method.coefficients"),
    "dtype": Field("_problem.dtype.name", ("float32", "float64")),
    "batch": Field("_problem.batch", _batch),
    "bound": Field("_options.bound", lambda v, h: type(v) in (int, float) and v > 0),
    "arithmetic": Field("arithmetic", range(1, 1 << 31)),
    "on_failure": Field("_options.on_failure", ("warn", "raise", "ignore")),
    "state_names": Field("system.state_names", _texts),
    "sensitivity": Field("", lambda v, h: v is None or _texts(v, h)),
    "components": Field("components", lambda v, h: _texts(v, h) and {*v} <= {*h["state_names"]}),
}  # fmt: skip
_OF_STEPS = {
    "n_steps": Field("_problem.n_steps", _STEPS),
    "completed": Field("n_steps", lambda v, h: range(h["n_steps"] + 1)),
    "first": Field("_problem.first", lambda v, h: range(2 * _MOST_STEPS - h["completed"] + 1)),
    "save": Field("_options.save", lambda v, h: v in ("all", "final") or _STEPS[1:]),
    "compensated": Field("_options.compensated", _FLAG),
    "starter": Field("_problem.starter"),
    "begun": Field("_problem.has_history", _FLAG),
    "driven": Field("_problem.driven", _FLAG),
    "joined": Field(lambda sol: sol._options.steps is not None, _FLAG),
    "times": Field(
        lambda sol: sol._options.times is not None,
        lambda v, h: v is False or (v is True and h["joined"] and not h["first"]),
    ),
    "origin": Field("_problem.origin.step", lambda v, h: v is None or range(h["first"] + 1)),
    "noise": Field(lambda sol: sol._problem.random and dict(vars(sol._problem.random))),
}
_TO_A_TOLERANCE = {
    "save": Field("_save", ("all", "final", "times")),
    "goes_on": Field(
        lambda sol: "all" if sol._control.save == "all" else "final",
        lambda v, h: v in {"all": ["all"], "times": ["final"]}.get(h["save"], ["final", "all"]),
    ),
    "max_steps": Field("_control.max_steps", range(1, _MOST_TRIES + 1)),
    "automatic": Field("_control.automatic", _FLAG),
    "resumed": Field(lambda sol: sol._before is not None, _FLAG),
}


def saved_states(solution):
    """The array `y` of a file, part by part, wherever the states are stored."""
    y = solution._states
    shape = (len(solution), y.shape[-1], *y.shape[1:-1])
    return files.Blocks(
        shape, solution._problem.dtype, lambda a, b: np.moveaxis(np.asarray(y[a:b]), -1, 1)
    )


_SHARED_ARRAYS = {
    "y": Array(saved_states, None, "saves components batch"),
    "t": Array("t", float, "saves|saves batch"),
    "first_state": Array(
        lambda sol: sol._problem.initial[:, : sol._problem.lanes], None, "rows lanes"
    ),
    "last_state": Array("_last_rows", None, "past lanes"),
    "t0": Array("_problem.t0", float, "fit", -_FINITE, _FINITE),
}
_ARRAYS_OF_STEPS = {
    "dt": Array("_problem.dt", float, "fit"),
    "steps": Array("steps", np.int64, "saves|saves batch"),
    "failed_status": Array("_failures.status", np.int8, "lanes", 0, _LAST),
    "failed_step": Array(
        lambda sol: sol._failures.steps(sol._problem).ravel(), np.int64, "lanes", -1,
        lambda header: header["first"] + header["completed"],
    ),
    "origin_state": Array(
        lambda sol: sol._problem.origin and sol.origin, None, "batch dim", optional=True
    ),
    "origin_ahead": Array("_problem.origin.ahead", float, "batch", optional=True),
}  # fmt: skip
_ARRAYS_TO_A_TOLERANCE = {
    "t_end": Array("t_end", float, "fit", -_FINITE, _FINITE),
    "rtol": Array(
        "rtol", float, "fit dim", lambda header: 100 * float(np.finfo(header["dtype"]).eps), _FINITE
    ),
    "atol": Array("atol", float, "fit dim", 0, _FINITE),
    "max_step": Array("max_step", float, "fit", 5e-324, inf),
    "breaks": Array("_control.breaks", float, "breaks|breaks batch", -_FINITE, _FINITE),
    "counts": Array(
        lambda sol: sol.counts if sol._save == "all" else None, np.int64, "batch", 1,
        _MOST_TRIES, optional=True,
    ),
    "within": Array(
        lambda sol: sol._within if sol._save == "all" else None, None, "saves numbers lanes",
        optional=True,
    ),
    "reached": Array("_arrived", float, "batch"),
    "last_step": Array("last_step", float, "batch", -_FINITE, _FINITE),
    "steps_taken": Array("steps_taken", np.int64, "batch", 0, _MOST_TRIES),
    "rejected": Array("rejected", np.int64, "batch", 0, _MOST_TRIES),
    "status": Array("status", np.int8, "batch", 0, _LAST),
    "stiff_spans": Array("stiff_spans", float, "spans two batch"),
    "stiff_tries": Array("_stiff_tries", np.int64, "batch", 0, 2 * _MOST_TRIES),
    "onward_mark": Array("_outcome.onward.mark", np.int8, "lanes", 0, 7, True),
    "onward_numbers": Array("_outcome.onward.numbers", None, "lanes onward", optional=True),
    "onward_made": Array(
        "_outcome.onward.made", np.int64, "three lanes", 0, _MOST_TRIES, True
    ),
    "origin_state": Array(
        lambda sol: sol._before and sol.origin, None, "batch dim", optional=True
    ),
    "origin_time": Array(
        lambda sol: sol._before and sol._before[1], float, "fit", -_FINITE, _FINITE, True
    ),
}  # fmt: skip
# For each version of the format: fields, arrays, and the class that they make.
KINDS = {
    1: (_SHARED | _OF_STEPS, _SHARED_ARRAYS | _ARRAYS_OF_STEPS, ".fixed_steps", "FixedSolution"),
    2: (
        _SHARED | _TO_A_TOLERANCE, _SHARED_ARRAYS | _ARRAYS_TO_A_TOLERANCE,
        "..adaptive.adaptive_solution", "AdaptiveSolution",
    ),
}  # fmt: skip


# ---- saving --------------------------------------------------------------------------------------
def save(solution, path):
    """Write a solution; see ``Solution.save``."""
    if solution.across._asked:
        warn_caller(
            "the file holds the states, not statistics across the batch: pickle the solution to"
            " keep them"
        )
    system = solution.system
    solution, names = solution._carried or (solution, None)
    fields, table = KINDS[solution._format][:2]
    arrays = {}
    header = {
        "format": files.FORMAT,
        "version": solution._format,
        "written_by": f"pyintegrate {_core.info()['version']}",
        "system": system_to_data(system, arrays),
        "sensitivity": names and [*names],
        **results_to_data(solution, arrays),
    }
    for name in fields.keys() - header.keys():
        value = _found(fields[name], solution)
        header[name] = to_data([*value] if isinstance(value, tuple) else value, name, arrays)
    for name, field in table.items():
        if (value := _found(field, solution)) is not None:
            arrays[name] = value if isinstance(value, files.Blocks) else np.asarray(value)
    files.write(path, header, arrays)


def _found(field, found):
    """What a solution has in a field; None also where what should have it is None."""
    if callable(field.get):
        return field.get(found)
    for name in field.get.split("."):
        found = None if found is None else getattr(found, name)
    return found


# ---- loading -------------------------------------------------------------------------------------
class Stored(NamedTuple):
    """The checked content of a file, for the class that is made of it."""

    header: dict
    arrays: Any  # StoredArrays
    values: Values
    system: System
    method: Any
    batch: tuple[int, ...]
    dtype: np.dtype

    def run(self, make):
        """What `make` makes of system, first state and arguments: a Problem, Options, and more.

        It has no steps, so that no more is allocated than the file holds.
        """
        header, first, dim = self.header, self.values["first_state"], self.system.dim
        if len(first) < dim:
            refuse("first_state", f"it has {len(first)} rows, and the system {dim} components")
        state = outward(first[:dim], self.batch)
        options = {
            "on_failure": header["on_failure"],
            "bound": None if header["bound"] == inf else header["bound"],
        }
        problem, chosen, *rest = made("system", make, self.system, state, options)
        if problem.batch != self.batch:
            refuse("batch", f"{self.batch}, and states and parameters have {problem.batch}")
        if len(first) != (rows := len(problem.initial)):
            refuse("first_state", f"it has {len(first)} rows, and they do not give {rows}")
        if len(self.values["last_state"]) not in (dim, rows):
            refuse("last_state", f"it has {len(self.values['last_state'])} rows")
        components = tuple(header["components"])
        if components != self.system.state_names:
            chosen = chosen.changed(components=components)
        initial = pad(first, (problem.lanes,), self.dtype)
        problem = problem.changed(initial=initial, arithmetic=header["arithmetic"])
        return problem, chosen, *rest


def load(path: str | PathLike[str], system: System | None = None) -> Solution:
    """Read a solution that ``Solution.save`` wrote.

    Parameters
    ----------
    path : str or path
        Ends in .npz or .zarr (which needs the package zarr).
    system : System, optional
        For a solution of a user-defined system that could not be stored as data: the same system;
        its parameters are taken from the file.

    Returns
    -------
    Solution
        It gives the same results as the one that was saved, and can be resumed.

    Raises
    ------
    FileNotFoundError
    ValueError
        The file is damaged or is not a solution, was written by a newer version, or holds a
        user-defined system and `system` is missing or is a different one.

    Examples
    --------
    >>> import os, tempfile, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=100)
    >>> path = os.path.join(tempfile.mkdtemp(), "pendulum.npz")
    >>> sol.save(path)
    >>> pi.load(path)
    <Solution of pendulum(g=9.81, length=1) by rk4: 100 steps of dt = 0.01, 101 saved, 1 trajectory>
    """
    if system is not None and not isinstance(system, System):
        raise TypeError(f"system must be a System, got {type(system).__name__}")
    header, arrays = files.read(path)
    if header.get("format") != files.FORMAT:
        raise ValueError(f"{path} holds no solution of pyintegrate")
    version = header.get("version")
    if type(version) is not int or version not in KINDS:
        by, form = (
            str(value)[:40] if isinstance(value, str | int) else "(unknown)"
            for value in (header.get("written_by"), version)
        )
        raise ValueError(
            f"{path} was written by {by}, format {form}:"
            f" this version reads formats up to {max(KINDS)}; upgrade pyintegrate"
        )
    try:
        with catch_warnings(action="ignore"):  # the run has warned already
            return _loaded(header, arrays, system, *KINDS[version])
    except Mismatch as error:
        raise ValueError(f"{path}: {str(error):.800}") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {str(error):.800}") from error
    except RecursionError:
        raise ValueError(f"{path} is damaged: its header is nested without end") from None


def _loaded(header, arrays, given, fields, table, module, kind):
    _check_header(header, fields | _RESULTS)
    batch, dtype = tuple(header["batch"]), np.dtype(header["dtype"])
    lanes, total = prod(batch), 0
    table = {name: field for name, field in table.items() if name in arrays or not field.optional}
    table |= _result_arrays(header, arrays, batch)
    sizes = _sizes(header, batch)
    for name, field in table.items():
        _check_array(name, field, arrays.about(name), sizes, dtype)
    for name in arrays:
        shape, found = arrays.about(name)
        if name not in table and prod(shape) > max(lanes, 1) * MOST_COMPONENTS:
            refuse(name, f"an array of shape {shape} is more than {lanes} trajectories need")
        total += prod(shape) * found.itemsize
    check_memory(total, sizes["saves"][0], batch, len(header["components"]))
    system = made("system", system_from_data, header, arrays, given)
    rows = 0  # of parameters, each of which is expanded for all lanes
    for name, shape in system.batch_shapes.items():
        if not fits_batch(shape, batch):
            refuse("system", f"{name} has the batch shape {shape}, and the batch is {batch}")
        rows += prod(system.shapes[name]) * bool(shape)
    check_memory(rows * lanes * dtype.itemsize, 1, batch, rows)
    values = Values({name: _read(name, field, arrays, header) for name, field in table.items()})
    method = method_from_data(header, arrays)
    stored = Stored(header, arrays, values, system, method, batch, dtype)
    solution = getattr(import_module(module, __package__), kind)._of_file(stored)
    for name in [name for name in ("steps", "t") if name in values]:
        told = getattr(solution, name)
        if told.shape != values[name].shape or not np.array_equal(told, values[name], True):
            refuse(name, "they are not those of a run with this header")
    if (names := header["sensitivity"]) is not None:
        solution = solution._with_tangents(lambda: solution, tuple(names))
    return _with_results(solution, header, values)


def _check_header(header, fields):
    for name, field in fields.items():
        if name not in header:
            refuse(name, "it is missing")
        value, fits = header[name], field.fits
        if callable(fits):
            fits = fits(value, header)
        words = "what such a run has"
        if isinstance(fits, range | tuple):
            several = isinstance(fits, tuple)
            words = " or ".join(map(repr, fits)) if several else f"{fits[0]} to {fits[-1]}"
            fits = type(value) is type(fits[0]) and value in fits
        if not fits:
            refuse(name, f"{value!r:.80}, expected {words}")


def _sizes(header, batch):
    """The known lengths of axes, by the names that the table gives them."""
    sizes = {
        "batch": batch, "lanes": (prod(batch),), "dim": (len(header["state_names"]),),
        "components": (len(header["components"]),), "two": (2,), "three": (3,),
    }  # fmt: skip
    (dim,) = sizes["dim"]
    # Those of the motion alone too, where each tangent has as many.
    alone = dim if header["sensitivity"] is None else 1
    sizes["dims"] = [(n,) for n in range(alone, dim + 1) if dim % n == 0]
    if not header.get("joined"):  # whose saves are named
        if header["save"] == "final":
            sizes["saves"] = (1,)
        elif "n_steps" in header:
            saves = Saves(header["save"], header["n_steps"])
            sizes["saves"] = (saves.until(header["completed"]),)
    return sizes


def _check_array(name, field, about, sizes, dtype):
    """Refuse an array of another type or shape, without reading it."""
    shape, found = about
    kind = dtype if field.kind is None else np.dtype(field.kind)
    if found != kind:
        refuse(name, f"it has the type {found}, expected {kind}")
    forms = [shape] if field.shape == "any" else []
    for form in field.shape.split("|"):
        axes = ()
        for word in form.split():
            axes += sizes.setdefault(word, shape[len(axes) : len(axes) + 1])
        forms.append(axes)
    if field.shape.startswith("fit"):
        each = field.shape == "fit dim" and shape[-1:] in sizes["dims"]
        inner = shape[:-1] if each else shape
        forms = [shape if fits_batch(inner, sizes["batch"]) else sizes["batch"]]
    if shape not in forms:
        refuse(name, f"it has the shape {shape}, expected {' or '.join(map(str, forms))}")


def _read(name, field, arrays, header):
    """The array, whose numbers lie in the range of its field; a float if it is one for all."""
    array = arrays[name]
    if field.least is not None:
        least, most = (x(header) if callable(x) else x for x in (field.least, field.most))
        if not np.all((array >= least) & (array <= most)):
            refuse(name, f"expected numbers from {least:.12g} to {most:.12g}")
    return float(array) if field.shape[:3] == "fit" and not array.shape else array


# ---- results of watches and events ---------------------------------------------------------------
_MOST_IMAGE = 1 << 28  # items in a result without batch axes
_EDGES = (".edges", ".x_edges", ".y_edges")
_PARTS = {
    "t": (float, "batch kept{0}"),
    "y": (float, "batch kept{0} dim"),
    "values": (float, "batch kept{0} width{0}"),
    "count": (np.int64, "batch"),
    "unresolved": (np.bool_, "batch"),
}


def _rows(most, length):
    """Lists of so many items, the first of which are different names."""

    def fits(value, header):
        there = isinstance(value, list) and len(value) <= most
        there = there and all(isinstance(row, list) and len(row) == length for row in value)
        return there and (not value or _texts([row[0] for row in value], header))

    return fits


# Of a watch its name, its kind and its array; of an event its name and its arrays.
_RESULTS = {
    "watched": Field("", _rows(8 * MOST_SUMS, 3)),
    "events": Field("", _rows(MOST_EVENTS, 2)),
}


def results_to_data(solution, arrays):
    """Fields of a header for watches and events; their arrays are added to `arrays`."""
    events, kinds = solution.events, solution.watched._kinds

    def put(name, array):
        arrays[name] = np.asarray(array)
        return {"array": name}

    found: dict[str, Any] = {
        "watched": [
            [name, [*kinds.get(name, ())], put(f"watched_{i}", value)]
            for i, (name, value) in enumerate(solution.watched.items())
        ],
        "events": [
            [name, {part: put(f"event_{i}_{part}", getattr(one, part)) for part in _PARTS}]
            for i, (name, one) in enumerate(events.items())
        ],
    }
    if events or np.isfinite(solution.stopped_at).any():  # after a part with events
        which = np.full(solution.stopped_by.shape, -1, np.int8)
        for i, name in enumerate(events):
            which[solution.stopped_by == name] = i
        at, by = put("stopped_at", solution.stopped_at), put("stopped_by", which)
        found["stopped"] = {"at": at, "by": by}
    if jumps := [name for name, _ in jumping(solution)]:
        found["jumps"] = jumps
    if np.any(has_jumped(solution)):
        found["first_jump"] = put("first_jump", solution._first_jump)
    return found


def _result_arrays(header, arrays, batch):
    """Name to Array of the results, whose header has been checked; shapes of watches are checked
    here, as they depend on each other."""
    watched, events = header["watched"], header["events"]
    found, shapes = {}, {}
    for i, (name, kind, _) in enumerate(watched):
        if kind != [] and not (_texts(kind, header) and len(kind) == 2):
            refuse("watched", f"{kind!r:.80}, expected a function of pi.watch and its quantity")
        shapes[name], dtype = arrays.about(f"watched_{i}")
        found[f"watched_{i}"] = Array("", np.int64 if dtype == np.int64 else float, "any")
    bins = {name: len(shape) == 1 and shape[0] - 1 for name, shape in shapes.items()}
    for name, kind, _ in watched:
        shape, (of, _, last) = shapes[name], name.rpartition(".")
        inner = tuple(bins[name + end] for end in _EDGES if name + end in shapes)
        # A user's own reduction may have any axis.
        rest = inner if inner or kind else shape[len(batch) :][:1]
        fits = f".{last}" in _EDGES and of in shapes and bins[name] > 0
        fits |= prod(rest) <= MOST_SUMS and shape == (*batch, *rest)
        fits |= bool(inner) and shape == inner and prod(inner) <= _MOST_IMAGE
        if not fits:
            refuse("watched", f"{name:.80} has the shape {shape}, and the batch is {batch}")
    for i in range(len(events)):
        for part, (kind, shape) in _PARTS.items():
            found[f"event_{i}_{part}"] = Array("", kind, shape.format(i))
    if events or "stopped" in header:
        found["stopped_at"] = Array("", float, "batch")
        found["stopped_by"] = Array("", np.int8, "batch")
    if "first_jump" in header:
        found["first_jump"] = Array("", float, "batch")
    return found


def _with_results(solution, header, values):
    """The solution that was made from a file, with the results in it."""
    results = {row[0]: values[f"watched_{i}"] for i, row in enumerate(header["watched"])}
    kinds = {name: tuple(kind) for name, kind, _ in header["watched"] if kind}
    logs, names, jumps = {}, solution.system.state_names, header.get("jumps")
    jumps = jumps if isinstance(jumps, list) else []
    for i, (name, _) in enumerate(header["events"]):
        t, y, told, count, unresolved = (values[f"event_{i}_{part}"] for part in _PARTS)
        if np.any(count < 0) or told.shape[-1] > MOST_SUMS:
            refuse(f"events: {name:.80}", "a count below 0, or too many values")
        more = count > t.shape[-1]
        logs[name] = EventLog(names, t, y, told, count, more, unresolved, name in jumps)
    if "first_jump" in header:
        solution._first_jump = values["first_jump"]
    if results:
        solution.__dict__["watched"] = Watched(results, kinds)
    if "stopped_at" in values:
        at, which = values["stopped_at"], values["stopped_by"]
        stopped = solution.status == Status.STOPPED
        if np.any((which < -1) | (which >= len(logs)) | ((which >= 0) != (stopped & bool(logs)))):
            refuse("stopped", "expected the number of an event where a trajectory has stopped")
        if np.any(np.isfinite(at) & ~stopped):
            refuse("stopped", "a time where no trajectory has stopped")
        by = np.array([*logs, ""])[which]
        solution.__dict__.update(stopped_at=at, stopped_by=by)
    if logs:
        solution.__dict__["events"] = Events(logs)
    for name, told in results_to_data(solution, {}).items():
        if header.get(name) != told:
            refuse(name, f"{header.get(name)!r:.80}, expected {told!r:.80}")
    return solution
