"""The header of a file: every field is checked before anything is made of it.

An error is a ValueError that begins with the field's name. Sizes that are consistent are those that
the run of the header needs, and nothing larger is read.
"""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from ..errors import Status
from ..stochastic.step import OF_RUN
from ..values.checks import MOST_COMPONENTS
from ..values.memory import MAX_AXES, check_memory

FORMAT = "pyintegrate solution"
# The arrays of every solution; others are named in the header, by systems and methods.
ARRAYS = (
    "t", "steps", "dt", "t0", "y", "first_state", "last_state",
    "failed_index", "failed_status", "failed_step",
)  # fmt: skip
TO_A_TOLERANCE = 2  # the version of files of runs to a tolerance: adaptive/stored_solution.py
ADAPTIVE_ARRAYS = (
    "t", "y", "counts", "t0", "t_end", "rtol", "atol", "max_step", "first_state", "last_state",
    "reached", "last_step", "steps_taken", "rejected", "status", "stiff_spans", "stiff_tries",
    "origin_state", "origin_time",
)  # fmt: skip
_MOST_STEPS, _MOST_LANES = 1 << 53, 1 << 48  # in a run; 1 << 54 steps with those before it


def array_names(header):
    """The names of all arrays that belong to a header."""
    of_all = ADAPTIVE_ARRAYS if header.get("version") == TO_A_TOLERANCE else ARRAYS
    names, rest = dict.fromkeys(of_all), [header]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += value
        elif isinstance(value, dict):
            if len(value) == 1 and isinstance(value.get("array"), str):
                names[value["array"]] = None
            rest += value.values()
    return [*names]


class Refused(ValueError):
    """A field does not fit; the message begins with its name."""


def refuse(field, words):
    raise Refused(f"{field}: {words}")


def check_whole(header, name, least, most):
    value = header[name]
    if type(value) is not int or not least <= value <= most:
        refuse(name, f"{value!r:.80}, expected a whole number from {least} to {most}")


def check_one_of(header, name, *values):
    if not any(type(header[name]) is type(value) and header[name] == value for value in values):
        refuse(name, f"{header[name]!r:.80}, expected {' or '.join(map(repr, values))}")


def _names(header, name):
    value = header[name]
    fits = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    if not fits or len(set(value)) < len(value):
        refuse(name, f"{value!r:.80}, expected different names")


_SHARED = (
    "system", "method", "coefficients", "dtype", "batch", "save", "bound", "on_failure",
    "components", "state_names", "arithmetic", "watched", "events",
)  # fmt: skip
_FIELDS = (
    "first", "n_steps", "completed", "starter", "begun", "driven", "compensated", "joined", "times",
    "origin",
)  # fmt: skip


def check_shared(header, further):
    """Check the fields of all solutions; those of `further` must be there."""
    for name in (*_SHARED, *further):
        if name not in header:
            refuse(name, "it is missing")
    check_one_of(header, "dtype", "float32", "float64")
    batch = header["batch"]
    fits = isinstance(batch, list) and len(batch) <= MAX_AXES
    if not fits or not all(type(n) is int and 0 <= n <= _MOST_LANES for n in batch):
        refuse("batch", f"{batch!r:.80}, expected at most {MAX_AXES} lengths of axes")
    if prod(n for n in batch if n) > _MOST_LANES:
        refuse("batch", f"{batch!r:.80} is more than 2**48 trajectories")
    bound = header["bound"]
    if type(bound) not in (int, float) or not bound > 0:
        refuse("bound", f"{bound!r:.80}, expected a positive number")
    check_one_of(header, "on_failure", "warn", "raise", "ignore")
    for name in ("components", "state_names"):
        _names(header, name)
    if not set(header["components"]) <= set(header["state_names"]):
        refuse("components", f"{header['components']!r:.80}, which are not all in state_names")
    check_whole(header, "arithmetic", 1, 1 << 31)
    if not isinstance(header["system"], dict) or not isinstance(header["system"].get("name"), str):
        refuse("system", "it has no name")


def check_header(header):
    """Types and ranges of the fields, each by itself and together with the others."""
    check_shared(header, _FIELDS)
    check_whole(header, "n_steps", 0, _MOST_STEPS)
    check_whole(header, "completed", 0, header["n_steps"])
    check_whole(header, "first", 0, 2 * _MOST_STEPS - header["completed"])
    save = header["save"]
    if save not in ("all", "final") and not (type(save) is int and save >= 1):
        refuse("save", f"{save!r:.80}, expected 'all', 'final' or a number of steps")
    for name in ("begun", "driven", "compensated", "joined", "times"):
        check_one_of(header, name, True, False)
    if header["times"] and (not header["joined"] or header["first"]):
        refuse("times", "expected a run of its own, whose steps are named")
    origin = header["origin"]
    if origin is not None and not (isinstance(origin, dict) and {"step", "state"} <= set(origin)):
        refuse("origin", f"{origin!r:.80}, expected a step and a state")


def entries(header):
    """The number of states that a run has saved."""
    if header["save"] == "final":
        return 1
    n, done = header["n_steps"], header["completed"]
    every = 1 if header["save"] == "all" else min(header["save"], max(n, 1))
    return done // every + 1 + (done == n and n % every != 0)


def check_arrays(header, arrays, results=()):
    """Shapes and types of all arrays, before any is read.

    Parameters
    ----------
    header : dict
        Checked before.
    arrays : StoredArrays
    results : collection of str
        Arrays whose sizes are checked by stored_results.py.

    Raises
    ------
    ValueError
    MemoryError
        Everything is consistent, and is more than this machine holds.
    """
    batch, count = tuple(header["batch"]), entries(header)
    if header["joined"]:
        count = (*arrays.about("steps")[0], 0)[0]
        if not count >= 0 or (count > header["completed"] + 1 and not header["times"]):
            refuse("steps", f"{count} of them, and the run has {header['completed']}")
    lanes, dtype = prod(batch), np.dtype(header["dtype"])
    total = 0

    check = partial(check_array, arrays)

    check("y", dtype, (count, len(header["components"]), *batch))
    for name in ("first_state", "last_state"):
        rows = arrays.about(name)[0][:1]
        check(name, dtype, (*rows, lanes))
    each = [(count, *batch)] * bool(header["times"])
    check("steps", np.int64, (count,), *each)
    check("t", np.float64, (count,), (count, *batch))
    for name in ("dt", "t0"):
        shape = arrays.about(name)[0]
        check(name, np.float64, shape)
        if not fits_batch(shape, batch):
            refuse(name, f"it has the shape {shape}, and the batch is {batch}")
    failed = arrays.about("failed_index")[0][:1]
    for name, kind in (("index", np.int64), ("status", np.int8), ("step", np.int64)):
        check(f"failed_{name}", kind, failed)
    if not failed or failed[0] > lanes:
        refuse("failed_index", f"it has the shape {failed}, for {lanes} trajectories")
    for name in arrays:
        shape, kind = arrays.about(name)
        if name not in {*ARRAYS, *results} and prod(shape) > max(lanes, 1) * MOST_COMPONENTS:
            refuse(name, f"an array of shape {shape} is more than {lanes} trajectories need")
        total += prod(shape) * kind.itemsize
    check_memory(total, count, batch, len(header["components"]))


def fits_batch(shape, batch):
    """Whether a shape broadcasts to that of the batch."""
    pairs = zip(shape[::-1], batch[::-1], strict=False)
    return len(shape) <= len(batch) and all(n in (1, m) for n, m in pairs)


def check_array(arrays, name, kind, *shapes):
    """Refuse an array of another type, or of none of these shapes, without reading it."""
    shape, found = arrays.about(name)
    if found != kind:
        refuse(name, f"it has the type {found}, expected {np.dtype(kind)}")
    if shape not in shapes:
        refuse(name, f"it has the shape {shape}, expected {' or '.join(map(str, shapes))}")


def check_parameters(system, batch, dtype):
    """Refuse parameters that do not fit the batch, or are too large when expanded for each lane."""
    for name, shape in system.batch_shapes.items():
        if not fits_batch(shape, batch):
            refuse("system", f"{name} has the batch shape {shape}, and the batch is {batch}")
    shapes = system.shapes
    rows = sum(prod(shapes[name]) for name, shape in system.batch_shapes.items() if shape)
    check_memory(rows * prod(batch) * dtype.itemsize, 1, batch, rows)  # expanded for each lane


def check_steps(header, steps):
    """Saves without a common interval, counted from the first step."""
    steps = steps - header["first"]
    least = 0 if header["times"] else 1  # several times may lie in one step
    if np.any(np.diff(steps, axis=0) < least) or np.any(
        (steps < 0) | (steps > header["completed"])
    ):
        refuse("steps", "expected increasing numbers of steps of the run")
    return steps


def check_origin(problem, about, parts):
    """Where a resumed run began: its state and step, and the phase drifts."""
    state, ahead = parts["state"], parts.get("ahead")
    shape = (problem.system.dim, problem.lanes)
    if not isinstance(state, np.ndarray) or (state.shape, state.dtype) != (shape, problem.dtype):
        refuse("origin", f"its state is no {problem.dtype} array of the shape {shape}")
    if type(about["step"]) is not int or not 0 <= about["step"] <= problem.first:
        refuse("origin", f"{about['step']!r:.80}, expected a step up to {problem.first}")
    fits = ahead is None or isinstance(ahead, np.ndarray)
    if not fits or (ahead is not None and (ahead.shape, ahead.dtype) != (problem.batch, float)):
        refuse("origin", f"its phases are no numbers of the shape {problem.batch}")


def check_failures(header, index, status, step):
    """Which trajectories failed, why, and when."""
    lanes, last = prod(header["batch"]), header["first"] + header["completed"]
    if np.any((index < 0) | (index >= lanes)) or len(np.unique(index)) < len(index):
        refuse("failed_index", f"expected different numbers from 0 to {lanes - 1}")
    if np.any((status <= Status.OK) | (status > max(Status))):
        refuse("failed_status", f"expected numbers from 1 to {int(max(Status))}")
    if np.any((step < 0) | (step > last)):
        refuse("failed_step", f"expected numbers of steps, from 0 to {last}")


# ---- user-defined systems ------------------------------------------------------------------------
_TEXTS = ("name", "title", "equation", "reference", "structure", "time_unit")
_QUESTIONS = {  # and the number of their results: dim or dof components
    "first_order": {"rhs": "dim"},
    "second_order": {"acceleration": "dof"},
    "separable": {"acceleration": "dof", "velocity": "dof"},
}


def check_definition(definition, noisy=False):
    """A traced system as data: its names, sizes and results must be consistent."""
    traced, structure = definition["traced"], definition["structure"]
    for name in _TEXTS:
        if not isinstance(definition[name], str):
            refuse(f"system: {name}", f"{definition[name]!r:.80}, expected a text")
    if structure not in _QUESTIONS:
        refuse("system: structure", f"{structure!r:.80}")
    dim, dof = definition["dim"], definition["dof"]
    second = structure != "first_order"
    if type(dim) is not int or type(dof) is not int or not 1 <= dim <= MOST_COMPONENTS:
        refuse("system: dim", f"{dim!r:.80} with dof {dof!r:.80}")
    if (traced.graph.dim, traced.graph.dof) != (dim, dof) or dof != dim / 2 * second:
        refuse("system: dof", f"{dof} with dim {dim} do not fit a {structure} system")
    answers = {"energy": 1} if "energy" in traced.outputs else {}
    answers |= {key: definition[size] for key, size in _QUESTIONS[structure].items()}
    found = {key: len(nodes) for key, nodes in traced.outputs.items()}
    if noisy:
        check_one_of(definition, "interpretation", "ito", "stratonovich")
        noises = found.pop("diffusion", 0)
        if noises % dim or (found.pop("force", dof), found.pop("bath", dof + 1)) != (dof, dof + 1):
            refuse("system: traced", f"{noises} numbers of a diffusion of {dim} components")
    if found != answers:
        refuse("system: traced", f"its answers are not those of a {structure} system")
    shapes = definition["shapes"]
    rows = 0
    for name, shape in shapes.items():
        if type(shape) is not tuple or not all(type(n) is int and n >= 0 for n in shape):
            refuse("system: shapes", f"{name} has the shape {shape!r:.80}")
        rows += prod(shape)
    if rows + OF_RUN * noisy != traced.n_params or rows > MOST_COMPONENTS:
        refuse("system: shapes", f"{rows} numbers, and {traced.n_params} in the force")
    for what, count in (("state", dim), ("params", len(shapes))):
        quantities = definition[what]
        if len(quantities) != count or len({q[0] for q in quantities}) != count:
            refuse(f"system: {what}", f"expected {count} quantities of different names")
        for name, unit, value, meaning in quantities:
            shape = () if what == "state" else shapes[name]
            texts = all(isinstance(text, str) for text in (name, unit, meaning))
            if not texts or np.shape(value) != shape or np.asarray(value).dtype.kind not in "iuf":
                refuse(f"system: {what}", f"{name!r:.80} has not a value of shape {shape}")
    if list(shapes) != [q[0] for q in definition["params"]] or definition["invariants"] != []:
        refuse("system: params", "they have other names than the shapes")
    if definition.get("exact") is not None or "compiled" in definition:
        refuse("system", "functions are no data")
    seen = {"velocity_dependent": second and traced.velocity_dependent}
    seen["time_dependent"] = traced.time_dependent
    for name, value in seen.items():
        if definition[name] is not bool(value):
            refuse(f"system: {name}", f"{definition[name]!r:.80}, and the force says {bool(value)}")
