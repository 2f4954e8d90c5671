"""Fits: data, the fitted motion, and how well it is known."""

from __future__ import annotations

import numpy as np

from ..analysis.results import name_of
from ..values.checks import integer
from ..values.types import Any, Fit
from .pictures import picture
from .style import axis_label

POINTS = 300
NORMAL = 1.959963984540054  # standard errors on either side hold 95 %


@picture("legend")
def fitted(page, found: Fit, *, which: int = 0, **keywords: Any):
    """Draw the data of a fit, the motion that was found, and a band that holds it in 95 of 100.

    Parameters
    ----------
    found : Fit
        Of ``pi.fit``.
    which : int, optional
        Which fit of the batch, by flat index.
    **keywords
        For `Axes.plot` of the motion.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> t = np.linspace(0, 3, 20)
    >>> found = pi.fit(pi.systems.oscillator, t, np.cos(1.1 * t), observe="x", free=["omega"])
    >>> len(fitted(found).lines)  # the motion, and the data
    2
    """
    which = integer("which", which, 0, found.status.size - 1)
    t = np.linspace(found.t0, found.t_end, POINTS)
    one = (-1, found.status.size, len(found.observed))
    curves = found.predict(t, errors=True)
    seen, error, data = (a.reshape(one)[:, which] for a in (*curves, found.data))
    column, moments = (a.reshape(one[:2])[:, which] for a in (t, found.t))
    ax, system = page(), found.system
    for i, what in enumerate(found.observed):
        name = axis_label(system, what) if isinstance(what, str) else name_of(what)
        look = {"color": f"C{i}", "label": name} | keywords
        (line,) = ax.plot(column, seen[:, i], **look)
        band = NORMAL * error[:, i]
        ax.fill_between(column, seen[:, i] - band, seen[:, i] + band, color=line.get_color(),
                        alpha=0.25, linewidth=0)  # fmt: skip
        ax.plot(moments, data[:, i], ".", color=line.get_color(), markersize=4)
    names = {what for what in found.observed if isinstance(what, str)}
    value = axis_label(system, *names) if len(names) == len(found.observed) == 1 else ""
    note = f"which={which} of {one[1]:,} fits" if one[1] > 1 else ""
    return ax, axis_label(system, "t"), value, note
