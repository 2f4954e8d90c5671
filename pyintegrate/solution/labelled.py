"""A Solution as labelled arrays of xarray, or as a table of pandas."""

import numpy as np

from .. import _core
from ..values.lazily import optional
from ..values.table import batch_axes, pandas
from ..values.types import Any


def to_dataset(solution):
    """See ``Solution.to_xarray``."""
    xarray = optional("xarray", "to_xarray()")
    system, batch = solution.system, solution.status.shape
    dims = _dimensions(solution)
    time = "t" if solution.t.ndim == 1 else "step" if solution.steps.ndim == 1 else "save"
    units = system.units
    results = _results(solution, dims) | _statistics(solution.across)
    own = {*dims, *(axis for one in results.values() for axis in one[0])}
    own -= {*dims} & {*system.params, *solution._clock}
    own |= {name for name, value in solution._clock.items() if np.ndim(value)}
    own |= {"t", "step", "status", "failed_step", *solution._of_each, *results}
    _check_names(system, own)
    lead, n = (time, *dims), len(batch)
    coordinates: dict[str, Any] = {
        "t": (lead[: solution.t.ndim], solution.t, {"units": units["t"]}),
        "step": (lead[: solution.steps.ndim], solution.steps, {"long_name": "number of the step"}),
    }
    if solution.events:
        coordinates["component"] = [*system.state_names]
    for name, value in system.params.items():
        shape = system.batch_shapes[name]
        if not system.shapes[name]:
            axes = [i for i, length in enumerate(shape, n - len(shape)) if batch[i] == length]
            axes = [dims.index(name)] if name in dims else axes  # without those of length 1
            array = np.reshape(value, [batch[i] for i in axes])
            coordinates[name] = tuple(dims[i] for i in axes), array, {"units": units[name]}
        else:
            array = np.broadcast_to(value, (*batch, *system.shapes[name]))
            coordinates[name] = _own_axes(name, dims, array), array, {"units": units[name]}
    variables: dict[str, Any] = {
        name: (lead, solution[name], {"units": units[name]}) for name in solution.components
    }
    variables["status"] = (dims, solution.status, {"long_name": "see pyintegrate.Status; 0 is OK"})
    variables["failed_step"] = (dims, solution.failed_step, {"long_name": "-1 where fine"})
    variables |= {name: (dims, getattr(solution, name)) for name in solution._of_each}
    variables |= results
    attributes = {
        "system": system.name,
        "title": system.title,
        "method": solution.method.name,
        "n_steps": solution.n_steps,
        "source": f"pyintegrate {_core.info()['version']}",
    }
    for name, value in solution._clock.items():
        unit = {"units": {"rtol": "1", "atol": ""}.get(name, units["t"])}
        if np.ndim(value) == 0:
            attributes[name] = value
        elif name in dims:
            coordinates[name] = (name,), np.ravel(value), unit
        else:
            coordinates[name] = dims, np.broadcast_to(value, batch), unit
    return xarray.Dataset(variables, coordinates, attributes)


def _check_names(system, own):
    """Refuse a system with a name that an export needs for something of its own."""
    if taken := own & {*system.state_names, *system.params}:
        raise ValueError(
            f"{system.name!r} calls a component or parameter {', '.join(sorted(taken))}, which is"
            " needed for something else here: rename it"
        )


def _own_axes(name, dims, array):
    """Axes after those of the batch, with numbers."""
    return (*dims, *(f"{name}_{i}" for i in range(array.ndim - len(dims))))


def to_frame(solution):
    """See ``Solution.to_pandas``."""
    DataFrame, MultiIndex = pandas().DataFrame, pandas().MultiIndex
    batch, dims = solution.status.shape, _dimensions(solution)
    told = _columns(solution) if len(solution) == 1 else {}
    _check_names(solution.system, {*told})
    valid = np.moveaxis(solution.valid | bool(told), 0, -1)
    t = np.broadcast_to(solution._column(solution.t), solution.valid.shape)
    rows = {"t": np.moveaxis(t, 0, -1)[valid]}
    rows |= {name: np.moveaxis(solution[name], 0, -1)[valid] for name in solution.components}
    rows |= {name: value.reshape(-1) for name, value in told.items()}
    if not batch:
        return DataFrame(rows).set_index("t")
    varying = _varying(solution)
    places = np.nonzero(valid)
    index = [
        np.ravel(varying[name])[place] if name in varying else place
        for name, place in zip(dims, places)
    ]
    index = MultiIndex.from_arrays([*index, rows.pop("t")], names=[*dims, "t"])
    return DataFrame(rows, index)


def _results(solution, dims):
    """Variables of watches and events; axes of different lengths get different names."""
    watched, events, n = solution.watched, solution.events, len(dims)
    variables: dict[str, tuple] = {}
    histograms = {
        name: a.shape[n] for name, a in watched.items()
        if f"{name}.edges" in watched and a.ndim == n + 1
    }  # fmt: skip
    bins = _axes("bin", histograms)
    for name, array in watched.items():
        of = name.removesuffix(".edges")
        if name in bins:
            axes = (*dims, bins[name])
        elif of != name and of in bins:
            axes = (f"{bins[of]}_edge",)
        else:
            there = _is_of_each(name, watched, solution.status.shape)
            axes = _own_axes(name, dims if there else (), array)
        variables[f"watched.{name}"] = (axes, array)
    sizes = {name: one.values.shape[-2:] for name, one in events.items()}
    kept = _axes("event", {name: size[0] for name, size in sizes.items() if size[0]})
    width = _axes("value", {name: size[1] for name, size in sizes.items() if all(size)})
    for name, one in events.items():
        parts = dict.fromkeys(("count", "overflow", "unresolved"), dims)
        if name in kept:
            parts |= {"t": (*dims, kept[name]), "y": (*dims, kept[name], "component")}
        if name in width:
            parts["values"] = (*dims, kept[name], width[name])
        for part, axes in parts.items():
            variables[f"events.{name}.{part}"] = axes, getattr(one, part)
    if events:
        about = {"long_name": "NaN where no event has stopped it"}
        variables["stopped_at"] = (dims, solution.stopped_at, about)
        variables["stopped_by"] = (dims, solution.stopped_by)
    return variables


def _statistics(across):
    """Variables of statistics across the batch, over its own times, groups and fractions."""
    variables = {}
    for key, array in across.items():
        name = key if f"{key}.t" in across else key.rpartition(".")[0]
        axes = [f"{name}.{axis}" for axis in ("t", "groups") if f"{name}.{axis}" in across]
        if key in (*axes, f"{name}.q", f"{name}.edges"):
            axes = [key]
        elif key == name and f"{name}.q" in across:
            axes.append(f"{name}.q")
        axes += [f"{key}_{i}" for i in range(len(axes), array.ndim)]
        variables[f"across.{key}"] = [f"across.{axis}" for axis in axes[: array.ndim]], array
    return variables


def _axes(word, lengths):
    """The name of each axis; the same name if all have one length."""
    several = len({*lengths.values()}) > 1
    return {name: f"{word}_{name}" if several else word for name in lengths}


def _is_of_each(name, watched, batch):
    """Whether a result begins with the axes of the batch. Edges of bins, and a density, which has
    edges and no axis more, are of all trajectories, even if they have as many items."""
    array, n = watched[name], len(batch)
    density = f"{name}.x_edges" in watched or f"{name}.edges" in watched and array.ndim == n
    edges = name.partition(".")[2].endswith("edges")
    return array.shape[:n] == batch and not (density or edges)


def _columns(solution):
    """Results with one number for each trajectory."""
    batch, watched = solution.status.shape, solution.watched
    told = {
        f"watched.{k}": a
        for k, a in watched.items()
        if a.shape == batch and _is_of_each(k, watched, batch)
    }
    told |= {f"events.{name}.count": one.count for name, one in solution.events.items()}
    if solution.events:
        told |= {"stopped_at": solution.stopped_at, "stopped_by": solution.stopped_by}
    return told | {"status": solution.status} if told or solution.n_failed else {}


def _varying(solution):
    """Values that differ between trajectories, by name: one for each, or broadcast."""
    system = solution.system
    values = {name: value for name, value in system.params.items() if not system.shapes[name]}
    values |= solution._clock
    return {name: value for name, value in values.items() if np.size(value) > 1}


def _dimensions(solution):
    """Names of the batch axes: that of the only value that varies along one, if all differ, or
    "batch"."""
    batch = solution.status.shape
    dims = [*batch_axes(batch)]
    for axis, n in enumerate(batch):
        along = [one for one in _varying(solution).items()
                 if np.broadcast_to(one[1], batch).strides[axis]]  # fmt: skip
        for name, value in along if len(along) == 1 else ():
            if np.unique(value).size == np.size(value) == n:
                dims[axis] = name
    return tuple(dims)
