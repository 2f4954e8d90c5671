"""Lines along a field at a fixed time, by their length: manifolds of saddles."""

from __future__ import annotations

import numpy as np

STEP = 0.005  # of the size of the box
GROWTH = 1.15
BESIDE = 1e-4  # where a manifold begins, in sizes of the box: its curve is missed by the square


def manifold_lines(found, length):
    """See ``Equilibria.manifolds``."""
    if found.count.ndim:
        raise ValueError(
            f"manifolds are of one set of parameters, and these are {found.count.shape}"
        )
    system, size, points = found.system, found.box.size, found.points
    lines = {}
    for name, sign in (("unstable", 1), ("stable", -1)):
        starts = []
        for y in points[np.char.startswith(found.kinds, "saddle")]:
            values, vectors = np.linalg.eig(system.jacobian(found.t, y))
            along = np.flatnonzero(sign * values.real > 0)
            if len(along) == 1 and values[along[0]].imag == 0:
                e = vectors[:, along[0]].real / size
                e *= BESIDE * size / np.linalg.norm(e)
                starts += [np.stack([y, y + e]), np.stack([y, y - e])]
        shaped = np.array(starts).reshape(-1, 2, system.dim)

        def direction(y, sign=sign):
            with np.errstate(all="ignore"):
                f = sign * system.rhs(found.t, y) / size
                return f / np.linalg.norm(f, axis=-1, keepdims=True)

        lines[name] = _followed(direction, shaped, found.box, points, length)
    return lines


def _followed(direction, starts, box, ends, length):
    """Lines (m, n, dim) of a length from the second of each pair of starts (m, 2, dim)."""
    # Near a saddle the field turns within the distance to it: steps grow with that.
    near = BESIDE * GROWTH ** np.arange(np.log(STEP / BESIDE) / np.log(GROWTH) + 20)
    near = near[(near < length) & (np.diff(near, prepend=0.0) < STEP)]
    rest = np.linspace(near[-1], length, 1 + int(np.ceil((length - near[-1]) / STEP)))
    steps, size = np.diff(np.concatenate([near, rest[1:]])), box.size
    lines = np.full((len(starts), len(steps) + 2, box.system.dim), np.nan)
    lines[:, :2] = starts
    active, y = np.arange(len(starts)), starts[:, 1]
    for i, h in enumerate(steps, 2):
        if not len(active):
            break
        k1 = direction(y)
        k2 = direction(y + h / 2 * k1 * size)
        k3 = direction(y + h / 2 * k2 * size)
        k4 = direction(y + h * k3 * size)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) * size
        far = np.linalg.norm((y[:, np.newaxis] - ends) / size, axis=-1)
        arrived = (far.min(axis=1) < h) & (i > len(near))
        lines[active, i] = np.where(arrived[:, np.newaxis], ends[far.argmin(axis=1)], y)
        going = box.holds(y, 0.02) & ~arrived
        active, y = active[going], y[going]
    return lines
