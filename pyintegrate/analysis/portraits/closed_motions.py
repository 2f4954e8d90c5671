"""Periodic orbits: guesses refined until they close, and what happens to motions beside them."""

from __future__ import annotations

import warnings

import numpy as np

from ...adaptive.arguments import checked_tolerance
from ...adaptive.sensitivity import longest_steps
from ...integration import integrate
from ...run.arguments import checked_quiet
from ...solving import solve
from ...values.checks import broadcast_shape, floats, integer, positive
from ...values.keywords import explains_keywords
from ...values.parameters import system_at
from ...values.table import Table, Tabled, batch_axes
from ...values.types import Any, ArrayLike, Complexes, Floats, Integers, Strings, System
from ..results import drawn_by, quiet, result_class
from ..vectors import applied, norm

TRIVIAL = 1e-3  # a multiplier so near 1 is that of the flow, an integral or a symmetry
# Steps tried beside each other: dampings, times the last that won; singular values that they do
# without, of the largest; shares, of which other ones help when only rounding is left.
TRIED = np.array([(0.15, 1e-10, 0.5), (0.5, 1e-7, 1.0), (1.5, 1e-4, 1.0), (6.0, 1e-2, 0.25)])
LONGEST = 0.5  # a step, as a share of the state and of the period
LARGEST = 1e50  # a derivative beside a collision
MOST = 20_000  # steps of a segment: one that needs more all but collides
SATISFIED = 0.1  # of what was left open: of such steps the shortest is taken
ROUGH, FINE = 1e-5, 1e-4  # motions are followed to ROUGH; to FINE r^2 as their residual r falls
NEAR = 0.1  # first residuals that are measured again so exactly
SMALLEST = 1e-12  # guesses below are at a resting point, if there is no drive
NARROW = 0.01  # of the largest unit of a component, the least one
UNSURE = 10.0  # residuals below so many tolerances are not known
ROUNDING = 1e-11  # residuals below which one that is no smaller is as good
PATIENCE = 6  # rounds, or a tenth of all, that must halve what is left open, or a guess is given up
ROUNDED = 1e4  # tolerances by which a part that rests may move
RETURNS = (0.118, 0.382, 0.618, 0.882)  # shares of a period: not all may be whole laps
CYCLES = 30  # round an orbit, which sort its directions by their growth


@result_class
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
        largest first. They are known to some 1e-15 of the size of that derivative: of smaller ones
        only that they are so small.
    trivial : ndarray of int
        (*batch): how many of them are 1 to within 1e-3: two for the flow and each integral of
        motion, one for the flow where there are none.
    kinds : ndarray of str
        (*batch): by the others: "stable" (all inside the unit circle), "unstable" (one outside),
        "elliptic" (none outside, some on it), "" where none was found.
    residuals : ndarray
        (*batch): the distance of y(T) from y(0), relative to |y|, or to the size of the guess if
        that is larger. Velocities are multiplied by the time in which the guess moves by its own
        size; components of a first-order system are compared by how much each varies (those that
        vary less than 1 % of the most variable one count as if they varied by so much).
    failures : ndarray of str
        (*batch): "" where it closes; "did not close"; "motion failed", also where a segment needs
        more than 20,000 steps (take more segments, or a larger `rtol` and `tolerance`); "resting
        point", also where the orbit is smaller than 1e-6 of its distance from 0, or of the guess.
        Without a drive a guess below 1e-12 counts as 1 there: choose larger units.
    system : System
    """

    starts: Floats
    periods: Floats
    multipliers: Complexes
    trivial: Integers
    kinds: Strings
    residuals: Floats
    failures: Strings
    system: Any

    plot = drawn_by("periodic_orbits")

    def table(self) -> Table:
        """A row for each guess."""
        largest = np.abs(self.multipliers[..., 0])
        columns = {
            "period": self.periods, "kind": self.kinds, "largest multiplier": largest,
            "trivial": self.trivial, "residual": self.residuals, "failure": self.failures,
        }  # fmt: skip
        title = f"Periodic orbits of {self.system.name}"
        return Table.of(title, batch_axes(self.periods.shape), columns)


@explains_keywords()
def periodic_orbits(
    system: System,
    x0: ArrayLike,
    period: ArrayLike,
    v0: ArrayLike | None = None,
    *,
    segments: int = 1,
    tolerance: float = 1e-12,
    rounds: int = 120,
    rtol: float = 3e-14,
    atol: float = 3e-15,
    workers: int = 1,
) -> PeriodicOrbits:
    """Refine guesses of periodic orbits until they close, and tell their stability.

    Shooting: Levenberg's and Marquardt's method on y(T) - y(0) = 0 over the start and the period,
    with the exact derivative of the steps made. Of corrections that do as well the shortest is
    taken, so that neither integrals of motion nor symmetries, which make the equations singular,
    need be known. The period of a driven motion is kept.

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
        The most corrections. A guess is given up where a tenth of them do not halve what is open:
        of steep motions, such as spikes of a nerve, more may close.
    rtol, atol, workers
        As in ``solve``; `atol` is that of states of size 1, and less of smaller guesses.

    Returns
    -------
    PeriodicOrbits
        With ``starts``, ``periods``, ``multipliers``, ``kinds``, ``residuals``, ``failures`` and
        ``table()``.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments; a period after which the field of a driven motion is another one.

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
    checked_quiet(system)
    segments, rounds = integer("segments", segments, 1), integer("rounds", rounds, 1)
    tolerance, rtol = positive("tolerance", tolerance), positive("rtol", rtol)
    atol = checked_tolerance("atol", atol)
    if atol.ndim:
        raise ValueError(f"atol must be one number, got an array of shape {atol.shape}")
    period = floats("period", period)
    right = (period > 0) & (period < np.inf)
    if not right.all():
        raise ValueError(f"period must be positive and finite, got {period[~right][0]}")
    start = integrate(system, x0, v0, dt=1.0, n_steps=0, dtype=np.float64, on_failure="ignore")
    batch = broadcast_shape({"x0": start.final.shape[:-1], "period": period.shape})
    lanes, dim = int(np.prod(batch)), system.dim
    y = np.broadcast_to(start.final, (*batch, dim)).reshape(lanes, dim).copy()
    T = np.broadcast_to(period, batch).reshape(lanes).copy()
    all_lanes = np.arange(lanes)
    one = system_at(system, batch, all_lanes)
    share = np.arange(1, 65).reshape(-1, 1, 1) * 0.618034 % 1  # of a period, evenly
    size = np.abs(y).max(axis=1, keepdims=True)  # far from the guess a drive may be rounding
    beside = np.stack([y, y + 0.1 * np.where(size > 0, size, 1.0)])
    early, again = (one.rhs(t * T, beside) for t in (share, share + 1))
    moving = np.array_equal(early[1:], early[:-1], equal_nan=True)
    room = 1e-6 * np.nanmax(np.abs(early), axis=0, initial=0)
    same = np.isclose(again, early, rtol=1e-6, atol=room, equal_nan=True)
    if not (moving or same.all()):
        raise ValueError(
            f"period must be a whole number of periods of the drive of {system.name!r}: the field"
            f" is not the same after {T[~same.all(axis=(0, 1, 3))][0]:g}"
        )
    shots = _Shots(system, batch, segments, moving, {"rtol": rtol, "atol": atol,
                                                     "workers": workers}, y, T)  # fmt: skip
    shots.close(all_lanes, tolerance, rounds)
    # A guess may be larger than the orbit found, which closes to its own digits.
    large = np.flatnonzero((shots.least > 1) & (shots.best <= tolerance))
    shots.least[large], shots.best[large] = 1.0, np.inf
    shots.close(large, tolerance, rounds)
    shots.fire(np.flatnonzero(shots.best <= tolerance))  # not by secants
    return _told(shots, tolerance)


class _Shots:
    """Motions of the segments of orbits, and the corrections that close them.

    Of each lane the states Y (segments, dim), the period T, what is left open F and its
    derivatives J, those of the segments M, and the residual `best`. F and the unknowns are in units
    of the guess, its `size` (dim) and its `pace`, so that units change nothing.
    """

    def __init__(self, system, batch, segments, moving, options, y, T):
        """Begin with states along motions from y."""
        self.system, self.batch, self.segments = system, batch, segments
        self.moving = moving  # the period is free
        names = ("x0", "v0") if system.dof else ("x0",)
        self.names, self.options = names, options | {"on_failure": "ignore", "max_steps": MOST}
        (lanes, dim), m = y.shape, self.segments
        self.Y, self.T = y[:, np.newaxis], T
        self.pace, self.size, self.least = self.units(y, T)
        if m > 1:
            times = T * np.linspace(0, 1, m, endpoint=False)[:, np.newaxis]
            one = system_at(self.system, self.batch, np.arange(lanes))
            own = {"atol": self.options["atol"] * np.minimum(self.least, 1.0)}
            sol = solve(one, y, t_end=T, times=times, **self.options | own)
            self.Y = np.moveaxis(sol.y, 0, 1).copy()
        half = system.dof or dim
        longest = self.size[:, :half].max(axis=1, keepdims=True)
        self.lengths = (longest / self.size)[:, np.newaxis]  # which velocities are
        self.F, self.M = np.empty((lanes, m * dim)), np.empty((lanes, m, dim, dim))
        self.J = np.empty((lanes, m * dim, m * dim + self.moving))
        self.best = np.full(lanes, np.inf)

    def units(self, y, T):
        """The time in which a motion goes as far as it is large (n,), its sizes (n, dim), and the
        least size of its states (n,)."""
        one = system_at(self.system, self.batch, np.arange(len(y)))
        # Without velocities the rates of these, none, are 0.
        half = y.shape[1] // 2 if self.system.dof else y.shape[1]
        radian = T / (2 * np.pi)
        with quiet():
            turn = np.arange(9).reshape(-1, 1) / 9  # at its start a drive may be 0
            rates, size = np.abs(one.rhs(turn * T, y[np.newaxis])).max(axis=0), norm(y[:, :half])
            speed, force = norm(rates[:, :half]), norm(rates[:, half:])
            least = np.fmax(size, speed * radian)
            if not self.moving:
                least = np.fmax(least, force * radian**2)
            known = (least > SMALLEST * self.moving) & (least < np.inf)
            least = np.where(known, least, 1.0)
            size = np.maximum(size, least)
            rate = np.fmax(speed / size, np.sqrt(force / size))
            pace = np.where(np.isfinite(rate), np.fmin(1 / rate, radian), radian)
        sizes = np.repeat(size[:, np.newaxis], y.shape[1], axis=1)
        sizes[:, half:] /= pace[:, np.newaxis]
        if not self.system.dof:  # a voltage beside the shares of open channels: by what they vary
            own = self.options | {"rtol": ROUGH, "atol": ROUGH * np.minimum(least, 1.0)}
            path = solve(one, y, t_end=T, times=T * np.linspace(0, 1, 65)[:, np.newaxis], **own).y
            with quiet():
                share = np.ptp(path, axis=0) / np.ptp(path, axis=0).max(axis=1, keepdims=True)
            sizes *= np.clip(np.nan_to_num(share, nan=1.0), NARROW, 1.0)
        return pace, sizes, least

    def extent(self, lane, Y):
        """The largest |y| of states (..., n, m, dim) as lengths, or their least size."""
        return np.maximum(self.least[lane], norm(Y * self.lengths[lane]).max(axis=-1))

    def loose(self, lane):
        """How many times looser than asked motions are followed."""
        exact = self.options["rtol"]
        with quiet():
            return np.clip(FINE * self.best[lane] ** 2, exact, max(exact, ROUGH)) / exact

    def ends(self, lane, Y, T, **along):
        """Derivatives of motions, their ends (n, m, dim), the system and the times at these."""
        (n, m, dim), M = Y.shape, None
        one, part = system_at(self.system, self.batch, np.repeat(lane, m)), np.repeat(T / m, m)
        begins, loose = np.tile(np.arange(m), n) * part, np.repeat(self.loose(lane), m)
        own = {name: self.options[name] * loose for name in ("rtol", "atol")}
        own["atol"] = own["atol"] * np.repeat(np.minimum(self.least[lane], 1.0), m)
        y, longest = Y.reshape(-1, dim), np.inf
        if along:  # a part may rest, to the rounding of corrections
            limits = (ROUNDED * own[name][:, np.newaxis] for name in ("rtol", "atol"))
            longest = longest_steps(one, y, begins, part, *limits)
        with warnings.catch_warnings(action="ignore"):  # derivatives on the way may be rough
            sol = solve(one, y, t0=begins, t_end=begins + part, save="final", max_step=longest,
                        **self.options | own | along)  # fmt: skip
        failed = sol.status != 0
        if along:
            M = np.concatenate([sol.sensitivity[name][-1] for name in self.names], axis=-1)
            M[failed] = np.nan
            rests = np.flatnonzero((longest < np.inf) & (not self.moving))
            if len(rests):  # a motion at rest sees no jump of the force: its tangents do
                both = system_at(one, (n * m,), rests).tangent(dim)
                own = {name: limit[rests] for name, limit in own.items()}
                start, begin, till = both.initial_state(y[rests]), begins[rests], part[rests]
                far = solve(both, start, t0=begin, t_end=begin + till, save="final",
                            **self.options | own)  # fmt: skip
                known = (far.status == 0)[:, np.newaxis, np.newaxis]
                M[rests] = np.where(known, both.parts(far.final)[1], np.nan)
        end = np.where(failed[:, np.newaxis], np.nan, sol.final)
        return M, end.reshape(Y.shape), one, begins + part

    def fire(self, lane):
        """F, J, M and the residual of some lanes."""
        if not len(lane):
            return
        Y, T = self.Y[lane], self.T[lane]
        n, m, dim = Y.shape
        M, end, one, late = self.ends(lane, Y, T, sensitivity=self.names)
        M = self.M[lane] = M.reshape(*Y.shape, -1)
        self.F[lane], best = self.left_open(lane, end, Y)
        size = self.size[lane, np.newaxis]
        J = np.zeros((n, m, dim, m, dim))
        for i in range(m):
            J[:, i, :, i] += M[:, i] * size / np.swapaxes(size, 1, 2)
            J[:, i, :, (i + 1) % m] -= np.eye(dim)
        J = J.reshape(n, m * dim, m * dim)
        if self.moving:
            with quiet():
                rate = one.rhs(late, end.reshape(-1, dim)).reshape(Y.shape) / m
                rate *= self.pace[lane, np.newaxis, np.newaxis] / size
            J = np.append(J, rate.reshape(n, m * dim, 1), axis=2)
        self.J[lane] = J
        known = np.minimum(best, self.best[lane])  # with tangents the steps round otherwise
        best = np.where(known < ROUNDING, known, best)
        self.best[lane] = np.where((np.abs(J) < LARGEST).all(axis=(1, 2)), best, np.inf)

    def left_open(self, lane, end, Y):
        """F (..., n, unknowns), and |F| as a share of |y|; inf where a motion failed."""
        F = end - np.roll(Y, -1, axis=-2)
        with quiet():
            best = norm(F * self.lengths[lane]).max(axis=-1) / self.extent(lane, Y)
            best = np.nan_to_num(best, nan=np.inf)
        F = F / self.size[lane, np.newaxis]
        return F.reshape(*F.shape[:-2], Y.shape[-2] * Y.shape[-1]), best

    def close(self, active, enough, rounds):
        """Levenberg's and Marquardt's method until nothing larger is left open.

        Of several dampings the one that leaves least wins. They are proportional to what is left:
        convergence is quadratic even where the equations are singular, and the steps are short.
        Tangents are many times the work of motions: between two of them a secant replaces them.
        """
        self.fire(active)
        self.fire(active[self.best[active] < NEAR])
        patience = max(PATIENCE, rounds // 10)
        mark, damping = self.best.copy(), np.full(len(self.T), 0.1)
        for i in range(1, rounds + 1):
            before = self.best[active]
            open_ = np.isfinite(before) & (before > enough)
            active, before = active[open_], before[open_]
            if not len(active):
                break
            step, Y, T, left, after = self.tries(active, damping[active])
            short = -np.arange(len(after))[:, np.newaxis]
            won = np.where(after < SATISFIED * before, short, after).argmin(axis=0)
            at = won, np.arange(len(active))
            damping[active] *= TRIED[won, 0]
            better = (after[at] < np.maximum(before, ROUNDING)) & (step[at] ** 2).any(axis=-1)
            lane, at = active[better], tuple(place[better] for place in at)
            step, change = step[at], left[at] - self.F[lane]
            change -= applied(self.J[lane], step)
            step /= (step**2).sum(axis=-1, keepdims=True)
            self.J[lane] += change[..., np.newaxis] * step[:, np.newaxis]
            self.Y[lane], self.T[lane] = Y[at], T[at]
            self.F[lane], self.best[lane] = left[at], after[at]
            if i % 2:
                active = lane
            else:
                self.fire(active)
            if i % patience == 0:
                active, mark = active[self.best[active] < mark[active] / 2], self.best.copy()

    def tries(self, lane, damping):
        """Steps (k, n, unknowns), Y and T after them, F and residuals there."""
        Y, T, size, pace = (one[lane] for one in (self.Y, self.T, self.size, self.pace))
        states = self.segments * self.system.dim
        factor, least, part = TRIED.T[..., np.newaxis, np.newaxis]
        U, s, V = np.linalg.svd(self.J[lane], full_matrices=False)
        aim = applied(np.swapaxes(U, 1, 2), self.F[lane])
        floor = factor * (damping * self.best[lane] * s[:, 0])[:, np.newaxis]
        share = part * -aim * s * (s > least * s[:, :1]) / (s * s + floor**2)
        step = (share[..., np.newaxis, :] @ V)[..., 0, :]
        moved = step[..., :states].reshape(-1, *Y.shape) * size[:, np.newaxis]
        extent = self.extent(lane, Y) * np.sqrt(self.segments)
        far = np.linalg.norm(moved * self.lengths[lane], axis=(-2, -1)) / extent
        if self.moving:
            far = np.maximum(far, np.abs(step[..., -1]) * pace / T)
        shorter = np.maximum(1.0, far / LONGEST)[..., np.newaxis]
        step /= shorter
        Y = Y + moved / shorter[..., np.newaxis]
        T = np.broadcast_to(T + (step[..., -1] * pace if self.moving else 0.0), far.shape)
        end = self.ends(np.tile(lane, len(TRIED)), Y.reshape(-1, *Y.shape[2:]), T.ravel())[1]
        F, best = self.left_open(lane, end.reshape(Y.shape), Y)
        loose = self.loose(lane)
        unsure = np.where(loose > 1, UNSURE * loose * self.options["rtol"], 0.0)
        return step, Y, T, F, np.maximum(best, unsure)


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


def _told(shots, tolerance):
    """The result: multipliers, kinds and failures."""
    system, batch, y, T = shots.system, shots.batch, shots.Y[:, 0], shots.T
    lengths = shots.lengths[..., np.newaxis]
    M = shots.M * lengths / lengths.swapaxes(2, 3)  # sums of positions and velocities have no unit
    best, (lanes, dim) = shots.best, y.shape
    good = np.isfinite(M).all(axis=(1, 2, 3)) & np.isfinite(best)
    values = np.full((lanes, dim), complex(np.nan, np.nan))
    values[good] = multipliers(M[good])
    order = np.lexsort((-values.imag, -np.abs(values)))
    values = np.take_along_axis(values, order, axis=-1)
    with quiet():
        own, size = np.abs(values - 1) > TRIVIAL, np.abs(values)
        out = (own & (size > 1 + TRIVIAL)).any(axis=-1)
        on = (own & (np.abs(size - 1) <= TRIVIAL)).any(axis=-1)
    resting, lane = np.zeros(lanes, bool), np.flatnonzero(good & shots.moving)
    if len(lane):  # the speed tells nothing: it is 0 at a turning point, or may be rounding
        Y = shots.Y[lane]
        parts = [shots.ends(lane, Y, T[lane] * share)[1] - Y for share in RETURNS]
        with quiet():
            far = np.max(norm(parts * shots.lengths[lane]), axis=(0, 2))
            resting[lane] = far < 1e-6 * shots.extent(lane, Y)
    told = ["motion failed", "resting point", ""]
    failures = np.select([~good, resting, best <= tolerance], told, "did not close")
    wrong, idle = failures != "", on | ~own.any(axis=-1)
    kinds = np.select([wrong, out, idle], ["", "unstable", "elliptic"], "stable")
    trivial = (~own & good[:, np.newaxis]).sum(axis=-1)
    parts = (y, T, values, trivial, kinds, best, failures)
    shaped = [*(p.reshape((*batch, *p.shape[1:])) for p in parts), system]
    return PeriodicOrbits(*shaped)
