"""Frequencies of a motion, by numerical analysis of fundamental frequencies (NAFF)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...integration import integrate
from ...values.checks import integer, places_of
from ...values.keywords import explains_keywords
from ...values.table import Table, Tabled, batch_axes
from ..observables import check_solution
from ..results import drawn_by, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...solution.solution import Solution
    from ...system.system import System
    from ...values.types import ArrayLike

NEWTON = 4  # steps: from a parabola's guess three reach rounding
NOISE = 1e-14  # of the first amplitude: nothing is read from what is left below this
POINTS = 1 << 20  # of signals that are analysed together
LEAST = 16  # saves


@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(Tabled):
    """The leading frequencies of signals of a batch of motions.

    Attributes
    ----------
    values : ndarray
        (*batch, m, k): angular frequencies of the m signals, the largest amplitude first; negative
        for a complex signal that turns clockwise. NaN where nothing but rounding is left, and of
        trajectories that failed.
    amplitudes : ndarray of complex
        (*batch, m, k): the term is a exp(i w (t - t0)), of a real signal its real part.
    means : ndarray
        (*batch, m): the constant terms.
    residuals : ndarray
        (*batch, m): what all terms together leave of the signal, a share of its root mean square.
    drifts : ndarray
        (*batch, m): how much the first frequency changes from the first half to the second; of a
        regular motion no more than the method errs.
    signals : tuple of str
    solution : Solution
    """

    values: np.ndarray
    amplitudes: np.ndarray
    means: np.ndarray
    residuals: np.ndarray
    drifts: np.ndarray
    signals: tuple
    solution: Any

    plot = drawn_by("frequencies")

    def table(self) -> Table:
        """A row for each term."""
        *batch, m, k = self.values.shape
        axes = batch_axes(batch) | {"signal": self.signals, "term": np.arange(k)}
        columns = {
            "frequency": self.values, "amplitude": np.abs(self.amplitudes),
            "residual": self.residuals[..., np.newaxis],
        }  # fmt: skip
        title = f"Frequencies of {self.solution.system.name}"
        return Table.of(title, axes, columns, ~np.isnan(self.values))


@explains_keywords(integrate)
def frequencies(
    source: System | Solution,
    k: int = 3,
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    *,
    signals: Sequence[str | tuple[str, str] | Callable[[Solution], Any]] | None = None,
    **options: Any,
) -> Frequencies:
    """The leading frequencies of motions: NAFF, Laskar's frequency analysis.

    The amplitude of the signal, weighted by Hann's window, is maximised over the frequency: a
    parabola through the peak of the Fourier transform, then Newton's method. The term is taken
    away, and the next is sought in the rest. The frequencies of a quasi-periodic motion err by
    T^-4 in the length T, those of the transform alone by 1/T.

    Parameters
    ----------
    source : System or Solution
        A recorded run of any batch, its saves at equal distances; or a system to run.
    k : int, optional
        Terms of each signal.
    x0, v0 : array_like, optional
        Starts for a system, as in ``integrate``.
    signals : sequence, optional
        Names of components; pairs of names, ("x", "vx") for x - i vx, whose frequencies have signs;
        functions of the solution with values (n_saved, *batch). Default: all positions, or all
        components where there are none.
    **options
        For ``integrate``, with a system: dt, t_end, method, ...

    Returns
    -------
    Frequencies
        With ``values`` (*batch, m, k), ``amplitudes``, ``means``, ``residuals``, ``drifts``,
        ``table()`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments; saves that are fewer than 16 or at unequal distances.

    References
    ----------
    Laskar (1993), Physica D 67, 257-281.

    Examples
    --------
    A pendulum of amplitude 1 swings with pi w0 / (2 K(sin(1/2))):

    >>> import pyintegrate as pi
    >>> found = pi.analysis.frequencies(
    ...     pi.systems.pendulum, x0=1.0, v0=0.0, dt=0.02, t_end=100.0, method="yoshida6")
    >>> found.values[0].round(6).tolist()
    [2.937252, 8.811755, 14.686258]
    """
    k = integer("k", k, 1)
    if hasattr(source, "y"):
        given = [*options, *["x0"] * (x0 is not None), *["v0"] * (v0 is not None)]
        if given:
            raise TypeError(f"a Solution has run already, and takes no {', '.join(given)}")
        sol = check_solution(source, "frequencies")
    else:
        sol = integrate(source, x0, v0, **options)
    n, *batch = sol.y.shape[:-1]
    spacing = _spacing(sol, n, batch)
    names, several = _signals(sol, signals)
    lanes, m = int(np.prod(batch)), len(several)
    parts = [_analysed(s.reshape(n, lanes), k) for s in several]
    values, amplitudes, means, residuals, drifts = (
        np.stack(part, axis=1).reshape(*batch, m, *part[0].shape[1:])
        for part in zip(*parts, strict=True)
    )
    rate = 1 / spacing[..., np.newaxis]
    return Frequencies(
        values * rate[..., np.newaxis], amplitudes, means, residuals, drifts * rate, names, sol
    )


def _spacing(sol, n, batch):
    """The time between saves, (*batch); refuses unequal ones."""
    t = sol.t
    if n < LEAST:
        raise ValueError(f"the solution has {n} saves, and frequencies need at least {LEAST}")
    steps = np.diff(t, axis=0)
    if not np.allclose(steps, steps[:1], rtol=1e-6, atol=0):
        raise ValueError(
            "the saves are at unequal distances: save=k with n_steps a multiple of k, or"
            " times=np.linspace(...)"
        )
    return np.broadcast_to((t[-1] - t[0]) / (n - 1), batch)


def _signals(sol, signals):
    """Names and values (n, *batch) of the signals; NaN where a trajectory failed."""
    system = sol.system
    if signals is None:
        signals = system.state_names[: system.dof or system.dim]
    asked = [signals] if isinstance(signals, str) or callable(signals) else list(signals)
    if not asked:
        raise ValueError("signals is empty: name components, or leave it away")
    names, several = [], []
    for one in asked:
        if callable(one):
            value = np.asarray(one(sol))
            if value.shape != sol.y.shape[:-1]:
                raise ValueError(
                    f"signals has a function with values of shape {value.shape}: expected"
                    f" (n_saved, *batch), which is {sol.y.shape[:-1]}"
                )
            names.append(getattr(one, "__name__", "signal"))
        else:
            pair = (one,) if isinstance(one, str) else tuple(one)
            if not 0 < len(pair) < 3:
                raise ValueError(f"signals has {one!r}: expected a name or a pair of names")
            parts = [sol.y[..., i] for i in places_of(pair, system)]
            value = parts[0] if len(pair) == 1 else parts[0] - 1j * parts[1]
            names.append(" - i ".join(pair))
        several.append(np.where(sol.valid.all(axis=0), value, np.nan))
    return tuple(names), several


def _analysed(signal, k):
    """Terms of signals (n, lanes), in steps: as in `Frequencies`, without the axis of signals."""
    n, lanes = signal.shape
    kind = np.complex128 if np.iscomplexobj(signal) else np.float64
    values, drifts = np.full((lanes, k), np.nan), np.full(lanes, np.nan)
    amplitudes = np.full((lanes, k), complex(np.nan, np.nan))
    means, residuals = np.full(lanes, np.nan, kind), np.full(lanes, np.nan)
    good = np.flatnonzero(np.isfinite(signal).all(axis=0))
    rows = max(1, POINTS // n)
    for first in range(0, len(good), rows):
        which = good[first : first + rows]
        z = np.ascontiguousarray(signal[:, which].T, kind)
        w, amplitude, means[which], residuals[which] = terms(z, k)
        values[which] = w
        amplitudes[which] = amplitude * np.exp(-0.5j * (n - 1) * w)  # from the centre to t0
        early, late = (terms(part, 1)[0][:, 0] for part in (z[:, : n // 2], z[:, -(n // 2) :]))
        drifts[which] = np.abs(late - early)
    return values, amplitudes, means, residuals, drifts


def terms(z, k):
    """k terms of signals (lanes, n): a exp(i w j), j counted from the centre.

    Returns
    -------
    w, a : ndarray
        (lanes, k): in radians a sample; complex.
    mean, residual : ndarray
        (lanes,).
    """
    lanes, n = z.shape
    real = not np.iscomplexobj(z)
    window = _window(n)
    mean = np.sum(z * window, axis=1)  # not a product of matrices, whose bits depend on lanes
    z = z - mean[:, np.newaxis]
    w, rest = np.full((lanes, k), np.nan), z
    basis, least = np.zeros((lanes, 0, n), z.dtype), np.zeros(lanes)
    for j in range(k):
        found, power = _peak(rest * window)
        least = NOISE**2 * power if not j else least
        there = power > least
        w[there, j] = found[there]
        e = np.where(there[:, np.newaxis], _turning(found, n), 0)[:, np.newaxis]
        basis = np.concatenate([basis, e.real, e.imag] if real else [basis, e], axis=1)
        dual = basis.conj() * window
        gram = np.linalg.pinv(dual @ basis.swapaxes(1, 2), hermitian=True)
        a = gram @ (dual @ z[..., np.newaxis])
        rest = z - (basis.swapaxes(1, 2) @ a)[..., 0]
    size = [np.sqrt(np.mean(np.abs(part) ** 2, axis=1)) for part in (rest, z)]
    a = a[..., 0].reshape(lanes, k, -1)
    a = a[..., 0] - 1j * a[..., 1] if real else a[..., 0]
    with quiet():
        return w, np.where(np.isnan(w), np.nan, a), mean, size[0] / size[1]


def _window(n):
    """Hann's, of sum 1."""
    return (1 + np.cos(np.pi * np.linspace(-1, 1, n))) / (n - 1)


def _peak(z):
    """The frequency at which weighted signals (lanes, n) have most power, and that power."""
    lanes, n = z.shape
    real = not np.iscomplexobj(z)
    power = np.abs(np.fft.rfft(z) if real else np.fft.fft(z)) ** 2
    count, lane = power.shape[1], np.arange(lanes)
    top = power.argmax(axis=1)
    if real:  # a peak at zero is what the mean has left
        top = 1 + power[:, 1:].argmax(axis=1)
    beside = top[:, np.newaxis] + np.arange(-1, 2)
    beside = np.abs(beside) % count if not real else np.minimum(beside, count - 1)
    with quiet():
        a, b, c = np.log(power[lane[:, np.newaxis], beside].T)
        off = np.nan_to_num((a - c) / (2 * (a - 2 * b + c)))
    bin_ = 2 * np.pi / n
    guess = bin_ * (top + np.clip(off, -1, 1))
    w = guess = np.where(guess > np.pi, guess - 2 * np.pi, guess) if not real else guess
    # Sums over j = L a + b as two products, with L^2 about n: few exponentials.
    length = int(np.ceil(np.sqrt(n)))
    padded = np.zeros((lanes, length * length), z.dtype)
    padded[:, :n] = z
    blocks = padded.reshape(lanes, length, length)
    b = np.arange(length) - length / 2
    a = length * np.arange(length) + length / 2 - (n - 1) / 2
    for step in range(NEWTON + 1):
        inner = np.exp(-1j * w[:, np.newaxis] * b)
        outer = np.exp(-1j * w[:, np.newaxis] * a)[:, np.newaxis]
        sums = blocks @ np.stack([inner, b * inner, b * b * inner], axis=-1)
        s0, s1, s2 = np.moveaxis(sums, -1, 0)
        A, B, C = ((outer @ s[..., np.newaxis])[:, 0, 0]
                   for s in (s0, a * s0 + s1, a * a * s0 + 2 * a * s1 + s2))  # fmt: skip
        power = np.abs(A) ** 2
        if step == NEWTON:
            return w, power
        # P = |A|^2, A' = -i B, A'' = -C.
        slope, bend = (A.conj() * -1j * B).real, np.abs(B) ** 2 - (A.conj() * C).real
        with quiet():
            move = np.where(bend < 0, -slope / bend, 0.0)
        w = np.clip(w + move, guess - bin_, guess + bin_)


def _turning(w, n):
    """exp(i w j), j counted from the centre, (lanes, n)."""
    length = int(np.ceil(np.sqrt(n)))
    near = np.exp(1j * w[:, np.newaxis] * np.arange(length))
    far = np.exp(1j * w[:, np.newaxis] * (length * np.arange(length) - (n - 1) / 2))
    return (far[..., np.newaxis] * near[:, np.newaxis]).reshape(len(w), -1)[:, :n]
