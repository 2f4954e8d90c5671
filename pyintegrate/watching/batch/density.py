"""``pi.watch.density``: one histogram image of all trajectories and steps."""

from __future__ import annotations

from math import prod

import numpy as np

from ...trace.expression import node_of
from ...values.checks import floats, integer
from ...values.types import ArrayLike, Quantity
from ..accumulators import number
from ..reduction import Reduction

MOST_BINS = 1 << 28  # in one image


def density(
    quantities: Quantity | tuple[Quantity, ...],
    bins: int | tuple[int, int],
    range: ArrayLike,
    *,
    every: int = 1,
    after: ArrayLike | None = None,
    samples: int | None = None,
) -> Reduction:
    """How often all trajectories, at all steps, lie in each bin: one int64 image for the batch.

    The counts are integers, so the result does not depend on order, batch or number of threads. The
    image of two quantities has the axes of ``numpy.histogram2d``: [bin of the first, bin of the
    second], which ``ax.pcolormesh(x_edges, y_edges, image.T)`` draws. Memory: three images.

    Parameters
    ----------
    quantities : str, callable, or tuple of one or two
        As in ``pi.watch.last``, except "phase_drift".
    bins : int, or tuple of two
        Their number, of equal width.
    range : array_like
        The first and the last edge, or one such pair for each quantity; the last bin includes both
        its edges, and values outside are not counted.
    every : int
    after : array_like, optional
    samples : int, optional
        For ``pi.solve``: at how many equal times each trajectory counts; 1000 by default.

    Returns
    -------
    Reduction
        Results `""`, shape (bins,) or (bins, bins); `.edges`, or `.x_edges` and `.y_edges`.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> sol = pi.integrate(pi.systems.duffing, np.linspace(-1, 1, 50), 0.0, dt=0.01, n_steps=1000,
    ...                    save="final", watch={"seen": pi.watch.density(
    ...                        ("x", "v"), (64, 32), ((-2, 2), (-2, 2)))})
    >>> sol.watched["seen"].shape, int(sol.watched["seen"].sum())
    ((64, 32), 50050)
    """
    asked = tuple(quantities) if isinstance(quantities, tuple | list) else (quantities,)
    if not 1 <= len(asked) <= 2:
        raise ValueError(f"density takes one quantity or two, got {len(asked)}")
    edges = checked_edges(len(asked), bins, range)

    def trace(rows):
        values = [number(rows.view.graph, rows.view.quantity(what)) for what in asked]
        if rows.uneven:
            image = rows.sampled(values, edges, samples, each=False)
        else:
            if rows.active is not None:  # a NaN lies in no bin
                values = [np.where(rows.active, q, np.nan) for q in values]
            image = rows.shared.density([node_of(rows.view.graph, q) for q in values], edges)
        names = (".edges",) if len(edges) == 1 else (".x_edges", ".y_edges")
        return {"": image} | dict(zip(names, edges))

    return Reduction("density", asked, every, after, trace, samples)


def checked_edges(axes, bins, range):
    """The edges of the bins of one quantity or two, from the arguments."""
    counts = bins if isinstance(bins, tuple | list) else (bins,) * axes
    if len(counts) != axes:
        raise ValueError(f"bins must be a number for each quantity, got {bins!r}")
    counts = [integer("bins", n, 1) for n in counts]
    if prod(counts) > MOST_BINS:
        raise ValueError(f"bins = {bins!r} make {prod(counts)} bins, at most {MOST_BINS}")
    ends = floats("range", range)
    if ends.shape == (2,) and axes == 1:
        ends = ends.reshape(1, 2)
    good = ends.shape == (axes, 2) and np.all(np.isfinite(ends))
    if not good or not np.all(ends[:, 0] < ends[:, 1]):
        raise ValueError(
            "range must be two finite numbers, the smaller first"
            f"{', for each quantity' * (axes > 1)}, got {range!r}"
        )
    edges = [np.linspace(low, high, n + 1) for (low, high), n in zip(ends.tolist(), counts)]
    if any(np.any(np.diff(one) <= 0) for one in edges):
        raise ValueError(f"range {range!r} is too small for {bins!r} bins: edges coincide")
    return edges
