"""Frequencies of a motion, by numerical analysis of fundamental frequencies (NAFF)."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

import numpy as np

from ...errors import warn_record
from ...integration import integrate
from ...values.checks import integer, places_of
from ...values.keywords import explains_keywords
from ...values.table import Table, Tabled, batch_axes
from ...values.types import Any, ArrayLike, Callable, Complexes, Floats, Sequence, Solution, System
from ..observables import check_solution, some_saves, times
from ..results import drawn_by, name_of, quiet, result_class
from ..vectors import norm

NEWTON = 3  # steps: from a parabola's guess they reach rounding
RIDGE = 1e-14  # beside 1: what only rounding tells apart has no amplitude
NOISE = 1e-14  # of the first amplitude: nothing is read from what is left below this
POINTS = 1 << 18  # of signals that are analysed together
ROWS, DEGREE = 32, 8  # within a row of a signal a change of frequency is a short polynomial
LEAST = 16  # saves
TURNS = 1.9  # in a record: slower terms are not told from the constant and from mirror images


@result_class
class Frequencies(Tabled):
    """The leading frequencies of signals of a batch of motions.

    Attributes
    ----------
    values : ndarray
        (*batch, m, k): angular frequencies of the m signals, the largest amplitude first; negative
        for a complex signal that turns clockwise. NaN where nothing but rounding is left, and of
        trajectories that failed.
    amplitudes : ndarray of complex
        (*batch, m, k): the term is a exp(i w (t - t1)), of a real signal its real part; t1 is the
        time of the first save.
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

    values: Floats
    amplitudes: Complexes
    means: Any
    residuals: Floats
    drifts: Floats
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
        system = self.solution.system
        title = f"Frequencies of {system.name} [rad/{system.units['t']}]"
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

        NaN, with one `RecordWarning`, for motions with fewer than two saves a period, for signals
        with fewer than two periods, and for those that grow as the angle of a motion that turns.
        Overtones that are too fast for the saves appear folded, with their amplitude.

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
    if hasattr(source, "y") or not hasattr(source, "rhs"):
        sol = check_solution(source, "frequencies", "source")
        given = [*options, *["x0"] * (x0 is not None), *["v0"] * (v0 is not None)]
        if given:
            raise TypeError(f"a Solution has run already, and takes no {', '.join(given)}")
    else:
        sol = integrate(source, x0, v0, **options)
    n, *batch = sol.y.shape[:-1]
    spacing = _spacing(sol, n, batch)
    names, several = _signals(sol, signals, spacing)
    lanes, m = int(np.prod(batch)), len(several)
    parts = [_analysed(s.reshape(n, lanes), k) for s in several]
    found = [np.stack(p, axis=1).reshape(*batch, m, *p[0].shape[1:]) for p in zip(*parts)]
    values, amplitudes, means, residuals, drifts = found
    slow = _is_slow(values[..., 0], n)
    if slow.any():
        lost = slow.any(axis=-1)
        warn_record(
            f"frequencies of {np.count_nonzero(lost):,} of {lost.size:,} motions are NaN: the"
            " largest term of a signal has fewer than two periods. Run them for longer"
        )
        for part in found:
            part[slow] = np.nan
    rate = 1 / spacing[..., np.newaxis]
    back = (rate < 0) & [np.isrealobj(one) for one in several]  # Re(a exp(i w t)): w has no sign
    values *= np.where(back, -rate, rate)[..., np.newaxis]
    amplitudes = np.where(back[..., np.newaxis], amplitudes.conj(), amplitudes)
    return Frequencies(values, amplitudes, means, residuals, drifts * abs(rate), names, sol)


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


def _signals(sol, signals, spacing):
    """Names and values (n, *batch) of the signals; NaN where a trajectory failed or is folded."""
    system, folded, grown = sol.system, *np.zeros((2, *spacing.shape), bool)
    rates = None  # of a signal below half the rate of saves at most that times its size
    if sol._complete and system.noise is None:
        with quiet():
            rates = system.rhs(times(sol), sol.y)
    if signals is None:
        signals = system.state_names[: system.dof or system.dim]
    if not (np.iterable(signals) or callable(signals)):
        raise TypeError(f"signals must be names, pairs of names or functions, got {signals!r:.80}")
    asked = (
        [signals] if isinstance(signals, str) or callable(signals) else list(islice(signals, 1000))
    )
    if not asked:
        raise ValueError("signals is empty: name components, or leave it out")
    names, several = [], []
    for one in asked:
        lost = np.False_
        if callable(one):
            value = np.asarray(one(sol))
            if value.shape != sol.y.shape[:-1]:
                raise ValueError(
                    f"signals has a function with values of shape {value.shape}: expected"
                    f" (n_saved, *batch), which is {sol.y.shape[:-1]}"
                )
            names.append(name_of(one))
        else:
            pair = (one,) if isinstance(one, str) or not np.iterable(one) else tuple(one)
            if not 0 < len(pair) < 3:
                raise ValueError(f"signals has {one!r}: expected a name or a pair of names")
            places = places_of(pair, system)
            value = _joined([sol[name] for name in pair])
            if rates is not None:
                rate = _joined([rates[..., i] for i in places])
                with quiet():  # squares neither vanish nor overflow
                    own, fast = (part / np.abs(value).max(axis=0) for part in (value, rate))
                    fast = np.mean(np.abs(fast * spacing) ** 2, axis=0)
                    lost = fast > np.pi**2 * np.var(own, axis=0)
            names.append(" - i ".join(pair))
        folded |= lost
        grows = _grows(value)
        grown |= grows
        several.append(np.where(sol.valid.all(axis=0) & ~lost & ~grows, value, np.nan))
    if folded.any():
        warn_record(
            f"frequencies of {np.count_nonzero(folded):,} of {folded.size:,} motions are NaN: there"
            f" are fewer than two saves a period. Run them with closer {some_saves(sol)}"
        )
    if grown.any():
        warn_record(
            f"frequencies of {np.count_nonzero(grown):,} of {grown.size:,} motions are NaN: a"
            " signal grows with the time, and does not return. Of an angle x that turns give"
            ' signals=[lambda sol: np.exp(1j * sol["x"])]'
        )
    return tuple(f"{n} {i}" if names.count(n) > 1 else n for i, n in enumerate(names)), several


def _grows(value):
    """Whether signals (n, *batch) are almost a straight line in time: it leaves a fifth of them."""
    line = np.linspace(-1, 1, len(value))
    with quiet():
        own = value / np.abs(value).max(axis=0)
        own = own - own.mean(axis=0)
        along = np.abs(np.tensordot(line / norm(line), own, 1))
        size = np.linalg.norm(own, axis=0)
        return (along**2 > (1 - 0.2**2) * size**2) & (size > 1e-12 * len(value))


def _joined(parts):
    """A signal of one component, or of a pair."""
    return parts[0] if len(parts) == 1 else parts[0] - 1j * parts[1]


def _analysed(signal, k):
    """Terms of signals (n, lanes), in steps: as in `Frequencies`, without the axis of signals."""
    n, lanes = signal.shape
    rows, parts = max(1, POINTS // n), []
    for first in range(0, max(lanes, 1), rows):
        z = signal[:, first : first + rows].T
        z = np.array(z, np.result_type(z, float), order="C")
        bad = ~np.isfinite(z).all(axis=1)
        z[bad] = 0
        # So that squares neither vanish nor overflow.
        unit = np.ldexp(1.0, np.clip(np.frexp(np.abs(z).max(axis=1))[1], -1000, 1000))
        z /= unit[:, np.newaxis]
        w, amplitude, mean, residual = terms(z, k)
        early, late = (
            _peak(_centred(part)[0], n // 2)[0] for part in (z[:, : n // 2], z[:, -(n // 2) :])
        )
        mean, drift = (np.where(bad, np.nan, part) for part in (mean * unit, abs(late - early)))
        # The phase is counted from the first save, not from the centre.
        with quiet():
            amplitude *= unit[:, np.newaxis] * np.exp(-0.5j * (n - 1) * w)
        parts.append((w, amplitude, mean, residual, drift))
    return [np.concatenate(part) for part in zip(*parts)]


def terms(z, k):
    """k terms of signals (lanes, n): a exp(i w j), j counted from the centre, and the constant.

    The constant is a term too, the first, of frequency 0: what others leak into the mean would be
    found as one so slow that its amplitude is anything.

    Returns
    -------
    w, a : ndarray
        (lanes, k): in radians a sample; complex.
    mean, residual : ndarray
        (lanes,).
    """
    lanes, n = z.shape
    real = not np.iscomplexobj(z)
    z, mean = _centred(z)
    *_, near, far = _laid_out(n)
    m = 1 + k
    w, there, least = *np.zeros((2, lanes, m)), np.zeros(lanes)
    a, aim, gram = w + 0j, np.zeros((2, lanes, m, 1)), np.zeros((2, lanes, m, m))
    steps, turns = np.zeros((lanes, m, len(near)), complex), np.zeros((lanes, len(far), m), complex)
    there[:, 0] = gram[: 2 - real, :, 0, 0] = steps[:, 0] = turns[..., 0] = 1
    rest = z
    for j in range(1, m):
        w[:, j], found = _peak(rest, n)
        least = NOISE * np.abs(found) if j == 1 else least
        there[:, j] = np.abs(found) > least
        # A of the signal at a term is that of the rest, and those of the terms before.
        row = _leak(w[:, j, None] - w, n)
        other = _leak(w[:, j, None] + w, n) if real else 0.0
        row = np.stack([row + other, row - other]) * there * there[:, j, None] / (1 + real)
        gram[:, :, j] = gram[..., j] = row
        found += (row[0] * a.real + 1j * row[1] * a.imag).sum(axis=1)
        aim[..., j, 0] = np.stack([found.real, found.imag]) * there[:, j]
        a.real, a.imag = np.linalg.solve(gram + RIDGE * np.eye(m), aim)[..., 0]
        turns[:, :, j], steps[:, j] = (np.exp(1j * w[:, j, None] * at) for at in (far, near))
        far_, near_ = turns * a[:, None], steps
        if real:
            far_ = np.concatenate([far_.real, -far_.imag], axis=2)
            near_ = np.concatenate([near_.real, near_.imag], axis=1)
        rest = z - _times(far_, near_)
    size = [norm(part.reshape(lanes, len(far) * len(near))[:, :n]) for part in (rest, z)]
    absent, mean = there[:, 1:] == 0, mean + (a[:, 0].real if real else a[:, 0])
    with quiet():
        w, a = (np.where(absent, np.nan, part[:, 1:]) for part in (w, a))
        # Between the frequencies of the transform a peak looks lower, by 15 % at most. Slow terms
        # have any amplitude; where the first one found is slow, it remains the first.
        slow = _is_slow(w, n)
        rank = np.where(slow, 0.0, -np.abs(a))
        rank[slow[:, 0], 0] = -np.inf
        order = np.argsort(rank, axis=1, kind="stable")
        w, a = (np.take_along_axis(part, order, axis=1) for part in (w, a))
        return w, a, mean, size[0] / size[1]


@lru_cache(8)
def _laid_out(n):
    """Hann's window in rows, its sum 1, the polynomials within a row, and places.

    Sample j from the centre is at far + near, of its row and in it.
    """
    least = -(-n // ROWS)  # and no factors but 2, 3 and 5, for the transforms
    length = next(m for m in range(least, 2 * least + 1) if 30**64 % m == 0)
    window = np.zeros(ROWS * length)
    window[:n] = (1 + np.cos(np.pi * np.linspace(-1, 1, n))) / (n - 1)
    near = np.arange(length) - (length - 1) / 2
    far = length * np.arange(ROWS) + (length - n) / 2
    taylor = np.ones((length, DEGREE), complex)
    taylor[:, 1:] = -1j * near[:, np.newaxis] / np.arange(1, DEGREE)
    return window.reshape(ROWS, length), np.cumprod(taylor, axis=1), near, far


def _centred(z):
    """Signals (lanes, n) in rows, without their means, and these."""
    (lanes, n), window = z.shape, _laid_out(z.shape[1])[0]
    rows = np.zeros((lanes, *window.shape), z.dtype)
    mean = np.einsum("ij,j->i", z, window.ravel()[:n])  # the bits of a product of matrices vary
    np.subtract(z, mean[:, np.newaxis], out=rows.reshape(lanes, window.size)[:, :n])
    return rows, mean


def _times(a, b):
    """Products of matrices (lanes, ROWS, m) and (lanes, m, p), in parts too small for threads."""
    (rows, m), p = a.shape[1:], b.shape[2]
    return (a.reshape(len(a), rows // 4, 4, m) @ b[:, np.newaxis]).reshape(len(a), ROWS, p)


def _is_slow(w, n):
    """Whether terms turn too little in n samples to be told."""
    with quiet():
        return np.abs(w) * (n - 1) < TURNS * 2 * np.pi


def _leak(x, n):
    """The amplitude under the window that exp(i w j) has at a frequency x away."""
    total = 0.0
    for shift, weight in ((0, 1), (1, 0.5), (-1, 0.5)):
        half = (x + shift * 2 * np.pi / (n - 1)) / 2
        s = np.sin(half)
        with quiet():
            total += weight * np.where(np.abs(s) < 1e-12, n * np.cos(n * half) / np.cos(half),
                                       np.sin(n * half) / s)  # fmt: skip
    return total / (n - 1)


def _peak(z, n):
    """The frequency at which signals in rows have the largest amplitude A, and A there."""
    window, taylor, near, far = _laid_out(n)
    z, lanes, real = z * window, len(z), not np.iscomplexobj(z)
    spectrum = (np.fft.rfft if real else np.fft.fft)(z.reshape(lanes, window.size))
    power = spectrum.real**2 + spectrum.imag**2
    count, lane = power.shape[1], np.arange(lanes)
    # Of a real signal a peak at zero is what the mean has left.
    top = real + power[:, int(real) :].argmax(axis=1)
    beside = top[:, np.newaxis] + np.arange(-1, 2)
    beside = np.abs(beside) % count if not real else np.minimum(beside, count - 1)
    with quiet():
        a, b, c = np.log(power[lane[:, np.newaxis], beside].T)
        off = np.nan_to_num((a - c) / (2 * (a - 2 * b + c)))
    bin_ = 2 * np.pi / window.size
    w = bin_ * (top + np.clip(off, -1, 1))
    w = np.where(w > np.pi, w - 2 * np.pi, w) if not real else w
    # A(w + d) is a sum over rows of exp(-i (w + d) far) times a short polynomial in d.
    inner = np.exp(-1j * w[:, np.newaxis] * near)[..., np.newaxis] * taylor
    rows = _times(z, inner.view(float)).view(complex) if real else _times(z, inner)
    rows *= np.exp(-1j * w[:, np.newaxis] * far)[..., np.newaxis]
    d, rates = np.zeros(lanes), (-1j * far) ** np.arange(3)[:, np.newaxis]
    p, q = np.arange(DEGREE)[:, np.newaxis], np.arange(3)
    factor, power = np.array([p**0, p, p * (p - 1)])[..., 0].T, np.maximum(p - q, 0)
    for _ in range(NEWTON):
        sums = rows @ (factor * d[:, np.newaxis, np.newaxis] ** power)
        sums *= np.exp(-1j * d[:, np.newaxis] * far)[..., np.newaxis]
        (A, b0, c0), (b1, c1, _), (c2, _, _) = np.moveaxis(rates @ sums, 0, -1)
        # P = |A|^2, and its derivatives.
        B, C = b0 + b1, c0 + 2 * c1 + c2
        slope, bend = (A.conj() * B).real, np.abs(B) ** 2 + (A.conj() * C).real
        with quiet():
            move = np.clip(np.where(bend < 0, -slope / bend, 0.0), -bin_ - d, bin_ - d)
        d = d + move
    return w + d, A + move * (B + move / 2 * C)
