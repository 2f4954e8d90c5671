"""Shared by user-defined methods: their numbers are checked, their order is computed."""

from fractions import Fraction
from itertools import islice

import numpy as np

from .. import _core
from ..values.checks import floats, integer, string
from .method import Method

ROUNDED = 1e-12  # error of sums of rounded decimals
_CUT = 1e-6  # residual of order conditions that rounding to few digits explains


class ProvenOrder(int):
    """An order that was accepted when its method was first made: unpickling need not prove it."""


def table(name, value, *shape, beside=""):
    """Doubles, and the same numbers as given, in nested lists.

    A length "n" may be any; others are those of the argument beside it.
    """
    given = np.array(value, dtype=object)
    if any(isinstance(x, Fraction) for x in given.ravel()):
        try:
            array = given.astype(np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers that a double can hold: {error}") from None
    else:
        array = given = floats(name, value)
    alike = array.ndim == len(shape) and all(n in (m, "n") for n, m in zip(shape, array.shape))
    if not alike or not array.size:
        wanted = str(shape).replace("'", "") + f", beside {beside}" * bool(beside)
        raise ValueError(f"{name} has shape {array.shape}, expected {wanted}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite")
    return array, given.tolist()


def check_sum(name, numbers, wanted=1):
    """Refuse numbers of a method that should have another sum, by more than their rounding."""
    total = float(sum(numbers))
    if abs(total - wanted) > ROUNDED * (1 + sum(map(abs, numbers))):
        raise ValueError(
            f"the sum of {name} is {total:.17g}, expected {float(wanted):.17g}: the method is"
            " inconsistent"
        )


def of_order(order, maker, arguments, more=(), *, written, **fields):
    """A Method of a given or computed order, which maker(*arguments, order, *more) makes again.

    Its numbers as they were given are `written`: rows or tables, as the core takes them, and
    maybe the weights "b_embedded".
    ValueError if a given order is higher than the order conditions allow.
    """
    from ..theory.order_conditions import HIGHEST, embedded_orders
    from ..theory.order_conditions import order as computed

    if not string("name", fields["name"], None):
        raise ValueError(f"name must be a text that is not empty, got {fields['name']!r}")
    given = order is not None and integer("order", order, 1, HIGHEST)
    proven = isinstance(order, ProvenOrder)
    doubles = {name: np.array(value, float).tolist() for name, value in written.items()}
    weights = doubles.pop("b_embedded", None)
    embedded = weights and {"order": 1, "b": weights}
    rows = tuple(tuple(row) for value in doubles.values() for row in np.atleast_2d(value).tolist())
    family, derivative = fields["family"], fields.get("derivative", 1)
    core = family, fields["stages"], fields["evaluations"], rows, derivative
    handle = _core.make_method(*core)
    method = Method(
        order=given or 1, made_by=(), written=written, coefficients=doubles, embedded=embedded,
        handle=handle, starter=_core.method(handle)["starter"], **fields,
    )  # fmt: skip
    if not given:
        # Consistent, as was checked; and immutable once it is returned.
        method.__dict__["order"] = max(computed(method), 1)
    elif not proven:
        _check_order(method, given)
    if embedded:
        [embedded["order"]] = embedded_orders(method)
        if not proven and embedded["order"] == method.order == computed(method):
            raise ValueError(
                f"b_embedded has order {method.order}, as b: their difference is no estimate of"
                " the error, but some part of it"
            )
        orders = method.order, embedded["order"]
        method.__dict__["handle"] = _core.make_method(*core, *orders, tuple(weights))
    method.__dict__["made_by"] = (maker, (*arguments, ProvenOrder(method.order), *more))
    return method


def _check_order(method, order):
    """Refuse an order whose conditions fail by more than rounding to six digits explains."""
    from ..theory.order_conditions import conditions

    for c in islice(conditions(method), order):
        if c.largest > _CUT:
            raise ValueError(
                f"order={order} was given, and the order conditions of {method.name!r} hold to"
                f" order {max(c.order - 1, 1)} (those of order {c.order} are off by"
                f" {float(c.largest):.2g}): give that order, or leave it out"
            )
