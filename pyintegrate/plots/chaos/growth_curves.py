"""The convergence of Lyapunov exponents with time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..frame import finish, new_axes
from ..log_axis import log_axis
from ..style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION, on_ground, unit_of, with_unit

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.chaos.exponents import LyapunovExponents
    from ...values.types import Axes

_MOST = 30  # trajectories of a batch
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION)
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def lyapunov(
    found: LyapunovExponents,
    *,
    ax: Axes | None = None,
    label: str | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    **keywords: Any,
) -> Axes:
    """Draw Lyapunov exponents against the time over which they were averaged.

    Parameters
    ----------
    found : LyapunovExponents
        From ``pi.lyapunov``. Of a large batch 30 trajectories, evenly chosen, are drawn.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Label of the exponents' axis.
    title : str, optional
        Title above the axes.
    figsize : tuple of float, optional
        Width and height of a new figure in inches.
    **keywords
        For `Axes.plot`.

    Returns
    -------
    Axes
        The time is logarithmic and starts at the end of the transient: for a chaotic motion the
        curve tends to a constant, for a regular one to 0 as log t / t.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> ax = lyapunov(pi.lyapunov(pi.systems.lorenz, dt=0.01, t_end=20.0, k=3))
    >>> ax.get_xlabel(), len(ax.lines)
    ('averaged over [s]', 4)
    """
    ax = new_axes(ax, figsize, (6.6, 3.8))
    count, k = len(found.history), found.history.shape[-1]
    history = found.history.reshape(count, -1, k)
    times = np.abs(np.asarray(found.times) - found._begin)
    if times.ndim > 1:
        times = np.broadcast_to(times, found.history.shape[:-1]).reshape(count, -1)
    else:
        times = np.broadcast_to(times[:, np.newaxis], history.shape[:2])
    lanes = np.unique(np.linspace(0, history.shape[1] - 1, _MOST).astype(int))
    ax.axhline(0.0, color="0.6", linewidth=0.8)
    for j in range(k):
        own = {"color": on_ground(_COLOURS[j % len(_COLOURS)])} | keywords
        if history.shape[1] > 1:
            own = {"linewidth": 0.8, "alpha": 0.6} | own
        lines = ax.plot(times[:, lanes], history[:, lanes, j], **own)
        if k > 1 and lines:
            value = f" = {found.exponents[j]:.4g}" if found.exponents.ndim == 1 else ""
            name = f"λ{str(j + 1).translate(_LOWERED)}{value}"
            lines[0].set_label(name.replace("-", "\N{MINUS SIGN}"))
    log_axis(ax, "x")
    unit = unit_of(found.system, "t")
    words = label or with_unit("Lyapunov exponents" if k > 1 else "Lyapunov exponent", f"1/{unit}")
    shown = len(lanes)
    note = f"{shown} of {history.shape[1]:,} trajectories" if shown < history.shape[1] else ""
    return finish(ax, with_unit("averaged over", unit), words, title=title, note=note)
