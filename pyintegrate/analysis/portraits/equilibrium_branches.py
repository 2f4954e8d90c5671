"""Equilibria followed as a parameter turns, round folds, with their bifurcations located."""

from __future__ import annotations

import numpy as np

from ...run.arguments import checked_system
from ...values.checks import broadcast_shape, integer, numbers, pair, positive
from ...values.keywords import explains_keywords
from ...values.parameters import system_at
from ...values.table import Table, Tabled, batch_axes
from ...values.types import Any, ArrayLike, Complexes, Floats, Strings, System
from ..results import drawn_by, in_lanes, quiet, result_class
from ..vectors import norm
from .resting_points import (
    DOUBLE,
    Box,
    balanced,
    eigenvalues,
    is_driven,
    kinds_of,
    refined,
    solved,
)

CORRECTIONS = 8  # of Newton, after which the step is halved
CLOSE = 1e-12  # a correction, in units of the state and the range: the point is on the branch
TURN = 0.95  # the least cosine between directions at both ends of a step
ASTRAY = 0.25  # of a step, the largest correction
SHORTEST = 1e-6  # of the longest step: where a branch is given up
SMALLEST = 1e-10  # of the guess: a start below this is 0, to the rounding of its own search
BISECTIONS = 90
ROUNDING = 1e-15  # of a direction
GAP = 1e-10  # of the changes over a unit: equations at a branch point are 0 to this
NARROW = 1e-4  # of the longest step: gaps that shorter ones cross are rounding
TWIN = 1e-9  # of the range: a fold so near a branch point is its turn
AXIS = 1e-4  # of the largest eigenvalue: what is nearer to the axis is a Hopf point's
SILENT = 1e-11  # a test quantity, in units of the Jacobian, that is rounding: it tells nothing
KINDS = ("branch point", "fold", "Hopf")


@result_class
class EquilibriumBranches(Tabled):
    """Branches of equilibria over a parameter, one for each of a batch.

    Attributes
    ----------
    parameter : str
    values : ndarray
        (*batch, n): the parameter along each branch, NaN past its end.
    points : ndarray
        (*batch, n, dim): the equilibria.
    eigenvalues : ndarray of complex
        (*batch, n, dim): of the Jacobian there, the largest real part first.
    stability : ndarray of str
        (*batch, n): "stable", "unstable", "neutral", "".
    kinds : ndarray of str
        (*batch, n): "fold", "Hopf", "branch point" where one was located, and "" elsewhere.
    ends : ndarray of str
        (*batch): "range" where the branch ended at a bound of the parameter; "n" after n points;
        "lost" where no shorter step helped; "no start" where the guess led to no equilibrium;
        "no curve" where equilibria fill a surface: let a component follow from what is conserved.
    system : System
    """

    parameter: str
    values: Floats
    points: Floats
    eigenvalues: Complexes
    stability: Strings
    kinds: Strings
    ends: Strings
    system: Any

    plot = drawn_by("branches")

    def table(self) -> Table:
        """A row for each bifurcation."""
        *batch, n = self.values.shape
        columns = {"kind": self.kinds, self.parameter: self.values}
        columns |= {name: self.points[..., i] for i, name in enumerate(self.system.state_names)}
        title = f"Bifurcations of equilibria of {self.system.name}"
        return Table.of(title, batch_axes(batch) | {"point": np.arange(n)}, columns,
                        self.kinds != "")  # fmt: skip


@explains_keywords()
def continue_equilibria(
    system: System,
    parameter: str,
    range: ArrayLike,  # noqa: A002
    start: ArrayLike,
    *,
    step: float = 0.05,
    n: int = 2000,
) -> EquilibriumBranches:
    """Follow equilibria as a parameter turns, and locate their folds, Hopf and branch points.

    Pseudo-arclength continuation from the first bound of the range. All branches of a batch advance
    together. A branch that passes a branch point goes straight on; another one that meets it is
    followed from a start of its own.

    Parameters
    ----------
    system : System
        Its other parameters may be a batch.
    parameter : str
        The name of the one that turns: a number.
    range : (first, last)
        Its bounds; a branch starts at the first, and ends where it reaches either.
    start : array_like
        (*batch, dim): guesses of the equilibria at the first.
    step : float, optional
        The longest step: of the parameter as a share of its range, of the state as a share of its
        largest component, or of u if that is larger. u is the largest component at the start; if
        this is 0 (1e-10 of the guess), the change that the parameter would make over its range;
        but 1 where that is more than 1, or 0.
    n : int, optional
        The most points of a branch.

    Returns
    -------
    EquilibriumBranches
        With ``values``, ``points``, ``eigenvalues``, ``stability``, ``kinds``, ``ends``,
        ``table()`` and ``plot()``. Bifurcations are points of the branch, located to rounding, and
        named in ``kinds``. Two in one step may be missed: a smaller `step` tells.
        Branches that meet if the equations change by 1e-12 of their own changes count as meeting.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments; a driven motion.

    References
    ----------
    Keller (1977), Numerical solution of bifurcation and nonlinear eigenvalue problems. Seydel
    (2010), Practical Bifurcation and Stability Analysis, 4 and 5.

    Examples
    --------
    The ends of hysteresis, k + x - x^3 / 3 = 0, are at k = 2 / 3 and -2 / 3:

    >>> import pyintegrate as pi
    >>> bent = pi.rhs(lambda t, y, k: (k + y[0] - y[0] ** 3 / 3,), dim=1, k=-1.0)
    >>> found = pi.analysis.continue_equilibria(bent, "k", (-1, 1), [-2.0])
    >>> found.values[found.kinds == "fold"].round(10).tolist(), str(found.ends)
    ([0.6666666667, -0.6666666667], 'range')
    """
    checked_system(system)
    named = isinstance(parameter, str) and parameter in system.shapes
    if not named or system.shapes[parameter]:  # () of a number
        known = ", ".join(system.params) or "none"
        raise ValueError(
            f"parameter must name a number among those of {system.name!r}, which are {known};"
            f" got {parameter!r}"
        )
    bounds = np.array(pair("range", range))
    if bounds[0] == bounds[1]:
        raise ValueError(f"range must be two different numbers, (first, last), got {range!r}")
    step, n, start = positive("step", step), integer("n", n, 2), numbers("start", start)
    if start.shape[-1:] != (system.dim,):
        raise ValueError(f"start has shape {start.shape}: expected (*batch, {system.dim})")
    system = system(**{parameter: bounds[0]})
    batch = broadcast_shape({"start": start.shape[:-1], **system.batch_shapes})
    y = np.broadcast_to(start, (*batch, system.dim)).reshape(-1, system.dim).astype(float)
    middle = y[np.isfinite(y).all(axis=1)].sum(axis=0, keepdims=True).T / max(1, len(y))
    size = np.maximum(1.0, abs(middle) / 2) * [-1.0, 1.0]
    # Also nearby: in small units a drive is rounding beside the rest of the field.
    if any(is_driven(system, Box(system, middle + size * 0.1**i)) for i in np.arange(0, 15, 3)):
        raise ValueError(
            f"the field of {system.name!r} changes with time: give parameters without the drive"
        )
    curve = _Curve(system, parameter, bounds, batch)
    return _told(curve, *curve.followed(y, step, n))


class _Curve:
    """The curves F(y, p) = 0 of a batch, in units of the range and of the state.

    Attributes
    ----------
    least : ndarray
        (lanes,): the least unit of the state, from the start.
    rates : ndarray
        (lanes, dim): what velocities are to positions, from the start; 1 of all others.
    """

    least: Any
    rates: Any

    def __init__(self, system, parameter, bounds, batch):
        self.system, self.parameter, self.batch = system, parameter, batch
        self.bounds, self.width = bounds, abs(bounds[1] - bounds[0])
        self.beside = system.tangent(1, parameter)

    def at(self, lane, Y):
        """F (m, dim), and its derivatives (m, dim, dim + 1) with respect to (y, p)."""
        y, p = Y[:, :-1], {self.parameter: Y[:, -1]}
        J = system_at(self.system, self.batch, lane)(**p).jacobian(0.0, y)
        one = system_at(self.beside, self.batch, lane)(**p)
        rate = one.rhs(0.0, one.initial_state(y, tangents=np.zeros((y.shape[1], 1))))
        F, sides = one.parts(rate)
        return F, np.concatenate([J, sides[..., -1:]], axis=-1)

    def size(self, lane, Y):
        """The units of (y, p)."""
        unit = np.maximum(self.least[lane], np.abs(Y[:, :-1]).max(axis=1))
        size = np.repeat(unit[:, None], Y.shape[1], 1)
        size[:, :-1] *= self.rates[lane]
        size[:, -1] = self.width
        return size

    def corrected(self, lane, Y, along):
        """Newton's method onto the curve, across directions `along`, and where it arrived."""
        Y, good, size = Y.copy(), np.zeros(len(Y), bool), self.size(lane, Y)
        with quiet():
            for i in np.arange(CORRECTIONS):
                left = np.flatnonzero(~good & np.isfinite(Y).all(axis=1))
                if not len(left):
                    break
                F, A = self.at(lane[left], Y[left])
                A = np.concatenate([A * size[left, None], along[left, None]], axis=1)
                sound = np.isfinite(F).all(axis=1) & np.isfinite(A).all(axis=(1, 2))
                move = -np.pad(F, ((0, 0), (0, 1)))
                move[sound] = solved(A[sound], move[sound])
                move[~sound] = np.nan
                Y[left] += move * size[left]
                # Rounding of a badly scaled field may keep corrections above: two small ones do.
                good[left] = np.abs(move).max(axis=1) < CLOSE * (1e3 if i > 2 else 1.0)
        return Y, good

    def tests(self, lane, Y, along):
        """Directions of the curve (m, dim + 1), near `along`, and quantities (m, 5).

        Two change their sign at branch points and folds, and are 0 where they are rounding. Twice
        the number of unstable eigenvalues that are not real, and below 1 how far off the axis the
        nearest is. The number of all unstable ones. What has the sign of the product of all sums of
        two eigenvalues, which changes at a Hopf point beside a fold, where no number tells.
        """
        A = self.at(lane, Y)[1]
        B, _, unit = balanced(A * self.size(lane, Y)[:, None])
        _, s, V = np.linalg.svd(B / unit)
        t = V[:, -1] / unit[:, 0]
        t /= norm(t, keepdims=True)
        sense = np.where((t * along).sum(axis=1) < 0, -1.0, 1.0)[:, None]
        t = t * sense
        t[np.abs(t) < ROUNDING] = 0.0  # which would lead a parameter near a bound across it
        border = (V[:, -1] * sense)[:, None]
        bordered = np.linalg.det(np.concatenate([B / unit, border], axis=1))
        bordered = np.where(s[:, -1] > SILENT * s[:, 0], bordered, 0.0)
        J = A[..., :-1]
        values = np.linalg.eigvals(J)
        # Of J balanced, as its eigenvalues are found, whatever the units of components.
        scale = np.sqrt(np.abs(J * J.swapaxes(1, 2))).max(axis=(1, 2))
        scale = np.maximum(scale, np.abs(values).max(axis=1, initial=1e-300))[:, None]
        real, turns = values.real / scale, np.abs(values.imag) / scale > SILENT
        far = np.where(turns & (np.abs(real) > SILENT), np.abs(real), np.inf).min(axis=1)
        rises = real > SILENT
        count = (rises & turns).sum(axis=1)
        far = np.where(far < np.inf, far, ~turns.any(axis=1))  # 0 only on the axis
        turning = 2 * count + far / (1 + far)
        i, j = np.triu_indices(values.shape[1], 1)
        sums = (values[:, i] + values[:, j]) / scale
        least = np.abs(sums).min(axis=1, initial=1.0)
        sign = np.sign((sums / np.maximum(np.abs(sums), SILENT)).prod(axis=1).real)
        opposite = np.where(least > SILENT, sign * least, 0.0)
        folding = np.where(np.abs(t[:, -1]) > SILENT, t[:, -1], 0.0)
        return t, np.stack([bordered, folding, turning, rises.sum(axis=1), opposite], axis=1)

    def fill(self, lane, Y):
        """Whether solutions fill a surface: the equations depend on each other, in any units."""
        A, _, unit = balanced(self.at(lane, Y)[1])
        s = np.linalg.svd(A / unit, compute_uv=False)
        return s[:, -1] <= SILENT * s[:, 0]

    def followed(self, y, step, n):
        """Points (k, dim + 1) one after another, their lanes and tests (k, 5), and why each lane
        ended."""
        lanes, dim = y.shape
        unit = np.eye(dim + 1)[[-1] * lanes] * np.sign(self.bounds[1] - self.bounds[0])
        guess = np.abs(y).max(axis=1)
        near = np.maximum(guess, 1.0)[:, None]
        y, good = refined(self.system, y, near, 0.0, self.batch, np.arange(lanes))
        Y = np.column_stack([y, np.full(lanes, self.bounds[0])])
        self.least = np.abs(y).max(axis=1)
        zero = SMALLEST * np.where(guess > 0, np.minimum(guess, 1.0), 1.0) * (self.least > 0)
        still = np.flatnonzero(good & (self.least <= zero))
        A = self.at(still, Y[still])[1]  # as far as the parameter would move it
        self.least[still] = self.width * np.abs(solved(A[..., :-1], A[..., -1])).max(axis=1)
        self.least[~((self.least > zero) & (self.least < 1))] = 1.0
        self.rates, half = np.ones((lanes, dim)), self.system.dof
        if half:  # where both sides of x' = v and v' = a are alike
            with quiet():
                J = np.abs(self.at(np.arange(lanes), Y)[1])
                rate = np.sqrt(J[:, half:, :half].max((1, 2)) / J[:, :half, half:-1].max((1, 2)))
            self.rates[:, half:] = np.where((rate > 0) & (rate < np.inf), rate, 1.0)[:, None]
        ends = np.where(good, "n", "no start").astype("<U8")
        active, h = np.flatnonzero(good), np.full(lanes, step / 8)
        near, exact = self.corrected(active, Y[active], unit[active])  # in its own unit
        Y[active[exact]] = near[exact]
        t, told = unit.copy(), np.zeros((lanes, 5))
        t[active], told[active] = self.tests(active, Y[active], unit[active])
        found, count = [(active, Y[active], told[active])], good.astype(int)
        low, high = self.bounds.min(), self.bounds.max()
        while len(active):
            old, way, size = Y[active], t[active], self.size(active, Y[active])
            foreseen = old + h[active, None] * way * size
            new, good = self.corrected(active, foreseen, way)
            over = good & ((new[:, -1] < low) | (new[:, -1] > high))
            # The last point lies on the bound.
            bound, last = np.clip(new[over, -1], low, high), (new - old)[over]
            last = old[over] + ((bound - old[over, -1]) / last[:, -1])[:, None] * last
            last[:, -1] = bound
            ended, good[over] = self.corrected(active[over], last, unit[active[over]])
            # An arc that turns by TURN leaves its tangent by a sixth of the step. What is corrected
            # by more lies on another part of the curve, as across two folds or a pole.
            with quiet():
                good &= np.abs((new - foreseen) / size).max(axis=1) <= ASTRAY * h[active]
                off = np.abs((ended - last) / size[over]).max(axis=1)
            good[over] &= off <= ASTRAY * h[active[over]]
            new[over] = ended
            ahead, quantities = self.tests(active, np.where(good[:, None], new, old), way)
            straight = (ahead * way).sum(axis=1)
            good &= straight > TURN
            met = good & (told[active, 0] * quantities[:, 0] < 0) & (h[active] > NARROW * step)
            good[met] &= self.crossed(active[met], np.stack([old[met], new[met]]),
                                      np.stack([told[active[met]], quantities[met]]))  # fmt: skip
            h[active] *= np.where(~good, 0.5, np.where(straight > 0.5 + TURN / 2, 1.5, 1.0))
            h[active] = np.minimum(h[active], step)
            won = active[good]
            Y[won], t[won] = new[good], ahead[good]
            # A zero is still on the side before it.
            zero, quantities = 1e-300 * np.sign(told[won]), quantities[good]
            zero[:, 2:4] = 0.0
            told[won] = np.where(quantities == 0, zero, quantities)
            found.append((won, Y[won], told[won]))
            count[won] += 1
            ends[active[good & over]] = "range"
            still = won[told[won, 0] == 0]  # a branch point is left behind
            ends[still[self.fill(still, Y[still])]] = "no curve"
            ends[active[h[active] < SHORTEST * step]] = "lost"
            active = active[(ends[active] == "n") & (count[active] < n)]
        lane, path, told = map(np.concatenate, zip(*found))
        order = np.argsort(lane, kind="stable")
        return path[order], lane[order], told[order], ends

    def crossed(self, lane, ends, tests):
        """Whether the equations hold at the branch points between two points (2, m, dim + 1).

        They do not in the gap beside two branches that nearly meet.
        """
        size = self.size(lane, ends[0])[:, np.newaxis]
        rows = np.max([norm(self.at(lane, Y)[1] * size) for Y in ends], axis=0)
        point = self.located(lane, np.zeros(len(lane), int), ends, tests)[0]
        return (np.abs(self.at(lane, point)[0]) <= GAP * rows).all(axis=1)

    def located(self, lane, which, ends, tests):
        """Bifurcations between two points (2, m, dim + 1): a zero of test `which` (m,).

        Beside a branch point a correction may lead to the other branch, or nowhere. Such points do
        not count: what is left is the chord, which errs by the square of the bracket's length.
        """
        secant = (ends[1] - ends[0]) / self.size(lane, ends[0])
        secant /= norm(secant, keepdims=True)
        lanes = np.arange(len(lane))
        rest = (which == 2) & (tests[:, lanes, which] % 2 == 0)

        def side_of(values):
            """A number that changes its sign: of numbers of unstable ones, when they change."""
            value, unit = values[..., lanes, which], np.where(which == 2, 2, 1)
            before = value // unit == tests[0, lanes, which] // unit
            far = np.where(which == 2, value % 2, 1.0)
            # Frequencies that collide, without friction: all of one side is on the axis.
            far = np.where((far == 0) & np.where(before, *rest), 1.0, far)
            return np.where(which % 4 < 2, value, np.where(before, -far, far))

        shares, sides = np.repeat([[0.0], [1.0]], len(lane), axis=1), side_of(tests)
        found, far = ends[0].copy(), np.zeros(len(lane))
        left = np.ones(len(lane), bool)  # what is found stays, however long the others take
        for i in np.arange(BISECTIONS):
            # Regula falsi, fast where the test is smooth, and parts of 2 / 5: 0.36^30 < 1e-13.
            with quiet():
                part = np.where(i % 3 > 0, 0.4, sides[0] / (sides[0] - sides[1]))
            part[np.isnan(part)] = 0.0  # it begins at the zero
            Y = ends[0] + part[:, None] * (ends[1] - ends[0])
            share = shares[0] + part * (shares[1] - shares[0])
            new, good = self.corrected(lane, Y, secant)
            t, values = self.tests(lane, np.where(good[:, None], new, Y), secant)
            good &= (t * secant).sum(axis=1) > TURN
            Y[good], side = new[good], side_of(values)
            at = np.where(np.sign(side) * np.sign(sides[0]) > 0, 0, 1)[good], lanes[good]
            ends[at], shares[at], sides[at] = Y[good], share[good], side[good]
            found[left], far[left] = Y[left], share[left]
            left &= (np.ptp(shares, axis=0) >= 1e-13) & ~(good & (side == 0))
            if not left.any():
                break
        return found, far


def _told(curve, path, lane, tests, ends):
    """The result: bifurcations located and put in their places, eigenvalues, stability."""
    signs = np.sign(tests[:-1]) * np.sign(tests[1:]) < 0
    pairs, every = np.diff(tests[:, 2:4] // [2, 1], axis=0).T
    signs[:, 2] = (pairs != 0) & (every != 0)
    # Real ones that cross together, by a symmetry, change no sign.
    signs[:, 3] = (pairs == 0) & (every != 0) & (every % 2 == 0) & ~signs[:, :2].any(axis=1)
    signs[:, 4] &= ~signs[:, 3]
    signs[:, 2] &= ~signs[:, 4]  # beside a fold the pair that begins to turn may be another
    signs &= (lane[:-1] == lane[1:])[:, np.newaxis]
    signs[:, 1] &= ~signs[:, 0]  # a branch point also turns the direction
    at, which = np.nonzero(signs)
    pair = np.stack([at, at + 1])
    Y, share = curve.located(lane[at], which, path[pair], tests[pair])
    values = eigenvalues(curve.at(lane[at], Y)[1][..., :-1])
    # Those of Hopf points are on the axis, and not real. Beside a branch point, no fold.
    largest = np.abs(values).max(axis=1, keepdims=True)
    on_axis = (np.abs(values.real) < AXIS * largest) & (np.abs(values.imag) > SILENT * largest)
    keep = (which % 2 > 0) | (which == 0) | on_axis.any(axis=1)
    # A pair that is real at both ends, and turns in between; or one that turns beside a fold.
    which[(which > 2) & on_axis.any(axis=1)] = 2
    twins = (np.abs(np.diff(Y[:, -1])) < TWIN * curve.width) & (np.diff(lane[at]) == 0)
    twins &= which[1:] + which[:-1] == 1
    keep &= (which != 1) | ~(np.pad(twins, (0, 1)) | np.pad(twins, (1, 0)))
    order = np.concatenate([np.arange(len(lane)), (at + share)[keep]]).argsort(kind="stable")
    path, lane = (np.concatenate([a, b[keep]])[order] for a, b in ((path, Y), (lane, lane[at])))
    named = np.pad(1 + which[keep], (len(order) - keep.sum(), 0))[order]
    names = np.array(("", *KINDS, KINDS[0]))[named]
    values = eigenvalues(curve.at(lane, path)[1][..., :-1])
    # There the nearest to the axis are on it, two where one was 0 on both sides.
    axis, largest = np.abs(values.real), np.abs(values).max(axis=-1, keepdims=True)
    idle = axis <= np.maximum(2 * axis.min(axis=-1, keepdims=True), DOUBLE * largest)
    stability = kinds_of(values, (names != "")[:, np.newaxis] & idle)[1]
    made: Any = [
        in_lanes(part, lane, curve.batch, least=1)
        for part in (path[:, -1], path[:, :-1], values, stability, names)
    ]
    made = [curve.parameter, *made, ends.reshape(curve.batch), curve.system]
    return EquilibriumBranches(*made)
