"""A hash of the results of all methods on all systems, and its published value.

Every method is run on every system that it applies to, in both precisions: in registers, on rows,
and with compensated sums; the hash (Fowler, Noll, Vo 1a) is that of the end states and the numbers
of failures. published_bits.txt holds what every machine must find. `make portability` prints the
same by C alone, also on other architectures (tests/portability/).
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import _core

PUBLISHED = Path(__file__).with_name("published_bits.txt")
_NONE, _PRIME = 14695981039346656037, 1099511628211
_LANES, _STEPS = 19, 12
_SIZED = {"n_body": (3, 18, 5), "rigid_body": (2, 13, 43)}  # parts, components, parameters
_WAYS = [
    (rows, sums, bits)
    for rows, sums in ((False, False), (True, False), (True, True))
    for bits in (64, 32)
]


class Bits(NamedTuple):
    """A method, the number of its runs, and the 16 hexadecimal digits of their hash."""

    method: str
    runs: int
    digits: str


def method_bits():
    """The bits of every method, as computed by this machine; takes some seconds.

    Examples
    --------
    >>> method_bits()[0]  # doctest: +SKIP
    Bits(method='explicit_euler', runs=124, digits='87e575e02ea8cb27')
    """
    return [bits_of(name) for name in _core.method_names]


def bits_of(name):
    """The bits of one method."""
    h, runs = _NONE, 0
    for data in _results(_core.method(name)):
        h, runs = _hash(h, data), runs + 1
    return Bits(name, runs, f"{h:016x}")


def _results(method):
    """The end state and the number of failures of each run, as bytes."""
    family, kinetic = method["family"], method["requires"] == "quadratic_kinetic"
    own = family == "nystrom" or method["derivative"] == 2
    for system, about, start, params in _systems():
        structure, built_in = about["structure"], isinstance(system, str)
        if family == "wisdom_holman":
            if about["name"] != "n_body":
                continue
            params = [*params[:-1], 0.0]  # no softening
        if (family == "rigid_body") != (structure == "rigid_body") or (
            structure == "first_order" if family == "composition"
            else own and (structure != "second_order" or about["velocity_dependent"])
        ):  # fmt: skip
            continue
        handle = method["handle"]
        if kinetic and structure == "separable":  # made again, without that requirement
            rows = tuple(map(tuple, method["coefficients"].values()))
            handle = _core.make_method(family, method["stages"], method["evaluations"], rows)
        for by_rows, compensated, bits in _WAYS:
            if not built_in and (not by_rows or family == "implicit_rk"):
                continue
            try:
                history = _core.history_rows(system, handle, compensated)
            except ValueError:  # nothing to compensate
                continue
            dtype, stride = f"f{bits // 8}", 24 if bits == 64 else 32
            states = np.zeros((3, len(start) + history, stride), dtype)
            lane = np.minimum(np.arange(stride), _LANES - 1)
            for row, value in zip(states[0], start):
                row[:] = value + 0.01 * lane * (1 + value)
            run = _core.Run(
                system=system, method=handle, bits=bits, lanes=_LANES, n_steps=_STEPS,
                save_every=_STEPS, bound=np.inf, t0=0.25, dt=0.01, params=tuple(params),
                initial=states[0], state_a=states[1], state_b=states[2],
                use_row_kernels=by_rows, compensated=compensated,
            )  # fmt: skip
            run.work()
            _, where, failures, *_ = run.outcome()
            yield states[where, :, :_LANES].tobytes() + failures.to_bytes(8, "little")


def _systems():
    """Each system, its description, its start and its parameters."""
    for about in _core.systems:
        start, params = ([row[2] for row in about[kind]] for kind in ("state", "params"))
        yield about["name"], about, start, [1.01 * value for value in params]
    for about in _core.sized_systems:
        parts, dim, count = _SIZED[about["name"]]
        params = [0.9 - 0.02 * i / (1 + i) for i in range(count)]
        if about["structure"] == "rigid_body":  # an inertia
            params[14:23] = (0.05 if i % 4 else 1 / (1 + i // 4) for i in range(9))
        start = [0.1 + 0.17 * (7 * d % 11) for d in range(dim)]
        yield _core.make_system(about["name"], parts), about, start, params


def _hash(h, data):
    for byte in data:
        h = (h ^ byte) * _PRIME & 0xFFFFFFFFFFFFFFFF
    return h


def all_bits(rows):
    """One hash for a table: that of its numbers, little-endian."""
    numbers = (int(row.digits, 16).to_bytes(8, "little") for row in rows)
    return f"{_hash(_NONE, b''.join(numbers)):016x}"


def as_text(rows):
    """The table in its published form."""
    n = len(_core.systems) + len(_core.sized_systems)
    lines = [f"{row.method:<32} {row.runs:4d} runs  {row.digits}" for row in rows]
    return "\n".join([*lines, f"{len(rows)} methods, {n} systems: {all_bits(rows)}"])


def published_bits():
    """Name of a method to its published digits.

    Examples
    --------
    >>> len(published_bits()["rk4"])
    16
    """
    lines = PUBLISHED.read_text("ascii").splitlines()[:-1]
    return {words[0]: words[-1] for words in map(str.split, lines)}
