"""A hash of everything in a solution: the same wherever and however it was computed.

It is the SHA-256 of a stream of values, each preceded by its kind, shape and length, so that no
two different solutions give one stream. Numbers are little-endian. A zero has no sign, as 0.0 ==
-0.0, and all NaNs count as one, as no arithmetic tells their bits apart.
"""

import hashlib

import numpy as np

from .origin import origin_of
from .plain_data import data_of, to_data
from .storage import results_to_data, saved_states

_FIRST = b"pyintegrate solution 1\n"  # the version of this format
_ITEMS = 1 << 20  # copied at once


def digest(solution):
    """64 hexadecimal digits; see ``Solution.digest``."""
    found = hashlib.sha256(_FIRST)
    for part in _stream(solution):
        found.update(part)
    return found.hexdigest()


def _stream(solution):
    """What is hashed: all by name, and last the states, wherever they are stored, save by save."""
    for name, value in _said(solution).items():
        yield from _bytes(name)
        yield from _bytes(value)
    yield from _bytes("states")
    states = saved_states(solution)
    yield _shape(states.dtype, (len(solution), *solution._states.shape[1:]))
    for _, block in states:
        yield from _numbers(block)


def _said(solution):
    """Everything but the saved states, by name."""
    problem, system, arrays = solution._problem, solution.system, {}
    noise = {} if problem.random is None else {"noise": dict(vars(problem.random))}
    return noise | {
        "system": data_of(system, arrays)
        or [system.name, system.state_names, to_data(dict(system.params), "system", arrays)],
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


def _bytes(value):
    """One value, or nested values."""
    if value is None:
        yield b"none;"
    elif isinstance(value, bool):
        yield b"true;" if value else b"false;"
    elif isinstance(value, int):
        yield b"integer %d;" % value
    elif isinstance(value, str | bytes):
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        yield b"%s %d:%s" % (type(value).__name__.encode(), len(text), text)
    elif isinstance(value, dict):
        yield b"named %d:" % len(value)
        for name in sorted(value):
            yield from _bytes(name)
            yield from _bytes(value[name])
    elif isinstance(value, list | tuple):
        yield b"list %d:" % len(value)
        for item in value:
            yield from _bytes(item)
    else:
        array = np.asarray(value)  # a float is an array of no axes
        yield _shape(array.dtype, array.shape)
        yield from _numbers(array)


def _shape(dtype, shape):
    lengths = ",".join(str(int(n)) for n in shape)
    return f"array {dtype.kind}{dtype.itemsize} {lengths};".encode()


def _numbers(array):
    """The items in the order of their indices, little-endian; zeros and NaNs normalised."""
    flat = array.reshape(-1)
    for begin in range(0, flat.size, _ITEMS):
        part = np.array(flat[begin : begin + _ITEMS], flat.dtype.newbyteorder("<"))
        if part.dtype.kind == "f":
            bits = part.view(f"<u{part.itemsize}")  # a caller's mode may take subnormals for zeros
            bits[bits << 1 == 0] = 0
            part[np.isnan(part)] = np.nan
        yield part
