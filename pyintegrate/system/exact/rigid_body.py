"""The free symmetric top, or a sphere, that falls freely.

With the angular momentum L (constant in world axes), the axis n of symmetry, its moment I3 and the
other two I1, the body precesses about L at the rate |L| / I1 and turns about its own axis at the
rate (1 / I3 - 1 / I1) L . n. Landau, Lifshitz (1976), Mechanics, section 33.

Step factors belong to the step and not to the motion: with them there is none to know.
"""

import numpy as np

from ._closed_form import closed_form


@closed_form
def exact(t, y0, t0, *, gravity, force, inverse_mass, inverse_inertia, **others):
    """Components at the times t through y0 at t0; nan if the body is not free and symmetric."""
    x, q, v, w = (np.stack(y0[a:b], axis=-1) for a, b in ((0, 3), (3, 7), (7, 10), (10, 13)))
    s, inverse_mass = t - t0, inverse_mass[..., np.newaxis]
    h, a = s[..., np.newaxis], np.where(inverse_mass == 0, 0.0, gravity + inverse_mass * force)
    q, w = _turning(s, q, w, inverse_inertia)
    free = np.ones(())
    for name in ("torque", "torque_body", "stiffness"):
        free = np.where(others[name].any(axis=-1), np.nan, free)
    for name in ("drag", "linear_damping", "angular_damping", "linear_factor", "angular_factor"):
        free = np.where(others[name] == name.endswith("factor"), free, np.nan)
    parts = x + h * (v + h * a / 2), q, v + h * a, w
    return tuple(free * row for part in parts for row in np.moveaxis(part, -1, 0))


def _turning(s, q0, w0, B):
    q0 = q0 / np.linalg.norm(q0, axis=-1, keepdims=True)
    fixed = ~np.any(B, axis=(-2, -1))
    B = np.where(fixed[..., np.newaxis, np.newaxis], np.eye(3), B)
    finite = np.asarray(np.isfinite(B).all(axis=(-2, -1), keepdims=True))
    rates, axes = np.linalg.eigh(np.where(finite, B, np.eye(3)))
    low, middle, high = rates[..., 0], rates[..., 1], rates[..., 2]
    # The two equal moments are the lower or the upper ones; the third belongs to the axis.
    upper = high - middle < middle - low
    one, three = np.where(upper, high, low), np.where(upper, low, high)
    symmetric = abs(middle - one) <= 1e-12 * high
    n = np.where(upper[..., np.newaxis], axes[..., :, 0], axes[..., :, 2])
    R0 = rotation(q0)
    inside = np.einsum("...ki,...k->...i", R0, w0)
    along = np.sum(inside * n, axis=-1) / three  # L . n
    L = inside / one[..., np.newaxis] + (along * (1 - three / one))[..., np.newaxis] * n
    L = np.einsum("...ik,...k->...i", R0, L)
    precession = _exponential((s * one)[..., np.newaxis] * L)
    own = _exponential((s * (three - one) * along)[..., np.newaxis] * n)
    q = _product(_product(precession, q0), own)
    inside = np.einsum("...ki,...k->...i", rotation(q), L)
    w = np.einsum("...ik,...k->...i", rotation(q), np.einsum("...ik,...k->...i", B, inside))
    good = (symmetric & finite[..., 0, 0])[..., np.newaxis]
    return np.where(good, q, np.nan), np.where(good, w, np.nan)


def _product(a, b):
    a, b = np.broadcast_arrays(a, b)
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], axis=-1)


def _exponential(a):
    half = np.linalg.norm(a, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), a / 2 * np.sinc(half / np.pi)], axis=-1)


def rotation(q):
    """The matrix of a quaternion w, v of length 1: e + 2 w v x e + 2 v x (v x e) of each axis e."""
    cross = np.cross(q[..., np.newaxis, 1:], np.eye(3))  # a row for each axis
    rows = np.eye(3) + 2 * (q[..., :1, np.newaxis] * cross + cross @ cross)
    return rows.swapaxes(-1, -2)
