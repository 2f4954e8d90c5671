"""Arguments of the core bent at random: other values, other arrays, other contents."""

import random

import families
import numpy as np
from recorded import copied

from pyintegrate import _core
from pyintegrate.values.memory import aligned

SYSTEMS = {item["name"]: item for item in _core.systems}
HANDLES = [_core.method(name)["handle"] for name in _core.method_names]
FAMILIES = [*families.FAMILIES, "", "x" * 999]
_POWERS = [2**k + d for k in (0, 1, 3, 4, 6, 8, 31, 32, 47, 48, 53, 62, 63, 64) for d in (-1, 0, 1)]
INTEGERS = [*_POWERS, *(-n for n in _POWERS), 1000, 10**40]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, np.inf, -np.inf, np.nan]


class Chance(random.Random):
    """Single draws, several times as fast as those of NumPy's generators."""

    def integers(self, low, high=None):
        low, high = (0, low) if high is None else (low, high)
        return low + int(self.random() * (high - low))


def pick(rng, items):
    return items[int(rng.random() * len(items))]


def numbers(rng, n):
    """A tuple of so many, some of which are special."""
    return tuple(pick(rng, REALS) if rng.random() < 0.3 else rng.gauss(0, 1) for _ in range(n))


def number(rng):
    return numbers(rng, 1)[0]


def frozen(array):
    array.flags.writeable = False
    return array


# Things with and without a buffer, of size n.
BUFFERS = [
    lambda n: None, lambda n: 0, lambda n: "text", lambda n: object(), lambda n: b"",
    lambda n: bytes(n), lambda n: bytearray(n), lambda n: memoryview(bytearray(n)),
    lambda n: np.zeros(n), lambda n: np.zeros(n, np.float32), lambda n: np.zeros(n, np.int8),
    lambda n: np.zeros(n, np.complex128), lambda n: np.zeros((n, 2))[:, 0],
    lambda n: np.zeros((n, n // 4))[::-1], lambda n: np.zeros(n + 1, np.int8)[1:],
    lambda n: np.frombuffer(bytearray(8 * n + 3), np.int8)[3:].view(np.float64),
    lambda n: np.zeros((n, 0)), lambda n: np.array(1.0), lambda n: np.zeros(n, object),
    lambda n: np.zeros(n, "S3"), lambda n: np.zeros(n, "f8,i2"),
    lambda n: frozen(aligned((n,), np.float64)), lambda n: aligned((n,), np.float64),
    lambda n: (), lambda n: (None,) * 3, lambda n: [1.0], lambda n: {},
]  # fmt: skip


def buffer(rng):
    return pick(rng, BUFFERS)(int(300 * rng.random() ** 3))


def with_another_item(rng, array):
    """One item of an array is something else; now and then all are."""
    array = copied(array)
    flat = array.reshape(-1)
    here = slice(None) if rng.random() < 0.1 else rng.integers(flat.size)
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            flat[here] = pick(rng, REALS)
        else:  # two's complement
            size = array.dtype.itemsize
            flat.view(f"u{size}")[here] = pick(rng, INTEGERS) % (1 << 8 * size)
    return array


def bent(rng, value):
    """Another value in the place of a right one."""
    kind = rng.random()
    if isinstance(value, int) and kind < 0.6:
        return value + rng.integers(-3, 4) if kind < 0.3 else pick(rng, INTEGERS)
    if isinstance(value, float) and kind < 0.7:
        return pick(rng, REALS)
    if isinstance(value, np.ndarray) and kind < 0.7:
        if kind < 0.3 and value.size and value.dtype.kind in "fi":
            return with_another_item(rng, value)
        flat = value.reshape(-1)
        return flat[: rng.integers(flat.size + 1)] if kind < 0.5 else buffer(rng)
    if isinstance(value, tuple) and value and kind < 0.7:
        items = list(value)
        place = rng.integers(len(items))
        if kind < 0.2:
            del items[place]
        elif kind < 0.3:
            items.insert(place, items[place])
        else:
            items[place] = bent(rng, items[place])
        return tuple(items)
    if isinstance(value, str) and kind < 0.7:
        return pick(rng, [*SYSTEMS, *FAMILIES, "\0", "spring\0", "é", "\ud800"])
    return buffer(rng) if rng.random() < 0.3 else pick(rng, [*INTEGERS, *REALS, HANDLES[0]])


def bent_fields(rng, fields):
    """Named ones: some bent, and now and then one left out or under another name."""
    names = list(fields)
    fields = dict(zip(names, some_bent(rng, fields.values()), strict=True))
    if rng.random() < 0.05:
        value = fields.pop(pick(rng, names))
        if rng.random() < 0.5:
            fields[pick(rng, [*names, "", "state", "methods", "nothing"])] = value
    return fields


def arrays_of(value):
    if isinstance(value, np.ndarray):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    nested = isinstance(value, dict | tuple)
    return [array for item in items for array in arrays_of(item)] if nested else []


def bent_inside(rng, value, arrays):
    """One thing in a structure changed, as often one deep inside as one at its surface; or one of
    its arrays twice in it."""
    if not isinstance(value, dict | tuple) or not value or rng.random() < 0.1:
        alias = isinstance(value, np.ndarray) and rng.random() < 0.1
        return pick(rng, arrays) if alias else bent(rng, value)
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    deep = [place for place in places if isinstance(value[place], dict | tuple) and value[place]]
    place = pick(rng, deep if deep and rng.random() < 0.5 else places)
    if isinstance(value, dict):
        if rng.random() < 0.02:
            return bent_fields(rng, value)
        return {**value, place: bent_inside(rng, value[place], arrays)}
    return (*value[:place], bent_inside(rng, value[place], arrays), *value[place + 1 :])


def some_bent(rng, arguments):
    arguments = list(arguments)
    for _ in range(rng.integers(4) if arguments else 0):
        place = rng.integers(len(arguments))
        arguments[place] = bent(rng, arguments[place])
    return arguments
