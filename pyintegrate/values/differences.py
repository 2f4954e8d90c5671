"""Derivatives of a force that is no formula: central differences."""

import numpy as np

from ..errors import quiet
from .checks import floats

_SHORTER, _AGREED = 6, 1e-6  # how often h is shortened; the relative change that is enough


def jacobian_by_differences(self, t, y):
    """Derivative of the right-hand side by the state: central differences, (*batch, dim, dim)."""

    def rhs(rows):
        return np.moveaxis(self.rhs(t, np.moveaxis(rows, 0, -1)), -1, 0)

    y = floats("y", y)
    rows = np.moveaxis(np.broadcast_to(y, self.rhs(t, y).shape), -1, 0)
    return np.moveaxis(differences(rhs, rows), (0, 1), (-2, -1))


def differences(rhs, y):
    """Central differences of rhs(y), (dim, dim, ...): of order h^2, h = cbrt(eps) max(1, |y|).

    The scale of a component that is small or zero is unknown: h begins with that of the largest
    component, and is divided by 1000 until that changes nothing. Else the least change decides.
    """
    columns, eps, largest = [], np.finfo(y.dtype).eps, abs(y).max(axis=0)
    small, ulp = np.cbrt(eps), eps * y
    apart = ulp.copy()
    apart[::2] *= -1
    with quiet():  # what rounding of the state does to a force, also where its terms cancel
        noise = np.ptp([rhs(y + e) for e in (ulp, -ulp, apart, -apart)], axis=0)
    noise = np.where(noise < np.inf, noise, 0.0)  # not of a state at the edge of the domain
    for d, row in enumerate(y):
        size = np.where(abs(row) < small * largest, largest, abs(row))
        h = small * np.maximum(1, size)
        found = column = _slope(rhs, y, d, h)[0]
        least, settled = np.full(column.shape, np.inf), np.zeros(column.shape, bool)
        moved = column != 0
        for _ in range(_SHORTER):
            h = h / 1000
            shorter, rounding = _slope(rhs, y, d, h)
            with quiet():
                moved |= shorter != 0
                # Two slopes of which rounding has left nothing agree, too.
                change, doubt = abs(shorter - column), moved * (rounding + noise / h)
                off, agree = change + doubt, change <= _AGREED * abs(column) + doubt
                # Across what is narrower than h a slope is too small, and so are its changes.
                wrong = agree & (abs(column) - abs(found) > least + off)
            better = ~settled & (wrong | (off < least))
            found, least = np.where(better, column, found), np.where(better, off, least)
            settled |= agree
            if settled.all():
                break
            column = shorter
        columns.append(found)
    return np.stack(columns, axis=1)


def _slope(rhs, y, d, h):
    """The central difference of rhs(y) along component d, and the error by rounding."""
    up, down = y.copy(), y.copy()
    up[d] += h
    down[d] -= h
    with quiet():
        after, before = rhs(up), rhs(down)
        rounding = np.finfo(y.dtype).eps * abs(after) / h
        return (after - before) / (up[d] - down[d]), rounding
