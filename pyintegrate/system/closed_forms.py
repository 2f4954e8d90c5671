"""The exact motion of a system: solution, phase and period, if they have closed forms.

The formulas are in ``exact/``, one module per system.
"""

from __future__ import annotations

import importlib
from functools import cache
from math import prod

import numpy as np

from ..errors import quiet
from ..values.checks import broadcast_shape, floats, numbers
from ..values.types import ArrayLike, HasParameters, MaybeFloats

_CACHED = 16 << 10  # values at a time


class ClosedForms(HasParameters):
    """The methods for closed forms; the other methods are in System."""

    def exact(self, t: ArrayLike, y0: ArrayLike, t0: ArrayLike = 0.0) -> MaybeFloats:
        """Exact solution through y0 at t0, or None if it has no closed form.

        Parameters
        ----------
        t : array_like, shape (n,) or (n, *batch)
        y0 : array_like, shape (*batch, dim)
        t0 : array_like
            Scalar, or one for each trajectory.

        Returns
        -------
        ndarray, shape (n, *batch, dim)

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> bool(np.allclose(pi.systems.oscillator.exact([np.pi], [1.0, 0.0]), [[-1.0, 0.0]]))
        True
        """
        solve = self.closed_form("exact")
        if solve is None:
            return None
        t, y0, t0 = self._motion(t, y0, t0)
        shapes = {"t": t.shape[1:], "y0": y0[0].shape, "t0": t0.shape}
        batch = broadcast_shape({**shapes, **self.batch_shapes})
        y = np.empty((len(t), *batch, self.dim))
        rows = max(1, _CACHED // max(1, prod(batch)))
        for i in range(0, len(t), rows):  # some of the times: temporaries stay in the cache
            for d, component in enumerate(solve(t[i : i + rows], y0, t0, **self.params)):
                y[i : i + rows, ..., d] = component
        return y

    def exact_phase(self, t: ArrayLike, y0: ArrayLike, t0: ArrayLike = 0.0) -> MaybeFloats:
        """Phase [rad] of the exact solution, on any branch, (n, *batch); arguments as in `exact`.

        None if there is no phase or no closed form.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> swing = pi.systems.oscillator(omega=2.0)
        >>> (swing.exact_phase([0.0, np.pi], [1.0, 0.0]) / np.pi).round(12)
        array([0., 2.])
        """
        solve = self.closed_form("exact_phase")
        if solve is None and not self.phase_is_uniform:
            y = self.exact(t, y0, t0)
            if y is None:
                return None
            t = np.atleast_1d(t)
            return self.phase(y, t.reshape(t.shape + (1,) * (y.ndim - 1 - t.ndim)))
        times, start, t0 = self._motion(t, y0, t0)
        if self.phase_is_uniform:
            with quiet():
                return np.asarray(self.phase(y0, t0)) + self._frequency(y0) * (times - t0)
        return solve(times, start, t0, **self.params)

    @property
    def phase_is_uniform(self) -> bool:
        """Whether the phase of every exact motion grows linearly, by 2 pi per period."""
        uniform = self.closed_form("phase_is_uniform")
        return uniform is not None and uniform(**self.params)

    def phase(self, y: ArrayLike, t: ArrayLike = 0.0) -> MaybeFloats:
        """An angle [rad] that grows along the motion, shape (*batch); None if none is known.

        NaN for a motion that has none: at rest, or one that does not turn.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> float(pi.systems.oscillator.phase([0.0, -1.0]) / np.pi)
        0.5
        """
        angle = self.closed_form("phase")
        if angle is None:
            return None
        t, y = numbers("t", t), self.components(y)
        broadcast_shape({"t": t.shape, "y": y[0].shape, **self.batch_shapes})
        return angle(y, t.astype(np.float64), **self.params)

    def period(self, y0: ArrayLike | None = None) -> MaybeFloats:
        """Period [s] of the motion through y0, shape (*batch); None if it is not known.

        Examples
        --------
        >>> import numpy as np, pyintegrate as pi
        >>> float(pi.systems.oscillator(omega=np.pi).period())
        2.0
        """
        span = self.closed_form("period")
        if span is None:
            return None
        y0 = self.components(self.initial if y0 is None else y0, "y0")
        broadcast_shape({"y0": y0[0].shape, **self.batch_shapes})
        return span(y0, **self.params)

    def _frequency(self, y0):
        """2 pi per period; NaN where there is none."""
        period = np.asarray(self.period(y0))
        with quiet():
            return np.where(np.isfinite(period), 2 * np.pi / period, np.nan)

    def _motion(self, t, y0, t0):
        """Times that broadcast against the batch, the components of a start, and its time."""
        t, t0 = (floats(name, a) for name, a in (("t", t), ("t0", t0)))
        t, y0 = np.atleast_1d(t), self.components(y0, "y0")
        batch = broadcast_shape({"y0": y0[0].shape, "t0": t0.shape, **self.batch_shapes})
        return t.reshape(-1, *(1,) * len(batch)) if t.ndim == 1 else t, y0, t0

    def closed_form(self, what):
        """A function of the system's module in ``exact/`` by its name, or None."""
        return getattr(_exact_module(self.name), what, None)


@cache
def _exact_module(name):
    """The module of closed forms of a system, or None."""
    try:
        return importlib.import_module(f".exact.{name}", __package__)
    except ModuleNotFoundError:
        return None
