"""A Solution as labelled arrays of xarray, or as a table of pandas."""

from __future__ import annotations

import numpy as np

from .. import _core


def to_dataset(solution):
    """See ``Solution.to_xarray``."""
    try:
        import xarray
    except ImportError as missing:
        raise ImportError(
            "to_xarray() needs the package xarray, which is not installed:"
            " pip install pyintegrate[xarray]"
        ) from missing
    system, batch = solution.system, solution.status.shape
    dims = _dimensions(solution)
    time = "t" if solution.t.ndim == 1 else "step"
    units = system.units
    own = {*dims} - {*system.params, "dt", "t0"}
    taken = {*own, "t", "step", "status", "failed_step"} & {*system.state_names, *system.params}
    if taken:
        raise ValueError(
            f"{system.name!r} calls a component or parameter {', '.join(sorted(taken))}, which the"
            " dataset needs for something else: rename it"
        )
    coordinates = {
        "t": ((time, *dims)[: solution.t.ndim], solution.t, {"units": units["t"]}),
        "step": ((time,), solution.steps, {"long_name": "number of the step"}),
    }
    for name, value in system.params.items():
        shape = system.batch_shapes[name]
        about = {"units": units[name]}
        if np.ndim(value) == len(shape):
            used = [i for i, n in enumerate(shape, len(batch) - len(shape)) if batch[i] == n]
            lone = tuple(i for i in range(len(shape)) if i + len(batch) - len(shape) not in used)
            array = np.squeeze(value, axis=lone)
            coordinates[name] = (tuple(dims[i] for i in used), array, about)
        else:
            elements = np.broadcast_to(value, (*batch, *np.shape(value)[len(shape) :]))
            inner = tuple(f"{name}_{i}" for i in range(elements.ndim - len(batch)))
            coordinates[name] = ((*dims, *inner), elements, about)
    variables = {
        name: ((time, *dims), solution[name], {"units": units[name]})
        for name in solution.components
    }
    variables["status"] = (dims, solution.status, {"long_name": "see pyintegrate.Status; 0 is OK"})
    variables["failed_step"] = (dims, solution.failed_step, {"long_name": "-1 where fine"})
    attributes = {
        "system": system.name,
        "title": system.title,
        "method": solution.method.name,
        "n_steps": solution.n_steps,
        "source": f"pyintegrate {_core.info()['version']}",
    }
    for name in ("dt", "t0"):
        value = getattr(solution, name)
        if np.ndim(value) == 0:
            attributes[name] = value
        elif name in dims:
            coordinates[name] = ((name,), np.ravel(value), {"units": units["t"]})
        else:
            full = np.broadcast_to(value, batch)
            coordinates[name] = (dims, full, {"units": units["t"]})
    return xarray.Dataset(variables, coordinates, attributes)


def to_frame(solution):
    """See ``Solution.to_pandas``."""
    try:
        import pandas
    except ImportError as missing:
        raise ImportError(
            "to_pandas() needs the package pandas, which is not installed:"
            " pip install pyintegrate[pandas]"
        ) from missing

    batch, dims = solution.status.shape, _dimensions(solution)
    if "t" in solution.components:
        raise ValueError(f"{solution.system.name!r} calls a component t, as time: rename it")
    valid = np.moveaxis(solution.valid, 0, -1)
    t = solution.t if solution.t.ndim > 1 else solution._column(solution.t)
    rows = {"t": np.moveaxis(np.broadcast_to(t, solution.valid.shape), 0, -1)[valid]}
    rows |= {name: np.moveaxis(solution[name], 0, -1)[valid] for name in solution.components}
    if not batch:
        return pandas.DataFrame(rows).set_index("t")
    varying = _varying(solution)
    places = np.nonzero(valid)
    index = [
        np.ravel(varying[name])[place] if name in varying else place
        for name, place in zip(dims, places, strict=False)
    ]
    index = pandas.MultiIndex.from_arrays([*index, rows.pop("t")], names=[*dims, "t"])
    return pandas.DataFrame(rows, index)


def _varying(solution):
    """Values that differ between trajectories, by name: with an item for each, or fewer."""
    system = solution.system
    values = {
        name: value
        for name, value in system.params.items()
        if np.ndim(value) == len(system.batch_shapes[name])
    }
    values |= {name: getattr(solution, name) for name in ("dt", "t0")}
    return {name: value for name, value in values.items() if np.size(value) > 1}


def _dimensions(solution):
    """Names of the batch axes: what alone varies along one, all values different, or its number."""
    batch = solution.status.shape
    dims = ["batch"] if len(batch) == 1 else [f"batch_{i}" for i in range(len(batch))]
    along: dict[int, list[str]] = {}
    for name, value in _varying(solution).items():
        shape = np.shape(value)
        for axis, n in enumerate(shape, len(batch) - len(shape)):
            if n > 1:
                along.setdefault(axis, []).append(name)
    for axis, names in along.items():
        value = np.ravel(_varying(solution)[names[0]])
        if len(names) == 1 and value.size == batch[axis] and np.unique(value).size == value.size:
            dims[axis] = names[0]
    return tuple(dims)
