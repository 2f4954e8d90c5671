"""A hash of everything in a solution: the same wherever and however it was computed.

It is the SHA-256 of a stream of values, each preceded by its kind, shape and length, so that no
two different solutions give one stream. Numbers are little-endian. A zero has no sign, as 0.0 ==
-0.0, and all NaNs count as one, as no arithmetic tells their bits apart.
"""

import hashlib
from math import prod

import numpy as np

from .origin import origin_of
from .plain_data import to_data
from .storage import results_to_data

_FIRST = b"pyintegrate solution 1\n"  # the version of this format
_ITEMS = 1 << 20  # copied at once


def digest(solution):
    """64 hexadecimal digits; see ``Solution.digest``."""
    stream = hashlib.sha256(_FIRST)
    for name, value in _said(solution).items():
        _put(stream, name)
        _put(stream, value)
    _put(stream, "states")
    _put_states(stream, solution)
    return stream.hexdigest()


def _said(solution):
    """Everything but the saved states, by name."""
    problem = solution._problem
    arrays = {}
    noise = {} if problem.random is None else {"noise": dict(vars(problem.random))}
    return noise | {
        "system": _system(solution.system, arrays),
        "method": to_data(solution.method, "method", arrays),
        "coefficients": to_data(solution.method.coefficients, "coefficients", arrays),
        "starter": to_data(problem.starter, "starter", arrays),
        "compensated": solution._options.compensated,
        "dtype": problem.dtype.name,
        "batch": problem.batch,
        "t0": np.asarray(solution.t0, np.float64),
        **{name: np.asarray(getattr(solution, name)) for name in solution._digested},
        "n_steps": solution.n_steps,
        "interrupted": solution.n_steps < problem.n_steps,
        "driven": problem.driven,
        "steps": solution.steps,
        "t": solution.t,
        "components": solution.components,
        "initial": solution.initial,
        "last": solution._last_rows,
        "origin": solution.origin,
        "origin_step": int(origin_of(problem).step),
        "status": solution.status,
        "failed_step": solution.failed_step,
        "results": results_to_data(solution, arrays),
        "sensitivity": {} if solution._carried is None else solution.sensitivity,
        "arrays": arrays,
    }


def _system(system, arrays):
    """The data that rebuild it; name and parameters of one that holds functions."""
    made = {}
    try:
        about = to_data(system, "system", made)
    except TypeError:
        made = {}
        about = [system.name, system.state_names, to_data(dict(system.params), "system", made)]
    arrays |= made
    return about


def _put(stream, value):
    """One value, or nested values."""
    if value is None:
        stream.update(b"none;")
    elif isinstance(value, bool):
        stream.update(b"true;" if value else b"false;")
    elif isinstance(value, int):
        stream.update(b"integer %d;" % value)
    elif isinstance(value, str | bytes):
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        stream.update(b"%s %d:%s" % (type(value).__name__.encode(), len(text), text))
    elif isinstance(value, dict):
        stream.update(b"named %d:" % len(value))
        for name in sorted(value):
            _put(stream, name)
            _put(stream, value[name])
    elif isinstance(value, list | tuple):
        stream.update(b"list %d:" % len(value))
        for item in value:
            _put(stream, item)
    else:
        array = np.asarray(value)  # a float is an array of no axes
        _put_shape(stream, array.dtype, array.shape)
        _put_numbers(stream, array)


def _put_shape(stream, dtype, shape):
    lengths = ",".join(str(int(n)) for n in shape)
    stream.update(f"array {dtype.kind}{dtype.itemsize} {lengths};".encode())


def _put_numbers(stream, array):
    """The items in the order of their indices, little-endian; zeros and NaNs normalised."""
    flat = array.reshape(-1)
    for begin in range(0, flat.size, _ITEMS):
        part = np.array(flat[begin : begin + _ITEMS], flat.dtype.newbyteorder("<"))
        if part.dtype.kind == "f":
            bits = part.view(f"<u{part.itemsize}")  # a caller's mode may take subnormals for zeros
            bits[bits << 1 == 0] = 0
            part[np.isnan(part)] = np.nan
        stream.update(part)


def _put_states(stream, solution):
    """The saved states, component by component for each save, wherever they are stored."""
    states, n = solution._states, len(solution)
    _put_shape(stream, np.dtype(solution._problem.dtype), (n, *states.shape[1:]))
    together = max(1, _ITEMS // max(1, prod(states.shape[1:])))
    for begin in range(0, n, together):
        saves = np.asarray(states[begin : min(n, begin + together)])
        _put_numbers(stream, np.moveaxis(saves, -1, 1))
