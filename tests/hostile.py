"""Values that nobody should give to a function, and that some will."""

import array
from fractions import Fraction

import numpy as np

import pyintegrate as pi


class Hostile(Exception):
    """What the arguments below raise themselves."""


class Raising:
    def __array__(self, *_, **__):
        raise Hostile

    def __index__(self):
        raise Hostile

    def __float__(self):
        raise Hostile

    def __iter__(self):
        raise Hostile


class Shifty:
    """Another array each time it is asked, and a wrong length."""

    def __init__(self):
        self.n = 0

    def __array__(self, *_, **__):
        self.n += 1
        return np.ones(self.n)

    def __len__(self):
        return 10**9


class Endless:
    """What is asked for item after item: nobody needs as many."""

    def __iter__(self):
        yield from ["x"] * 1000
        raise AssertionError("an endless iterator was read on and on")


def frozen(value):
    value.flags.writeable = False
    return value


HOSTILE = [
    lambda: 10**400, lambda: np.ones((1,) * 64),
    lambda: None, lambda: True, lambda: "rk4", lambda: b"x", lambda: 1j, lambda: {}, lambda: {1.0},
    lambda: [], lambda: (), lambda: [[1.0], [2.0, 3.0]], lambda: [None], lambda: object(), Raising,
    Endless, Shifty, lambda: float("nan"), lambda: float("inf"), lambda: -float("inf"),
    lambda: 1e308, lambda: 5e-324, lambda: -0.0, lambda: -1, lambda: -(10**30), lambda: 10**30,
    lambda: np.zeros(0), lambda: np.zeros((0, 2)), lambda: np.zeros((3, 0, 4)), lambda: np.ones(7),
    lambda: np.ones((1,) * 30 + (2,)),  lambda: np.array(1.0),
    lambda: np.array([None, 1.0]), lambda: np.array(["1", "2"]), lambda: np.zeros(2, "f8,f8"),
    lambda: np.zeros(2, "M8[s]"), lambda: np.zeros(2, bool), lambda: np.full(4, np.nan),
    lambda: np.ones(2, np.float16), lambda: np.ones(4, ">f8"), lambda: np.ones(2, np.longdouble),
    lambda: np.ones(3, np.complex64), lambda: np.ones((5, 2))[::-2], lambda: frozen(np.ones(2)),
    lambda: np.broadcast_to(1.0, (1 << 40, 2)), lambda: np.broadcast_to(1.0, (1 << 59,)),
    lambda: np.lib.stride_tricks.as_strided(np.ones(9), (4, 4), (8, 8)),
    lambda: np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64),
    lambda: memoryview(b"12345678"),
    lambda: array.array("d", [1.0, 2.0]), lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.matrix([[1.0, 2.0]]), lambda: range(4), lambda: iter([1.0]), lambda: np.float32(2),
    lambda: np.int64(3), lambda: Fraction(1, 3), lambda: pi.systems.spring, lambda: print,
    lambda: pi.methods["rk4"], lambda: np.ones((3, 4)).T, lambda: np.full((2, 2), 1e300),
]  # fmt: skip


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def hostile(rng, items=HOSTILE):
    return pick(rng, items)()
