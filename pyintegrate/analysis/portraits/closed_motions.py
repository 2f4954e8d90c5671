"""Periodic orbits: guesses refined until they close, and what happens to motions beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...integration import integrate
from ...run.arguments import checked_system
from ...solving import solve
from ...values.checks import broadcast_shape, integer, numbers, positive
from ...values.table import Table, Tabled, batch_axes
from ...values.types import Any, ArrayLike, System
from ..observables import system_at
from ..results import quiet

TRIVIAL = 1e-3  # a multiplier so near 1 is that of the flow, an integral or a symmetry
TOO_SMALL = (1e-4, 1e-7, 1e-10)  # singular values, of the largest, that a step does without
LONGEST = 0.5  # a step, as a share of the state and of the period
MOST = 2000  # steps of a segment: one that needs more all but collides
ROUGH = 1e-9  # to which tolerance motions are followed until they almost close
PATIENCE = 8  # rounds in which what is left open must be halved, or a guess is given up
CYCLES = 30  # round an orbit, which sort its directions by their growth


@dataclass(frozen=True, eq=False, repr=False)
class PeriodicOrbits(Tabled):
    """Refined periodic orbits of a batch of guesses.

    Attributes
    ----------
    starts : ndarray
        (*batch, dim): a state on each, near the guess.
    periods : ndarray
        (*batch).
    multipliers : ndarray of complex
        (*batch, dim): Floquet's, eigenvalues of the derivative of the motion over one period, the
        largest first.
    trivial : ndarray of int
        (*batch): how many of them are 1 to within 1e-3: two for the flow and each integral of
        motion, one for the flow where there are none.
    kinds : ndarray of str
        (*batch): by the others: "stable" (all inside the unit circle), "unstable" (one outside),
        "elliptic" (none outside, some on it), "" where none was found.
    residuals : ndarray
        (*batch): |y(T) - y(0)|, as a share of max(1, |y|).
    failures : ndarray of str
        (*batch): "" where it closes; "did not close", "resting point", "motion failed".
    system : System
    """

    starts: np.ndarray
    periods: np.ndarray
    multipliers: np.ndarray
    trivial: np.ndarray
    kinds: np.ndarray
    residuals: np.ndarray
    failures: np.ndarray
    system: Any

    def table(self) -> Table:
        """A row for each guess."""
        largest = np.abs(self.multipliers[..., 0])
        columns = {
            "period": self.periods, "kind": self.kinds, "largest multiplier": largest,
            "trivial": self.trivial, "residual": self.residuals, "failure": self.failures,
        }  # fmt: skip
        title = f"Periodic orbits of {self.system.name}"
        return Table.of(title, batch_axes(self.periods.shape), columns)


def periodic_orbits(
    system: System,
    x0: ArrayLike,
    period: ArrayLike,
    v0: ArrayLike | None = None,
    *,
    segments: int = 1,
    tolerance: float = 1e-12,
    rounds: int = 30,
    rtol: float = 3e-14,
    atol: float = 3e-15,
    workers: int = 1,
) -> PeriodicOrbits:
    """Refine guesses of periodic orbits until they close, and tell their stability.

    Shooting: Newton's method on y(T) - y(0) = 0 over the start and the period, with the exact
    derivative of the steps made. Of all corrections the shortest is taken, so that neither
    integrals of motion nor symmetries, which make the equations singular, need be known. The period
    of a driven motion is kept.

    Parameters
    ----------
    system : System
    x0, v0 : array_like
        Guesses, as in ``integrate``: (*batch, dim), or positions and velocities.
    period : array_like
        Guesses of the periods, (*batch).
    segments : int, optional
        Into how many parts an orbit is divided (multiple shooting), for unstable ones. Orbits that
        one segment leaves open by a little more than `tolerance` close from there with several.
    tolerance : float, optional
        A residual at which an orbit closes.
    rounds : int, optional
        The most corrections.
    rtol, atol, workers
        As in ``solve``.

    Returns
    -------
    PeriodicOrbits
        With ``starts``, ``periods``, ``multipliers``, ``kinds``, ``residuals``, ``failures`` and
        ``table()``.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments.

    References
    ----------
    Seydel (2010), Practical Bifurcation and Stability Analysis, 7. Suvakov, Dmitrasinovic (2013),
    Phys. Rev. Lett. 110, 114301 (the orbits of the tests).

    Examples
    --------
    The limit cycle of van der Pol's oscillator, and its period at mu = 1:

    >>> import pyintegrate as pi
    >>> found = pi.analysis.periodic_orbits(pi.systems.van_der_pol, [2.0, 0.0], 6.5)
    >>> float(found.periods.round(10)), str(found.kinds), int(found.trivial)
    (6.6632868593, 'stable', 1)
    """
    checked_system(system)
    segments, rounds = integer("segments", segments, 1), integer("rounds", rounds, 1)
    tolerance = positive("tolerance", tolerance)
    period = numbers("period", period).astype(float)
    if not (period > 0).all():
        raise ValueError(f"period must be positive, got {period.min()}")
    start = integrate(system, x0, v0, dt=1.0, n_steps=0, dtype=np.float64, on_failure="ignore")
    batch = broadcast_shape({"x0": start.final.shape[:-1], "period": period.shape})
    lanes, dim = int(np.prod(batch)), system.dim
    y = np.broadcast_to(start.final, (*batch, dim)).reshape(lanes, dim).copy()
    T = np.broadcast_to(period, batch).reshape(lanes).copy()
    all_lanes = np.arange(lanes)
    early, late = (system_at(system, batch, all_lanes).rhs(t, y + 0.1) for t in (0.3, 13.1))
    moving = np.array_equal(early, late, equal_nan=True)
    shots = _Shots(system, batch, segments, moving, {"rtol": rtol, "atol": atol,
                                                     "workers": workers})  # fmt: skip
    Y = shots.laid_out(all_lanes, y, T)
    shots.options |= {"rtol": max(rtol, ROUGH), "atol": max(atol, ROUGH), "max_steps": MOST // 2}
    shots.close(Y, T, max(tolerance, 10 * ROUGH), rounds)
    shots.options |= {"rtol": rtol, "atol": atol, "max_steps": MOST}
    _, _, M, best = shots.close(Y, T, tolerance, rounds)
    return _told(system, batch, Y[:, 0], T, M, best, tolerance, moving)


class _Shots:
    """Motions of the segments of orbits, and the corrections that close them."""

    def __init__(self, system, batch, segments, moving, options):
        self.system, self.batch, self.segments = system, batch, segments
        self.moving = moving  # the period is free
        names = ("x0", "v0") if system.dof else ("x0",)
        self.names, self.options = names, options | {"save": "final", "on_failure": "ignore"}

    def laid_out(self, lane, y, T):
        """States (lanes, segments, dim) along motions from y."""
        m = self.segments
        if m == 1:
            return y[:, np.newaxis]
        times = T * np.linspace(0, 1, m, endpoint=False)[:, np.newaxis]
        own = {k: v for k, v in self.options.items() if k != "save"}
        sol = solve(system_at(self.system, self.batch, lane), y, t_end=T, times=times, **own)
        return np.moveaxis(sol.y, 0, 1).copy()

    def ends(self, lane, Y, T, **along):
        """Motions, their ends (n, m, dim), and the system and the times at these."""
        n, m, dim = Y.shape
        one, part = system_at(self.system, self.batch, np.repeat(lane, m)), np.repeat(T / m, m)
        begins = np.tile(np.arange(m), n) * part
        sol = solve(one, Y.reshape(-1, dim), t0=begins, t_end=begins + part, **along,
                    **self.options)  # fmt: skip
        end = np.where((sol.status == 0)[:, np.newaxis], sol.final, np.nan)
        return sol, end.reshape(Y.shape), one, begins + part

    def fired(self, lane, Y, T):
        """What is left open and the field at the ends (n, m, dim), derivatives (..., dim, dim)."""
        sol, end, one, late = self.ends(lane, Y, T, sensitivity=self.names)
        M = np.concatenate([sol.sensitivity[name][-1] for name in self.names], axis=-1)
        end[~np.isfinite(M).all(axis=(-2, -1)).reshape(Y.shape[:2])] = np.nan
        with quiet():
            f = one.rhs(late, end.reshape(-1, Y.shape[2])).reshape(Y.shape)
        return end - np.roll(Y, -1, axis=1), f, M.reshape(*Y.shape, -1)

    def residual(self, F, Y):
        """|F| as a share of max(1, |y|), (n,); inf where a motion failed."""
        with quiet():
            size = np.maximum(1.0, np.linalg.norm(Y, axis=-1).max(axis=-1))
            return np.nan_to_num(np.linalg.norm(F, axis=-1).max(axis=-1) / size, nan=np.inf)

    def close(self, Y, T, enough, rounds):
        """Newton's method on Y and T, which it changes, until nothing larger is left open.

        The results of ``fired`` there, and the residuals.
        """
        active = np.arange(len(T))
        fired = self.fired(active, Y, T)
        best = self.residual(fired[0], Y)
        active, mark = active[np.isfinite(best)], best.copy()
        for i in range(rounds):
            active = active[best[active] > enough]
            if not len(active):
                break
            before, Y0, T0 = best[active], Y[active], T[active]
            correction = self.corrections(Y0, T0, *(part[active] for part in fired))
            tried = np.arange(len(active))
            for share, satisfied in ((1.0, 0.1), (0.25, 0.5)):
                for cut in TOO_SMALL:
                    tried = tried[best[active[tried]] >= satisfied * before[tried]]
                    if not len(tried):
                        break
                    dY, dT = correction(cut, tried)
                    lane, new = active[tried], (Y0[tried] + share * dY, T0[tried] + share * dT)
                    left = self.ends(lane, *new)[1] - np.roll(new[0], -1, axis=1)
                    after = self.residual(left, new[0])
                    won = after < best[lane]
                    for held, got in zip((Y, T, best), (*new, after), strict=True):
                        held[lane[won]] = got[won]
            active = active[best[active] < before]
            if len(active):  # tangents are many times the work: for the best of all tries only
                new = self.fired(active, Y[active], T[active])
                for held, got in zip(fired, new, strict=True):
                    held[active] = got
                best[active[~np.isfinite(new[0]).all(axis=(1, 2))]] = np.inf
                active = active[np.isfinite(best[active])]
            if i % PATIENCE == PATIENCE - 1:
                active, mark = active[best[active] < mark[active] / 2], best.copy()
        return *fired, best

    def corrections(self, Y, T, F, f, M):
        """The shortest solutions of the linear equations: a function of the share of the largest
        singular value below which they do without one, and of indices."""
        n, m, dim = Y.shape
        J = np.zeros((n, m, dim, m * dim + self.moving))
        for i in range(m):
            J[:, i, :, i * dim : (i + 1) * dim] += M[:, i]
            j = (i + 1) % m
            J[:, i, :, j * dim : (j + 1) * dim] -= np.eye(dim)
        if self.moving:
            J[..., -1] = f / m
        U, s, V = np.linalg.svd(J.reshape(n, m * dim, -1), full_matrices=False)
        aim = (np.swapaxes(U, 1, 2) @ F.reshape(n, -1, 1))[..., 0]
        size = np.maximum(1.0, np.linalg.norm(Y, axis=-1).max(axis=-1))

        def shortest(cut, at):
            kept = s[at] > cut * s[at, :1]
            share = np.divide(-aim[at], s[at], out=np.zeros_like(aim[at]), where=kept)
            step = (share[:, np.newaxis] @ V[at])[:, 0]
            far = np.linalg.norm(step[:, : m * dim], axis=-1) / (size[at] * np.sqrt(m))
            far = far if not self.moving else np.maximum(far, np.abs(step[:, -1]) / T[at])
            step /= np.maximum(1.0, far / LONGEST)[:, np.newaxis]
            return step[:, : m * dim].reshape(Y[at].shape), step[:, -1] if self.moving else 0.0

        return shortest


def multipliers(M):
    """Eigenvalues (n, dim) of the products M_m ... M_1 of matrices (n, m, dim, dim).

    By periodic QR: directions sorted by their growth are carried through the factors, so that
    neither large ones overflow nor small ones vanish beside them.
    """
    n, m, dim, _ = M.shape
    Q = np.broadcast_to(np.eye(dim), (n, dim, dim))
    for _ in range(CYCLES if m > 1 else 1):
        first, R = Q, np.eye(dim)
        for i in range(m):
            Q, one = np.linalg.qr(M[:, i] @ Q)
            R = one @ R
    return np.linalg.eigvals(np.swapaxes(first, 1, 2) @ Q @ R)


def _told(system, batch, y, T, M, best, tolerance, moving):
    """The result: multipliers, kinds and failures."""
    lanes, dim = y.shape
    good = np.isfinite(M).all(axis=(1, 2, 3))
    values = np.full((lanes, dim), complex(np.nan, np.nan))
    values[good] = multipliers(M[good])
    order = np.lexsort((-values.imag, -np.abs(values)))
    values = np.take_along_axis(values, order, axis=-1)
    with quiet():
        own = np.abs(values - 1) > TRIVIAL
        out = (own & (np.abs(values) > 1 + TRIVIAL)).any(axis=-1)
        on = (own & (np.abs(np.abs(values) - 1) <= TRIVIAL)).any(axis=-1)
        speed = np.linalg.norm(system_at(system, batch, np.arange(lanes)).rhs(0.0, y), axis=-1)
    resting = moving & (speed * T < 1e-6 * np.maximum(1.0, np.linalg.norm(y, axis=-1)))
    failed = ~(np.isfinite(best) & good)
    told = ["motion failed", "resting point", ""]
    failures = np.select([failed, resting, best <= tolerance], told, "did not close")
    wrong, idle = failures != "", on | ~own.any(axis=-1)
    kinds = np.select([wrong, out, idle], ["", "unstable", "elliptic"], "stable")
    trivial = (~own & good[:, np.newaxis]).sum(axis=-1)
    parts: Any = (y, T, values, trivial, kinds, best, failures)
    shaped: Any = [*(p.reshape((*batch, *p.shape[1:])) for p in parts), system]
    return PeriodicOrbits(*shaped)
