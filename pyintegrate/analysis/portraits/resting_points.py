"""Equilibria in a box of states: where the field is zero, what motions do there, manifolds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import warn_record
from ...run.arguments import checked_system
from ...values.checks import broadcast_shape, floats, integer, numbers, pair, positive
from ...values.keywords import explains_keywords
from ...values.parameters import ones_of_batch, system_at, taken
from ...values.sobol_points import sobol_points
from ...values.table import Table, Tabled, batch_axes
from ...values.types import Any, ArrayLike, Complexes, Floats, Integers, Sequence, Strings, System
from ..results import blocks, drawn_by, in_lanes, quiet, result_class
from ..vectors import applied, norm


class Box:
    """Bounds of components of the state.

    Parameters
    ----------
    system : System
    box : mapping of str to (low, high), or array_like (dim, 2)
        A component that a mapping leaves out keeps its default value, and is not bounded.

    Attributes
    ----------
    names : tuple of str
        The bounded components, in the order of the state.
    places : ndarray of int
        Their indices.
    low, high : ndarray
        (k,): their bounds.
    size : ndarray
        (dim,): the lengths in which distances are measured: the widths of the box; max(1, |value|)
        of a component that it leaves out, but of a velocity the root of width times acceleration.
    """

    def __init__(self, system, box):
        known = system.state_names
        if not isinstance(box, Mapping):
            bounds = numbers("box", box)
            if bounds.shape != (system.dim, 2):
                raise ValueError(
                    f"box has shape {bounds.shape}: expected (low, high) for each of"
                    f" {', '.join(known)}, or {{'{known[0]}': (low, high), ...}}"
                )
            box = dict(zip(known, bounds))
        unknown = [name for name in box if name not in known]
        if unknown or not box:
            raise ValueError(
                f"box has {', '.join(map(repr, unknown)) or 'no component'}: expected components of"
                f" {system.name}, which are {', '.join(known)}"
            )
        self.system, self.names = system, tuple(name for name in known if name in box)
        self.places = np.array([known.index(name) for name in self.names])
        bounds = [pair(f"box[{name!r}]", box[name]) for name in self.names]
        for name, (low, high) in zip(self.names, bounds):
            if not low < high:
                raise ValueError(f"box[{name!r}] must be (low, high), got {box[name]!r}")
        self.low, self.high = np.array(bounds).T
        rest = np.zeros(system.dim) if system.initial is None else system.initial
        self._rest = np.array(rest, float)
        self.size = np.maximum(1.0, np.abs(self._rest))
        self.size[self.places] = self.high - self.low
        own = self.places[self.places < system.dof]
        own = own[~np.isin(own + system.dof, self.places)]
        if system.structure == "second_order" and len(own):
            y = self.starts(64).reshape(-1, *ones_of_batch(system), system.dim)
            with quiet():
                rate = np.abs(system.rhs(0.0, y)[..., own + system.dof]).reshape(-1, len(own))
                speed = np.sqrt(np.nanmedian(rate, axis=0) * self.size[own])
            speed = np.where((speed > 0) & (speed < np.inf), speed, 1.0)
            self.size[own + system.dof] = np.maximum(speed, np.abs(self._rest[own + system.dof]))

    def filled(self, share):
        """The states (n, dim) at shares (n, k) of the bounded components."""
        y = np.tile(self._rest, (len(share), 1))
        y[:, self.places] = self.low + share * (self.high - self.low)
        return y

    def starts(self, n, seed=None):
        """n states (n, dim) that fill the box evenly."""
        return self.filled(sobol_points(n, len(self.names), seed))

    def holds(self, y, margin=1e-9):
        """Whether states (..., dim) lie in the box, give or take a share of its widths."""
        inside = y[..., self.places]
        room = margin * (self.high - self.low)
        return ((inside >= self.low - room) & (inside <= self.high + room)).all(axis=-1)


def is_driven(system, box):
    """Whether the field depends on time, somewhere in the box."""
    now, later = _fields(system, box)
    return not np.array_equal(now, later, equal_nan=True)


def without_drive(system, box):
    """A driven system without its drive, and the name of the parameter that multiplies it.

    The drive is g * (something that changes with time): the field is linear in g, and without g
    does not change. The system itself and None where no parameter does this.
    """
    for name in system.params if is_driven(system, box) else ():
        rest = system(**{name: 0.0 * system.params[name]})
        if not is_driven(rest, box):
            none = _fields(rest, box)
            once, twice = (_fields(system(**{name: k * system.params[name]}), box) for k in (1, 2))
            room = 1e-8 * np.nanmax(np.abs(twice), axis=(0, 1))
            if np.allclose(twice - none, 2 * (once - none), atol=room, equal_nan=True):
                return rest, name
    return system, None


def _fields(system, box):
    """The right-hand side at some states of the box, at one time, and at one of its own each."""
    # In any unit, and so many that a drive which switches is in another position at some.
    t = np.logspace(-15.1, 15.2, 128).reshape(-1, *ones_of_batch(system))
    y = box.starts(len(t), 1).reshape(*t.shape, system.dim)
    return np.stack([system.rhs(0.3, y), system.rhs(t, y)])


STEP = 0.005  # of the size of the box
GROWTH = 1.15
PARTS = 2000  # of a step, at most
BESIDE = 1e-4  # where a manifold begins, in sizes of the box: its curve is missed by the square


def _followed(found, sign, begin, y, length):
    """Lines (m, n, dim) of a length from states y (m, dim), after where they begin."""
    system, size = found.system, found.box.size
    ends = np.append(found.points, [[np.inf] * system.dim], axis=0)  # one that is never near
    # Near a saddle the field turns within the distance to it: steps grow with that.
    near = BESIDE * GROWTH ** np.arange(np.log(STEP / BESIDE) / np.log(GROWTH) + 20)
    near = near[(near < length) & (np.diff(near, prepend=0.0) < STEP)]
    rest = np.linspace(near[-1], length, 1 + int(np.ceil((length - near[-1]) / STEP)))
    lines, stiff = [begin, y], np.zeros(len(y), bool)

    def field(y):
        return sign * system.rhs(found.t, y) / size

    def contraction(y):
        J = np.nan_to_num(sign * system.jacobian(found.t, y) * size / size[:, np.newaxis])
        return -np.linalg.eigvals(J).real.min(axis=1)

    def direction(y):
        f = field(y)
        return f / norm(f, keepdims=True)

    for i, h in enumerate(np.diff(np.concatenate([near, rest[1:]])), 2):
        # Where what lies beside a line contracts fast, only parts of a step are stable.
        parts = np.ceil(h * contraction(y) / (2 * norm(field(y))))
        stiff |= parts > PARTS
        y[stiff] = np.nan
        few = int(parts.max(where=parts <= PARTS, initial=1))
        for part in [h / few * size] * few:
            k1 = direction(y)
            k2 = direction(y + part / 2 * k1)
            k3 = direction(y + part / 2 * k2)
            k4 = direction(y + part * k3)
            y = y + part / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        far = norm((y[:, np.newaxis] - ends) / size)
        arrived = ((far.min(axis=1) < h) & (i > len(near)))[:, np.newaxis]
        lines.append(np.where(arrived, ends[far.argmin(axis=1)], y))
        y = np.where(found.box.holds(y, 0.02)[:, np.newaxis] & ~arrived, y, np.nan)
    if stiff.any():
        warn_record(f"{stiff.sum()} manifolds end where motions beside them contract too fast")
    return np.stack(lines, axis=1)


ROUNDS = 80  # of Newton: a double root, approached by halving, takes fifty
HALVINGS = 8
FAR = 1e3  # widths of the box from its start: where Newton's method is given up
APART = 1e-6  # in widths of the box: equilibria closer than this are one
ROUNDING, DOUBLE = 1e-12, 1e-7  # errors of a single and of a double root, in units of the largest
FLAT = 1e-14  # singular values, of the largest, that are rounding
LANES = 1 << 18  # starts refined at a time


@result_class
class Equilibria(Tabled):
    """The equilibria in a box, for a batch of parameters; ``[...]`` where there are fewer is NaN.

    Attributes
    ----------
    points : ndarray
        (*batch, m, dim): in ascending order of their components; m is the most of any parameters.
        Those that are closer than 1e-6 of the box are one.
    eigenvalues : ndarray of complex
        (*batch, m, dim): of the Jacobian there, the largest real part first.
    kinds : ndarray of str
        (*batch, m): "stable node", "unstable focus", "saddle", "saddle-focus",
        "saddle-centre" (imaginary ones besides), "centre", "degenerate" (an eigenvalue is 0, or
        imaginary beside others of one side), "" where there is none.
    stability : ndarray of str
        (*batch, m): "stable", "unstable", "neutral" (the linear part does not decide), "".
    residuals : ndarray
        (*batch, m): the norm of the right-hand side there.
    hits : ndarray of int
        (*batch, m): how many of the starts led there; where few did, others may be missing.
    count : ndarray of int
        (*batch).
    outside, lost : ndarray of int
        (*batch): starts that led to an equilibrium outside the box, and to none.
    starts : int
        How many there were.
    system : System
    t : ndarray
        The time at which the field was frozen.
    box : Box
    """

    points: Floats
    eigenvalues: Complexes
    kinds: Strings
    stability: Strings
    residuals: Floats
    hits: Integers
    count: Integers
    outside: Integers
    lost: Integers
    starts: int
    system: Any
    t: Any
    box: Any

    def manifolds(self, length: float = 3.0) -> dict[str, Floats]:
        """The stable and unstable manifolds of the saddles, where these are lines.

        Parameters
        ----------
        length : float, optional
            How long a line may be, in widths of the box.

        Returns
        -------
        dict of ndarray, shape (lines, n, dim)
            "stable" and "unstable": two lines for each saddle with one such direction, from the
            saddle on, by Runge-Kutta 4 in lengths of 1/200 of the box or less. A line ends, and is
            NaN from there on, where it leaves the box, arrives at an equilibrium, or, with a
            `RecordWarning`, where motions beside it come nearer 1e4 times as fast as it goes.

        Raises
        ------
        ValueError
            For a batch of parameters.

        Examples
        --------
        The separatrix of the undamped Duffing well returns to its saddle:

        >>> import numpy as np, pyintegrate as pi
        >>> well = pi.systems.duffing(delta=0.0, gamma=0.0)
        >>> found = pi.analysis.equilibria(well, {"x": (-2, 2), "v": (-1, 1)})
        >>> line = found.manifolds()["unstable"][0]
        >>> line = line[~np.isnan(line[:, 0])]
        >>> bool(np.abs(well.energy(line)).max() < 1e-6), line[-1].tolist()
        (True, [0.0, 0.0])
        """
        if self.count.ndim:
            raise ValueError(
                f"manifolds are of one set of parameters, and these are {self.count.shape}"
            )
        length, system, size = positive("length", length), self.system, self.box.size
        if not STEP < length < 1000:
            raise ValueError(f"length must be from {STEP} to 1000 sizes of the box, got {length}")
        saddles = self.points[np.char.startswith(self.kinds, "saddle")]
        values, vectors = np.linalg.eig(system.jacobian(self.t, saddles))
        lines, room = {}, ROUNDING * np.abs(values).max(axis=1, keepdims=True)  # centres have none
        for name, sign in (("unstable", 1), ("stable", -1)):
            along = sign * values.real > room
            along &= along.sum(axis=1, keepdims=True) == 1  # one of a pair has the other beside it
            e = np.swapaxes(vectors, 1, 2)[along].real / size
            e *= BESIDE * size / norm(e, keepdims=True)
            begin = np.repeat(saddles[along.any(axis=1)], 2, axis=0)
            beside = begin + np.stack([e, -e], axis=1).reshape(begin.shape)
            with quiet():
                lines[name] = _followed(self, sign, begin, beside, length)
        return lines

    plot = drawn_by("equilibria")

    def __len__(self) -> int:
        return self.points.shape[-2]

    def table(self) -> Table:
        """A row for each equilibrium."""
        names, *shape = self.system.state_names, *self.kinds.shape
        values = {name: self.points[..., d] for d, name in enumerate(names)}
        columns = values | {"kind": self.kinds, "stability": self.stability, "hits": self.hits}
        axes = batch_axes(shape[:-1]) | {"equilibrium": np.arange(shape[-1])}
        lost = 100 * np.mean(self.lost) / self.starts
        told = f"{self.starts:,} starts, {lost:.3g} % of them led to none"
        title = f"Equilibria of {self.system.name}: {told}"
        return Table.of(title, axes, columns, self.kinds != "")


@explains_keywords()
def equilibria(
    system: System,
    box: Mapping[str, Sequence[float]] | ArrayLike,
    n: int = 1000,
    *,
    t: ArrayLike | None = None,
    seed: int | None = None,
) -> Equilibria:
    """All equilibria in a box that Newton's method reaches from starts that fill it.

    Parameters
    ----------
    system : System
        With parameters of any batch shape: each has equilibria of its own.
    box : mapping of str to (low, high), or array_like, shape (dim, 2)
        The bounds of the components. One that a mapping leaves out is not bounded, and starts from
        its default value: velocities need no bounds.
    n : int, optional
        How many starts, Sobol points of the box.
    t : array_like, optional
        The time at which the field of a driven motion is frozen, one for all or for each of the
        batch.
    seed : int, optional
        Shifts the starts; by default they are the sequence itself.

    Returns
    -------
    Equilibria
        With ``points``, ``eigenvalues``, ``kinds``, ``stability``, ``manifolds()``,
        ``table()`` and ``plot()``. It cannot prove that there are no others: see ``hits``,
        ``outside`` and ``lost``.

    Raises
    ------
    TypeError, ValueError
        A wrong box; a driven motion without `t`.

    References
    ----------
    Strogatz (2015), Nonlinear Dynamics and Chaos, 5.2 and 6.3 (kinds).

    Examples
    --------
    >>> import pyintegrate as pi
    >>> well = pi.systems.duffing(gamma=0.0)
    >>> found = pi.analysis.equilibria(well, {"x": (-2, 2), "v": (-1, 1)})
    >>> found.points.round(6).tolist(), found.kinds.tolist()
    ([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], ['stable focus', 'saddle', 'stable focus'])

    For a batch of parameters, here on both sides of the pitchfork at rho = 1:

    >>> found = pi.analysis.equilibria(pi.systems.lorenz(rho=[0.5, 14.0, 28.0]), [[-30, 30]] * 3)
    >>> found.count.tolist(), found.kinds[:, 0].tolist()
    ([1, 3, 3], ['stable node', 'stable focus', 'saddle-focus'])
    """
    checked_system(system)
    box, n = Box(system, box), integer("n", n, 1)
    if t is None and is_driven(system, box):
        raise ValueError(
            f"the field of {system.name!r} changes with time: give t=0.0 to freeze it there, or"
            " parameters without the drive"
        )
    t = floats("t", 0.0 if t is None else t)
    batch = broadcast_shape({"t": t.shape, **system.batch_shapes})
    lanes = int(np.prod(batch))
    starts, rows = box.starts(n, seed), max(1, LANES // n)
    parts, (outside, lost) = [], np.zeros((2, lanes), int)
    for which in blocks(lanes, rows):
        lane = np.repeat(which, n)
        y, arrived = refined(system, np.tile(starts, (len(which), 1)), box.size, t, batch, lane)
        inside = arrived & box.holds(y)
        lost[which], outside[which] = (
            flags.reshape(-1, n).sum(axis=1) for flags in (~arrived, arrived & ~inside)
        )
        ends = zip(y.reshape(-1, n, system.dim), inside.reshape(-1, n))
        parts += [_distinct(own[here], box.size) for own, here in ends]
    points, hits = map(np.concatenate, zip(_distinct(starts[:0], box.size), *parts))
    count = np.array([len(own) for own, _ in parts], int)
    lane = np.repeat(np.arange(lanes), count)
    one, times = system_at(system, batch, lane), taken(t, batch, lane)
    J, doubt = one.jacobian(times, points), False
    values = known = eigenvalues(J)
    for shift in DOUBLE * box.size * [[1.0], [-1.0]]:  # as far as a double root is off
        with quiet():
            beside = one.jacobian(times, points + shift)
        beside = eigenvalues(np.where(np.isfinite(beside), beside, J))
        doubt |= beside.real * values.real <= 0
        change = np.abs(values[..., np.newaxis] - beside[..., np.newaxis, :]).min(axis=-1)
        known = np.where(change < np.abs(values), known, 0)
    residuals = norm(one.rhs(times, points))
    found = (points, values, *kinds_of(known, doubt), residuals, hits)
    made: Any = [in_lanes(part, lane, batch) for part in found]
    made += [part.reshape(batch)[()] for part in (count, outside, lost)]
    made += [n, system, t, box]
    return Equilibria(*made)


def eigenvalues(jacobian):
    """Of matrices, (..., dim), the largest real part first."""
    values = np.linalg.eigvals(jacobian).astype(complex)
    return np.take_along_axis(values, np.lexsort((-values.imag, -values.real)), axis=-1)


def kinds_of(eigenvalues, doubt=False):
    """Kinds and stability (...) of equilibria by their eigenvalues (..., dim).

    Where there is `doubt`, a real part decides nothing.

    Examples
    --------
    >>> kinds_of([[1.0, -1.0], [-1 + 1j, -1 - 1j], [1j, -1j]])[0].tolist()
    ['saddle', 'stable focus', 'centre']
    """
    values = np.asarray(eigenvalues, complex)
    largest = np.abs(values).max(axis=-1, keepdims=True)
    # A double root splits by the square root of rounding, and the sum of both halves stays exact.
    sums = np.abs(values[..., np.newaxis] + values[..., np.newaxis, :]).min(axis=-1)
    room = np.where(sums > ROUNDING * largest, ROUNDING, DOUBLE) * largest
    idle = doubt | (np.abs(values.real) <= room)
    turn = np.abs(values.imag) > np.maximum(room, DOUBLE * np.abs(values.real))
    grow, shrink = ~idle & (values.real > 0), ~idle & (values.real < 0)
    rises, falls, rests = (these.any(axis=-1) for these in (grow, shrink, idle))
    stability = np.where(rises, "unstable", np.where(rests, "neutral", "stable"))
    turns = (turn & ~idle).any(axis=-1)
    saddle = rises & falls & ~(idle & ~turn).any(axis=-1)
    kinds = {
        "saddle-centre": saddle & rests, "saddle-focus": saddle & turns, "saddle": saddle,
        "centre": (idle & turn).all(axis=-1), "degenerate": rests,
        "unstable focus": turns & rises, "stable focus": turns, "unstable node": rises,
    }  # fmt: skip
    return np.select([*kinds.values()], [*kinds], "stable node"), stability


def refined(system, y, size, t, batch, lane):
    """Newton's method from states y (m, dim), each with the parameters of a lane of the batch.

    The step is halved until the right-hand side shrinks, and is at most a width of the box, of
    `size` (dim) or (m, 1).

    Returns
    -------
    y : ndarray
        (m, dim).
    arrived : ndarray of bool
        (m,): whether the last step was below rounding, near the box.
    """
    start, y, arrived = y, y.copy(), np.zeros(len(y), bool)
    active, size = np.arange(len(y)), np.broadcast_to(size, y.shape)

    def at(which):
        return system_at(system, batch, lane[which]), taken(t, batch, lane[which])

    with quiet():
        for _ in range(ROUNDS):
            if not len(active):
                break
            (own, times), old = at(active), y[active]
            f, J = own.rhs(times, old), own.jacobian(times, old)
            good = np.isfinite(f).all(axis=-1) & np.isfinite(J).all(axis=(-2, -1))
            good &= (np.abs(old - start[active]) < FAR * size[active]).all(axis=-1)
            active, old, f, J = (part[good] for part in (active, old, f, J))
            (own, times), unit = at(active), size[active]
            scaled = J * unit[:, None]
            step = solved(scaled, -f) * unit
            rest = norm(applied(J, step) + f)
            whole = 1e-13 * np.abs(scaled).max(axis=(-2, -1), initial=0)
            before, share = norm(f), np.ones(len(old))
            sure = rest <= np.maximum(whole, before / 2)
            far = norm(step / unit, keepdims=True)
            step /= np.maximum(1.0, far)
            for _ in range(HALVINGS):
                after = norm(own.rhs(times, old + share[:, None] * step))
                worse = ~(after < before) & (before > 0)
                if not worse.any():
                    break
                share = np.where(worse, share / 2, share)
            new = old + share[:, None] * step
            # Where rounding is reached no step helps: the full one is below it.
            tiny = (far[:, 0] < 1e-12) | (worse & (far[:, 0] < 1e-9))
            y[active] = np.where((tiny & worse)[:, None], old, new)
            arrived[active] = sure & tiny
            active = active[sure & ~tiny]
    return y, arrived


def balanced(A):
    """Matrices (m, k, l) over their largest elements in each row, these, and then the largest in
    each column: rates may be far apart, and so may units, as velocities of slow motions."""
    rates = np.abs(A).max(axis=2, keepdims=True, initial=1e-300)
    A = A / rates
    return A, rates, np.abs(A).max(axis=1, keepdims=True, initial=1e-100)


def solved(A, b):
    """The solutions of A x = b, the least where A is singular to rounding: (m, k, k), (m, k)."""
    A, rates, units = balanced(A)
    b = b / rates[..., 0]
    x, flat = np.empty_like(b), np.abs(np.linalg.det(A / units)) < ROUNDING
    x[~flat] = np.linalg.solve(A[~flat], b[~flat, :, None])[..., 0]
    x[flat] = applied(np.linalg.pinv(A[flat], rcond=FLAT), b[flat])
    return x


def _distinct(y, size):
    """The different ones among states (m, dim), in ascending order, and how many are at each."""
    points, hits = [], []
    while len(y):
        near = norm((y - y[0]) / size) < APART
        points.append(np.median(y[near], axis=0))
        hits.append(np.count_nonzero(near))
        y = y[~near]
    points, hits = np.reshape(points, (-1, y.shape[1])), np.array(hits, int)
    order = np.lexsort(np.round(points / (APART * size)).T[::-1])
    return points[order], hits[order]
