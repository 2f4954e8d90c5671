"""Where computations take another branch: the borders, and on which side of them one is."""

import math
from functools import partial

from ..values.types import Callable
from .elementary import real
from .graph import MASKS, below, make

# A border is a zero of an argument, or of the difference of two.
_AT = {"absolute": [0], "sign": [0], "cbrt": [0], "copysign": [1], "arctan2": [0, 1]}
_AT |= {"minimum": [], "maximum": []}

# On which side of its borders an operation is, as a number.
_SIDE: dict[str, Callable] = {
    "where": lambda mask, a, b: mask,
    "absolute": lambda a: a < 0.0,
    "cbrt": lambda a: a < 0.0,  # infinitely steep there
    "copysign": lambda a, b: b < 0.0,
    "arctan2": lambda a, b: (a < 0.0) & (b < 0.0),
    "fmod": lambda a, b: make("floor", a / b),
    **{name: partial(make, name) for name in ("sign", "floor", "rint")},
    **dict.fromkeys(("minimum", "maximum"), partial(make, "less")),
}
# What is polynomial between its borders.
PIECEWISE = MASKS | {*_SIDE} - {"cbrt", "arctan2"}
_STEPS = {"floor": 0.0, "rint": 0.5, "fmod": 0.0}  # from the middle of a stair to its number


def borders(nodes, seen=()):
    """Numbers that are zero where some nodes, but for those seen, take another branch."""
    found, seen, nodes = {}, {*seen}, [*nodes]
    while nodes:
        node = nodes.pop()
        if node.number in seen:
            continue
        seen.add(node.number)
        pair = node.arguments
        nodes += pair
        if node.operation in _AT:
            at = _AT[node.operation]
        elif node.is_mask and len(pair) == 2 and not any(one.is_mask for one in pair):
            at = []
        else:
            continue
        for border in [pair[i] for i in at] or [node.graph.make("subtract", *pair)]:
            found[border.number] = border
    return [node for node in found.values() if not node.is_fixed]


def turns(angle, ends, times=1.0):
    """Whether all that is made of an angle, so many times, is the same after a turn of it."""
    if angle in ends:
        return False
    for use in angle.uses:
        factors = [a.value for a in use.arguments if a.is_constant]
        if use.operation in ("sin", "cos"):
            same = times.is_integer()
        elif use.operation == "multiply" and factors:
            same = turns(use, ends, times * factors[0])
        else:
            same = use.operation in ("add", "subtract", "negative") and turns(use, ends, times)
        if not same:
            return False
    return True


def _sides(nodes):
    """Operations that have borders, and on which side of them each is."""
    for node in below(nodes):
        cut = node.operation in _SIDE and not node.is_fixed
        if cut and not (node.operation == "arctan2" and turns(node, nodes)):
            yield node, real(_SIDE[node.operation](*node.arguments))


def _branch(sides):
    known = (
        make("where", make("equal", side, side), side, -1.0) * math.sqrt(2 + node.number)
        for node, side in sides  # no two changes cancel
    )
    return sum(known, next(known))


def timed_branch(nodes):
    """A number for the branch on which the time alone puts nodes; nothing if there is only one."""
    sides = [
        (node, _quotient(node) if node.operation == "fmod" else side)
        for node, side in _sides(nodes)
        if all(one.operation != "state" for one in below([node]))
    ]
    return [_branch(sides)] if sides else []


def _quotient(node):
    """How often fmod(a, b) has left out b; a / b may round to the next number before that."""
    a, b = node.arguments
    return make("rint", (a - node) / b)


def branches(nodes):
    """A number for the branch that nodes are on, then its borders; nothing if there is only one.

    Of a staircase the border is a wave of parabolas that is zero at each stair.
    """
    sides, stairs = [*_sides(nodes)], []
    for node, side in sides:
        if node.operation in _STEPS:
            a = node.arguments[0]
            past = (a / node.arguments[1] if node.operation == "fmod" else a) - side
            past = past + _STEPS[node.operation]
            odd = side - make("floor", side * 0.5) * 2.0
            stairs.append((1.0 - odd * 2.0) * past * (1.0 - past))
    return [_branch(sides), *borders(nodes), *stairs] if sides else []
