"""A Solution as an xarray.Dataset: dimensions, coordinates, units and attributes."""

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
    dims = ("batch",) if len(batch) == 1 else tuple(f"batch_{i}" for i in range(len(batch)))
    time = "t" if solution.t.ndim == 1 else "step"
    units = system.units
    taken = {*dims, "t", "step", "status", "failed_step"} & {*system.state_names, *system.params}
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
        else:
            full = np.broadcast_to(value, batch)
            coordinates[name] = (dims, full, {"units": units["t"]})
    return xarray.Dataset(variables, coordinates, attributes)
